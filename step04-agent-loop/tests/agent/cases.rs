//! Faults that users met in systems of this kind, each with what must happen instead.

use std::sync::Arc;

use futures::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::event::Change;
use step04_agent_loop::message::{AssistantMessage, Message, StopReason, ToolResultMessage};
use step04_agent_loop::reply::EARLY_END;
use step04_agent_loop::tool::{ToolError, ToolOutput, Toolbox};
use tokio_util::sync::CancellationToken;

use super::check::{brackets, replies, well_formed};
use super::strategies::cases;
use super::tools::TestTool;
use super::world::{Answer, Record, Run, Stop, TestModel, World, play, run_once};

fn run(replies: Value) -> Record {
    let record = run_once(replies, Stop::Patient, Settings::default());
    assert_eq!(brackets(&record.events()), Ok(()));
    assert_eq!(well_formed(&record.after), Ok(()));
    record
}

fn call(id: &str, name: &str, arguments_text: &str) -> Value {
    json!({"toolCall": {"id": id, "name": name, "argumentsText": arguments_text}})
}

fn results(record: &Record) -> Vec<ToolResultMessage> {
    let result = |message: &Message| match message {
        Message::ToolResult(result) => Some(result.clone()),
        _ => None,
    };
    record.after.messages.iter().filter_map(result).collect()
}

fn text(result: &ToolResultMessage) -> &str {
    result.content[0].body()
}

fn last(record: &Record) -> AssistantMessage {
    replies(&record.events()).pop().unwrap()
}

// Half a tool call is run.

#[test]
fn arguments_cut_short_are_an_error_and_the_loop_goes_on() {
    for cut in [r#"{"content":"par"#, r#"{"content""#, r#"{"tag":1"#, "{", r#"{"tag":1}}"#, "[]"] {
        let record = run(json!([{"content": [call("a", "quick", cut)]}]));
        assert!(record.ran.is_empty(), "{:?}", record.ran);
        let [result] = &results(&record)[..] else { panic!("one result") };
        assert!(result.is_error);
        let error = step04_agent_loop::partial_json::parse_arguments(cut).unwrap_err();
        assert!(text(result).contains(&error.to_string()), "{}", text(result));
        assert_eq!(last(&record).text(), "bye", "the model is asked again");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// 15 KB of arguments, cut at any byte: an error, never a small valid call.
    #[test]
    fn long_arguments_cut_anywhere(at in prop_oneof![9 => 1..15_000usize, 1 => Just(7_153)]) {
        let whole = json!({"tag": 7, "content": "x".repeat(15_000)}).to_string();
        let record = run(json!([
            {"content": [call("a", "quick", &whole[..at])], "chunk": {"size": 4_000}},
        ]));
        prop_assert!(record.ran.is_empty());
        prop_assert!(results(&record)[0].is_error);
    }
}

#[test]
fn a_stream_that_just_ends_is_an_error_and_nothing_runs() {
    for end in [json!("earlyEnd"), json!({"error": "line is down"}), json!("aborted")] {
        let record = run(json!([
            {"content": [{"text": "so"}, call("a", "quick", r#"{"tag":1}"#)], "chunk": {"size": 3},
             "after": 3, "end": end},
        ]));
        assert!(record.ran.is_empty(), "{:?}", record.ran);
        assert_eq!(record.requests.len(), 1);
        let reply = last(&record);
        assert_eq!(reply.text(), "so");
        assert_eq!(reply.tool_calls().next().unwrap().arguments_text, r#"{"tag""#);
        assert!(matches!(reply.stop_reason, Some(StopReason::Error | StopReason::Aborted)));
        let why = match end {
            Value::Object(error) => error["error"].as_str().unwrap().to_owned(),
            early if early == "earlyEnd" => EARLY_END.to_owned(),
            _ => reply.error_message.clone().unwrap(),
        };
        assert_eq!(reply.error_message, Some(why));
        let expected = match reply.stop_reason {
            Some(StopReason::Aborted) => ToolError::Aborted,
            _ => ToolError::BrokenOff,
        };
        assert_eq!(text(&results(&record)[0]), expected.to_string());
    }
}

#[test]
fn at_the_length_limit_no_call_runs_however_good_it_looks() {
    let record = run(json!([{"content": [
        call("a", "quick", r#"{"tag":1}"#),
        call("b", "unknown", "{}"),
        call("c", "quick", r#"{"tag":"#),
    ], "end": "length"}]));
    assert!(record.ran.is_empty(), "{:?}", record.ran);
    assert_eq!(results(&record).len(), 3);
    for result in results(&record) {
        assert!(result.is_error);
        assert_eq!(text(&result), ToolError::Truncated.to_string());
    }
    assert_eq!(record.requests.len(), 2, "the model may try again");
}

#[test]
fn waiting_for_results_of_no_call_is_an_error() {
    let record = run(json!([{"content": [{"text": "I'll call it"}], "end": "toolUse"}]));
    assert_eq!(record.requests.len(), 1);
    let error = last(&record);
    assert_eq!((error.stop_reason, error.content.len()), (Some(StopReason::Error), 0));
    assert_eq!(replies(&record.events()).len(), 2, "what was said stays");
}

#[test]
fn a_call_in_a_message_that_ended_with_stop_runs() {
    let record = run(json!([{"content": [call("a", "quick", r#"{"tag":5}"#)], "end": "stop"}]));
    assert_eq!(record.ran, [5]);
    assert!(!results(&record)[0].is_error);
    assert_eq!(text(&results(&record)[0]), "answer 5");
}

#[test]
fn no_arguments_are_an_empty_object() {
    for call in [
        json!({"toolCall": {"name": "quick"}}),
        json!({"toolCall": {"name": "quick", "argumentsText": ""}}),
        json!({"toolCall": {"name": "quick", "argumentsText": " \n"}}),
    ] {
        let record = run(json!([{"content": [call]}]));
        assert_eq!(record.ran, [0]);
        assert!(!results(&record)[0].is_error);
        let args = record.events().into_iter().find_map(|event| match event {
            AgentEvent::ToolExecutionStart { args, .. } => Some(args),
            _ => None,
        });
        assert_eq!(args, Some(json!({})));
    }
}

// Calls are mixed up.

#[test]
fn calls_that_interleave_are_told_apart() {
    let record = run(json!([{"content": [
        call("a", "quick", r#"{"tag":1}"#),
        call("b", "quick", r#"{"tag":2}"#),
    ], "interleave": true, "chunk": {"size": 3}}]));
    assert_eq!(record.ran, [1, 2]);
    let answers: Vec<_> =
        results(&record).iter().map(|r| (r.tool_call_id.clone(), text(r).to_owned())).collect();
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(answers, [pair("a", "answer 1"), pair("b", "answer 2")]);
}

/// The ids that the events of the model, those of the tools, and the history speak of.
fn all_ids(record: &Record) -> [Vec<String>; 4] {
    let mut ids = [const { Vec::new() }; 4];
    for event in record.events() {
        match event {
            AgentEvent::MessageUpdate(update) => {
                if let Change::ToolcallStart { id, .. } = &update.0.change {
                    ids[0].push(id.clone());
                }
            }
            AgentEvent::ToolExecutionStart { tool_call_id, .. } => ids[1].push(tool_call_id),
            AgentEvent::MessageEnd { message: Message::Assistant(reply) } => {
                ids[2].extend(reply.tool_calls().map(|call| call.id.clone()));
            }
            _ => {}
        }
    }
    ids[3] = results(record).into_iter().map(|result| result.tool_call_id).collect();
    ids
}

#[test]
fn missing_and_doubled_ids_are_made_unique_everywhere_alike() {
    let calls = |ids: &[&str]| -> Vec<Value> {
        ids.iter().map(|id| call(id, "quick", r#"{"tag":1}"#)).collect()
    };
    let record = run(json!([
        {"content": calls(&["", "x", "x", ""])},
        {"content": calls(&["x", "x-2", "", "y"])},
    ]));
    let [events, tools, messages, results] = all_ids(&record);
    assert_eq!(events, ["call", "x", "x-2", "call-2", "x-3", "x-2-2", "call-3", "y"]);
    assert_eq!([&tools, &messages, &results], [&events; 3]);
    assert_eq!(record.ran.len(), 8);
}

/// A model that does not use our `Reply` may give ids as it likes.
#[test]
fn a_model_can_not_give_two_calls_one_id() {
    let content = vec![call("a", "quick", "{}"), call("a", "quick", "{}"), call("", "quick", "{}")];
    let reply = serde_json::from_value(json!({"content": content})).unwrap();
    let answer = Answer::Contradicts(reply, Some(StopReason::ToolUse));
    let run = Run {
        answers: vec![answer.clone(), answer],
        stop: Stop::Patient,
        panicking_listener: usize::MAX,
    };
    let records = play(&World { runs: vec![run], settings: Settings::default() });
    assert_eq!(well_formed(&records[0].after), Ok(()));
    assert_eq!(results(&records[0]).len(), 6);
    let [_, tools, messages, results] = all_ids(&records[0]);
    assert_eq!(tools, ["call-2", "a", "call-3", "call-4", "a-5", "call-6"]);
    assert_eq!([&messages, &results], [&tools; 2]);
}

/// Nor can it when its reply is dropped in the middle.
#[test]
fn a_dropped_reply_can_not_share_an_id_either() {
    let content = [call("a", "quick", r#"{"tag":1}"#)];
    let reply = json!({"content": content, "chunk": {"size": 1}, "pace": {"delayMs": 1}});
    let careless = || vec![Answer::Careless(serde_json::from_value(reply.clone()).unwrap())];
    let run = |answers, stop| Run { answers, stop, panicking_listener: usize::MAX };
    let runs = vec![
        run(careless(), Stop::Patient),
        run(careless(), Stop::DroppedAt(4)),
        run(vec![], Stop::Patient),
    ];
    let records = play(&World { runs, settings: Settings::default() });
    let Some(Message::Assistant(dropped)) = records[1].after.messages.last() else { panic!() };
    assert_eq!((dropped.stop_reason, dropped.tool_calls().count()), (None, 1));
    assert_eq!(well_formed(&records[2].requests[0]), Ok(()));
}

// History is broken after an abort.

#[test]
fn what_has_not_started_when_the_run_is_stopped_does_not_run() {
    let two = json!([{"content": [
        call("a", "slow", r#"{"tag":1,"ms":100}"#),
        call("b", "quick", r#"{"tag":2}"#),
    ]}]);
    let settings = Settings { sequential: true, ..Settings::default() };
    let record = run_once(two, Stop::After(50), settings);
    assert_eq!(record.ran, [1]);
    for result in results(&record) {
        assert!(result.is_error);
        assert_eq!(text(&result), ToolError::Aborted.to_string());
    }
    assert_eq!(results(&record).len(), 2);
    let closing = last(&record);
    assert_eq!((closing.stop_reason, closing.content.len()), (Some(StopReason::Aborted), 0));
}

/// A listener stops the run when the second of three calls is looked at.
#[test]
fn no_tool_begins_once_the_run_is_stopped() {
    let calls = [("a", 1), ("b", 2), ("c", 3)]
        .map(|(id, tag)| call(id, "slow", &json!({"tag": tag, "ms": 10}).to_string()));
    let replies = json!([{"content": calls}]);
    let whole = run_once(replies.clone(), Stop::Patient, Settings::default());
    let is_b = |event: &AgentEvent| {
        matches!(event,
        AgentEvent::ToolExecutionStart { tool_call_id, .. } if tool_call_id == "b")
    };
    let at = whole.events().iter().position(is_b).unwrap();
    let record = run_once(replies, Stop::AtEvent(at), Settings::default());
    assert!(record.ran.is_empty(), "not even the first has begun to run: {:?}", record.ran);
    assert_eq!(results(&record).len(), 3);
}

#[test]
fn a_cancelled_tool_has_not_succeeded() {
    let replies = json!([{"content": [
        call("a", "stubborn", r#"{"ms":200}"#),
        call("b", "quick", "{}"),
        call("c", "panics_later", r#"{"ms":200}"#),
    ]}]);
    let record = run_once(replies, Stop::After(100), Settings::default());
    let [a, b, c] = &results(&record)[..] else { panic!("three results") };
    assert_eq!((a.is_error, text(a)), (true, "aborted before it was done"));
    assert_eq!((b.is_error, text(b)), (false, "answer 0"), "it was done before");
    assert_eq!((c.is_error, text(c)), (true, "the tool crashed: no message"));
}

#[test]
fn an_aborted_reply_stays_with_its_text_and_its_reason() {
    let replies =
        json!([{"content": [{"text": "abcdefgh"}], "chunk": {"size": 4}, "pace": {"delayMs": 10}}]);
    let record = run_once(replies, Stop::After(15), Settings::default());
    let [_, Message::Assistant(reply)] = &record.after.messages[..] else { panic!("two messages") };
    assert_eq!((reply.text().as_str(), reply.stop_reason), ("abcd", Some(StopReason::Aborted)));
    assert_eq!(reply.error_message.as_deref(), Some("Request was aborted"));
}

// It hangs, or ends as if all were well.

#[test]
fn a_model_that_fails_closes_everything() {
    let answers = [
        (Answer::Panics, "the model crashed: bug: in a model"),
        (Answer::SaysNothing, EARLY_END),
        (Answer::NeverAnswers, "Request was aborted"),
    ];
    for (answer, why) in answers {
        let run =
            Run { answers: vec![answer], stop: Stop::Patient, panicking_listener: usize::MAX };
        let records = play(&World { runs: vec![run], settings: Settings::default() });
        assert_eq!(brackets(&records[0].events()), Ok(()));
        let reply = last(&records[0]);
        assert_eq!(reply.content, []);
        assert_eq!(reply.error_message.as_deref(), Some(why));
        let Some(Message::Assistant(kept)) = records[0].after.messages.last() else { panic!() };
        assert_eq!(*kept, reply);
    }
}

/// All events are there before the first is taken. Whoever wants to stop the run must still get a
/// chance to say so, even on a runtime of one thread.
#[tokio::test]
async fn a_flood_of_events_does_not_keep_an_abort_from_being_heard() {
    let blocks = vec![json!({"text": "a"}); 1_000];
    let flood = serde_json::from_value(json!({"content": blocks})).unwrap();
    let model = TestModel::default();
    model.answers.lock().unwrap().push_back(Answer::Contradicts(flood, Some(StopReason::ToolUse)));
    let mut agent = Agent::new(Arc::new(model), Toolbox::default(), Settings::default());
    let token = CancellationToken::new();
    let person = token.clone();
    tokio::spawn(async move { person.cancel() });
    agent.run("go", &token, &mut Listeners::new()).await;
    let Some(Message::Assistant(reply)) = agent.context.messages.last() else { panic!("no reply") };
    assert_eq!(reply.stop_reason, Some(StopReason::Aborted));
    assert!(reply.content.len() < 1_000, "{}", reply.content.len());
}

/// The token of a tool is its own.
#[tokio::test]
async fn a_tool_can_not_stop_the_run() {
    let tool = TestTool {
        name: "gives_up",
        sequential: || false,
        act: |_, run| {
            async move { Ok(ToolOutput::new(format!("{:?}", run.cancel.cancel()))) }.boxed()
        },
        ran: Arc::default(),
    };
    let reply = serde_json::from_value(json!({"content": [call("a", "gives_up", "{}")]})).unwrap();
    let model = TestModel::default();
    model.answers.lock().unwrap().push_back(Answer::Plays(reply));
    let tools = Toolbox::new(vec![Arc::new(tool)]);
    let mut agent = Agent::new(Arc::new(model), tools, Settings::default());
    let token = CancellationToken::new();
    agent.run("go", &token, &mut Listeners::new()).await;
    assert!(!token.is_cancelled());
    assert!(matches!(&agent.context.messages[2], Message::ToolResult(result) if !result.is_error));
}

#[test]
fn a_tool_that_fails_costs_its_own_result_only() {
    let names = ["fails", "panics", "panics_later", "panics_when_asked", "unknown", "quick"];
    let calls: Vec<_> = names.iter().map(|name| call(name, name, r#"{"tag":1}"#)).collect();
    let record = run(json!([{"content": calls}]));
    let texts: Vec<_> = results(&record).iter().map(|r| (r.is_error, text(r).to_owned())).collect();
    let expected = [
        (true, "kaput"),
        (true, "the tool crashed: bug: in a tool"),
        (true, "the tool crashed: no message"),
        (true, "the tool crashed: bug: can't even say whether it wants to be alone"),
        (
            true,
            "unknown tool \"unknown\"; the tools are: quick, slow, alone, chatty, fails, panics, \
                panics_later, panics_when_asked, deaf, stubborn, talks_on",
        ),
        (false, "answer 1"),
    ];
    assert_eq!(texts, expected.map(|(is_error, text)| (is_error, text.to_owned())));
}

#[test]
fn the_cap_on_turns_is_exact() {
    let call = json!({"content": [call("", "quick", "{}")]});
    for max_turns in 0..4 {
        let replies = json!([call, call, call]);
        let settings = Settings { max_turns, ..Settings::default() };
        let record = run_once(replies, Stop::Patient, settings);
        assert_eq!(record.requests.len(), max_turns.max(1));
        assert_eq!(results(&record).len(), max_turns.max(1));
        let error = last(&record);
        assert_eq!((error.stop_reason, error.content.len()), (Some(StopReason::Error), 0));
        assert!(error.error_message.unwrap().contains("max-turns"));
    }
    let settings = Settings { max_turns: 4, ..Settings::default() };
    let record = run_once(json!([call, call, call]), Stop::Patient, settings);
    assert_eq!(last(&record).text(), "bye");
}

// Cost grows.

/// However progress is throttled, arguments are shown as they come.
#[test]
fn arguments_are_seen_while_they_stream_in() {
    let record = run(json!([{"content": [call("a", "quick", r#"{"path":"a","tag":1}"#)],
        "chunk": {"size": 11}}]));
    let event = record.events().into_iter().find_map(|event| match event {
        AgentEvent::MessageUpdate(update) => match update.0.change {
            Change::ToolcallDelta { .. } => Some(AgentEvent::MessageUpdate(update)),
            _ => None,
        },
        _ => None,
    });
    let json = serde_json::to_value(event.unwrap()).unwrap();
    assert_eq!(json["message"]["content"][0]["arguments"], json!({"path": "a"}));
    assert_eq!(json["assistantMessageEvent"]["delta"], r#"{"path":"a""#);
}

/// The two bargains, as the demo counts them: an error after some text.
#[test]
fn what_the_two_bargains_keep() {
    use step04_agent_loop::history::Fold;
    let replies = json!([{"content": [{"text": "so f"}], "end": {"error": "line is down"}}]);
    for (fold, count) in [(Fold::InPlace, 2), (Fold::OnDone, 1)] {
        let settings = Settings { fold, ..Settings::default() };
        let record = run_once(replies.clone(), Stop::Patient, settings);
        assert_eq!(record.after.messages.len(), count);
        assert_eq!(last(&record).error_message.as_deref(), Some("line is down"));
    }
}

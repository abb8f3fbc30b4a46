//! Recording and replaying.

mod runs;

use std::error::Error;
use std::io;
use std::path::Path;
use std::str::Utf8Error;
use std::sync::Arc;

use futures::FutureExt;
use proptest::prelude::*;
use runs::{Case, Turn, case, converse, on_paused_clock};
use serde_json::{Value, json};
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::history::Fold;
use step04_agent_loop::json_lines::FileError;
use step04_agent_loop::message::Message;
use step04_agent_loop::model::Model;
use step04_agent_loop::record::Recorder;
use step04_agent_loop::replay::{Replay, Tempo};

/// The lines of a conversation with this model.
fn record(case: &Case, model: Arc<dyn Model>, full: bool) -> Vec<u8> {
    let mut lines = Vec::new();
    on_paused_clock(async {
        let mut agent = case.agent(model);
        let mut recorder =
            if full { Recorder::full(&mut lines) } else { Recorder::lean(&mut lines) };
        converse(&mut agent, &case.turns, |event| recorder.on_event(event)).await;
    });
    lines
}

fn replay(record: &[u8]) -> Arc<Replay> {
    let text = || String::from_utf8_lossy(record);
    Arc::new(parse(record).unwrap_or_else(|error| panic!("{error}\n{}", text())))
}

fn parse(record: &[u8]) -> Result<Replay, FileError> {
    Replay::parse(Path::new("record"), record)
}

/// The events of a record, times aside.
fn events(record: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(record).expect("UTF-8").lines();
    let event = |line| {
        let mut event: Value = serde_json::from_str(line).expect("JSON");
        assert!(event.as_object_mut().expect("an object").remove("t").is_some(), "{line}");
        event
    };
    lines.map(event).collect()
}

fn assert_same(again: &[u8], first: &[u8]) {
    let (again, first) = (events(again), events(first));
    for (number, (again, first)) in again.iter().zip(&first).enumerate() {
        assert_eq!(again, first, "event {number}");
    }
    assert_eq!(again.len(), first.len());
}

/// Stops the person from doing anything but talk.
fn hands_off(case: &Case) -> Case {
    let turns = case.turns.iter().map(|turn| Turn { cancel_at: None, ..turn.clone() }).collect();
    Case { turns, ..case.clone() }
}

/// Whether somebody has stopped it elsewhere than in a reply that had begun.
fn stopped_between_replies(record: &[u8]) -> bool {
    let aborted_tool =
        |event: &Value| event["result"]["content"][0]["text"] == "aborted before it was done";
    let mut refused = false;
    events(record).iter().any(|event| {
        if event["type"] == "message_end" && event["message"]["role"] == "assistant" {
            refused = event["message"]["stopReason"] == "aborted";
        }
        event["type"] == "message_start" && event["message"]["stopReason"] == "aborted"
            || !refused && aborted_tool(event)
    })
}

proptest! {
    #![proptest_config(runs::config())]

    /// The person does again what they did: everything comes again, whatever was stopped.
    #[test]
    fn recording_a_replay_gives_the_same_record(case in case(), full in any::<bool>()) {
        let first = record(&case, case.model(), full);
        assert_same(&record(&case, replay(&first), full), &first);
    }

    /// The person only talks: replies that they had stopped stop by themselves.
    #[test]
    fn what_was_stopped_stops_without_the_person(case in case()) {
        let first = record(&case, case.model(), false);
        prop_assume!(!stopped_between_replies(&first));
        let again = hands_off(&case);
        assert_same(&record(&again, replay(&first), false), &first);
    }

    /// Lean is full without `message` and `partial`, and says as much.
    #[test]
    fn lean_and_full_say_the_same(case in case()) {
        let (lean, full) = (record(&case, case.model(), false), record(&case, case.model(), true));
        let mut stripped = events(&full);
        for event in &mut stripped {
            if event["type"] == "message_update" {
                prop_assert!(event.as_object_mut().expect("an object").shift_remove("message").is_some());
                let inner = event["assistantMessageEvent"].as_object_mut().expect("an object");
                prop_assert!(inner.shift_remove("partial").is_some());
            }
        }
        prop_assert_eq!(events(&lean), stripped);
        assert_same(&record(&case, replay(&full), false), &lean);
    }

    /// A record with a line that is missing or spoiled is refused, or plays without panic or hang.
    #[test]
    fn a_spoiled_record_is_no_danger(case in case(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut spoiled = record(&case, case.model(), false);
        let at = at.index(spoiled.len());
        spoiled[at] = byte;
        if let Ok(replay) = parse(&spoiled) {
            record(&hands_off(&case), Arc::new(replay), false);
        }
    }
}

fn simple(replies: Value, turns: usize) -> Case {
    let turns = (0..turns).map(|_| Turn { text: "go".into(), cancel_at: None }).collect();
    Case {
        script: json!({"rules": [{"replies": replies}], "pace": {"delayMs": 20}, "chunk": {"size": 2}}),
        turns,
        fold: Fold::InPlace,
        sequential: false,
        max_turns: 9,
    }
}

fn one_tool() -> Case {
    let order = json!({"every": 1, "updates": 2, "end": {"well": "done"}, "obeys": true});
    let call = json!({"toolCall": {"name": "work", "arguments": order}});
    simple(json!([{"content": [{"thinking": "hm"}, call]}, {"content": [{"text": "abcd"}]}]), 1)
}

/// What the last message of a conversation with this replay says went wrong.
fn last_error(case: &Case, replay: Replay) -> Option<String> {
    on_paused_clock(async {
        let mut agent = case.agent(Arc::new(replay));
        converse(&mut agent, &case.turns, |_| {}).await;
        match agent.context.messages.pop() {
            Some(Message::Assistant(message)) => message.error_message,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn each_event_is_a_line_with_its_time() {
    let first = record(&simple(json!([{"content": [{"text": "abcd"}]}]), 1), one_text(), false);
    let text = String::from_utf8(first).unwrap();
    let expected = r#"{"t":0,"type":"agent_start"}
{"t":0,"type":"turn_start"}
{"t":0,"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"t":0,"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"t":0,"type":"message_start","message":{"role":"assistant","content":[]}}
{"t":0,"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0}}
{"t":20,"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"ab"}}
{"t":40,"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"cd"}}
{"t":40,"type":"message_update","assistantMessageEvent":{"type":"text_end","contentIndex":0,"content":"abcd"}}
{"t":40,"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"abcd"}],"stopReason":"stop"}}
"#;
    assert!(text.starts_with(expected), "{text}");
}

fn one_text() -> Arc<dyn Model> {
    simple(json!([{"content": [{"text": "abcd"}]}]), 1).model()
}

#[test]
fn a_replay_keeps_the_pace_if_it_is_asked_to() {
    let case = one_tool();
    let first = record(&case, case.model(), false);
    let paced = parse(&first).unwrap().at(Tempo::AsRecorded);
    assert_eq!(record(&case, Arc::new(paced), false), first, "times included");
    let at_once = record(&case, replay(&first), false);
    let last = String::from_utf8(at_once).unwrap();
    assert!(last.lines().last().unwrap().starts_with(r#"{"t":2,"#), "the tool's two ms: {last}");
}

#[test]
fn the_inputs_of_a_record_are_there() {
    let case = simple(json!([{"content": []}]), 2);
    assert_eq!(replay(&record(&case, case.model(), false)).inputs, ["go", "go"]);
}

#[test]
fn more_requests_than_recorded_end_with_an_error() {
    let case = one_tool();
    let first = record(&case, case.model(), false);
    let more = Case { turns: [case.turns.clone(), case.turns.clone()].concat(), ..case };
    let error = last_error(&more, parse(&first).unwrap());
    assert_eq!(error.as_deref(), Some("the record has no reply 1 in run 2"));
}

/// The record of a run in which a tool was stopped; nobody stops it now.
#[test]
fn a_tool_that_was_stopped_runs_again_and_the_run_ends_as_it_did() {
    let mut case = one_tool();
    let first = record(&case, case.model(), false);
    let start = events(&first).iter().position(|event| event["type"] == "tool_execution_start");
    case.turns[0].cancel_at = start.map(|index| index + 1);
    let stopped = record(&case, case.model(), false);
    assert_ne!(events(&stopped), events(&first));
    let again = record(&hands_off(&case), replay(&stopped), false);
    let ends: Vec<_> =
        events(&again).into_iter().filter(|event| event["type"] == "message_end").collect();
    assert_eq!(ends[2]["message"]["content"][0]["text"], "done");
    assert_eq!(ends[3]["message"]["stopReason"], "aborted");
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_is_called_off_says_so() {
    let case = one_tool();
    let mut lines = Vec::new();
    let mut recorder = Recorder::lean(&mut lines);
    converse(&mut case.agent(case.model()), &case.turns, |event| recorder.on_event(event)).await;
    let options = step04_agent_loop::model::StreamOptions::default();
    options.cancel.cancel();
    let context = step04_agent_loop::message::Context { messages: vec![Message::user("go")] };
    let result = replay(&lines).stream(&context, options).result().await.unwrap();
    assert_eq!(result.error_message.as_deref(), Some("Request was aborted"));
    assert!(result.content.is_empty());
}

/// Without a runtime nothing can be played, and nothing panics.
#[test]
fn outside_a_runtime_it_is_an_error() {
    let case = one_tool();
    let replay = replay(&record(&case, case.model(), false));
    let context = step04_agent_loop::message::Context { messages: vec![Message::user("go")] };
    let stream = replay.stream(&context, Default::default());
    let result = stream.result().now_or_never().expect("at once").unwrap();
    assert!(result.error_message.unwrap().contains("runtime"));
}

/// What is wrong with a record, if it is changed so.
fn fault(change: impl FnOnce(&mut Vec<String>)) -> String {
    let case = one_tool();
    let first = String::from_utf8(record(&case, case.model(), false)).unwrap();
    let mut lines: Vec<String> = first.lines().map(str::to_owned).collect();
    change(&mut lines);
    match parse(lines.join("\n").as_bytes()) {
        Ok(_) => panic!("accepted: {lines:#?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_spoiled_record_is_an_error_that_names_the_line() {
    let remove = |at: usize| fault(|lines| drop(lines.remove(at)));
    let replace = |at: usize, a: &str, b: &str| fault(|lines| lines[at] = lines[at].replace(a, b));
    let cases = [
        (remove(0), "line 1: it belongs to a message or run that has not begun"),
        (remove(4), "line 5: it belongs to a message or run that has not begun"),
        (
            remove(5),
            "line 39: the reply that ends here can't be played: wrong order of events: no block of this kind is open at 0",
        ),
        (
            remove(6),
            "line 39: the reply that ends here can't be played: wrong order of events: the end of block 0 differs from its deltas",
        ),
        (
            fault(|lines| drop(lines.pop())),
            "here the program that wrote it was stopped, in the middle of a run: delete what follows \
             the last `agent_end`",
        ),
        (fault(|lines| lines.truncate(9)), "line 9: here the program that wrote it was stopped"),
        (
            fault(|lines| lines.extend([lines[0].clone(), lines[0].clone()])),
            "the message or run before it has no end",
        ),
        (
            fault(|lines| {
                let last = lines.pop().unwrap();
                lines.extend([last.clone(), last]);
            }),
            "it belongs to a message or run that has not begun",
        ),
        (
            replace(0, "agent_start", "agent_begin"),
            "line 1: column 28: unknown variant `agent_begin`",
        ),
        (replace(1, "}", ""), "line 2: column 26: EOF while parsing"),
        (replace(1, "}", "}}"), "line 2: column 28: trailing characters"),
        (replace(3, "content", "contents"), "line 4: column 95: unknown field `contents`"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}\nand not: {expected}");
        assert!(!error.contains("at line 1 column"), "{error}");
    }
}

/// A program that is killed while it records leaves a record that is cut, anywhere.
#[test]
fn a_record_that_was_cut_off_says_what_to_do() {
    let case = one_tool();
    let whole = record(&case, case.model(), false);
    for end in (1..whole.len() - 1).step_by(7) {
        let error = parse(&whole[..end]).expect_err("the run has no end").to_string();
        assert!(error.contains("delete what follows the last `agent_end`"), "{end}: {error}");
    }
    // The line end may be missing; and what was whole before can be played again.
    parse(&whole[..whole.len() - 1]).expect("a whole record");
    let twice = [&whole[..], &whole[..9]].concat();
    let lines = whole.split(|&byte| byte == b'\n').count();
    let error = parse(&twice).expect_err("the second run has no end").to_string();
    assert!(error.contains(&format!("line {lines}: here the program")), "{error}");
}

#[test]
fn each_reply_must_end_before_anything_else_comes() {
    let error = fault(|lines| {
        let end =
            lines.iter().position(|line| line.contains("message_end") && line.contains("toolUse"));
        lines.remove(end.unwrap());
    });
    assert!(error.contains("the message or run before it has no end"), "{error}");
    let error = fault(|lines| {
        let end =
            lines.iter_mut().find(|line| line.contains("message_end") && line.contains("toolUse"));
        let end = end.unwrap();
        *end = end.replace(r#","stopReason":"toolUse""#, "");
    });
    assert!(error.contains("the message ends without a `stopReason`"), "{error}");
    let error = fault(|lines| {
        let end =
            lines.iter_mut().find(|line| line.contains("message_end") && line.contains("toolUse"));
        let end = end.unwrap();
        *end = end.replace(r#""stopReason""#, r#""errorMessage":"x","stopReason""#);
    });
    assert!(error.contains("can't be played: its `errorMessage` has no reason"), "{error}");
}

#[test]
fn bytes_that_are_no_text_and_files_that_are_not_there() {
    let error = parse(b"\n{\"type\":\"agent_\xff\"}").unwrap_err();
    assert!(error.to_string().contains("\"record\" is damaged in line 2: not UTF-8: "), "{error}");
    assert!(error.source().and_then(Error::source).is_some_and(|cause| cause.is::<Utf8Error>()));
    let error = parse(b"{]").unwrap_err();
    let cause = error.source().and_then(Error::source);
    assert!(cause.is_some_and(|cause| cause.is::<serde_json::Error>()));
    let folder = tempfile::tempdir().unwrap();
    let error = Replay::load(folder.path().join("none")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read \""), "{error}");
    assert!(error.source().is_some_and(|cause| cause.is::<io::Error>()));
    assert!(parse(b"").is_ok(), "an empty record has no replies");
}

/// A disk that is full for a moment: the second write fails.
struct Disk<'a> {
    writes: usize,
    bytes: &'a mut Vec<u8>,
}

impl io::Write for Disk<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        if self.writes == 2 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_ends_the_record_and_not_the_run() {
    let mut bytes = Vec::new();
    let mut recorder = Recorder::lean(Disk { writes: 0, bytes: &mut bytes });
    recorder.on_event(&AgentEvent::AgentStart);
    assert!(recorder.error().is_none());
    recorder.on_event(&AgentEvent::TurnStart);
    recorder.on_event(&AgentEvent::TurnStart); // there would be room again
    assert_eq!(recorder.error().map(io::Error::kind), Some(io::ErrorKind::StorageFull));
    assert_eq!(bytes, b"{\"t\":0,\"type\":\"agent_start\"}\n");
}

/// What is nested as deeply as arguments may be is recorded in a line that can be read again.
#[test]
fn the_deepest_arguments_can_be_played_back() {
    for depth in [90, 99, 100, 101, 125, 126, 127, 128] {
        let arguments = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let script = json!({"rules": [{"replies": [
            {"content": [{"toolCall": {"name": "read", "argumentsText": arguments}}]},
            {"content": [{"text": "ok"}]}
        ]}]});
        let model = || {
            let script = step04_agent_loop::script::Script::parse(&script.to_string()).unwrap();
            Arc::new(step04_agent_loop::fake_model::FakeModel::new(script))
        };
        let case = one_tool();
        for full in [false, true] {
            let first = record(&case, model(), full);
            assert_same(&record(&case, replay(&first), full), &first);
        }
    }
}

/// `--delay-ms` means the same for a record as for a script: a pause before each delta.
#[test]
fn a_fixed_tempo_counts_deltas() {
    let case = one_tool();
    let first = record(&case, case.model(), false);
    let paced = parse(&first).unwrap().at(Tempo::Every(std::time::Duration::from_millis(10)));
    let again = record(&case, Arc::new(paced), false);
    let deltas = events(&first).into_iter().filter(|event| {
        let kind = event["assistantMessageEvent"]["type"].as_str().unwrap_or_default();
        kind.ends_with("_delta")
    });
    let last = std::str::from_utf8(&again).unwrap().lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let (t, pauses) = (last["t"].as_u64().unwrap(), 10 * deltas.count() as u64);
    assert!((pauses..pauses + 10).contains(&t), "{t} ms; the tool takes some of them");
}

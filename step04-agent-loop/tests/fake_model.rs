//! The scripted model: any script, any time of an abort, any text.

mod common;

use std::time::Duration;

use common::{changes, check_order, take};
use futures::FutureExt;
use proptest::prelude::*;
use proptest::sample::Index;
use step04_agent_loop::event::{Change, StreamEvent};
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::message::{AssistantMessage, Context, Message, StopReason};
use step04_agent_loop::model::{Model, StreamOptions};
use step04_agent_loop::reply::{ABORTED, EARLY_END, ReplyStream};
use step04_agent_loop::script::{Block, Call, Chunk, End, Pace, Reply, Rule, Script};
use tokio::time::{Instant, sleep};
use unicode_segmentation::UnicodeSegmentation;

fn of(reply: Reply) -> FakeModel {
    let rule = Rule { replies: vec![reply], ..Rule::default() };
    FakeModel::new(Script { rules: vec![rule], ..Script::default() })
}

fn scripted(json: &str) -> FakeModel {
    FakeModel::new(Script::parse(json).unwrap())
}

fn ask(model: &FakeModel, options: &StreamOptions) -> ReplyStream {
    let messages = vec![Message::user("go")];
    model.stream(&Context { messages }, options.clone())
}

/// Runs `future` on a runtime of its own, with a clock that jumps as soon as all wait.
fn paused<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(future)
}

async fn all(stream: &ReplyStream) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

fn run(reply: Reply) -> Vec<Change> {
    paused(async { changes(&all(&ask(&of(reply), &StreamOptions::default())).await) })
}

fn last_message(changes: &[Change]) -> AssistantMessage {
    changes.last().unwrap().final_message().unwrap().clone()
}

fn block() -> impl Strategy<Value = Block> {
    let call = (common::id(), prop::option::of(common::text())).prop_map(|(id, arguments_text)| {
        Block::ToolCall(Call { name: "read".into(), id, arguments_text })
    });
    prop_oneof![
        common::text().prop_map(Block::Text),
        common::text().prop_map(Block::Thinking),
        call
    ]
}

fn end() -> impl Strategy<Value = Option<End>> {
    let ends = [
        None,
        Some(End::Stop),
        Some(End::Length),
        Some(End::ToolUse),
        Some(End::Error("no".into())),
        Some(End::Aborted),
        Some(End::EarlyEnd),
        Some(End::Silence),
    ];
    prop::sample::select(ends.to_vec())
}

fn chunk() -> impl Strategy<Value = Option<Chunk>> {
    let size = (1..9_usize).prop_map(|size| Chunk::Size(size.try_into().unwrap()));
    let random = (1..5_usize, 0..5_usize, any::<u64>()).prop_map(|(min, more, seed)| {
        let max = (min + more).try_into().unwrap();
        Chunk::Random { min: min.try_into().unwrap(), max, seed }
    });
    prop::option::of(prop_oneof![size, random])
}

fn pace() -> impl Strategy<Value = Option<Pace>> {
    let tokens = (1..500_u32).prop_map(|count| Pace::TokensPerSecond(count.try_into().unwrap()));
    prop::option::of(prop_oneof![(0..50_u64).prop_map(Pace::DelayMs), tokens])
}

prop_compose! {
    fn reply()(
        content in prop::collection::vec(block(), 0..5),
        interleave in any::<bool>(),
        end in end(),
        after in prop::option::of(0..12_usize),
        chunk in chunk(),
        pace in pace(),
    ) -> Reply {
        Reply { content, interleave, end, after, chunk, pace }
    }
}

/// All that is said under each index.
fn said(changes: &[Change]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for change in changes {
        match change {
            Change::TextStart { .. }
            | Change::ThinkingStart { .. }
            | Change::ToolcallStart { .. } => said.push(String::new()),
            Change::TextDelta { content_index, delta }
            | Change::ThinkingDelta { content_index, delta }
            | Change::ToolcallDelta { content_index, delta } => said[*content_index] += delta,
            _ => {}
        }
    }
    said
}

fn is_delta(change: &Change) -> bool {
    let kinds = ["text_delta", "thinking_delta", "toolcall_delta"];
    kinds.contains(&serde_json::to_value(change).unwrap()["type"].as_str().unwrap())
}

fn text_of(block: &Block) -> &str {
    match block {
        Block::Text(text) | Block::Thinking(text) => text,
        Block::ToolCall(call) => call.arguments_text.as_deref().unwrap_or_default(),
    }
}

proptest! {
    /// P1, P2, P7: any script gives a right stream, and its result settles.
    #[test]
    fn any_script_gives_a_right_stream(reply in reply()) {
        prop_assume!(reply.end != Some(End::Silence));
        let (seen, result) = paused(async {
            let stream = ask(&of(reply), &StreamOptions::default());
            (changes(&all(&stream).await), stream.result().await.unwrap())
        });
        check_order(&seen);
        prop_assert_eq!(result, last_message(&seen));
    }

    /// All that the script says is said, unless it breaks off; and then a beginning of it.
    #[test]
    fn the_model_says_what_the_script_says(reply in reply()) {
        prop_assume!(reply.end != Some(End::Silence));
        let seen = run(reply.clone());
        let said = said(&seen);
        for (said, block) in said.iter().zip(&reply.content) {
            prop_assert!(text_of(block).starts_with(said.as_str()));
        }
        let deltas = seen.iter().filter(|change| is_delta(change)).count();
        match reply.after {
            Some(after) if deltas == after => {}
            _ => {
                let whole: Vec<_> = reply.content.iter().map(text_of).collect();
                prop_assert_eq!(said, whole);
                prop_assert!(reply.after.is_none_or(|after| deltas < after));
            }
        }
    }

    /// No grapheme cluster is ever torn: every cut is a boundary of the whole text.
    #[test]
    fn no_character_is_torn(text in common::text(), chunk in chunk(), kind in 0..3) {
        let block = match kind {
            0 => Block::Text(text.clone()),
            1 => Block::Thinking(text.clone()),
            _ => {
                let arguments_text = Some(text.clone());
                Block::ToolCall(Call { arguments_text, ..Call::default() })
            }
        };
        let boundaries: Vec<_> = text.grapheme_indices(true).map(|(at, _)| at).collect();
        let mut at = 0;
        for change in run(Reply { content: vec![block], chunk, ..Reply::default() }) {
            if let Change::TextDelta { delta, .. }
            | Change::ThinkingDelta { delta, .. }
            | Change::ToolcallDelta { delta, .. } = change
            {
                prop_assert!(at == 0 || boundaries.contains(&at));
                prop_assert!(!delta.is_empty() || text.is_empty());
                let clusters = delta.graphemes(true).count();
                match chunk.unwrap_or_default() {
                    Chunk::Size(size) => prop_assert!(clusters <= size.get()),
                    Chunk::Random { max, .. } => prop_assert!(clusters <= max.get()),
                }
                at += delta.len();
            }
        }
        prop_assert_eq!(at, text.len());
    }

    /// The same script and seed, the same stream.
    #[test]
    fn a_script_is_deterministic(reply in reply()) {
        prop_assume!(reply.end != Some(End::Silence));
        prop_assert_eq!(run(reply.clone()), run(reply));
    }

    /// Interleaved or not, a block has the same deltas; interleaved, no block is two deltas ahead
    /// of another that still has some.
    #[test]
    fn blocks_take_turns(texts in prop::collection::vec(common::text(), 0..5)) {
        let content: Vec<_> = texts.into_iter().map(Block::Text).collect();
        let reply = Reply { content, ..Reply::default() };
        let one_by_one = run(reply.clone());
        let in_turn = run(Reply { interleave: true, ..reply.clone() });
        check_order(&in_turn);
        prop_assert_eq!(said(&one_by_one), said(&in_turn));
        let of = |index| move |change: &&Change| change.content_index() == Some(index);
        for index in 0..reply.content.len() {
            let a: Vec<_> = one_by_one.iter().filter(of(index)).collect();
            let b: Vec<_> = in_turn.iter().filter(of(index)).collect();
            prop_assert_eq!(a, b);
        }
        let deltas: Vec<_> = in_turn.iter().filter(|change| is_delta(change)).collect();
        let mut rounds = vec![0; reply.content.len()];
        let mut round_of_last = 0;
        for index in deltas.iter().filter_map(|change| change.content_index()) {
            rounds[index] += 1;
            prop_assert!(rounds[index] >= round_of_last, "a round goes on after the next has begun");
            round_of_last = rounds[index];
        }
    }

    /// Aborted at any time, or after any event: nothing comes after it but `error(aborted)`, and
    /// what came before is what would have come anyway.
    #[test]
    fn an_abort_keeps_what_had_arrived(reply in reply(), at in 0..400_u64, event in any::<Index>()) {
        let mut uncut = reply.clone();
        if uncut.end == Some(End::Silence) {
            uncut.end = Some(End::EarlyEnd);
        }
        let uncut = run(uncut);
        let by_time = paused(abort_at(reply.clone(), Duration::from_millis(at)));
        let by_event = paused(abort_after(reply, event.index(uncut.len())));
        for seen in [by_time, by_event] {
            check_order(&seen);
            let (last, before) = seen.split_last().unwrap();
            prop_assert_eq!(before, &uncut[..before.len()]);
            let message = last.final_message().unwrap();
            let came_too_late = Some(last) == uncut.last();
            prop_assert!(came_too_late || message.stop_reason == Some(StopReason::Aborted));
            prop_assert!(came_too_late || message.error_message.as_deref() == Some(ABORTED));
        }
    }
}

async fn abort_at(reply: Reply, at: Duration) -> Vec<Change> {
    let options = StreamOptions::default();
    let stream = ask(&of(reply), &options);
    sleep(at).await;
    options.cancel.cancel();
    changes(&all(&stream).await)
}

async fn abort_after(reply: Reply, event: usize) -> Vec<Change> {
    let options = StreamOptions::default();
    let stream = ask(&of(reply), &options);
    let mut seen = Vec::new();
    for _ in 0..=event {
        // A silent script stops before its end, and an abort must get us out.
        let next = tokio::time::timeout(Duration::from_secs(3600), stream.next()).await;
        seen.extend(next.ok().flatten());
    }
    options.cancel.cancel();
    seen.extend(all(&stream).await);
    changes(&seen)
}

/// "A model that never answers, then abort": at once, at any point of its silence.
#[tokio::test(start_paused = true)]
async fn silence_ends_with_an_abort_and_only_so() {
    for after in 0..4 {
        let content = vec![Block::Text("abcdefgh".into())];
        let end = Some(End::Silence);
        let options = StreamOptions::default();
        let model = of(Reply { content, end, after: Some(after), ..Reply::default() });
        let stream = ask(&model, &options);
        let result = stream.result();
        sleep(Duration::from_secs(3600)).await;
        assert!(stream.result().now_or_never().is_none(), "silent for an hour");
        let before = Instant::now();
        options.cancel.cancel();
        let message = result.await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert_eq!(message.stop_reason, Some(StopReason::Aborted));
        assert_eq!(message.text(), "abcdefgh"[..4 * after.min(2)]);
    }
}

/// An abort in the middle of a long pause doesn't wait for its end.
#[tokio::test(start_paused = true)]
async fn an_abort_does_not_wait_for_a_pause() {
    let pace = Some(Pace::DelayMs(u64::MAX));
    let content = vec![Block::Text("never".into())];
    let options = StreamOptions::default();
    let stream = ask(&of(Reply { content, pace, ..Reply::default() }), &options);
    let cancel = options.cancel.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(7)).await;
        cancel.cancel();
    });
    let before = Instant::now();
    stream.result().await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_millis(7));
}

/// A token that was cancelled before the request: the model says nothing.
#[tokio::test]
async fn cancelled_beforehand_nothing_is_said() {
    let options = StreamOptions::default();
    options.cancel.cancel();
    let stream =
        ask(&of(Reply { content: vec![Block::Text("a".into())], ..Reply::default() }), &options);
    let seen = changes(&all(&stream).await);
    assert_eq!(seen.len(), 2);
    assert_eq!(last_message(&seen).stop_reason, Some(StopReason::Aborted));
}

/// `start, text_delta, ⟂` and its kind: wherever it stops, it is an error and the text is kept.
#[test]
fn a_stream_that_just_ends_is_an_error() {
    let content = vec![
        Block::Thinking("hm, hm".into()),
        Block::Text("partial text".into()),
        Block::ToolCall(Call { arguments_text: Some("{\"a\":1}".into()), ..Call::default() }),
    ];
    let whole = run(Reply { content: content.clone(), ..Reply::default() });
    for after in 0..=7 {
        let end = Some(End::EarlyEnd);
        let seen =
            run(Reply { content: content.clone(), end, after: Some(after), ..Reply::default() });
        let (last, before) = seen.split_last().unwrap();
        assert_eq!(before, &whole[..before.len()]);
        let message = last.final_message().unwrap();
        assert_eq!(message.stop_reason, Some(StopReason::Error));
        assert_eq!(message.error_message.as_deref(), Some(EARLY_END));
        assert_eq!(before.iter().filter(|change| is_delta(change)).count(), after);
    }
}

/// The consumer drops after one event: the producer's task ends, though it has an hour of work.
#[tokio::test(start_paused = true)]
async fn the_producer_stops_when_the_consumer_goes() {
    let content = vec![Block::Text("a".repeat(100_000))];
    for end in [End::Stop, End::Silence] {
        let pace = Some(Pace::DelayMs(1000));
        let reply = Reply { content: content.clone(), pace, end: Some(end), ..Reply::default() };
        let stream = ask(&of(reply), &StreamOptions::default());
        stream.next().await.unwrap();
        let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        assert_eq!(alive(), 1);
        drop(stream);
        sleep(Duration::from_millis(1)).await;
        assert_eq!(alive(), 0, "within a millisecond, not within a day");
    }
}

/// With only a result handle left, the model goes on: somebody wants the message.
#[tokio::test]
async fn a_result_handle_alone_gets_the_message() {
    let stream = ask(
        &of(Reply { content: vec![Block::Text("all of it".into())], ..Reply::default() }),
        &StreamOptions::default(),
    );
    let result = stream.result();
    drop(stream);
    assert_eq!(result.await.unwrap().text(), "all of it");
}

/// Outside a runtime there is nobody to run the task. That too is an event.
#[test]
fn without_a_runtime_it_is_an_error_event() {
    let stream = ask(&of(Reply::default()), &StreamOptions::default());
    let message = common::result(&stream);
    assert_eq!(message.stop_reason, Some(StopReason::Error));
    assert!(message.error_message.unwrap().contains("no reactor running"));
    check_order(&changes(&take(&stream)));
}

#[tokio::test(start_paused = true)]
async fn each_delta_takes_its_time() {
    let cases =
        [(r#"{"delayMs":30}"#, 90), (r#"{"tokensPerSecond":20}"#, 150), (r#"{"delayMs":0}"#, 0)];
    for (pace, millis) in cases {
        let reply = r#"{"content":[{"text":"abcdefghijkl"}]}"#;
        let script = format!(r#"{{"pace":{pace},"rules":[{{"replies":[{reply}]}}]}}"#);
        let before = Instant::now();
        ask(&scripted(&script), &StreamOptions::default()).result().await.unwrap();
        assert_eq!(before.elapsed(), Duration::from_millis(millis), "{pace}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_overrides_chunk_and_pace() {
    let script = r#"{"chunk":{"size":1},"pace":{"delayMs":1000},"rules":[{"replies":[
        {"content":[{"text":"abcdef"}],"chunk":{"size":3},"pace":{"delayMs":5}}]}]}"#;
    let before = Instant::now();
    let stream = ask(&scripted(script), &StreamOptions::default());
    let deltas = changes(&all(&stream).await).iter().filter(|change| is_delta(change)).count();
    assert_eq!((deltas, before.elapsed()), (2, Duration::from_millis(10)));
}

/// The same seed cuts the same on every machine: these cuts are part of the lessons.
#[test]
fn random_cuts_are_pinned() {
    let chunk = |min: usize, max: usize, seed| {
        let (min, max) = (min.try_into().unwrap(), max.try_into().unwrap());
        let content = vec![Block::Text("abcdefghijklmnopqrstuvwxyz".into())];
        let chunk = Some(Chunk::Random { min, max, seed });
        let seen = run(Reply { content, chunk, ..Reply::default() });
        let deltas = seen.iter().filter_map(|change| match change {
            Change::TextDelta { delta, .. } => Some(delta.clone()),
            _ => None,
        });
        deltas.collect::<Vec<_>>().join("|")
    };
    assert_eq!(chunk(3, 3, 9), "abc|def|ghi|jkl|mno|pqr|stu|vwx|yz");
    assert_eq!(chunk(1, usize::MAX, 9), "abcdefghijklmnopqrstuvwxyz");
    assert_eq!(chunk(1, 8, 7), "abcdefgh|ijklm|nop|qrst|uvw|xy|z");
    assert_ne!(chunk(1, 8, 7), chunk(1, 8, 8));
}

/// Which reply answers which request: the k-th since the last user message.
#[test]
fn the_kth_request_gets_the_kth_reply() {
    let model = scripted(
        r#"{"rules":[
            {"match":"tool","replies":[{"content":[{"text":"one"}]},{"content":[{"text":"two"}]}]},
            {"match":"loop","repeat":true,"replies":[{"content":[{"text":"a"}]},{"content":[{"text":"b"}]}]},
            {"match":"other","replies":[{"content":[{"text":"other"}]}]}
        ]}"#,
    );
    let answered = |inputs: &[&str], answers: usize| {
        let mut messages: Vec<_> = inputs.iter().map(|input| Message::user(*input)).collect();
        let answer = Message::Assistant(AssistantMessage::default());
        messages.extend(std::iter::repeat_n(answer, answers));
        let message = paused(async {
            model.stream(&Context { messages }, StreamOptions::default()).result().await
        });
        let message = message.unwrap();
        message.error_message.clone().unwrap_or_else(|| message.text())
    };
    assert_eq!(answered(&["a tool please"], 0), "one");
    assert_eq!(answered(&["a tool please"], 1), "two");
    assert_eq!(answered(&["a tool please"], 2), "the rule for \"tool\" has no more than 2 replies");
    assert_eq!(answered(&["other"], 1), "the rule for \"other\" has no more than 1 reply");
    assert_eq!(answered(&["loop"], 0), "a");
    assert_eq!(answered(&["loop"], 1), "b");
    assert_eq!(answered(&["loop"], 9), "b");
    assert_eq!(answered(&["tool", "other"], 0), "other", "only the last user message counts");
    assert_eq!(answered(&["other", "tool"], 0), "one");
    let nothing = answered(&["hello"], 0);
    assert_eq!(nothing, "no rule of the script fits \"hello\"; a rule without `match` fits all");
}

/// A made id is not one that the history has.
#[tokio::test]
async fn ids_differ_from_those_of_the_history() {
    let model = scripted(
        r#"{"rules":[{"repeat":true,"replies":[{"content":[{"toolCall":{"name":"read"}}]}]}]}"#,
    );
    let mut messages = vec![Message::user("go")];
    let mut ids = Vec::new();
    for _ in 0..3 {
        let stream =
            model.stream(&Context { messages: messages.clone() }, StreamOptions::default());
        let message = stream.result().await.unwrap();
        ids.extend(message.tool_calls().map(|call| call.id.clone()));
        messages.push(Message::Assistant(message));
    }
    assert_eq!(ids, ["call", "call-2", "call-3"]);
}

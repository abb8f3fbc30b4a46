//! Faults that users of such systems met, each widened to its kind: the side of the stream.

mod common;

use std::time::Duration;

use common::{changes, check_order, result, take};
use futures::FutureExt;
use proptest::prelude::*;
use step04_agent_loop::event::{Change, DoneReason, fold};
use step04_agent_loop::message::{AssistantMessage, Context, Message, StopReason};
use step04_agent_loop::model::{Model, StreamOptions};
use step04_agent_loop::reply::{ABORTED, EARLY_END, OrderFault, Reply, ReplyStream};
use tokio_util::sync::CancellationToken;

/// A model whose task panics after some deltas.
struct Panics {
    after: usize,
}

impl Model for Panics {
    fn stream(&self, context: &Context, _options: StreamOptions) -> ReplyStream {
        let (reply, stream) = Reply::start_after(context);
        let after = self.after;
        tokio::spawn(async move {
            let text = reply.text();
            for _ in 0..after {
                text.delta("ab").unwrap();
                tokio::task::yield_now().await;
            }
            // Not `panic!`, whose hook would write into the test's output.
            std::panic::resume_unwind(Box::new("the provider has a bug"));
        });
        stream
    }
}

/// "The model function fails or panics": the full closing events, and `result()` settles.
#[tokio::test]
async fn a_model_that_panics_ends_its_stream() {
    for after in [0, 1, 5] {
        let stream = Panics { after }.stream(&Context::default(), StreamOptions::default());
        let message = stream.result().await.unwrap();
        assert_eq!(message.text(), "ab".repeat(after));
        assert_eq!(message.stop_reason, Some(StopReason::Error));
        assert_eq!(message.error_message.as_deref(), Some(EARLY_END));
        check_order(&changes(&take(&stream)));
    }
}

/// A panic while a block is being written doesn't lock anybody out.
#[test]
fn a_panic_in_the_producer_leaves_the_partials_readable() {
    let (reply, stream) = Reply::start();
    let thread = std::thread::spawn(move || {
        let text = reply.text();
        text.delta("abc").unwrap();
        std::panic::resume_unwind(Box::new("a bug"));
    });
    assert!(thread.join().is_err());
    let events = take(&stream);
    assert_eq!(events.last().unwrap().partial.message().text(), "abc");
    assert_eq!(result(&stream).error_message.as_deref(), Some(EARLY_END));
}

/// "The consumer drops after one event": the producer knows by its next push, whatever it pushes.
#[test]
fn a_producer_knows_when_nobody_listens() {
    let (reply, stream) = Reply::start();
    let (text, call) = (reply.text(), reply.tool_call("", "read"));
    assert!(text.delta("heard").is_ok());
    assert!(reply.closed().now_or_never().is_none());
    stream.next().now_or_never().unwrap().unwrap();
    drop(stream);
    assert!(text.delta("not heard").is_err());
    assert!(call.delta("{").is_err());
    assert!(reply.thinking().delta("nor this").is_err());
    assert!(reply.closed().now_or_never().is_some());
    reply.done(DoneReason::Stop);
}

/// Two threads write one reply while a third reads: one order for all, and exact partials.
#[test]
fn two_threads_may_write_one_reply() {
    let (reply, stream) = Reply::start();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for number in 0..50 {
                    let text = reply.text();
                    text.delta(format!("{number} ")).unwrap();
                    text.end();
                }
            });
        }
        let mut message = AssistantMessage::default();
        let mut events = 0;
        while events < 301 {
            for event in take(&stream) {
                fold(&mut message, &event.change);
                assert_eq!(event.partial.message(), message);
                assert_eq!(event.partial.event(), events);
                events += 1;
            }
            std::thread::yield_now();
        }
    });
    reply.done(DoneReason::Stop);
    assert_eq!(result(&stream).content.len(), 100);
}

#[test]
fn a_record_is_not_played_back_to_nobody() {
    let (mut reply, stream) = Reply::start();
    assert!(reply.apply(Change::Start).is_ok());
    drop(stream);
    assert!(reply.apply(Change::TextStart { content_index: 0 }).is_err());
}

/// "A consumer waiting with no signal of its own can be cancelled": its wait is dropped, nothing is
/// lost, and another may go on.
#[tokio::test(start_paused = true)]
async fn a_waiting_consumer_can_be_cancelled() {
    let (reply, stream) = Reply::start();
    stream.next().await.unwrap();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        stop.cancel();
    });
    let waited = cancel.run_until_cancelled(stream.next()).await;
    assert!(waited.is_none());
    reply.text().delta("still here").unwrap();
    reply.done(DoneReason::Stop);
    assert_eq!(take(&stream).len(), 4);
}

/// "Block 0 `{"a"`, block 1 `{"b"`, block 0 `:1}`, block 1 `:2}`": two right calls.
#[test]
fn interleaved_calls_are_not_mixed_up() {
    let (reply, stream) = Reply::start();
    let (a, b) = (reply.tool_call("a", "one"), reply.tool_call("b", "two"));
    a.delta("{\"a\"").unwrap();
    b.delta("{\"b\"").unwrap();
    a.delta(":1}").unwrap();
    b.delta(":2}").unwrap();
    b.end();
    a.end();
    reply.done(DoneReason::ToolUse);
    let deltas = changes(&take(&stream)).into_iter().filter_map(|change| match change {
        Change::ToolcallDelta { content_index, delta } => Some((content_index, delta)),
        _ => None,
    });
    let expected = [(0, "{\"a\""), (1, "{\"b\""), (0, ":1}"), (1, ":2}")];
    assert!(deltas.eq(expected.map(|(index, delta)| (index, delta.to_owned()))));
    let message = result(&stream);
    let texts: Vec<_> = message.tool_calls().map(|call| call.arguments_text.as_str()).collect();
    assert_eq!(texts, ["{\"a\":1}", "{\"b\":2}"]);
}

proptest! {
    /// The same for any number of blocks of any kind: each has what was written to it.
    #[test]
    fn interleaved_blocks_are_not_mixed_up(
        writes in prop::collection::vec((0..5_usize, common::text()), 0..40),
    ) {
        let (reply, stream) = Reply::start();
        let blocks = [
            reply.text(), reply.tool_call("", "x"), reply.thinking(), reply.tool_call("", "x"), reply.text(),
        ];
        let mut written = vec![String::new(); 5];
        for (index, delta) in &writes {
            written[*index] += delta;
            blocks[*index].delta(delta.as_str()).unwrap();
        }
        drop(blocks);
        reply.done(DoneReason::Stop);
        let message = result(&stream);
        let bodies: Vec<_> = message.content.iter().map(|block| block.body()).collect();
        prop_assert_eq!(bodies, written);
        check_order(&changes(&take(&stream)));
    }
}

fn replay(record: Vec<Change>) -> AssistantMessage {
    let (mut reply, stream) = Reply::start();
    for change in record {
        reply.apply(change).unwrap();
    }
    drop(reply);
    result(&stream)
}

fn call_start(content_index: usize) -> Change {
    Change::ToolcallStart { content_index, id: "a".into(), name: "read".into() }
}

/// "The tool's name repeated in a later chunk": a name can come with `toolcall_start` only, and a
/// second start for the same block is refused.
#[test]
fn a_repeated_name_is_not_appended() {
    let message = replay(vec![Change::Start, call_start(0), call_start(0)]);
    assert_eq!(message.tool_calls().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["read"]);
    let fault = OrderFault::Index { index: 0 }.to_string();
    assert_eq!(message.error_message, Some(fault));
}

/// "A call without an id", "two calls with one id": and a made id may itself be taken already.
#[test]
fn ids_are_made_and_made_unique() {
    let cases: [(&[&str], &[&str]); 5] = [
        (&["", ""], &["call", "call-2"]),
        (&["a", "a", "a"], &["a", "a-2", "a-3"]),
        (&["a-2", "a", "a"], &["a-2", "a", "a-3"]),
        (&["a", "a", "a-2"], &["a", "a-2", "a-2-2"]),
        (&["call", "", "call-2"], &["call", "call-2", "call-2-2"]),
    ];
    for (wanted, expected) in cases {
        let (reply, stream) = Reply::start();
        for id in wanted {
            reply.tool_call(id, "read").end();
        }
        reply.done(DoneReason::ToolUse);
        let message = result(&stream);
        let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, expected, "{wanted:?}");
    }
}

#[test]
fn each_fault_of_a_record_has_its_own_words() {
    let text_start = || Change::TextStart { content_index: 0 };
    let delta = |delta: &str| Change::TextDelta { content_index: 0, delta: delta.into() };
    let end = |content: &str| Change::TextEnd { content_index: 0, content: content.into() };
    let done = |texts: &[&str]| Change::Done {
        reason: DoneReason::Stop,
        message: Box::new(AssistantMessage {
            content: texts
                .iter()
                .map(|text| step04_agent_loop::message::ContentBlock::text(*text))
                .collect(),
            ..AssistantMessage::default()
        }),
    };
    let thought = Change::ThinkingDelta { content_index: 0, delta: "a".into() };
    let cases = [
        (vec![], "wrong order of events: `start` must come first, and once"),
        (
            vec![Change::Start, Change::Start],
            "wrong order of events: `start` must come first, and once",
        ),
        (
            vec![Change::Start, Change::TextStart { content_index: 1 }],
            "wrong order of events: block 1 is not the next one",
        ),
        (
            vec![Change::Start, delta("a")],
            "wrong order of events: no block of this kind is open at 0",
        ),
        (
            vec![Change::Start, text_start(), thought],
            "wrong order of events: no block of this kind is open at 0",
        ),
        (
            vec![Change::Start, text_start(), delta("a"), end("ab")],
            "wrong order of events: the end of block 0 differs from its deltas",
        ),
        (
            vec![Change::Start, text_start(), end(""), end("")],
            "wrong order of events: no block of this kind is open at 0",
        ),
        (
            vec![Change::Start, text_start(), done(&[""])],
            "wrong order of events: `done`, but block 0 has not ended",
        ),
        (
            vec![Change::Start, text_start(), end(""), done(&["a"])],
            "wrong order of events: the final message differs from the events",
        ),
        (
            vec![Change::Start, text_start(), end(""), done(&[])],
            "wrong order of events: the final message differs from the events",
        ),
    ];
    for (mut record, expected) in cases {
        // What comes after the fault is ignored.
        record.push(text_start());
        record.push(done(&[]));
        let message = replay(record.clone());
        assert_eq!(message.error_message.as_deref(), Some(expected), "{record:?}");
        assert_eq!(message.stop_reason, Some(StopReason::Error));
    }
}

/// What a record says of its own end is kept: reason and message.
#[test]
fn a_recorded_abort_plays_back_as_an_abort() {
    let (reply, stream) = Reply::start();
    reply.text().delta("so f").unwrap();
    reply.aborted();
    let message = replay(changes(&take(&stream)));
    assert_eq!(message.stop_reason, Some(StopReason::Aborted));
    assert_eq!(message.error_message.as_deref(), Some(ABORTED));
    assert_eq!(message.text(), "so f");
}

/// What belongs to the message: its text is the text blocks, and its calls are its calls.
#[test]
fn a_message_tells_its_text_and_calls() {
    let (reply, stream) = Reply::start();
    for text in ["one ", "two"] {
        reply.text().delta(text).unwrap();
        reply.thinking().delta("not said").unwrap();
    }
    drop(reply.tool_call("t1", "read"));
    reply.done(DoneReason::ToolUse);
    let message = result(&stream);
    assert_eq!(message.text(), "one two");
    assert_eq!(message.tool_calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["t1"]);
    let Message::User(user) = Message::user("hi") else { panic!("not a user's") };
    assert_eq!(user.text(), "hi");
}

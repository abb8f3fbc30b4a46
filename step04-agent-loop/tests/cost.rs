//! The cost of events and partials, counted: bytes asked of the allocator, not time.
//!
//! A copy of the message per event would be quadratic, and would show here at once.

mod common;

use allocation_counter::{AllocationInfo, measure};
use common::take;
use futures::FutureExt;
use step04_agent_loop::event::{DoneReason, fold};
use step04_agent_loop::message::AssistantMessage;
use step04_agent_loop::partial::Partial;
use step04_agent_loop::partial_json::ArgumentsPreview;
use step04_agent_loop::reply::{Reply, ReplyStream};

fn write(deltas: usize, blocks: usize) -> ReplyStream {
    let (reply, stream) = Reply::start();
    let open: Vec<_> = (0..blocks).map(|_| reply.text()).collect();
    for number in 0..deltas {
        open[number % blocks].delta("abcd").unwrap();
    }
    drop(open);
    reply.done(DoneReason::Stop);
    stream
}

/// Twice the events ask for less than 2.5 times as much.
fn assert_linear(name: &str, work: impl Fn(usize)) {
    const N: usize = 50_000;
    let [small, large] = [N, 2 * N].map(|deltas| measure(|| work(deltas)));
    let grows = |of: fn(&AllocationInfo) -> u64| 2 * of(&large) < 5 * of(&small);
    assert!(grows(|info| info.bytes_total), "{name}: {small:?} {large:?}");
    assert!(grows(|info| info.count_total), "{name}: {small:?} {large:?}");
    let per_event = large.bytes_total / (2 * N as u64);
    assert!(per_event < 600, "{name}: {per_event} bytes per event");
}

/// "200,000 events buffered, then drained", by count: also with many blocks.
#[test]
fn buffered_events_cost_the_same_each() {
    assert_linear("one block", |deltas| drop(take(&write(deltas, 1))));
    assert_linear("a thousand blocks", |deltas| drop(take(&write(deltas, 1000))));
}

/// Consumed live, with a history that folds in place, and one that keeps the last partial.
#[test]
fn live_events_cost_the_same_each() {
    assert_linear("live", |deltas| {
        let (reply, stream) = Reply::start();
        let mut history = AssistantMessage::default();
        let mut last: Option<Partial> = None;
        let text = reply.text();
        for _ in 0..deltas {
            text.delta("abcd").unwrap();
            while let Some(event) = stream.next().now_or_never().flatten() {
                fold(&mut history, &event.change);
                last = Some(event.partial);
            }
        }
        assert_eq!(last.unwrap().message(), history);
    });
}

/// All partials are kept, and each tells its length: nothing is copied for that.
#[test]
fn a_partial_costs_nothing_until_it_is_looked_at() {
    let events = take(&write(20_000, 3));
    let kept = measure(|| {
        let kept: Vec<_> = events.iter().map(|event| event.partial.clone()).collect();
        assert!(kept.iter().rev().all(|partial| partial.event() == 0 || partial.len(0).is_some()));
    });
    assert_eq!(kept.count_total, 1, "the vector that keeps them, and nothing else");
    let looked = measure(|| drop(events[10_000].partial.message()));
    assert!((40_000..60_000).contains(&looked.bytes_total), "{looked:?}");
}

/// "116,667 one-byte argument deltas": bytes looked at ≤ c × length, on the whole way.
#[test]
fn small_argument_deltas_are_looked_at_once() {
    const BYTES: usize = 116_667;
    let text = format!("{{\"content\":\"{}\"}}", "a".repeat(BYTES - 14));
    let mut preview = ArgumentsPreview::new();
    let cost = measure(|| {
        let (reply, stream) = Reply::start();
        let call = reply.tool_call("t1", "write");
        for at in 0..BYTES {
            call.delta(&text[at..=at]).unwrap();
        }
        call.end();
        reply.done(DoneReason::ToolUse);
        for event in take(&stream) {
            if let step04_agent_loop::event::Change::ToolcallDelta { delta, .. } = event.change {
                preview.push(&delta);
            }
        }
    });
    assert!(preview.bytes_examined() <= 2 * BYTES as u64, "{}", preview.bytes_examined());
    assert!(cost.bytes_total < 600 * BYTES as u64, "{cost:?}");
    let content = preview.value().and_then(|value| value["content"].as_str());
    assert_eq!(content.map(str::len), Some(BYTES - 14));
}

/// Thousands of calls with one id: making them unique doesn't search the whole list each time.
#[test]
fn many_doubled_ids_are_no_square() {
    assert_linear("ids", |calls| {
        let (reply, stream) = Reply::start();
        for _ in 0..calls / 10 {
            reply.tool_call("a", "b").end();
        }
        reply.done(DoneReason::ToolUse);
        drop(stream);
    });
}

//! What a partial on every event costs: 1 MB of text in deltas of 4 bytes.

mod growth;

use std::time::{Duration, Instant};

use futures::FutureExt;
use step04_agent_loop::event::DoneReason;
use step04_agent_loop::reply::{Reply, ReplyStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

/// 1 MB is the last but one.
const DELTAS: [usize; 3] = [1 << 14, 10 << 14, 100 << 14];

/// How many deltas come in one go, as they do from a network.
const BURST: usize = 64;

fn main() {
    growth::head("event");
    // 20 ms and 30 ms for the 262,144 events of 1 MB.
    growth::rows("partials, consumed live", &DELTAS, Some(0.076), live);
    growth::rows("partials, live, a switch for every event", &DELTAS, None, |deltas| {
        in_two_tasks(deltas, 1)
    });
    growth::rows("partials, all buffered first", &DELTAS, Some(0.114), buffered);
    growth::rows("partials, the last one kept and looked at", &DELTAS, None, kept);
    growth::rows("partials, 1,000 blocks in turn", &DELTAS, None, interleaved);
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime without drivers can be built")
}

fn live(deltas: usize) -> Duration {
    in_two_tasks(deltas, BURST)
}

fn in_two_tasks(deltas: usize, burst: usize) -> Duration {
    runtime().block_on(async {
        let started = Instant::now();
        let (reply, stream) = Reply::start();
        let consumer = tokio::spawn(async move {
            let mut bytes = 0;
            while let Some(event) = stream.next().await {
                bytes = event.partial.len(0).unwrap_or(bytes);
            }
            bytes
        });
        let text = reply.text();
        for number in 0..deltas {
            text.delta("abcd").expect("the consumer is here");
            if number % burst == 0 {
                yield_now().await;
            }
        }
        text.end();
        reply.done(DoneReason::Stop);
        assert_eq!(consumer.await.expect("the consumer does not panic"), 4 * deltas);
        started.elapsed()
    })
}

/// All events are there before the first is taken.
fn produce(deltas: usize) -> ReplyStream {
    let (reply, stream) = Reply::start();
    let text = reply.text();
    for _ in 0..deltas {
        text.delta("abcd").expect("the stream is here");
    }
    text.end();
    reply.done(DoneReason::Stop);
    stream
}

fn buffered(deltas: usize) -> Duration {
    let started = Instant::now();
    let stream = produce(deltas);
    let mut bytes = 0;
    while let Some(event) = stream.next().now_or_never().flatten() {
        bytes = event.partial.len(0).unwrap_or(bytes);
    }
    assert_eq!(bytes, 4 * deltas);
    started.elapsed()
}

/// A history keeps the partial that came last, as Pi's does, and it is drawn now and then.
fn kept(deltas: usize) -> Duration {
    let started = Instant::now();
    let stream = produce(deltas);
    let mut history = Vec::new();
    let mut number = 0;
    while let Some(event) = stream.next().now_or_never().flatten() {
        history.truncate(0);
        if number % (deltas / 10) == 0 {
            assert!(event.partial.message().text().len() <= 4 * deltas);
        }
        history.push(event.partial);
        number += 1;
    }
    started.elapsed()
}

fn interleaved(deltas: usize) -> Duration {
    let started = Instant::now();
    let (reply, stream) = Reply::start();
    let blocks: Vec<_> = (0..1000).map(|_| reply.text()).collect();
    for number in 0..deltas {
        blocks[number % 1000].delta("abcd").expect("the stream is here");
    }
    drop(blocks);
    reply.done(DoneReason::Stop);
    let mut last = None;
    while let Some(event) = stream.next().now_or_never().flatten() {
        last = Some(event.partial);
    }
    assert_eq!(last.map(|partial| partial.message().text().len()), Some(4 * deltas));
    started.elapsed()
}

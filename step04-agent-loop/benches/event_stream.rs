//! What one event costs on its way through an event stream.

mod growth;

use std::time::{Duration, Instant};

use step04_agent_loop::event_stream::{EventStream, Producer, event_stream};
use tokio::runtime::{Builder, Runtime};

fn main() {
    growth::head("event");
    let sizes = [10_000, 100_000, 1_000_000, 10_000_000];
    growth::rows("all pushed, then drained", &sizes, Some(0.02), pushed_then_drained);
    let sizes = [10_000, 100_000, 1_000_000];
    growth::rows("two tasks, a switch for every event", &sizes, Some(0.20), two_tasks);
    growth::rows("two tasks, producer yields", &sizes, Some(0.20), two_tasks_yielding);
}

/// The event `0` is the last one.
fn pair() -> (Producer<usize, ()>, EventStream<usize, ()>) {
    event_stream(|event| (*event == 0).then_some(()))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime without drivers can be built")
}

fn pushed_then_drained(events: usize) -> Duration {
    let runtime = runtime();
    let started = Instant::now();
    let (producer, stream) = pair();
    for event in (0..events).rev() {
        producer.push(event).expect("the stream is here");
    }
    let drained = runtime.block_on(drain(stream));
    assert_eq!(drained, events);
    started.elapsed()
}

async fn drain(stream: EventStream<usize, ()>) -> usize {
    let mut count = 0;
    while stream.next().await.is_some() {
        count += 1;
    }
    count
}

fn two_tasks_yielding(events: usize) -> Duration {
    runtime().block_on(async {
        let started = Instant::now();
        let (producer, stream) = pair();
        let consumer = tokio::spawn(drain(stream));
        let producer = tokio::spawn(async move {
            for event in (0..events).rev() {
                producer.push(event).expect("the stream is here");
                tokio::task::yield_now().await;
            }
        });
        producer.await.expect("the producer does not panic");
        assert_eq!(consumer.await.expect("the consumer does not panic"), events);
        started.elapsed()
    })
}

/// Two tasks throw a ball, `events` throws in all: each waits until the other has thrown.
fn two_tasks(events: usize) -> Duration {
    runtime().block_on(async {
        let started = Instant::now();
        let ((there, from_there), (back, from_back)) = (pair(), pair());
        let other = tokio::spawn(play(from_there, back));
        there.push(events - 1).expect("the other is here");
        play(from_back, there).await;
        other.await.expect("the other does not panic");
        started.elapsed()
    })
}

/// Counts the ball down with each throw; whoever has thrown or caught the `0` stops.
async fn play(catch: EventStream<usize, ()>, throw: Producer<usize, ()>) {
    while let Some(ball @ 1..) = catch.next().await {
        // After the last throw the other has gone, which is no fault.
        let _ = throw.push(ball - 1);
    }
}

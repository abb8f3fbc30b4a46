//! The event stream under a model checker: every order in which threads can meet at its lock.
//!
//! A property test tries the orders it happens to draw; `loom` runs each scenario below once for
//! *every* schedule (up to a bound on preemptions). It fails on a deadlock too, and a waiter that
//! nobody wakes is one. The module under test is the real file, compiled once more with loom's
//! `Arc` and `Mutex` in place of the standard ones.

#[expect(dead_code, reason = "the scenarios don't use all of the module")]
#[path = "../src/event_stream.rs"]
mod event_stream;

/// What `crate::sync` means for the module under test in this file.
mod sync {
    pub use loom::sync::{Arc, Mutex};
}

use std::pin::Pin;
use std::task::{Context, Poll};

use event_stream::{EventStream, Producer, event_stream};
use futures::task::noop_waker;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;

/// The last event of every scenario.
const END: u32 = 99;

fn pair() -> (Producer<u32, u32>, EventStream<u32, u32>) {
    event_stream(|event| (*event == END).then_some(*event))
}

/// At most two preemptions in a schedule: enough for nearly every fault, and seconds, not minutes.
fn check(scenario: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(scenario);
}

fn drain(stream: &EventStream<u32, u32>) -> Vec<u32> {
    let mut seen = Vec::new();
    while let Some(event) = block_on(stream.next()) {
        seen.push(event);
    }
    seen
}

/// Polls once, with a waker that wakes nobody.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(&noop_waker()))
}

#[test]
fn a_push_and_a_waiting_next_never_miss_each_other() {
    check(|| {
        let (producer, stream) = pair();
        let consumer = thread::spawn(move || drain(&stream));
        producer.push(1).unwrap();
        producer.push(END).unwrap();
        assert_eq!(consumer.join().unwrap(), [1, END]);
    });
}

#[test]
fn two_consumers_share_the_events_and_both_end() {
    check(|| {
        let (producer, stream) = pair();
        let other = stream.clone();
        let consumer = thread::spawn(move || drain(&other));
        let pushing = thread::spawn(move || {
            producer.push(1).unwrap();
            producer.push(END).unwrap();
        });
        let mut seen = drain(&stream);
        seen.extend(consumer.join().unwrap());
        pushing.join().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [1, END]);
    });
}

#[test]
fn a_next_that_was_called_and_dropped_passes_the_call_on() {
    check(|| {
        let (producer, stream) = pair();
        let other = stream.clone();
        // First in line, called by the push at some time, and dropped at some time.
        let mut fickle = stream.next();
        assert!(poll_once(&mut fickle).is_pending());
        let consumer = thread::spawn(move || block_on(other.next()));
        let pushing = thread::spawn(move || {
            producer.push(1).unwrap();
            producer
        });
        drop(fickle);
        assert_eq!(consumer.join().unwrap(), Some(1));
        drop(pushing.join().unwrap());
    });
}

#[test]
fn a_stream_that_is_never_polled_again_keeps_no_event_from_others() {
    check(|| {
        let (producer, mut stream) = pair();
        let other = stream.clone();
        assert!(poll_once(&mut futures::StreamExt::next(&mut stream)).is_pending());
        let consumer = thread::spawn(move || block_on(other.next()));
        producer.push(1).unwrap();
        assert_eq!(consumer.join().unwrap(), Some(1));
        drop(stream);
    });
}

#[test]
fn a_dropped_producer_settles_the_result_and_ends_the_view() {
    check(|| {
        let (producer, stream) = pair();
        let result = stream.result();
        let dropping = thread::spawn(move || drop(producer));
        let waiting = thread::spawn(move || block_on(stream.next()));
        assert!(block_on(result).is_err());
        assert_eq!(waiting.join().unwrap(), None);
        dropping.join().unwrap();
    });
}

#[test]
fn whoever_has_the_terminal_event_has_the_result() {
    check(|| {
        let (producer, stream) = pair();
        let pushing = thread::spawn(move || producer.push(END));
        assert_eq!(block_on(stream.next()), Some(END));
        assert_eq!(poll_once(&mut stream.result()), Poll::Ready(Ok(END)));
        pushing.join().unwrap().unwrap();
    });
}

#[test]
fn two_waiters_get_the_result_after_the_last_view_has_gone() {
    check(|| {
        let (producer, stream) = pair();
        let (first, second) = (stream.result(), stream.result());
        let leaving = thread::spawn(move || drop(stream));
        let waiting = thread::spawn(move || block_on(first));
        producer.push(END).unwrap();
        assert_eq!(block_on(second), Ok(END));
        assert_eq!(waiting.join().unwrap(), Ok(END));
        leaving.join().unwrap();
    });
}

#[test]
fn a_push_that_races_with_the_last_view_leaves_nothing_in_the_queue() {
    check(|| {
        // Each event holds a count, so an event that stays queued is seen here.
        let (producer, stream) = event_stream::<Arc<()>, ()>(|_| None);
        let event = Arc::new(());
        let pushed = Arc::clone(&event);
        let leaving = thread::spawn(move || drop(stream));
        let _either = producer.push(pushed);
        leaving.join().unwrap();
        assert_eq!(Arc::strong_count(&event), 1);
        assert!(producer.push(event).is_err());
    });
}

#[test]
fn a_producer_that_waits_hears_that_the_last_listener_has_gone() {
    check(|| {
        let (producer, stream) = pair();
        let result = stream.result();
        let first = thread::spawn(move || drop(stream));
        let second = thread::spawn(move || drop(result));
        block_on(producer.closed());
        assert!(producer.is_closed());
        first.join().unwrap();
        second.join().unwrap();
    });
}

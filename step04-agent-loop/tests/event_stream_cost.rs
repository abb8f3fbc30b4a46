//! What an event costs, counted in the currency that a lock-based queue pays in: how often it locks,
//! wakes and asks. A clock is not needed to see that work is linear, and can't be wrong about it.
//!
//! As in the model check, the module is compiled once more, here with a `Mutex` that counts.

#[expect(dead_code, reason = "the tests don't use all of the module")]
#[path = "../src/event_stream.rs"]
mod event_stream;

/// What `crate::sync` means for the module under test in this file.
mod sync {
    use std::cell::Cell;
    use std::sync::{LockResult, MutexGuard};

    pub use std::sync::Arc;

    thread_local! {
        pub static LOCKED: Cell<usize> = const { Cell::new(0) };
    }

    pub struct Mutex<T>(std::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            LOCKED.set(LOCKED.get() + 1);
            self.0.lock()
        }
    }
}

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use event_stream::{EventStream, Producer, event_stream};
use sync::LOCKED;

#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.up();
    }
}

/// A stream that never ends, and how often it asked whether an event is terminal.
fn pair() -> (Producer<usize, usize>, EventStream<usize, usize>, Arc<Counter>) {
    let asked = Arc::new(Counter::default());
    let counter = Arc::clone(&asked);
    let (producer, stream) = event_stream(move |_| {
        counter.up();
        None
    });
    (producer, stream, asked)
}

fn locks_during(work: impl FnOnce()) -> usize {
    let before = LOCKED.get();
    work();
    LOCKED.get() - before
}

fn take(stream: &EventStream<usize, usize>, waker: &Waker) -> Option<usize> {
    match Pin::new(&mut stream.next()).poll(&mut Context::from_waker(waker)) {
        Poll::Ready(event) => event,
        Poll::Pending => None,
    }
}

#[test]
fn an_event_that_is_queued_and_drained_costs_two_locks_and_one_question_however_many_there_are() {
    for events in [1, 10, 1_000, 100_000] {
        let (producer, stream, asked) = pair();
        let pushing = locks_during(|| (0..events).for_each(|i| producer.push(i).unwrap()));
        let draining = locks_during(|| {
            (0..events).for_each(|i| assert_eq!(take(&stream, Waker::noop()), Some(i)));
        });
        assert_eq!((pushing, draining, asked.get()), (events, events, events));
    }
}

#[test]
fn an_event_that_is_waited_for_costs_three_locks_and_one_wake_however_many_there_are() {
    for events in [1, 10, 1_000, 100_000] {
        let (producer, stream, _) = pair();
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&counter));
        let mut cx = Context::from_waker(&waker);
        let locks = locks_during(|| {
            for i in 0..events {
                let mut next = stream.next();
                assert!(Pin::new(&mut next).poll(&mut cx).is_pending());
                producer.push(i).unwrap();
                assert_eq!(Pin::new(&mut next).poll(&mut cx), Poll::Ready(Some(i)));
            }
        });
        assert_eq!((locks, counter.get()), (3 * events, events));
    }
}

#[test]
fn waiting_again_and_again_leaves_nothing_behind() {
    let (producer, stream, _) = pair();
    let counter = Arc::new(Counter::default());
    let waker = Waker::from(Arc::clone(&counter));
    let mut result = stream.result();
    for _ in 0..1_000 {
        // As in a `select!` that something else wins, a thousand times over.
        assert_eq!(take(&stream, &waker), None);
        assert!(Pin::new(&mut result).poll(&mut Context::from_waker(&waker)).is_pending());
        let mut closed = std::pin::pin!(producer.closed());
        assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    // Ours, its original, and one in the line for the result.
    assert_eq!(Arc::strong_count(&counter), 3);
    drop(result);
    assert_eq!(Arc::strong_count(&counter), 2);
}

#[test]
fn a_result_is_cloned_once_for_each_who_asks_and_not_at_all_for_the_events() {
    struct Costly(Arc<Counter>);
    impl Clone for Costly {
        fn clone(&self) -> Self {
            self.0.up();
            Self(Arc::clone(&self.0))
        }
    }
    let clones = Arc::new(Counter::default());
    let (producer, stream) = event_stream::<u32, Costly>(|_| None);
    (0..1_000).for_each(|event| producer.push(event).unwrap());
    let results = [(); 3].map(|()| stream.result());
    producer.end(Some(Costly(Arc::clone(&clones))));
    for mut result in results {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut result).poll(&mut cx).is_ready());
    }
    assert_eq!(clones.get(), 3);
}

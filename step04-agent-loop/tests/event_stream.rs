//! The laws of the event stream, over every order of pushing, polling, cloning, dropping and ending.
//!
//! A `World` holds one real stream with all its waiters, and beside it a model that is too simple
//! to be wrong: a queue, an end, and counts. Operations are drawn at random and done to both. Every
//! poll must answer what the model says, and after every operation the laws about sleeping must
//! hold. Nothing here runs in the background: a waker only sets a flag, so each case is repeatable.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::{Stream, StreamExt};
use proptest::prelude::*;
use step04_agent_loop::event_stream::{
    Closed, EndedWithoutResult, EventStream, Producer, ResultHandle, event_stream,
};

/// An event with a number, and a count of how many events are alive anywhere.
#[derive(Debug)]
struct Event {
    number: u32,
    terminal: bool,
    _alive: Arc<()>,
}

type Events = EventStream<Event, u32>;
type Outcome = Result<u32, EndedWithoutResult>;

/// A waker that counts.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Something that can wait, and whether anybody has woken it since it was last polled.
struct Waiter<F> {
    of: F,
    counter: Arc<Counter>,
    waits: bool,
}

impl<F> Waiter<F> {
    fn new(of: F) -> Self {
        Self { of, counter: Arc::default(), waits: false }
    }

    /// A waker that changes from poll to poll is what a future sees that moves between tasks.
    fn poll_with<T>(
        &mut self,
        new_waker: bool,
        poll: impl FnOnce(Pin<&mut F>, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T>
    where
        F: Unpin,
    {
        if new_waker {
            self.counter = Arc::default();
        }
        self.counter.0.store(0, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&self.counter));
        let poll = poll(Pin::new(&mut self.of), &mut Context::from_waker(&waker));
        self.waits = poll.is_pending();
        poll
    }

    fn poll(&mut self, new_waker: bool) -> Poll<F::Output>
    where
        F: Future + Unpin,
    {
        self.poll_with(new_waker, F::poll)
    }

    fn woken(&self) -> bool {
        self.counter.0.load(Ordering::Relaxed) > 0
    }

    fn asleep(&self) -> bool {
        self.waits && !self.woken()
    }
}

/// A view waits as a `Stream`.
type View = Waiter<Events>;
/// A taker is one `next()`, boxed with a view of its own: so both can go at any time.
type Taker = Waiter<Pin<Box<dyn Future<Output = Option<Event>>>>>;

#[derive(Debug, Clone)]
enum Op {
    Push,
    PushTerminal,
    End(bool),
    DropProducer,
    CloneView(usize),
    DropView(usize),
    /// Polls a view as a `Stream`, with a waker that is then forgotten or kept.
    PollStream(usize, bool),
    NewTaker(usize),
    PollTaker(usize, bool),
    DropTaker(usize),
    NewResult(usize),
    CloneResult(usize),
    PollResult(usize, bool),
    DropResult(usize),
    PollClosed(bool),
    DropClosed,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let at = || 0..4usize;
    let op = prop_oneof![
        8 => Just(Op::Push),
        1 => Just(Op::PushTerminal),
        1 => any::<bool>().prop_map(Op::End),
        1 => Just(Op::DropProducer),
        2 => at().prop_map(Op::CloneView),
        2 => at().prop_map(Op::DropView),
        4 => (at(), any::<bool>()).prop_map(|(at, new)| Op::PollStream(at, new)),
        6 => at().prop_map(Op::NewTaker),
        12 => (at(), any::<bool>()).prop_map(|(at, new)| Op::PollTaker(at, new)),
        4 => at().prop_map(Op::DropTaker),
        2 => at().prop_map(Op::NewResult),
        1 => at().prop_map(Op::CloneResult),
        4 => (at(), any::<bool>()).prop_map(|(at, new)| Op::PollResult(at, new)),
        2 => at().prop_map(Op::DropResult),
        3 => any::<bool>().prop_map(Op::PollClosed),
        1 => Just(Op::DropClosed),
    ];
    prop::collection::vec(op, 0..120)
}

struct World {
    // The real stream. `producer` is shared with the future that waits for the listeners to go.
    producer: Option<Arc<Producer<Event, u32>>>,
    views: Vec<View>,
    takers: Vec<Taker>,
    results: Vec<Waiter<ResultHandle<Event, u32>>>,
    closed: Option<Waiter<Pin<Box<dyn Future<Output = ()>>>>>,
    alive: Arc<()>,
    // The model.
    queue: VecDeque<u32>,
    outcome: Option<Outcome>,
    pushed: u32,
}

impl World {
    fn new() -> Self {
        let (producer, stream) =
            event_stream(|event: &Event| event.terminal.then_some(event.number));
        Self {
            producer: Some(Arc::new(producer)),
            views: vec![Waiter::new(stream)],
            takers: Vec::new(),
            results: Vec::new(),
            closed: None,
            alive: Arc::new(()),
            queue: VecDeque::new(),
            outcome: None,
            pushed: 0,
        }
    }

    fn has_views(&self) -> bool {
        !self.views.is_empty() || !self.takers.is_empty()
    }

    fn is_closed(&self) -> bool {
        !self.has_views() && self.results.is_empty()
    }

    fn push(&mut self, terminal: bool) {
        let Some(producer) = &self.producer else { return };
        let asleep_before = self.takers.iter().filter(|taker| taker.asleep()).count();
        let ended = self.outcome.is_some();
        self.pushed += 1;
        let event = Event { number: self.pushed, terminal, _alive: Arc::clone(&self.alive) };
        let pushed = producer.push(event);
        assert_eq!(pushed, if self.is_closed() { Err(Closed) } else { Ok(()) });
        if ended || self.is_closed() {
            return;
        }
        if self.has_views() {
            self.queue.push_back(self.pushed);
        }
        let asleep = self.takers.iter().filter(|taker| taker.asleep()).count();
        if terminal {
            self.outcome = Some(Ok(self.pushed));
        } else {
            assert_eq!(asleep, asleep_before.saturating_sub(1), "one event calls one taker");
        }
    }

    /// Ends the stream; the future that waits on the producer has to go first.
    fn end(&mut self, end: impl FnOnce(Producer<Event, u32>, u32) -> Outcome) {
        self.closed = None;
        let Some(producer) = self.producer.take() else { return };
        let producer = Arc::into_inner(producer).expect("nobody else has it");
        let outcome = end(producer, self.pushed);
        if !self.is_closed() {
            self.outcome.get_or_insert(outcome);
        }
    }

    /// What the model says to whoever looks for an event now.
    fn expected(&mut self) -> Poll<Option<u32>> {
        match self.queue.pop_front() {
            Some(number) => Poll::Ready(Some(number)),
            None if self.outcome.is_some() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn poll_taker(&mut self, at: usize, new_waker: bool) {
        let got = self.takers[at].poll(new_waker).map(|event| Some(event?.number));
        assert_eq!(got, self.expected());
        if got.is_ready() {
            self.takers.remove(at);
        }
    }

    fn poll_stream(&mut self, at: usize, new_waker: bool) {
        let got = poll_stream(&mut self.views[at], new_waker);
        assert_eq!(got, self.expected());
    }

    fn poll_result(&mut self, at: usize, new_waker: bool) {
        let got = self.results[at].poll(new_waker);
        assert_eq!(got, self.outcome.map_or(Poll::Pending, Poll::Ready));
    }

    fn poll_closed(&mut self, new_waker: bool) {
        let Some(producer) = &self.producer else { return };
        let producer = Arc::clone(producer);
        let closed = self
            .closed
            .get_or_insert_with(|| Waiter::new(Box::pin(async move { producer.closed().await })));
        if closed.poll(new_waker).is_ready() {
            self.closed = None;
            assert!(self.is_closed());
        } else {
            assert!(!self.is_closed());
        }
    }

    fn apply(&mut self, op: &Op) {
        /// The operation is void if there is nothing to do it to.
        fn pick(at: usize, len: usize) -> Option<usize> {
            (len > 0).then(|| at % len)
        }
        let view = |at| pick(at, self.views.len());
        let taker = |at| pick(at, self.takers.len());
        let result = |at| pick(at, self.results.len());
        match *op {
            Op::Push => self.push(false),
            Op::PushTerminal => self.push(true),
            Op::End(true) => self.end(|producer, number| {
                producer.end(Some(number));
                Ok(number)
            }),
            Op::End(false) => self.end(|producer, _| {
                producer.end(None);
                Err(EndedWithoutResult)
            }),
            Op::DropProducer => self.end(|_, _| Err(EndedWithoutResult)),
            Op::CloneView(at) => {
                if let Some(at) = view(at) {
                    self.views.push(Waiter::new(self.views[at].of.clone()));
                }
            }
            Op::DropView(at) => {
                if let Some(at) = view(at) {
                    self.views.remove(at);
                }
            }
            Op::PollStream(at, new) => {
                if let Some(at) = view(at) {
                    self.poll_stream(at, new);
                }
            }
            Op::NewTaker(at) => {
                if let Some(at) = view(at) {
                    let stream = self.views[at].of.clone();
                    self.takers.push(Taker::new(Box::pin(async move { stream.next().await })));
                }
            }
            Op::PollTaker(at, new) => {
                if let Some(at) = taker(at) {
                    self.poll_taker(at, new);
                }
            }
            Op::DropTaker(at) => {
                if let Some(at) = taker(at) {
                    drop(self.takers.remove(at));
                }
            }
            Op::NewResult(at) => {
                if let Some(at) = view(at) {
                    self.results.push(Waiter::new(self.views[at].of.result()));
                }
            }
            Op::CloneResult(at) => {
                if let Some(at) = result(at) {
                    self.results.push(Waiter::new(self.results[at].of.clone()));
                }
            }
            Op::PollResult(at, new) => {
                if let Some(at) = result(at) {
                    self.poll_result(at, new);
                }
            }
            Op::DropResult(at) => {
                if let Some(at) = result(at) {
                    drop(self.results.remove(at));
                }
            }
            Op::PollClosed(new) => self.poll_closed(new),
            Op::DropClosed => self.closed = None,
        }
        if !self.has_views() {
            self.queue.clear();
        }
    }

    /// The laws that hold at every moment.
    fn check(&self) {
        let asleep = self.takers.iter().filter(|taker| taker.asleep()).count();
        let called = self.takers.iter().filter(|taker| taker.waits && !taker.asleep()).count();
        assert!(
            asleep == 0 || called >= self.queue.len(),
            "{asleep} takers sleep, {called} were called, {} events are there",
            self.queue.len()
        );
        let streams_asleep = self.views.iter().any(Waiter::asleep);
        assert!(!streams_asleep || self.queue.is_empty(), "a stream sleeps beside an event");
        if self.outcome.is_some() {
            assert_eq!(asleep, 0, "a taker sleeps after the end");
            assert!(!streams_asleep, "a stream sleeps after the end");
            assert!(!self.results.iter().any(Waiter::asleep), "a result sleeps after the end");
        }
        if let Some(producer) = &self.producer {
            assert_eq!(producer.is_closed(), self.is_closed());
        }
        if let Some(closed) = &self.closed {
            assert!(!(self.is_closed() && closed.asleep()), "nobody told the producer");
            assert!(self.is_closed() || !closed.woken(), "the producer was told too early");
        }
        assert_eq!(Arc::strong_count(&self.alive) - 1, self.queue.len(), "events kept or lost");
    }

    /// The end of every story: the producer goes, the woken are polled, and all must be done.
    fn finish(mut self) {
        self.end(|_, _| Err(EndedWithoutResult));
        self.check();
        while !self.takers.is_empty() {
            self.poll_taker(0, false);
        }
        for at in 0..self.results.len() {
            self.poll_result(at, false);
        }
        while let Some(view) = self.views.first_mut() {
            let rest = drain_ready(view);
            assert_eq!(rest, Vec::from(std::mem::take(&mut self.queue)));
            self.views.remove(0);
        }
        assert_eq!(Arc::strong_count(&self.alive), 1);
    }
}

fn poll_stream(view: &mut View, new_waker: bool) -> Poll<Option<u32>> {
    view.poll_with(new_waker, Stream::poll_next).map(|event| Some(event?.number))
}

fn drain_ready(view: &mut View) -> Vec<u32> {
    let mut seen = Vec::new();
    while let Poll::Ready(Some(number)) = poll_stream(view, false) {
        seen.push(number);
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_order_of_operations_keeps_the_laws(ops in ops()) {
        let mut world = World::new();
        for op in &ops {
            world.apply(op);
            world.check();
        }
        world.finish();
    }

    /// Only the woken are polled, as an executor does: then sleeping too long shows as a hang.
    #[test]
    fn whoever_is_polled_only_when_woken_gets_done(
        consumers in 1..5usize,
        steps in prop::collection::vec((0..3u8, 0..5usize), 0..60),
    ) {
        let mut world = World::new();
        for _ in 0..consumers {
            world.apply(&Op::NewTaker(0));
            world.poll_taker(world.takers.len() - 1, false);
        }
        world.views.clear();
        for (what, at) in steps {
            match what {
                0 => world.push(false),
                1 if world.takers.len() > 1 => world.apply(&Op::DropTaker(at)),
                _ => {}
            }
            world.check();
            if what == 2 {
                let woken = world.takers.iter().position(|taker| !taker.asleep());
                woken.into_iter().for_each(|at| world.poll_taker(at, false));
                if !world.has_views() { world.queue.clear(); }
            }
        }
        world.finish();
    }
}

// ---- Single cases: each is one sentence of the contract, where a reader looks for it. ----

type Plain = (Producer<u32, u32>, EventStream<u32, u32>);

/// The event `0` ends it.
fn plain() -> Plain {
    event_stream(|event| (*event == 0).then_some(*event))
}

async fn collect(stream: &EventStream<u32, u32>) -> Vec<u32> {
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        seen.push(event);
    }
    seen
}

#[tokio::test]
async fn the_terminal_event_settles_the_result_and_is_delivered_and_later_pushes_are_ignored() {
    let (producer, stream) = plain();
    let before = stream.result();
    for event in [1, 0, 2, 0] {
        assert_eq!(producer.push(event), Ok(()));
    }
    producer.end(Some(7));
    assert_eq!(before.await, Ok(0));
    assert_eq!(collect(&stream).await, [1, 0]);
    assert_eq!(stream.result().await, Ok(0));
}

#[tokio::test]
async fn every_way_to_end_settles_the_result() {
    let (producer, stream) = plain();
    producer.end(Some(7));
    assert_eq!((stream.result().await, collect(&stream).await), (Ok(7), vec![]));

    let (producer, stream) = plain();
    producer.push(1).unwrap();
    producer.end(None);
    assert_eq!(stream.result().await, Err(EndedWithoutResult));
    assert_eq!(collect(&stream).await, [1]);

    let (producer, stream) = plain();
    drop(producer);
    assert_eq!((stream.result().await, collect(&stream).await), (Err(EndedWithoutResult), vec![]));
}

#[tokio::test]
async fn several_waiters_get_the_result_without_any_view() {
    let (producer, stream) = plain();
    let first = stream.result();
    let second = first.clone();
    drop(stream);
    let waiting = tokio::spawn(async move { futures::join!(first, second) });
    assert_eq!(producer.push(1), Ok(()));
    assert_eq!(producer.push(0), Ok(()));
    assert_eq!(waiting.await.unwrap(), (Ok(0), Ok(0)));
    assert_eq!(producer.push(1), Err(Closed));
}

#[tokio::test]
async fn a_consumer_that_leaves_after_one_event_stops_the_producer_at_its_next_push() {
    let alive = Arc::new(());
    let (producer, stream) = event_stream::<_, ()>(|_: &Arc<()>| None);
    for _ in 0..100 {
        producer.push(Arc::clone(&alive)).unwrap();
    }
    assert!(stream.next().await.is_some());
    drop(stream);
    assert_eq!(Arc::strong_count(&alive), 1, "the queue was released");
    assert_eq!(producer.push(Arc::clone(&alive)), Err(Closed));
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_cancelled_loses_nothing() {
    let (producer, stream) = plain();
    tokio::spawn(async move {
        for event in [3, 2, 1, 0] {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            producer.push(event).unwrap();
        }
    });
    let mut seen = Vec::new();
    let mut cancelled = 0;
    loop {
        // The pause ends at the same instants as events come, and often wins.
        tokio::select! {
            event = stream.next() => match event {
                Some(event) => seen.push(event),
                None => break,
            },
            () = tokio::time::sleep(std::time::Duration::from_millis(500)) => cancelled += 1,
        }
    }
    assert_eq!(seen, [3, 2, 1, 0]);
    assert!(cancelled >= 4);
}

#[tokio::test]
async fn a_producer_at_other_work_notices_that_all_have_gone() {
    let (producer, stream) = plain();
    let result = stream.result();
    let working = tokio::spawn(async move {
        tokio::select! {
            biased;
            () = producer.closed() => "stopped",
            () = std::future::pending() => "worked",
        }
    });
    tokio::task::yield_now().await;
    drop(stream);
    tokio::task::yield_now().await;
    assert!(!working.is_finished());
    drop(result);
    assert_eq!(working.await.unwrap(), "stopped");
}

#[tokio::test]
async fn the_combinators_of_futures_work_on_it() {
    let (producer, stream) = plain();
    [2, 1, 0].into_iter().for_each(|event| producer.push(event).unwrap());
    assert_eq!(stream.map(|event| event * 10).collect::<Vec<_>>().await, [20, 10, 0]);
}

#[test]
fn errors_read_as_sentences() {
    assert_eq!(Closed.to_string(), "nobody listens to this stream any more");
    assert_eq!(EndedWithoutResult.to_string(), "the stream ended without a result");
}

// ---- Code of others, which must find the lock free. ----

/// Comes back into its own stream whenever it is cloned or dropped.
struct Meddler(Option<ResultHandle<Meddler, Meddler>>);

impl Meddler {
    fn meddle(&self) {
        if let Some(handle) = &self.0 {
            drop(handle.clone());
        }
    }
}

impl Clone for Meddler {
    fn clone(&self) -> Self {
        self.meddle();
        Meddler(None)
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.meddle();
    }
}

#[tokio::test]
async fn events_and_results_may_come_back_into_the_stream_from_clone_and_drop() {
    let (producer, stream) = event_stream(|event: &Meddler| {
        let handle = event.0.as_ref()?.clone();
        Some(Meddler(Some(handle)))
    });
    let result = stream.result();
    let view = stream.clone();
    producer.push(Meddler(None)).unwrap();
    producer.push(Meddler(Some(result.clone()))).unwrap();
    // Ignored, since the stream has ended: its event and its result are dropped.
    producer.push(Meddler(Some(result.clone()))).unwrap();
    let _cloned = stream.result().await;
    assert!(view.next().await.is_some());
    // Drops the queue, in which the terminal event still is.
    drop((stream, view));
    producer.end(Some(Meddler(Some(result))));
}

#[test]
fn a_waker_may_own_the_view_that_is_waiting() {
    struct Task(#[expect(dead_code, reason = "only dropped")] EventStream<u32, u32>);
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    let (producer, mut stream) = plain();
    let poll = |stream: &mut EventStream<u32, u32>, view| {
        let waker = Waker::from(Arc::new(Task(view)));
        let polled = Pin::new(stream).poll_next(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    };
    // Each of these drops the waker of the poll before, and with it the last of its task.
    for _ in 0..2 {
        let view = stream.clone();
        poll(&mut stream, view);
    }
    producer.push(1).unwrap();
    let view = stream.clone();
    assert_eq!(futures::FutureExt::now_or_never(stream.next()), Some(Some(1)));
    poll(&mut stream, view);
    drop(stream);
    assert!(producer.is_closed());
}

#[tokio::test]
async fn a_terminal_function_that_panics_harms_nobody_else() {
    let (producer, stream) = event_stream(|event: &u32| match event {
        13 => panic!("unlucky"),
        event => (*event == 0).then_some(*event),
    });
    producer.push(1).unwrap();
    let push = std::panic::AssertUnwindSafe(|| producer.push(13));
    std::panic::catch_unwind(push).unwrap_err();
    producer.push(0).unwrap();
    assert_eq!(collect(&stream).await, [1, 0]);
    assert_eq!(stream.result().await, Ok(0));
}

#[test]
fn threads_share_the_events_in_order() {
    const EVENTS: u32 = 10_000;
    let (producer, stream) = plain();
    let consumers: Vec<_> = (0..3)
        .map(|_| {
            let stream = stream.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(collect(&stream))
            })
        })
        .collect();
    for event in (0..EVENTS).rev() {
        producer.push(event).unwrap();
    }
    let mut all = Vec::new();
    for consumer in consumers {
        let seen = consumer.join().unwrap();
        assert!(seen.is_sorted_by(|a, b| a > b), "each one sees them in order");
        all.extend(seen);
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(0..EVENTS), "each event went to exactly one");
}

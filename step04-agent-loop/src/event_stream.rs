//! One production, two views: take the events one by one, or await the final result.
//!
//! A model's reply is wanted in two ways at once. The terminal wants every small piece as it
//! comes; the agent loop wants the whole message at the end. [`event_stream`] makes a [`Producer`],
//! which pushes, and an [`EventStream`], which offers both: [`next`](EventStream::next) and
//! [`result`](EventStream::result).
//!
//! # From the seed to Rust
//!
//! Seed 1.2 (Pi's `packages/ai/src/utils/event-stream.ts`) keeps two arrays, and so do we:
//!
//! | seed 1.2 | here |
//! |---|---|
//! | `queue`: pushed, not yet consumed | `State::queue`, a [`VecDeque`] |
//! | `waiting`: the `resolve` functions of those who wait | `State::waiting`, a line of [`Waker`]s |
//! | `waiter({ value, done })` hands the event over | the event is queued, and the waker *called* |
//! | `isComplete` and `extractResult` | `terminal`: `Some(result)` for the event that ends it |
//! | `finalResultPromise` | `State::outcome`, and a [`ResultHandle`] to await it |
//!
//! The third row is the difference that matters. `resolve(event)` *gives*: from then on the promise
//! owns the event, and a promise can't be thrown away. A Rust future can: `select!` drops the
//! losers, and an event that had been given to a loser would be lost. So a waker carries nothing.
//! It says "look again", the event stays in the queue, and whoever looks first takes it. Hence the
//! seed's "never both non-empty" becomes: **while an event is queued, nobody waits who has not been
//! called**; and a [`Next`] that was called but is dropped before it looked calls the next in line.
//!
//! # The rule of the lock
//!
//! One `Mutex` guards everything, and only our own short code runs under it. Code of others (a
//! waker, the `terminal` function, `Drop` or `Clone` of an event or a result) runs before or after:
//! it may panic, or come straight back into this stream, and must find the lock free.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use futures::Stream;

use crate::sync::{Arc, Mutex};

/// Makes the two ends of a stream of events `E` with the final result `R`.
///
/// `terminal` is asked once about each pushed event: `Some(result)` means that this event ends the
/// stream. (The seed asks two functions, `isComplete` and `extractResult`; an `Option` can't give
/// one answer to the first and a contradicting one to the second.)
pub fn event_stream<E, R>(
    terminal: impl Fn(&E) -> Option<R> + Send + Sync + 'static,
) -> (Producer<E, R>, EventStream<E, R>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::new()) });
    let producer = Producer { shared: Arc::clone(&shared), terminal: Box::new(terminal) };
    (producer, EventStream { shared, ticket: None })
}

/// The end that pushes. Dropping it ends the stream, so a consumer never waits for nobody.
pub struct Producer<E, R> {
    shared: Arc<Shared<E, R>>,
    terminal: Box<Terminal<E, R>>,
}

/// Says which event ends the stream, and with what result.
type Terminal<E, R> = dyn Fn(&E) -> Option<R> + Send + Sync;

impl<E, R> Producer<E, R> {
    /// Queues `event` and calls one who waits for it; a terminal event also settles the result.
    ///
    /// After the end a push is ignored, and that is `Ok`. While only result handles are left,
    /// events are dropped instead of queued: nobody can take them, and a queue would only grow.
    ///
    /// # Errors
    ///
    /// [`Closed`] when no event view and no result handle is left: the producer may stop working.
    pub fn push(&self, event: E) -> Result<(), Closed> {
        // The state takes what it keeps. What it leaves in these two is dropped here, unlocked.
        let mut outcome = (self.terminal)(&event).map(|result| Ok(Arc::new(result)));
        let mut event = Some(event);
        let called = self.shared.with(|state| state.push(&mut event, &mut outcome))?;
        wake(called);
        Ok(())
    }

    /// Ends the stream. `Some(result)` settles the result; `None` settles it too, as
    /// [`EndedWithoutResult`] (the seed's promise would stay pending for ever).
    ///
    /// After a terminal event this changes nothing: the first end counts. It consumes the producer,
    /// so that "push after end" does not compile, where TypeScript must check `if (this.done)`.
    pub fn end(self, result: Option<R>) {
        self.settle(result);
    }

    /// Whether nobody listens any more: no event view and no result handle is left.
    pub fn is_closed(&self) -> bool {
        self.shared.with(|state| state.is_closed())
    }

    /// Completes when nobody listens any more; for a `select!` beside the producer's own work.
    pub fn closed(&self) -> impl Future<Output = ()> {
        WhenClosed { shared: &self.shared, ticket: None }
    }

    fn settle(&self, result: Option<R>) {
        let mut outcome = Some(result.map(Arc::new).ok_or(EndedWithoutResult));
        let called = self.shared.with(|state| state.end(&mut outcome));
        wake(called);
    }
}

impl<E, R> Drop for Producer<E, R> {
    fn drop(&mut self) {
        self.settle(None);
    }
}

/// The end that listens: an event view, and the source of result handles.
///
/// A clone is another view of the *same* events: each event goes to one view, not to all. When the
/// last view goes, so do the events still queued.
///
/// It is a [`Stream`] too, for the combinators of `futures`.
pub struct EventStream<E, R> {
    shared: Arc<Shared<E, R>>,
    /// Where this view stands in line as a `Stream`.
    ticket: Option<Ticket>,
}

impl<E, R> EventStream<E, R> {
    /// The next event, or `None` once the stream has ended and its queue is empty.
    ///
    /// Cancel-safe: a `Next` that is dropped, woken or not, has taken nothing.
    pub fn next(&self) -> Next<'_, E, R> {
        Next { shared: &self.shared, ticket: None }
    }

    /// A future of the final result. It settles however the stream ends, whether or not anybody
    /// takes events, and can be asked for before, during and after.
    pub fn result(&self) -> ResultHandle<E, R> {
        self.shared.with(|state| state.handles += 1);
        ResultHandle { shared: Arc::clone(&self.shared), ticket: None }
    }
}

impl<E, R> Clone for EventStream<E, R> {
    fn clone(&self) -> Self {
        self.shared.with(|state| state.views += 1);
        Self { shared: Arc::clone(&self.shared), ticket: None }
    }
}

impl<E, R> Drop for EventStream<E, R> {
    fn drop(&mut self) {
        let ticket = self.ticket;
        let (_waker, _queue, called) = self.shared.with(|state| {
            let waker = state.streams.leave(ticket);
            let (queue, called) = state.drop_view();
            (waker, queue, called)
        });
        wake(called);
    }
}

impl<E, R> Stream for EventStream<E, R> {
    type Item = E;

    /// A stream that was called but is never polled again doesn't know it, so it can't hand its
    /// call on as [`Next`] does. Therefore every event calls *all* waiting streams.
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<E>> {
        let Self { shared, ticket } = &mut *self;
        let (poll, _waker) = shared.with(|state| match state.take() {
            Poll::Ready(event) => (Poll::Ready(event), state.streams.leave(ticket.take())),
            Poll::Pending => (Poll::Pending, state.streams.stand(ticket, cx.waker())),
        });
        poll
    }
}

/// The future made by [`EventStream::next`].
#[must_use = "futures do nothing unless awaited"]
pub struct Next<'a, E, R> {
    shared: &'a Shared<E, R>,
    ticket: Option<Ticket>,
}

impl<E, R> Future for Next<'_, E, R> {
    type Output = Option<E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<E>> {
        let Self { shared, ticket } = &mut *self;
        let (poll, _waker) = shared.with(|state| match state.take() {
            Poll::Ready(event) => (Poll::Ready(event), state.waiting.leave(ticket.take())),
            Poll::Pending => (Poll::Pending, state.waiting.stand(ticket, cx.waker())),
        });
        poll
    }
}

impl<E, R> Drop for Next<'_, E, R> {
    fn drop(&mut self) {
        // Only a `Next` that had to wait has a ticket: the usual one is done here.
        if let Some(ticket) = self.ticket {
            self.give_up(ticket);
        }
    }
}

impl<E, R> Next<'_, E, R> {
    /// A promise can't be dropped, so the seed has nothing like this: whoever was called for an
    /// event and leaves without it passes the call on.
    #[cold]
    fn give_up(&self, ticket: Ticket) {
        let (_waker, called) = self.shared.with(|state| match state.waiting.leave(Some(ticket)) {
            Some(waker) => (Some(waker), Vec::new()),
            None => (None, state.call_for_queued()),
        });
        wake(called);
    }
}

/// The other view: a future of the final result. Each clone can be awaited by somebody else.
///
/// Like every future it completes once; clone the handle to ask again. `R: Clone`, because each
/// handle gets a result of its own.
#[must_use = "futures do nothing unless awaited"]
pub struct ResultHandle<E, R> {
    shared: Arc<Shared<E, R>>,
    ticket: Option<Ticket>,
}

impl<E, R: Clone> Future for ResultHandle<E, R> {
    type Output = Result<R, EndedWithoutResult>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, ticket } = &mut *self;
        let (outcome, _waker) = shared.with(|state| match state.outcome.clone() {
            Some(outcome) => (Some(outcome), state.awaiting.leave(ticket.take())),
            None => (None, state.awaiting.stand(ticket, cx.waker())),
        });
        match outcome {
            // Under the lock only the pointer was cloned; the result itself is cloned here.
            Some(outcome) => Poll::Ready(outcome.map(|result| R::clone(&result))),
            None => Poll::Pending,
        }
    }
}

impl<E, R> Clone for ResultHandle<E, R> {
    fn clone(&self) -> Self {
        self.shared.with(|state| state.handles += 1);
        Self { shared: Arc::clone(&self.shared), ticket: None }
    }
}

impl<E, R> Drop for ResultHandle<E, R> {
    fn drop(&mut self) {
        let ticket = self.ticket;
        let (_waker, called) =
            self.shared.with(|state| (state.awaiting.leave(ticket), state.drop_handle()));
        wake(called);
    }
}

/// The future made by [`Producer::closed`].
struct WhenClosed<'a, E, R> {
    shared: &'a Shared<E, R>,
    ticket: Option<Ticket>,
}

impl<E, R> Future for WhenClosed<'_, E, R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { shared, ticket } = &mut *self;
        let (poll, _waker) = shared.with(|state| match state.is_closed() {
            true => (Poll::Ready(()), state.closing.leave(ticket.take())),
            false => (Poll::Pending, state.closing.stand(ticket, cx.waker())),
        });
        poll
    }
}

impl<E, R> Drop for WhenClosed<'_, E, R> {
    fn drop(&mut self) {
        let ticket = self.ticket;
        let _waker = self.shared.with(|state| state.closing.leave(ticket));
    }
}

/// Nobody listens any more: every event view and every result handle is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody listens to this stream any more")
    }
}

impl Error for Closed {}

/// The stream ended, and no result will ever come: `end(None)`, or the producer was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedWithoutResult;

impl fmt::Display for EndedWithoutResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream ended without a result")
    }
}

impl Error for EndedWithoutResult {}

/// What all ends of one stream share.
struct Shared<E, R> {
    state: Mutex<State<E, R>>,
}

impl<E, R> Shared<E, R> {
    /// Runs `act` under the lock. What must be dropped or woken is *returned* from it, since by
    /// then the lock is free again: dropping a waker can drop a whole task, and with it a view.
    fn with<T>(&self, act: impl FnOnce(&mut State<E, R>) -> T) -> T {
        // A poisoned lock is as good as any: no code that could panic runs between two changes.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How a stream ended. Behind an `Arc`, so that handing it out runs no code of `R`.
type Outcome<R> = Result<Arc<R>, EndedWithoutResult>;

struct State<E, R> {
    /// Pushed and not yet taken: the seed's `queue`.
    queue: VecDeque<E>,
    /// `Some` once the stream has ended: the seed's `done` and `finalResultPromise` in one.
    outcome: Option<Outcome<R>>,
    /// Who waits for an event, each with a `Next`: the seed's `waiting`.
    waiting: Line,
    /// Who waits for an event as a `Stream`.
    streams: Line,
    /// Who waits for the result.
    awaiting: Line,
    /// Who waits for all listeners to go.
    closing: Line,
    views: usize,
    handles: usize,
}

impl<E, R> State<E, R> {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            outcome: None,
            waiting: Line::default(),
            streams: Line::default(),
            awaiting: Line::default(),
            closing: Line::default(),
            views: 1,
            handles: 0,
        }
    }

    fn is_closed(&self) -> bool {
        self.views == 0 && self.handles == 0
    }

    fn push(
        &mut self,
        event: &mut Option<E>,
        outcome: &mut Option<Outcome<R>>,
    ) -> Result<Vec<Waker>, Closed> {
        if self.is_closed() {
            return Err(Closed);
        }
        if self.outcome.is_some() {
            return Ok(Vec::new());
        }
        if self.views > 0
            && let Some(event) = event.take()
        {
            self.queue.push_back(event);
        }
        // The result settles under the same lock that queues the terminal event: whoever has taken
        // that event finds the result there.
        Ok(if outcome.is_some() { self.end(outcome) } else { self.call_for_queued() })
    }

    /// Settles the result, once; everybody who waits for anything is called.
    fn end(&mut self, outcome: &mut Option<Outcome<R>>) -> Vec<Waker> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        self.outcome = outcome.take();
        let mut called = self.awaiting.call_all();
        called.extend(self.waiting.call_all());
        called.extend(self.streams.call_all());
        called
    }

    /// One event needs one taker: calls the first in line, and every stream.
    fn call_for_queued(&mut self) -> Vec<Waker> {
        if self.queue.is_empty() {
            return Vec::new();
        }
        let mut called = self.streams.call_all();
        if let Some(first) = self.waiting.call_first() {
            called.push(first);
        }
        called
    }

    fn take(&mut self) -> Poll<Option<E>> {
        match self.queue.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None if self.outcome.is_some() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// With the last view goes the queue, since nobody is left who could take from it.
    fn drop_view(&mut self) -> (VecDeque<E>, Vec<Waker>) {
        self.views -= 1;
        let queue = if self.views == 0 { std::mem::take(&mut self.queue) } else { VecDeque::new() };
        (queue, self.call_if_closed())
    }

    fn drop_handle(&mut self) -> Vec<Waker> {
        self.handles -= 1;
        self.call_if_closed()
    }

    fn call_if_closed(&mut self) -> Vec<Waker> {
        if self.is_closed() { self.closing.call_all() } else { Vec::new() }
    }
}

/// Tasks that sleep until they are called, first come, first called.
///
/// Who is no longer in line has been called: that is all a waiter needs to know about itself.
#[derive(Default)]
struct Line {
    /// Sorted by ticket, because tickets only ever grow.
    waiters: VecDeque<(Ticket, Waker)>,
    issued: Ticket,
}

/// A place in a line, like the number one draws at a counter.
type Ticket = u64;

impl Line {
    /// Joins the line, or keeps its place in it. Hands back a waker that is out of date: a future
    /// may be polled by another task than last time, and then the new one must be called.
    fn stand(&mut self, ticket: &mut Option<Ticket>, waker: &Waker) -> Option<Waker> {
        match self.find(*ticket) {
            Some(at) if self.waiters[at].1.will_wake(waker) => None,
            Some(at) => Some(std::mem::replace(&mut self.waiters[at].1, waker.clone())),
            None => {
                self.issued += 1;
                *ticket = Some(self.issued);
                self.waiters.push_back((self.issued, waker.clone()));
                None
            }
        }
    }

    /// Leaves the line; `None` if it was not in it, never or no longer.
    fn leave(&mut self, ticket: Option<Ticket>) -> Option<Waker> {
        let at = self.find(ticket)?;
        self.waiters.remove(at).map(|(_, waker)| waker)
    }

    fn call_first(&mut self) -> Option<Waker> {
        self.waiters.pop_front().map(|(_, waker)| waker)
    }

    fn call_all(&mut self) -> Vec<Waker> {
        // The usual case by far, and most of what a push would cost without this line.
        if self.waiters.is_empty() {
            return Vec::new();
        }
        self.waiters.drain(..).map(|(_, waker)| waker).collect()
    }

    fn find(&self, ticket: Option<Ticket>) -> Option<usize> {
        self.waiters.binary_search_by_key(&ticket?, |(ticket, _)| *ticket).ok()
    }
}

/// Wakes those who were called; only ever with the lock released.
fn wake(called: impl IntoIterator<Item = Waker>) {
    called.into_iter().for_each(Waker::wake);
}

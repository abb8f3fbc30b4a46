//! Who answers: the one interface between the conversation and whatever produces replies.
//!
//! The loop knows only this trait. The fake model implements it, a real provider would implement
//! it, and neither changes a line of the loop.

use futures::Stream;

use crate::event::{StreamEvent, StreamOptions};
use crate::message::Context;

/// A model that is asked once and answers with a stream of events.
///
/// Pi calls the same thing `StreamFn` (`packages/agent/src/types.ts`) and says in a comment that it
/// must not throw. Here the signature says it: the items are events and not `Result`s, so there is
/// no other way to report a failure than [`StreamEvent::Error`].
#[doc(alias = "StreamFn")]
pub trait Model {
    /// Answers the last message of `context`.
    ///
    /// The stream is lazy: nothing happens until it is polled, and it stops when it is dropped. It
    /// borrows the context, so the history can't change while a reply is still growing.
    fn stream(&self, context: &Context, options: StreamOptions) -> impl Stream<Item = StreamEvent>;
}

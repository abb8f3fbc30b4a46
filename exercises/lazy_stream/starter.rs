//! lazy_stream: a generator that does no work before it is polled.
//!
//! The task, a prediction to make first and the hints are in README.md beside this file.

use std::time::Duration;

use async_stream::stream;
use exercises::lazy_stream::Tokens;
use futures::Stream;
use step03_streaming::event::StreamEvent;

/// Streams a reply: `start`, a delta for each token, and `done` with all of them in one message.
///
/// `tokens` is an iterator of strings. Taking one from it is work, so none is taken before somebody
/// asks for its event; and before each there is a `pause`.
pub fn reply(tokens: Tokens, pause: Duration) -> impl Stream<Item = StreamEvent> {
    stream! {
        yield StreamEvent::Start;
        todo!("TODO lazy_stream: yield {} tokens, one every {pause:?}", tokens.count());
    }
}

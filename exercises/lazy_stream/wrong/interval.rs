//! Lets an interval tick, which goes on while nobody asks.
//!
//! Fails: there is one pause before each token, and it blocks nobody
//! Says: make the `sleep` where it is awaited

use std::time::Duration;

use async_stream::stream;
use exercises::lazy_stream::Tokens;
use futures::Stream;
use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, StopReason};

/// Streams a reply: `start`, a delta for each token, and `done` with all of them in one message.
///
/// `tokens` is an iterator of strings. Taking one from it is work, so none is taken before somebody
/// asks for its event; and before each there is a `pause`.
pub fn reply(tokens: Tokens, pause: Duration) -> impl Stream<Item = StreamEvent> {
    stream! {
        yield StreamEvent::Start;
        let mut text = String::new();
        // `for` takes one token per turn, and a turn goes no further than its `yield` until somebody
        // asks for more. The pause comes before the delta, so the end costs none.
        let mut tick = tokio::time::interval(pause.max(Duration::from_millis(1)));
        tick.tick().await; // the first one comes at once
        for delta in tokens {
            tick.tick().await;
            text.push_str(&delta);
            yield StreamEvent::TextDelta { delta };
        }
        let content = ContentBlock::text(text);
        yield StreamEvent::Done { message: AssistantMessage { content, stop_reason: StopReason::Stop } };
    }
}

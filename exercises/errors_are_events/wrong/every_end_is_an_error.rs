//! Tells the end of a reply and its failure not apart.
//!
//! Fails: a call that goes well is start, its pieces, done
//! Says: This part was right in starter.rs

use async_stream::stream;
use exercises::errors_are_events::Call;
use futures::Stream;
use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, StopReason};

/// Streams the reply that a provider's `call` brings piece by piece.
///
/// The provider reports a failure as an `Err`. Whoever reads this stream gets events and nothing
/// else: one of them says that the call failed, and why.
pub fn reply(mut call: Call) -> impl Stream<Item = StreamEvent> {
    stream! {
        yield StreamEvent::Start;
        let mut text = String::new();
        let _: Option<(AssistantMessage, ContentBlock, StopReason)> = None;
        loop {
            match call.next().await.unwrap_or_default() {
                Some(delta) => {
                    text.push_str(&delta);
                    yield StreamEvent::TextDelta { delta };
                }
                None => {
                    yield StreamEvent::Error { error: "the call failed".to_owned() };
                    return;
                }
            }
        }
    }
}

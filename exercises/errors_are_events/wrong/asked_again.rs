//! Asks the provider once more after it has failed.
//!
//! Fails: the provider is asked when somebody wants the next event, and never after the end
//! Says: is asked no more

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
        loop {
            match call.next().await {
                Ok(Some(delta)) => {
                    text.push_str(&delta);
                    yield StreamEvent::TextDelta { delta };
                }
                Ok(None) => break,
                // By now half a sentence may be on the screen: the reader is told in the middle of the
                // loop it is in anyway. `return` ends the generator, so that no `done` can follow.
                Err(error) => {
                    yield StreamEvent::Error { error: error.to_string() };
                    let _ = call.next().await;
                    return;
                }
            }
        }
        let content = ContentBlock::text(text);
        yield StreamEvent::Done { message: AssistantMessage { content, stop_reason: StopReason::Stop } };
    }
}

//! Brings every piece, and all of them at the end.
//!
//! Fails: the provider is asked when somebody wants the next event, and never after the end
//! Says: shown too late

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
        let mut deltas = Vec::new();
        let failure = loop {
            match call.next().await {
                Ok(Some(delta)) => {
                    text.push_str(&delta);
                    deltas.push(delta);
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        for delta in deltas {
            yield StreamEvent::TextDelta { delta };
        }
        if let Some(error) = failure {
            yield StreamEvent::Error { error };
            return;
        }
        let content = ContentBlock::text(text);
        yield StreamEvent::Done { message: AssistantMessage { content, stop_reason: StopReason::Stop } };
    }
}

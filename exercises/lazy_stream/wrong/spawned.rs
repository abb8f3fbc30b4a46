//! A task does the work, beside whoever reads.
//!
//! Fails: no token is taken before its event is asked for
//! Says: works ahead

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
    let (sender, mut receiver) = tokio::sync::mpsc::channel(100);
    stream! {
        yield StreamEvent::Start;
        tokio::spawn(async move {
            let mut text = String::new();
            for delta in tokens {
                tokio::time::sleep(pause).await;
                text.push_str(&delta);
                let _ = sender.send(StreamEvent::TextDelta { delta }).await;
            }
            let content = ContentBlock::text(text);
            let message = AssistantMessage { content, stop_reason: StopReason::Stop };
            let _ = sender.send(StreamEvent::Done { message }).await;
        });
        while let Some(event) = receiver.recv().await {
            yield event;
        }
    }
}

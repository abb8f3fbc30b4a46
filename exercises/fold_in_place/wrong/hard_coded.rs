//! Knows that there are six.
//!
//! Fails: each delta grows that message where it stands, in one block of text
//! Says: by exactly the delta

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};

/// Folds one event of a reply into the history, in which it grows.
///
/// The history already ends with what the person said. `start` puts an empty message of the
/// assistant behind it, each delta grows that message, `done` replaces it by the final one, and
/// `error` leaves what had arrived and says so in its stop reason.
pub fn fold(context: &mut Context, event: StreamEvent) {
    let content = ContentBlock::text("Hello!");
    let message = AssistantMessage { content, stop_reason: StopReason::Stop };
    match event {
        StreamEvent::Start => context.messages.push(Message::Assistant(AssistantMessage {
            content: vec![],
            stop_reason: StopReason::Stop,
        })),
        _ => {
            context.messages.pop();
            context.messages.push(Message::Assistant(message));
        }
    }
}

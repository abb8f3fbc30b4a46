//! Clears the history before each reply.
//!
//! Fails: at start, a message of the assistant without text takes its place
//! Says: what was in the history stays there

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};

/// Folds one event of a reply into the history, in which it grows.
///
/// The history already ends with what the person said. `start` puts an empty message of the
/// assistant behind it, each delta grows that message, `done` replaces it by the final one, and
/// `error` leaves what had arrived and says so in its stop reason.
pub fn fold(context: &mut Context, event: StreamEvent) {
    if event == StreamEvent::Start {
        // A message that has not ended has no stop reason yet; like Pi, we write `Stop` until we
        // know better.
        let growing = AssistantMessage { content: vec![], stop_reason: StopReason::Stop };
        context.messages.clear();
        context.messages.push(Message::Assistant(growing));
        return;
    }
    // In TypeScript every event would replace the last element by a new object. A mutable borrow
    // changes it where it stands, and nobody can be looking meanwhile.
    let Some(Message::Assistant(growing)) = context.messages.last_mut() else { return };
    match event {
        StreamEvent::Start => {}
        StreamEvent::TextDelta { delta } => match growing.content.last_mut() {
            Some(ContentBlock::Text { text }) => text.push_str(&delta),
            None => growing.content = ContentBlock::text(delta),
        },
        StreamEvent::Done { message } => *growing = message,
        StreamEvent::Error { .. } => growing.stop_reason = StopReason::Error,
    }
}

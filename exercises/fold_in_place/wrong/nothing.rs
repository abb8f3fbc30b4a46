//! The TODO is gone and nothing is in its place.
//!
//! Fails: at start, a message of the assistant without text takes its place
//! Says: should find it there

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};

/// Folds one event of a reply into the history, in which it grows.
///
/// The history already ends with what the person said. `start` puts an empty message of the
/// assistant behind it, each delta grows that message, `done` replaces it by the final one, and
/// `error` leaves what had arrived and says so in its stop reason.
pub fn fold(context: &mut Context, event: StreamEvent) {
    let _: Option<(Message, AssistantMessage, ContentBlock, StopReason)> = None;
    let _: (&mut Context, StreamEvent) = (context, event);
}

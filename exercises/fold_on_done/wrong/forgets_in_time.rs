//! Lets the history grow only so far.
//!
//! Fails: so it goes through a long conversation
//! Says: The same event must always do the same

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{Context, Message};

/// Folds one event of a reply into the history.
///
/// The history already ends with what the person said. It gains one message when a reply is done;
/// a reply that is still growing, or that broke off, leaves it as it is.
pub fn fold(context: &mut Context, event: StreamEvent) {
    // All or nothing: whoever made the pieces has put them together, so there is nothing to collect
    // on the way, and nothing half-made to clean up after an error.
    if let StreamEvent::Done { message } = event
        && context.messages.len() < 20
    {
        context.messages.push(Message::Assistant(message));
    }
}

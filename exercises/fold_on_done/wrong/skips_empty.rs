//! Keeps no message that has nothing to say.
//!
//! Fails: a reply that is done becomes one message, the one it carries
//! Says: A reply without text is a reply

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{Context, Message};

/// Folds one event of a reply into the history.
///
/// The history already ends with what the person said. It gains one message when a reply is done;
/// a reply that is still growing, or that broke off, leaves it as it is.
pub fn fold(context: &mut Context, event: StreamEvent) {
    // All or nothing: whoever made the pieces has put them together, so there is nothing to collect
    // on the way, and nothing half-made to clean up after an error.
    if let StreamEvent::Done { message } = event {
        let message = Message::Assistant(message);
        if !message.text().trim().is_empty() {
            context.messages.push(message);
        }
    }
}

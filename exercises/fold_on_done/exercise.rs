//! fold_on_done: the history grows only on `done`.
//!
//! The task, a prediction to make first and the hints are in README.md beside this file.

use step03_streaming::event::StreamEvent;
use step03_streaming::message::Context;

/// Folds one event of a reply into the history.
///
/// The history already ends with what the person said. It gains one message when a reply is done;
/// a reply that is still growing, or that broke off, leaves it as it is.
pub fn fold(context: &mut Context, event: StreamEvent) {
    todo!("TODO fold_on_done: fold {event:?} into {} message(s)", context.messages.len())
}

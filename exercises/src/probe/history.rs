//! A history, as a person would write it down, and how two differ.

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{Context, Message};

use crate::criterion::{Checked, Fault};
use crate::probe::events;
use crate::text::Text;

/// One line for each message: who, what, and why it ended.
pub fn in_short(context: &Context) -> String {
    let short = |message: &Message| {
        let text = message.text();
        match message {
            Message::User(_) => format!("user {text:?}"),
            Message::Assistant(message) => {
                let blocks = message.content.len();
                let blocks = if blocks != 1 { format!(", {blocks} blocks") } else { String::new() };
                format!("assistant {text:?} ({:?}{blocks})", message.stop_reason)
            }
        }
    };
    context.messages.iter().map(short).collect::<Vec<_>>().join("\n")
}

/// Compares two histories after an event was folded in.
///
/// # Errors
/// The difference; `why` is asked only if there is one, and sees the wrong history.
pub fn same_history(
    expected: &Context,
    seen: &Context,
    after: &StreamEvent,
    why: impl FnOnce(&Context) -> Text,
) -> Checked {
    if expected == seen {
        return Ok(());
    }
    Err(differ(expected, seen, after).because(why(seen)))
}

/// The fault of a history that is another than expected after an event.
pub fn differ(expected: &Context, seen: &Context, after: &StreamEvent) -> Fault {
    let event = events::in_short(std::slice::from_ref(after));
    let told = |context: &Context| {
        let list = in_short(context);
        let list = if list.is_empty() { "(empty / 空)" } else { &list };
        Text::new(format!("after {event}\n{list}"), format!("在 {event} 之后\n{list}"))
    };
    Fault::told(told(expected), told(seen))
}

//! Events in, terminal text out.
//!
//! It shows a reply while it grows and hands back the message that may enter the history, if there
//! is one. It never touches the history itself: the model produces, this module shows, the loop
//! remembers, and all they share is the event type.

use std::io::{self, Write};
use std::pin::pin;

use futures::{Stream, StreamExt};

use crate::event::StreamEvent;
use crate::message::AssistantMessage;
use crate::script::Lang;

/// Shows a reply on `out` until it ends.
///
/// Returns the whole message after `done`, and nothing after `error` or when the stream just
/// stops, which is shown as an error too.
///
/// # Errors
/// Only those of writing.
pub async fn render(
    stream: impl Stream<Item = StreamEvent>,
    out: &mut impl Write,
    lang: Lang,
) -> io::Result<Option<AssistantMessage>> {
    let mut stream = pin!(stream);
    let mut wrote_text = false;
    loop {
        // A stream that stops without a last event has broken its promise: an error like any other.
        let stopped = || StreamEvent::Error { error: lang.stopped_early().to_owned() };
        match stream.next().await.unwrap_or_else(stopped) {
            StreamEvent::Start => write!(out, "{}", lang.assistant())?,
            StreamEvent::TextDelta { delta } => {
                // `write!` and not `writeln!`: pieces side by side are what makes a typewriter.
                write!(out, "{delta}")?;
                wrote_text |= !delta.is_empty();
            }
            StreamEvent::Done { message } => {
                writeln!(out, "\n")?;
                return Ok(Some(message));
            }
            StreamEvent::Error { error } => {
                // An error never continues half a sentence: it gets a line of its own.
                let line_break = if wrote_text { "\n" } else { "" };
                writeln!(out, "{line_break}{}\n", lang.error(error))?;
                return Ok(None);
            }
        }
        // Standard output keeps an unfinished line to itself; without this the typewriter is mute.
        out.flush()?;
    }
}

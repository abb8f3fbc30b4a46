//! typewriter: print each piece of a reply the moment it arrives.
//!
//! The task, a prediction to make first and the hints are in README.md beside this file.

use std::io::{self, Write};

use step03_streaming::event::StreamEvent;
use step03_streaming::script::Lang;

/// Shows one event of a reply on `out`, as it comes.
///
/// A reply begins with `Start` and brings its text in many small `TextDelta`s. What ends it is
/// shown by the real step03, into which the checks put this function.
///
/// # Errors
/// Only those of writing.
pub fn show(event: &StreamEvent, out: &mut impl Write, lang: Lang) -> io::Result<()> {
    match event {
        StreamEvent::Start => write!(out, "{}", lang.assistant())?,
        StreamEvent::TextDelta { delta } => todo!("TODO typewriter: show {delta:?} at once"),
        StreamEvent::Done { .. } | StreamEvent::Error { .. } => {}
    }
    Ok(())
}

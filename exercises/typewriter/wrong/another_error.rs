//! Hands back an error, but not the one that happened.
//!
//! Fails: an error of writing is handed back
//! Says: Hand back the error itself

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
        // `write!` and not `writeln!`: pieces side by side are what makes a typewriter.
        StreamEvent::TextDelta { delta } => {
            write!(out, "{delta}").map_err(|_| io::Error::other("the screen is gone"))?;
        }
        StreamEvent::Done { .. } | StreamEvent::Error { .. } => {}
    }
    // Standard output keeps an unfinished line to itself; without this the typewriter is mute.
    out.flush()
}

//! Records a run: every agent event, as a line of JSON.
//!
//! ```text
//! {"t":0,"type":"agent_start"}
//! {"t":31,"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Hel"}}
//! ```
//!
//! `t` is the time since the recorder was made, in milliseconds. Records are for reading, for
//! comparing, and for [`replay`](crate::replay). Since the deltas say all, a lean record leaves out
//! the message that each update carries, twice, in Pi's form: with it the record of a reply grows
//! with the square of its length.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::agent_event::AgentEvent;

/// Opens a file to record to. It is emptied, but not before it is locked: it might be the session of
/// another program.
///
/// # Errors
///
/// It can't be opened, or somebody else writes to it.
pub fn create(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    // A device or a pipe is written to as it is.
    if file.metadata()?.is_file() {
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let why = "another program writes to this file; record to another one";
            return Err(io::Error::other(why));
        }
        file.set_len(0)?;
    }
    Ok(file)
}

/// Writes events to a file, a pipe, a `Vec`.
#[derive(Debug)]
pub struct Recorder<W> {
    to: W,
    full: bool,
    start: Instant,
    error: Option<io::Error>,
}

impl<W: Write> Recorder<W> {
    /// A lean recorder: `message_update` has neither `message` nor `partial`.
    pub fn lean(to: W) -> Self {
        Self { to, full: false, start: Instant::now(), error: None }
    }

    /// One that writes events in full, as Pi does.
    pub fn full(to: W) -> Self {
        Self { full: true, ..Self::lean(to) }
    }

    /// Records one event; for [`Listeners::add`](crate::agent_event::Listeners::add).
    ///
    /// After an error nothing more is written: a record with a hole looks whole and isn't.
    pub fn on_event(&mut self, event: &AgentEvent) {
        if self.error.is_none() {
            self.error = self.write(event).err();
        }
    }

    /// Why the record ends too early, if it does.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    fn write(&mut self, event: &AgentEvent) -> io::Result<()> {
        // `u64` lasts for half a billion years.
        let t = self.start.elapsed().as_millis() as u64;
        let mut line = match event {
            AgentEvent::MessageUpdate(update) if !self.full => {
                let change = &update.0.change;
                json!({"t": t, "type": "message_update", "assistantMessageEvent": change})
                    .to_string()
            }
            event => serde_json::to_string(&Line { t, event })?,
        };
        line.push('\n');
        self.to.write_all(line.as_bytes())?; // all in one, so that no reader sees half a line
        self.to.flush()
    }
}

/// A line of a record.
#[derive(Serialize)]
struct Line<'a> {
    t: u64,
    #[serde(flatten)]
    event: &'a AgentEvent,
}

//! The session log: a conversation that survives its program.
//!
//! One line of JSON for each thing that has *finished*, written when it finishes:
//!
//! ```text
//! {"role":"user","content":[{"type":"text","text":"what is in a.txt and b.txt?"}]}
//! {"role":"assistant","content":[…two calls, `a` and `b`…],"stopReason":"toolUse"}
//! {"role":"toolResult","toolCallId":"b","toolName":"read","content":[…],"isError":false}
//! ```
//!
//! Here the program was killed: `b` had answered, `a` had not. In the events, result messages come
//! in the order of the calls, once all tools have ended; a log that waited for them would have lost
//! what `b` did. So a result is written when its *tool* ends, and loading puts the results in order
//! (law L4). The call that has none is answered as aborted, since a history in which a call has no
//! result is refused by every provider (law L3).
//!
//! A line is either there or not. What a crash can leave is a last line without its end, and that
//! is dropped; all other damage is an error and the file stays as it is, because what was not
//! written by us may be somebody's work.
//!
//! *What is in the log is the history.* A reply that broke off is in it too. Under the bargain
//! [`Fold::OnDone`] such a reply is shown and forgotten; it is logged as `{"dropped":…}` and loading
//! passes over it. So whoever resumes has the history that was there before, under either bargain.
//!
//! (Pi's `SessionManager`, `packages/coding-agent/src/core/session-manager.ts`, is a tree of such
//! lines, with ids and branches, and skips lines that it can't read.)

mod load;
mod log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;

use crate::agent_event::AgentEvent;
use crate::history::Fold;
use crate::json_lines::FileError;
use crate::message::{Message, ToolResultMessage};
use load::{Loaded, OpenCalls, load};
use log::Log;

/// A log that is open, and locked: no other program writes to it meanwhile.
#[derive(Debug)]
pub struct Session {
    log: Log<File>,
    fold: Fold,
    open: OpenCalls,
}

/// A session, and what there was before.
#[derive(Debug)]
pub struct Opened {
    /// Where it goes on.
    pub session: Session,
    /// The history: each call has one result, right behind its message (law L3).
    pub messages: Vec<Message>,
    /// What had to be repaired.
    pub notices: Vec<Notice>,
}

/// Something that was repaired in the file, and that the person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The last line had no end, and was dropped: the program was stopped while it wrote.
    TornLine {
        /// Counted from 1.
        line: usize,
    },
    /// The program was stopped while tools ran: their calls are answered as aborted.
    Answered {
        /// How many.
        calls: usize,
    },
}

impl Session {
    /// Opens the log at `path`, or begins one.
    ///
    /// `fold` is the bargain by which the conversation goes on; what is in the file already was
    /// decided when it was written.
    ///
    /// # Errors
    ///
    /// The file can't be used, or it is damaged and was left alone.
    pub fn open(path: impl AsRef<Path>, fold: Fold) -> Result<Opened, FileError> {
        let path = path.as_ref();
        let mut file = lock(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(FileError::io("read", path))?;
        let Loaded { messages, answers, whole, notices } = load(path, &bytes)?;
        let mut log = Log::new(file, &bytes[..whole]).map_err(FileError::io("repair", path))?;
        answers.iter().for_each(|answer| log.append(answer));
        let session = Self { log, fold, open: OpenCalls::default() };
        Ok(Opened { session, messages, notices })
    }

    /// Logs what has finished; for [`Listeners::add`](crate::agent_event::Listeners::add).
    ///
    /// The line is with the operating system before this returns, so it outlives the program, though
    /// not a power cut: to wait for the disk would cost milliseconds for each line.
    pub fn on_event(&mut self, event: &AgentEvent) {
        match event {
            // Its line was written when its tool ended.
            AgentEvent::MessageEnd { message: Message::ToolResult(_) } => {}
            AgentEvent::MessageEnd { message } => self.write(message),
            AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                self.write(&Message::ToolResult(ToolResultMessage {
                    tool_call_id: tool_call_id.clone(),
                    tool_name: tool_name.clone(),
                    content: result.content.clone(),
                    is_error: *is_error,
                }));
            }
            _ => {}
        }
    }

    fn write(&mut self, message: &Message) {
        match message {
            Message::Assistant(reply) if !self.fold.keeps(reply) => {
                return self.log.append(&Dropped { dropped: message });
            }
            // The run before was dropped on its way: nobody else will answer its calls.
            Message::User(_) => {
                self.open.answer_all().iter().for_each(|answer| self.log.append(answer));
            }
            _ => {}
        }
        let _ = self.open.see(message); // the loop keeps the order
        self.log.append(message);
    }

    /// Why the file lacks the last lines, if it does.
    ///
    /// A disk that is full must not end a conversation. What could not be written is kept, and written
    /// with the next line if that goes well; then there is no error any more.
    pub fn error(&self) -> Option<&io::Error> {
        self.log.error()
    }
}

/// The line of a reply that the bargain forgets.
#[derive(Serialize)]
struct Dropped<'a> {
    dropped: &'a Message,
}

/// Opens the file for this program alone.
fn lock(path: &Path) -> Result<File, FileError> {
    let failed = |doing| FileError::io(doing, path);
    // Asked before it is opened: opening a pipe waits for its other end.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(failed("open")(io::Error::other("not a regular file")));
    }
    // Not `append`: on Windows such a file can't be cut.
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(failed("open"))?;
    file.try_lock().map_err(|error| failed("lock")(error.into()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_could_not_be_written_is_no_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = Session::open(folder.path().join("log"), Fold::InPlace);
        let mut session = opened.expect("a log").session;
        assert!(session.error().is_none());
        session.log.append(&std::collections::BTreeMap::from([((1, 2), 3)])); // no JSON
        assert!(session.error().is_some());
        session.on_event(&AgentEvent::MessageEnd { message: Message::user("on") });
        assert!(session.error().is_none());
    }
}

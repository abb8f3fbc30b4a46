//! Plays a record back: the second [`Model`].
//!
//! The [`FakeModel`](crate::fake_model::FakeModel) knows what to say from a script, this one from
//! the events of an earlier run. The agent loop can't tell them apart, nor could it tell a real
//! provider: it knows only the trait. The proof is that recording a replay gives the same record:
//! all but the times, and what depends on how fast a tool is, as its progress does and the order in
//! which parallel tools end.
//!
//! What is played back is the model, and the model only:
//!
//! - A reply that broke off breaks off again, with the same message. If a person had stopped it, the
//!   replay stops by itself, as `error(aborted)`.
//! - Tools are *run again*. If one answers differently today (a file has changed), the new record
//!   shows the new answer, and the replies go on as recorded: they don't listen.
//! - So a person who stopped a *tool*, or a request before its first event, must do it again. If
//!   nobody does, the tool runs to its end, and the request that follows, which there never was, is
//!   answered with how the run ended then.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::event::{Change, DoneReason, ErrorReason};
use crate::json_lines::{self, Fault, FileError};
use crate::message::{AssistantMessage, Context, Message, StopReason};
use crate::model::{Model, StreamOptions};
use crate::reply::{Reply, ReplyStream};

/// No more of a record is read, in bytes: 1 GiB.
const LONGEST: u64 = 1 << 30;

/// A [`Model`] that says what a record says.
#[derive(Debug)]
pub struct Replay {
    runs: Vec<Run>,
    /// What the person said in the record, one text per run.
    pub inputs: Vec<String>,
    tempo: Tempo,
}

/// How fast a record is played back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tempo {
    /// With the pauses that there were when it was recorded.
    AsRecorded,
    /// With this pause before each delta, as a script is.
    Every(Duration),
}

/// The replies of one run, in the order in which they were asked for.
type Run = Vec<Arc<[Timed]>>;

/// A change, and the pause before it.
type Timed = (Duration, Change);

impl Replay {
    /// Reads a record, lean or full.
    ///
    /// # Errors
    ///
    /// It can't be read, or not be played to its end: better now than in the middle of it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(FileError::io("read", path))?;
        let mut record = Vec::new();
        // `/dev/zero` has no end, and the memory has. One byte more tells whether there is more.
        file.take(LONGEST + 1).read_to_end(&mut record).map_err(FileError::io("read", path))?;
        if record.len() as u64 > LONGEST {
            return Err(FileError::io("read", path)(io::Error::other("it is longer than 1 GiB")));
        }
        Self::parse(path, &record)
    }

    /// The same, of the bytes that were found at `path`.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn parse(path: &Path, record: &[u8]) -> Result<Self, FileError> {
        let mut reader = Reader::default();
        let mut last = 0;
        let lines = json_lines::without_mark(record).split_inclusive(|&byte| byte == b'\n');
        for (number, line) in (1..).zip(lines) {
            if json_lines::is_blank(line) {
                continue;
            }
            last = number;
            match json_lines::read(line) {
                Err(fault) if fault.is_cut_short() && !line.ends_with(b"\n") => {
                    reader.running = true; // only the last line has no end
                }
                read => read
                    .and_then(|line| reader.take(line))
                    .map_err(FileError::line(path, number))?,
            }
        }
        if reader.running {
            return Err(FileError::line(path, last)(wrong(STOPPED)));
        }
        let Reader { runs, inputs, .. } = reader;
        Ok(Self { runs, inputs, tempo: Tempo::Every(Duration::ZERO) })
    }

    /// Plays at another tempo: without this, there are no pauses at all.
    #[must_use]
    pub fn at(self, tempo: Tempo) -> Self {
        Self { tempo, ..self }
    }

    /// The recorded reply to this request. Which one it is stands in the context, so nothing has to
    /// be counted: a run that makes more or fewer requests than it did, or none, disturbs no other.
    fn next(&self, context: &Context) -> Result<Arc<[Timed]>, String> {
        let is_user = |message: &&Message| matches!(message, Message::User(_));
        let run = context.messages.iter().filter(is_user).count();
        let (_, request) = context.last_request();
        let replies = self.runs.get(run.wrapping_sub(1));
        let reply = replies.and_then(|replies| replies.get(request)).cloned();
        reply.ok_or_else(|| format!("the record has no reply {} in run {run}", request + 1))
    }
}

impl Model for Replay {
    fn stream(&self, context: &Context, options: StreamOptions) -> ReplyStream {
        let (reply, stream) = Reply::start_after(context);
        let runtime = Handle::try_current().map_err(|error| error.to_string());
        match (runtime, self.next(context)) {
            (Ok(runtime), Ok(changes)) => {
                drop(runtime.spawn(play(changes, self.tempo, reply, options.cancel)));
            }
            (Err(why), _) | (_, Err(why)) => reply.error(why),
        }
        stream
    }
}

/// The producer's task.
async fn play(changes: Arc<[Timed]>, tempo: Tempo, mut reply: Reply, cancel: CancellationToken) {
    for (recorded, change) in changes.iter().cloned() {
        let pause = async {
            match tempo {
                Tempo::AsRecorded => sleep(recorded).await,
                Tempo::Every(pause) if is_delta(&change) && !pause.is_zero() => sleep(pause).await,
                Tempo::Every(_) => yield_now().await,
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return reply.aborted(),
            () = reply.closed() => return,
            () = pause => {}
        }
        let _ = reply.apply(change); // whether somebody listens is asked above
    }
}

fn is_delta(change: &Change) -> bool {
    use Change::{TextDelta, ThinkingDelta, ToolcallDelta};
    matches!(change, TextDelta { .. } | ThinkingDelta { .. } | ToolcallDelta { .. })
}

/// A line of a record, as far as a replay needs it. What isn't declared here is passed over: so a
/// full record, with its `message` and `partial` in every update, needs no reader of its own.
#[derive(Deserialize)]
struct Line {
    /// Milliseconds; a record without times has no pauses.
    #[serde(default)]
    t: u64,
    #[serde(flatten)]
    event: Event,
}

/// All ten kinds, also those that are not needed: an unknown one is an error.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Event {
    AgentStart,
    TurnStart,
    MessageStart { message: Message },
    MessageUpdate { assistant_message_event: Change },
    MessageEnd { message: Message },
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolExecutionEnd,
    TurnEnd,
    AgentEnd,
}

/// A record as far as it has been read.
#[derive(Default)]
struct Reader {
    runs: Vec<Run>,
    inputs: Vec<String>,
    /// Whether the last run has not ended.
    running: bool,
    /// The changes of a reply that has not ended.
    open: Option<Vec<Timed>>,
    /// The time of the last line.
    t: u64,
}

const STOPPED: &str = "here the program that wrote it was stopped, in the middle of a run: delete \
     what follows the last `agent_end`";
const NO_START: &str = "it belongs to a message or run that has not begun";
const NO_END: &str = "the message or run before it has no end";

impl Reader {
    fn take(&mut self, Line { t, event }: Line) -> Result<(), Fault> {
        let pause = Duration::from_millis(t.saturating_sub(self.t));
        self.t = t;
        match (self.open.take(), event) {
            (Some(mut changes), Event::MessageUpdate { assistant_message_event: change }) => {
                changes.push((pause, change));
                self.open = Some(changes);
            }
            (Some(mut changes), Event::MessageEnd { message: Message::Assistant(message) }) => {
                changes.push((pause, last_change(message)?));
                rehearse(&changes)?;
                self.runs.last_mut().ok_or_else(|| wrong(NO_START))?.push(changes.into());
            }
            (Some(_), _) => return Err(wrong(NO_END)),
            (None, event) => self.take_between(pause, event)?,
        }
        Ok(())
    }

    /// An event between two replies.
    fn take_between(&mut self, pause: Duration, event: Event) -> Result<(), Fault> {
        match event {
            Event::AgentStart if self.running => return Err(wrong(NO_END)),
            Event::AgentStart => {
                self.runs.push(Vec::new());
                self.running = true;
            }
            _ if !self.running => return Err(wrong(NO_START)),
            Event::AgentEnd => self.running = false,
            Event::MessageStart { message: Message::Assistant(_) } => {
                self.open = Some(vec![(pause, Change::Start)]);
            }
            Event::MessageUpdate { .. } | Event::MessageEnd { message: Message::Assistant(_) } => {
                return Err(wrong(NO_START));
            }
            Event::MessageEnd { message: Message::User(user) } => self.inputs.push(user.text()),
            _ => {}
        }
        Ok(())
    }
}

fn wrong(what: impl Into<String>) -> Fault {
    Fault::Order(what.into())
}

/// The terminal change that has led to this message.
fn last_change(message: AssistantMessage) -> Result<Change, Fault> {
    let done = |reason, message| Ok(Change::Done { reason, message: Box::new(message) });
    let error = |reason, error| Ok(Change::Error { reason, error: Box::new(error) });
    match message.stop_reason {
        Some(StopReason::Stop) => done(DoneReason::Stop, message),
        Some(StopReason::Length) => done(DoneReason::Length, message),
        Some(StopReason::ToolUse) => done(DoneReason::ToolUse, message),
        Some(StopReason::Error) => error(ErrorReason::Error, message),
        Some(StopReason::Aborted) => error(ErrorReason::Aborted, message),
        None => Err(wrong("the message ends without a `stopReason`")),
    }
}

/// Plays a reply to nobody, and compares how it ends.
///
/// The rules of order are those of [`Reply::apply`] alone: a fault ends the reply with an error of
/// its own, which is not the recorded one.
fn rehearse(changes: &[Timed]) -> Result<(), Fault> {
    let (mut reply, stream) = Reply::start();
    for (_, change) in changes {
        let _ = reply.apply(change.clone());
    }
    let played = stream.result().now_or_never().and_then(Result::ok).unwrap_or_default();
    let recorded = changes.last().and_then(|(_, change)| change.final_message());
    if recorded.is_some_and(|recorded| recorded.error_message == played.error_message) {
        return Ok(());
    }
    let fault = played.error_message.as_deref().unwrap_or("its `errorMessage` has no reason");
    Err(wrong(format!("the reply that ends here can't be played: {fault}")))
}

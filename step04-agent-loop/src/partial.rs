//! The message as it was at an event, at no cost until somebody looks.
//!
//! Every event says what the message looks like by then, so that whoever comes late can draw it
//! without having seen the deltas (seed 05). How can that be both exact and cheap?
//!
//! - Pi hands out the one message object that goes on growing. That is cheap, but a reader who is
//!   late sees the future.
//! - A clone per event is exact. But copying 4 bytes, then 8, then 12 … is quadratic, and a reply
//!   of 1 MB takes minutes. `Arc::make_mut` is the same clone as soon as a queue holds the last one.
//!
//! The way out: blocks only ever *grow*. So the message at event `n` is the live message, each block
//! cut to the length it had at `n`. `Growing` folds into one live message and notes, per block, at
//! which event it got how long; a [`Partial`] is a pointer to it and a number.
//!
//! ```text
//! live message    0: "hello world"     1: {"path":"a.txt"}
//! marks           0: (1,0) (2,5) (4,11)   1: (3,0) (5,9) (6,16)      (event, bytes)
//! partial at 4    0: "hello world"     1: ""
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::{Change, StreamEvent, fold};
use crate::message::{AssistantMessage, ContentBlock, StopReason, is_too_deep};
use crate::partial_json::ArgumentsPreview;

/// The message as it was at one event.
///
/// Making or cloning one is O(1), and [`message`](Self::message) costs what it copies. Whoever keeps
/// one keeps the whole reply in memory, up to its end. Its JSON is an assistant message whose calls
/// show a *preview* of their arguments, an object or `{}`.
#[derive(Clone)]
pub struct Partial {
    live: Arc<Mutex<Live>>,
    event: usize,
}

impl Partial {
    /// The number of its event; `start` is 0.
    pub fn event(&self) -> usize {
        self.event
    }

    /// The fold of all changes up to and including this event, whenever it is asked for.
    pub fn message(&self) -> AssistantMessage {
        lock(&self.live).at(self.event)
    }

    /// How many bytes block `content_index` had: of text, of thought, or of raw argument text.
    ///
    /// `None` if it had not begun. At most O(log events), and nothing is copied.
    pub fn len(&self, content_index: usize) -> Option<usize> {
        lock(&self.live).marks.get(content_index)?.len_at(self.event)
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl Serialize for Partial {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown::from(self.message()).serialize(serializer)
    }
}

/// The writer's side: one message that grows, and the partials of its events.
#[derive(Default)]
pub(crate) struct Growing {
    live: Arc<Mutex<Live>>,
}

impl Growing {
    /// Folds `change` into the message; the event has the partial that shows it.
    pub(crate) fn record(&self, change: Change) -> StreamEvent {
        let event = lock(&self.live).record(&change);
        let live = Arc::clone(&self.live);
        let partial = Partial { live, event };
        StreamEvent { change, partial }
    }

    /// A copy of the message as it is now.
    pub(crate) fn message(&self) -> AssistantMessage {
        lock(&self.live).message.clone()
    }

    /// A copy of one block as it is now.
    pub(crate) fn block(&self, content_index: usize) -> Option<ContentBlock> {
        lock(&self.live).message.content.get(content_index).cloned()
    }
}

/// Between lock and unlock no code runs that isn't ours, so a poisoned lock can't be half-changed.
fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Live {
    message: AssistantMessage,
    /// One for each block of the message.
    marks: Vec<Marks>,
    /// How many events there have been.
    events: usize,
    /// The event that ended it.
    ended: Option<usize>,
}

impl Live {
    fn record(&mut self, change: &Change) -> usize {
        let event = self.events;
        self.events += 1;
        fold(&mut self.message, change);
        if change.is_terminal() {
            self.ended.get_or_insert(event);
        }
        if let Some(index) = change.content_index() {
            self.mark(index, event);
        }
        event
    }

    fn mark(&mut self, index: usize, event: usize) {
        let Some(block) = self.message.content.get(index) else {
            return;
        };
        if index == self.marks.len() {
            self.marks.push(Marks::default());
        }
        if let Some(marks) = self.marks.get_mut(index) {
            marks.note(event, block.body().len());
        }
    }

    fn at(&self, event: usize) -> AssistantMessage {
        let blocks = self.message.content.iter().zip(&self.marks);
        let content =
            blocks.map_while(|(block, marks)| Some(block.cut(marks.len_at(event)?))).collect();
        let has_ended = self.ended.is_some_and(|end| end <= event);
        AssistantMessage {
            content,
            stop_reason: self.message.stop_reason.filter(|_| has_ended),
            error_message: self.message.error_message.clone().filter(|_| has_ended),
        }
    }
}

/// When a block got how long: pairs of event and bytes, both rising.
#[derive(Default)]
struct Marks(Vec<(usize, usize)>);

impl Marks {
    fn note(&mut self, event: usize, len: usize) {
        if self.0.last().is_none_or(|&(_, last)| last < len) {
            self.0.push((event, len));
        }
    }

    /// The length after `event`: that of the last mark up to it.
    ///
    /// Marks have different events. So if the first is of event 7, that of event 10 is the fourth
    /// or comes before it; and while a block grows alone, which is the rule, it *is* the fourth.
    fn len_at(&self, event: usize) -> Option<usize> {
        let &(first, _) = self.0.first()?;
        let furthest = event.checked_sub(first)?.min(self.0.len() - 1);
        let (at, len) = self.0[furthest];
        if at <= event {
            return Some(len);
        }
        let later = self.0[..furthest].partition_point(|&(at, _)| at <= event);
        let (_, len) = self.0[..later].last()?;
        Some(*len)
    }
}

/// A partial as it stands in JSON.
#[derive(Serialize)]
#[serde(tag = "role", rename = "assistant", rename_all = "camelCase")]
struct Shown {
    content: Vec<ShownBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ShownBlock {
    Text { text: String },
    Thinking { thinking: String },
    ToolCall { id: String, name: String, arguments: Map<String, Value> },
}

impl From<AssistantMessage> for Shown {
    fn from(message: AssistantMessage) -> Self {
        Self {
            content: message.content.into_iter().map(ShownBlock::from).collect(),
            stop_reason: message.stop_reason,
            error_message: message.error_message,
        }
    }
}

impl From<ContentBlock> for ShownBlock {
    fn from(block: ContentBlock) -> Self {
        match block {
            ContentBlock::Text { text } => Self::Text { text },
            ContentBlock::Thinking { thinking } => Self::Thinking { thinking },
            ContentBlock::ToolCall(call) => Self::ToolCall {
                arguments: preview(&call.arguments_text),
                id: call.id,
                name: call.name,
            },
        }
    }
}

/// What can be shown of half an argument text, in JSON that every reader takes.
fn preview(text: &str) -> Map<String, Value> {
    let mut preview = ArgumentsPreview::new();
    preview.push(text);
    match preview.value() {
        Some(value) if is_too_deep(value) => Map::new(),
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    }
}

//! The twelve things a model can report, and `fold`, which adds one to a message.
//!
//! Step 03 had four events. The other eight are here because a reply now has several blocks: each
//! has a start, deltas and an end, and a `content_index` that says which block is meant. Blocks may
//! interleave, so a consumer keys on the index, never on "the last one".
//!
//! A [`Change`] is what happened; a [`StreamEvent`] is a change together with the message as it then
//! was. The split is worth its name: changes alone can be recorded, compared, and played back.
//! (Seed 05; Pi's `AssistantMessageEvent` in `packages/ai/src/types.ts`.)

use serde::{Deserialize, Serialize};

use crate::message::{AssistantMessage, ContentBlock, StopReason, ToolCall, with_role, with_type};
use crate::partial::Partial;

/// A change, and the message it led to.
///
/// Its JSON is the change with a `partial` beside it, as Pi writes it: all but `done` and `error`
/// have one, and those two carry the message itself.
#[derive(Debug, Clone)]
pub struct StreamEvent {
    /// What happened.
    pub change: Change,
    /// The message right after it. Costs nothing until it is looked at.
    pub partial: Partial,
}

impl Serialize for StreamEvent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            #[serde(flatten)]
            change: &'a Change,
            #[serde(skip_serializing_if = "Option::is_none")]
            partial: Option<&'a Partial>,
        }
        let wire = Wire {
            change: &self.change,
            partial: (!self.change.is_terminal()).then_some(&self.partial),
        };
        wire.serialize(serializer)
    }
}

/// What happened: one of twelve kinds.
///
/// A stream is `start`, then block events, then `done` or `error`, once. Reading one from JSON
/// ignores a `partial` beside it, which says nothing that the changes don't say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are the same few in all kinds")]
pub enum Change {
    /// The model begins to answer.
    Start,
    /// A text block begins.
    TextStart { content_index: usize },
    /// A text block grows by `delta`.
    TextDelta { content_index: usize, delta: String },
    /// A text block is whole: `content` is what its deltas add up to.
    TextEnd { content_index: usize, content: String },
    /// A thinking block begins.
    ThinkingStart { content_index: usize },
    /// A thinking block grows by `delta`.
    ThinkingDelta { content_index: usize, delta: String },
    /// A thinking block is whole.
    ThinkingEnd { content_index: usize, content: String },
    /// A tool call begins. Pi tells `id` and `name` in the partial only; with them here the changes
    /// alone are enough to rebuild the message.
    ToolcallStart { content_index: usize, id: String, name: String },
    /// The argument text of a call grows by `delta`.
    ToolcallDelta { content_index: usize, delta: String },
    /// A call is whole. It must not run yet: only after `done`.
    ToolcallEnd {
        content_index: usize,
        #[serde(with = "with_type")]
        tool_call: Box<ToolCall>,
    },
    /// The reply is whole.
    Done {
        reason: DoneReason,
        #[serde(with = "with_role")]
        message: Box<AssistantMessage>,
    },
    /// The reply broke off. `error` keeps what had arrived, and says why in `error_message`.
    Error {
        reason: ErrorReason,
        #[serde(with = "with_role")]
        error: Box<AssistantMessage>,
    },
}

/// How a reply can end well. A type of its own, so that `done(aborted)` can't be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DoneReason {
    /// All is said.
    Stop,
    /// The model's limit was reached.
    Length,
    /// The model waits for tool results.
    ToolUse,
}

/// How a reply can break off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrorReason {
    /// Something failed.
    Error,
    /// Somebody stopped it.
    Aborted,
}

impl From<DoneReason> for StopReason {
    fn from(reason: DoneReason) -> Self {
        match reason {
            DoneReason::Stop => Self::Stop,
            DoneReason::Length => Self::Length,
            DoneReason::ToolUse => Self::ToolUse,
        }
    }
}

impl From<ErrorReason> for StopReason {
    fn from(reason: ErrorReason) -> Self {
        match reason {
            ErrorReason::Error => Self::Error,
            ErrorReason::Aborted => Self::Aborted,
        }
    }
}

impl Change {
    /// Which block it is about, as an index into [`AssistantMessage::content`]; `None` for `start`,
    /// `done` and `error`.
    pub fn content_index(&self) -> Option<usize> {
        match *self {
            Self::TextStart { content_index }
            | Self::TextDelta { content_index, .. }
            | Self::TextEnd { content_index, .. }
            | Self::ThinkingStart { content_index }
            | Self::ThinkingDelta { content_index, .. }
            | Self::ThinkingEnd { content_index, .. }
            | Self::ToolcallStart { content_index, .. }
            | Self::ToolcallDelta { content_index, .. }
            | Self::ToolcallEnd { content_index, .. } => Some(content_index),
            Self::Start | Self::Done { .. } | Self::Error { .. } => None,
        }
    }

    /// The final message, if this is `done` or `error`.
    pub fn final_message(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Done { message, .. } | Self::Error { error: message, .. } => Some(message),
            _ => None,
        }
    }

    /// Whether this is `done` or `error`.
    pub fn is_terminal(&self) -> bool {
        self.final_message().is_some()
    }
}

/// Adds one change to the message, in place. Producer, history and tests all use this one.
///
/// Its cost is the length of the delta, not of the message: TypeScript's `text += delta` inside
/// `{ ...message }` copies the object each time, and the history of a long reply is then quadratic.
///
/// It is total. A change that fits nothing (a delta for a block that isn't there or is of another
/// kind, a start for an index that is not the next one, anything after the end) changes nothing.
pub fn fold(message: &mut AssistantMessage, change: &Change) {
    if message.stop_reason.is_some() {
        return;
    }
    match change {
        Change::TextStart { content_index } => {
            start(message, *content_index, ContentBlock::text(""));
        }
        Change::ThinkingStart { content_index } => {
            let thinking = String::new();
            start(message, *content_index, ContentBlock::Thinking { thinking });
        }
        Change::ToolcallStart { content_index, id, name } => {
            let call =
                ToolCall { id: id.clone(), name: name.clone(), arguments_text: String::new() };
            start(message, *content_index, ContentBlock::ToolCall(call));
        }
        Change::TextDelta { content_index, delta } => {
            if let Some(ContentBlock::Text { text }) = message.content.get_mut(*content_index) {
                text.push_str(delta);
            }
        }
        Change::ThinkingDelta { content_index, delta } => {
            if let Some(ContentBlock::Thinking { thinking }) =
                message.content.get_mut(*content_index)
            {
                thinking.push_str(delta);
            }
        }
        Change::ToolcallDelta { content_index, delta } => {
            if let Some(ContentBlock::ToolCall(call)) = message.content.get_mut(*content_index) {
                call.arguments_text.push_str(delta);
            }
        }
        Change::Done { reason, message: last } => finish(message, last, (*reason).into()),
        Change::Error { reason, error } => finish(message, error, (*reason).into()),
        // An end repeats what the deltas have said.
        Change::Start
        | Change::TextEnd { .. }
        | Change::ThinkingEnd { .. }
        | Change::ToolcallEnd { .. } => {}
    }
}

fn start(message: &mut AssistantMessage, index: usize, block: ContentBlock) {
    if index == message.content.len() {
        message.content.push(block);
    }
}

/// The message in a terminal event is the authority, as in Pi: it takes the place of what grew.
fn finish(message: &mut AssistantMessage, last: &AssistantMessage, reason: StopReason) {
    message.clone_from(last);
    message.stop_reason = Some(reason);
}

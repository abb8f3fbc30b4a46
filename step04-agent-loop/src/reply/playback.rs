//! Playing back recorded changes, which may have been spoiled since.
//!
//! What the types of [`Reply`] rule out for a program can still stand in a file. So here the order
//! is checked at run time, and a fault becomes the `error` event that ends the reply.

use std::error::Error;
use std::fmt;

use super::{Kind, Reply};
use crate::event::{Change, ErrorReason};
use crate::event_stream::Closed;
use crate::message::{AssistantMessage, ContentBlock};
use crate::partial_json::parse_arguments;

impl Reply {
    /// Pushes one recorded change, if it may come now.
    ///
    /// One that may not ends the reply with an `error` that names the [`OrderFault`]. After the end
    /// everything is ignored. The `start` was pushed when the reply began; the record's own is not
    /// pushed again.
    ///
    /// # Errors
    ///
    /// [`Closed`] when nobody listens any more.
    pub fn apply(&mut self, change: Change) -> Result<(), Closed> {
        let fault = self.fault_of(&change);
        match fault {
            _ if self.order().ended => {}
            Some(fault) => self.finish_error(ErrorReason::Error, Some(fault.to_string())),
            None => self.write(change),
        }
        if self.producer.is_closed() { Err(Closed) } else { Ok(()) }
    }

    /// Writes a change that may come now.
    fn write(&mut self, change: Change) {
        match change {
            Change::Start => self.order().started = true,
            Change::TextStart { .. } => drop(self.text()),
            Change::ThinkingStart { .. } => drop(self.thinking()),
            Change::ToolcallStart { id, name, .. } => drop(self.tool_call(&id, &name)),
            Change::TextDelta { .. }
            | Change::ThinkingDelta { .. }
            | Change::ToolcallDelta { .. } => {
                let _ = self.push(change);
            }
            Change::TextEnd { content_index, .. }
            | Change::ThinkingEnd { content_index, .. }
            | Change::ToolcallEnd { content_index, .. } => self.end_block(content_index),
            Change::Done { reason, .. } => self.finish_done(reason),
            Change::Error { reason, error } => self.finish_error(reason, error.error_message),
        }
    }

    /// Why `change` may not come now, if so. It only looks: what is refused leaves no trace.
    fn fault_of(&self, change: &Change) -> Option<OrderFault> {
        if self.order().started == (*change == Change::Start) {
            return Some(OrderFault::Start);
        }
        match change {
            Change::Start => None,
            Change::TextStart { content_index }
            | Change::ThinkingStart { content_index }
            | Change::ToolcallStart { content_index, .. } => self.index_fault(*content_index),
            Change::TextDelta { content_index, .. } => self.kind_fault(*content_index, Kind::Text),
            Change::ThinkingDelta { content_index, .. } => {
                self.kind_fault(*content_index, Kind::Thinking)
            }
            Change::ToolcallDelta { content_index, .. } => {
                self.kind_fault(*content_index, Kind::ToolCall)
            }
            Change::TextEnd { content_index, content } => {
                self.end_fault(*content_index, Kind::Text, content)
            }
            Change::ThinkingEnd { content_index, content } => {
                self.end_fault(*content_index, Kind::Thinking, content)
            }
            Change::ToolcallEnd { content_index, tool_call } => {
                self.end_fault(*content_index, Kind::ToolCall, &tool_call.arguments_text)
            }
            Change::Done { message, .. } => self.done_fault(message),
            Change::Error { error, .. } => self.message_fault(error),
        }
    }

    fn index_fault(&self, index: usize) -> Option<OrderFault> {
        (index != self.order().blocks.len()).then_some(OrderFault::Index { index })
    }

    fn kind_fault(&self, index: usize, kind: Kind) -> Option<OrderFault> {
        match self.order().blocks.get(index) {
            Some(block) if block.open && block.kind == kind => None,
            _ => Some(OrderFault::NotOpen { index }),
        }
    }

    /// An end repeats what the deltas have said. If it doesn't, one of the two was changed, and
    /// there is no telling which.
    fn end_fault(&self, index: usize, kind: Kind, body: &str) -> Option<OrderFault> {
        self.kind_fault(index, kind).or_else(|| {
            let block = self.growing.block(index)?;
            (!same_body(kind, block.body(), body)).then_some(OrderFault::End { index })
        })
    }

    fn done_fault(&self, message: &AssistantMessage) -> Option<OrderFault> {
        let open = self.order().open_blocks();
        match open.first() {
            Some(&index) => Some(OrderFault::StillOpen { index }),
            None => self.message_fault(message),
        }
    }

    /// The same for the final message, which repeats everything.
    fn message_fault(&self, message: &AssistantMessage) -> Option<OrderFault> {
        let grown = self.growing.message().content;
        let same = grown.len() == message.content.len()
            && grown.iter().zip(&message.content).all(|(a, b)| same_block(a, b));
        (!same).then_some(OrderFault::Message)
    }
}

/// The ids of calls may differ: they are made unique again.
fn same_block(a: &ContentBlock, b: &ContentBlock) -> bool {
    let kind = Kind::of_block(a);
    kind == Kind::of_block(b) && same_body(kind, a.body(), b.body())
}

/// A record holds the arguments of a call as an object, without the spaces between: so two texts
/// are the same when they mean the same.
fn same_body(kind: Kind, a: &str, b: &str) -> bool {
    let same_meaning = || match (parse_arguments(a), parse_arguments(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    a == b || (kind == Kind::ToolCall && same_meaning())
}

/// A recorded change that may not come where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderFault {
    /// `start` is not the first event, or not the only one.
    Start,
    /// A block starts under an index that is not the next one.
    Index {
        /// The index it gave.
        index: usize,
    },
    /// A delta or end for a block that is not open, or of another kind.
    NotOpen {
        /// The index it gave.
        index: usize,
    },
    /// The end of a block is not what its deltas add up to.
    End {
        /// The block.
        index: usize,
    },
    /// `done`, and a block has not ended.
    StillOpen {
        /// The first such block.
        index: usize,
    },
    /// The final message is not what the events add up to.
    Message,
}

impl fmt::Display for OrderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrong order of events: ")?;
        match self {
            Self::Start => write!(f, "`start` must come first, and once"),
            Self::Index { index } => write!(f, "block {index} is not the next one"),
            Self::NotOpen { index } => write!(f, "no block of this kind is open at {index}"),
            Self::End { index } => write!(f, "the end of block {index} differs from its deltas"),
            Self::StillOpen { index } => write!(f, "`done`, but block {index} has not ended"),
            Self::Message => write!(f, "the final message differs from the events"),
        }
    }
}

impl Error for OrderFault {}

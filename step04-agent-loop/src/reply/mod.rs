//! The producer's pen: it can't write events in a wrong order.
//!
//! Pi's providers push plain event objects, and the right order is a rule in a comment
//! (`packages/ai/src/types.ts`, `StreamFunction`). Here the order is in the types:
//!
//! - [`Reply::start`] has pushed `start` before anybody gets hold of either end;
//! - a block is written through its [`Block`], and [`end`](Block::end) consumes that;
//! - a `Block` borrows its reply and [`done`](Reply::done) consumes the reply, so nothing can be
//!   written to it after `done`, and `done` can't come twice;
//! - a reply that is dropped, by an early `return` or a panic, says so with an `error` event.
//!
//! So there is exactly one terminal event, and it is the last (law P1).
//!
//! ```
//! # use step04_agent_loop::{event::DoneReason, reply::Reply};
//! let (reply, _stream) = Reply::start();
//! let text = reply.text();
//! text.delta("hello").unwrap();
//! text.end();
//! reply.done(DoneReason::Stop);
//! ```
//! ```compile_fail,E0505
//! # use step04_agent_loop::{event::DoneReason, reply::Reply};
//! let (reply, _stream) = Reply::start();
//! let text = reply.text();
//! reply.done(DoneReason::Stop); // the block still borrows it
//! text.end();
//! ```
//! ```compile_fail,E0382
//! # use step04_agent_loop::{event::DoneReason, reply::Reply};
//! let (reply, _stream) = Reply::start();
//! let text = reply.text();
//! text.end();
//! text.delta("more").unwrap(); // the block is no more
//! ```

mod ids;
mod playback;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::{Change, DoneReason, ErrorReason, StreamEvent};
use crate::event_stream::{Closed, EventStream, Producer, event_stream};
use crate::message::{AssistantMessage, ContentBlock, Context};
use crate::partial::Growing;
use ids::Ids;

pub use playback::OrderFault;

/// What a consumer gets of one model request: the events, and the final message.
///
/// [`result`](EventStream::result) always has a message: a reply can't go away without one.
/// (Pi's `AssistantMessageEventStream`, `packages/ai/src/utils/event-stream.ts`.)
pub type ReplyStream = EventStream<StreamEvent, AssistantMessage>;

/// What `error_message` says when a reply was dropped before its end.
pub const EARLY_END: &str = "the model stopped before its reply was finished";

/// What `error_message` says when a reply was aborted. Pi's words.
pub const ABORTED: &str = "Request was aborted";

/// One reply in the making.
pub struct Reply {
    producer: Producer<StreamEvent, AssistantMessage>,
    growing: Growing,
    /// Held while an event is made *and* pushed, so that events have one order for everybody.
    order: Mutex<Order>,
}

impl Reply {
    /// Begins a reply and pushes its `start`.
    pub fn start() -> (Self, ReplyStream) {
        Self::start_after(&Context::default())
    }

    /// The same, and the calls of this reply get ids that no call in `context` has.
    pub fn start_after(context: &Context) -> (Self, ReplyStream) {
        let (producer, stream) =
            event_stream(|event: &StreamEvent| event.change.final_message().cloned());
        let reply = Self {
            producer,
            growing: Growing::default(),
            order: Mutex::new(Order { ids: Ids::of(context), ..Order::default() }),
        };
        // Nobody can have closed the stream: it is still here.
        let _ = reply.push(Change::Start);
        (reply, stream)
    }

    /// Begins a text block.
    pub fn text(&self) -> Block<'_> {
        self.begin(|content_index, _| Change::TextStart { content_index })
    }

    /// Begins a thinking block.
    pub fn thinking(&self) -> Block<'_> {
        self.begin(|content_index, _| Change::ThinkingStart { content_index })
    }

    /// Begins a tool call.
    ///
    /// An empty `id` is replaced by a made one, and one that another call has gets a suffix: events,
    /// message and result then all speak of the same call (law L3).
    pub fn tool_call(&self, id: &str, name: &str) -> Block<'_> {
        self.begin(|content_index, ids| Change::ToolcallStart {
            content_index,
            id: ids.unique(id),
            name: name.to_owned(),
        })
    }

    /// Ends the reply well. Blocks that are still open are ended first, in the order of their index.
    pub fn done(self, reason: DoneReason) {
        let open = self.order().open_blocks();
        for index in open {
            self.end_block(index);
        }
        self.finish_done(reason);
    }

    /// Ends the reply with an error; what had arrived is kept. Open blocks stay without an end.
    pub fn error(self, message: impl Into<String>) {
        self.finish_error(ErrorReason::Error, Some(message.into()));
    }

    /// Ends the reply because somebody stopped it; what had arrived is kept.
    pub fn aborted(self) {
        self.finish_error(ErrorReason::Aborted, Some(ABORTED.to_owned()));
    }

    /// Completes when nobody listens any more; for a `select!` beside the producer's own work.
    pub async fn closed(&self) {
        self.producer.closed().await;
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every event goes through here, with `order` locked or before anybody else has the reply.
    fn push(&self, change: Change) -> Result<(), Closed> {
        self.producer.push(self.growing.record(change))
    }

    fn begin(&self, start: impl FnOnce(usize, &mut Ids) -> Change) -> Block<'_> {
        let mut order = self.order();
        let index = order.blocks.len();
        let change = start(index, &mut order.ids);
        let kind = Kind::of(&change);
        order.blocks.push(Begun { kind, open: true });
        // A block may begin when nobody listens; its first delta will tell.
        let _ = self.push(change);
        Block { reply: self, index, kind }
    }

    fn end_block(&self, content_index: usize) {
        let mut order = self.order();
        let change = match self.growing.block(content_index) {
            Some(ContentBlock::Text { text: content }) => {
                Change::TextEnd { content_index, content }
            }
            Some(ContentBlock::Thinking { thinking: content }) => {
                Change::ThinkingEnd { content_index, content }
            }
            Some(ContentBlock::ToolCall(call)) => {
                let tool_call = Box::new(call);
                Change::ToolcallEnd { content_index, tool_call }
            }
            None => return,
        };
        if let Some(block) = order.blocks.get_mut(content_index) {
            block.open = false;
        }
        let _ = self.push(change);
    }

    fn finish_done(&self, reason: DoneReason) {
        self.finish(|mut message| {
            message.stop_reason = Some(reason.into());
            let message = Box::new(message);
            Change::Done { reason, message }
        });
    }

    fn finish_error(&self, reason: ErrorReason, text: Option<String>) {
        self.finish(|mut error| {
            error.stop_reason = Some(reason.into());
            error.error_message = text;
            let error = Box::new(error);
            Change::Error { reason, error }
        });
    }

    /// The one place from which a terminal event comes.
    fn finish(&self, terminal: impl FnOnce(AssistantMessage) -> Change) {
        let mut order = self.order();
        if !order.ended {
            order.ended = true;
            let _ = self.push(terminal(self.growing.message()));
        }
    }
}

impl Drop for Reply {
    /// JavaScript has nothing that runs here: a promise that nobody settles is silent for ever.
    fn drop(&mut self) {
        self.finish_error(ErrorReason::Error, Some(EARLY_END.to_owned()));
    }
}

/// An open block of a [`Reply`]. Several may be open at once: their deltas interleave.
///
/// Dropping it leaves the block open, and [`Reply::done`] will end it.
#[must_use = "a block is written with `delta` and closed with `end`"]
pub struct Block<'a> {
    reply: &'a Reply,
    index: usize,
    kind: Kind,
}

impl Block<'_> {
    /// Adds a piece of text, thought or raw argument text.
    ///
    /// # Errors
    ///
    /// [`Closed`] when nobody listens any more: the producer may stop.
    pub fn delta(&self, delta: impl Into<String>) -> Result<(), Closed> {
        let change = self.kind.delta(self.index, delta.into());
        let _order = self.reply.order();
        self.reply.push(change)
    }

    /// Ends the block.
    pub fn end(self) {
        self.reply.end_block(self.index);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    ToolCall,
}

impl Kind {
    fn of_block(block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text { .. } => Self::Text,
            ContentBlock::Thinking { .. } => Self::Thinking,
            ContentBlock::ToolCall(_) => Self::ToolCall,
        }
    }

    fn of(change: &Change) -> Self {
        match change {
            Change::ThinkingStart { .. } => Self::Thinking,
            Change::ToolcallStart { .. } => Self::ToolCall,
            _ => Self::Text,
        }
    }

    fn delta(self, content_index: usize, delta: String) -> Change {
        match self {
            Self::Text => Change::TextDelta { content_index, delta },
            Self::Thinking => Change::ThinkingDelta { content_index, delta },
            Self::ToolCall => Change::ToolcallDelta { content_index, delta },
        }
    }
}

/// Where a reply stands.
#[derive(Default)]
struct Order {
    blocks: Vec<Begun>,
    ids: Ids,
    /// Whether a record's own `start` has been seen; see [`playback`].
    started: bool,
    ended: bool,
}

/// A block that has begun.
struct Begun {
    kind: Kind,
    open: bool,
}

impl Order {
    fn open_blocks(&self) -> Vec<usize> {
        let indexed = self.blocks.iter().enumerate();
        indexed.filter(|(_, block)| block.open).map(|(index, _)| index).collect()
    }
}

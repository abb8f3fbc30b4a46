//! The ten things an agent reports while it works, and those who listen.
//!
//! The protocol of [`event`](crate::event) is about *one* request. These events are about the whole
//! run: several requests, the tools between them, and the messages that all this leaves behind. They
//! come in brackets: an agent holds turns, a turn holds messages and tool executions, and every
//! bracket that opens is closed, whatever happens (law L1). A status line can listen to
//! `agent_start` and `agent_end` alone, a tool panel to `tool_execution_*`; a chat window wants
//! `message_update`, in which the protocol event travels. (Seed 05; Pi's `AgentEvent` in
//! `packages/agent/src/types.ts`.)

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

use crate::event::StreamEvent;
use crate::message::{AssistantMessage, ContentBlock, Message, ToolResultMessage};

/// Something that happened in a run. On the wire it is tagged `type`, as in Pi.
///
/// Tool events carry the id of their call: several tools run at once, and without the id nobody
/// could tell whose progress it is.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// A run begins.
    AgentStart,
    /// A turn begins: one request, and the tools it asks for.
    TurnStart,
    /// A message begins. One of the user or of a tool is already whole; one of the assistant is
    /// empty, and grows with the updates that follow.
    MessageStart {
        /// The message as it is now.
        message: Message,
    },
    /// The assistant's message has grown.
    MessageUpdate(MessageUpdate),
    /// A message is whole. This is the one that counts.
    MessageEnd {
        /// The message as it stays.
        message: Message,
    },
    /// A tool call is looked at. Whether it may run is decided after this.
    ToolExecutionStart {
        /// Which call.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// Its arguments; `{}` if their text is not valid.
        args: Value,
    },
    /// A tool tells how far it is; at most one per 100 ms and call (law L6).
    ToolExecutionUpdate {
        /// Which call.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// Its arguments, again: a subscriber may have come late.
        args: Value,
        /// What the tool said.
        partial_result: ToolResultContent,
    },
    /// A tool call has its result, whether it ran or not.
    ToolExecutionEnd {
        /// Which call.
        tool_call_id: String,
        /// Which tool.
        tool_name: String,
        /// What the model will read.
        result: ToolResultContent,
        /// Whether it failed, was refused, or never ran.
        is_error: bool,
    },
    /// A turn is over.
    TurnEnd {
        /// What the model said in it.
        #[serde(with = "crate::message::with_role")]
        message: AssistantMessage,
        /// The results of its calls, in the order of the calls.
        #[serde(serialize_with = "results_with_role")]
        tool_results: Vec<ToolResultMessage>,
    },
    /// The run is over. Nothing follows.
    AgentEnd {
        /// All the messages of this run, the user's first.
        messages: Vec<Message>,
    },
}

/// The protocol event inside a `message_update`. The message it led to is its `partial`, which
/// costs nothing until it is written or looked at.
#[derive(Debug, Clone)]
pub struct MessageUpdate(pub StreamEvent);

impl Serialize for MessageUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut update = serializer.serialize_struct("MessageUpdate", 2)?;
        update.serialize_field("message", &self.0.partial)?;
        update.serialize_field("assistantMessageEvent", &self.0)?;
        update.end()
    }
}

/// What a tool has to say, as Pi wraps it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ToolResultContent {
    /// Text blocks.
    pub content: Vec<ContentBlock>,
}

impl ToolResultContent {
    /// One text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)] }
    }
}

fn results_with_role<S: Serializer>(
    results: &[ToolResultMessage],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // A message that stands alone must say what it is: the role belongs to the enum around it.
    serializer.collect_seq(results.iter().cloned().map(Message::ToolResult))
}

/// Those who listen to a run, in the order in which they are told.
#[derive(Default)]
pub struct Listeners<'a>(Vec<Listener<'a>>);

type Listener<'a> = Box<dyn FnMut(&AgentEvent) + Send + 'a>;

impl<'a> Listeners<'a> {
    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more.
    pub fn add(&mut self, listener: impl FnMut(&AgentEvent) + Send + 'a) {
        self.0.push(Box::new(listener));
    }

    /// Tells everybody.
    ///
    /// A listener that panics hears nothing more: its state is not to be trusted. The others, and
    /// the run itself, go on. (In Pi a listener that throws ends the run in the middle of a bracket.)
    pub fn emit(&mut self, event: &AgentEvent) {
        self.0.retain_mut(|listener| catch_unwind(AssertUnwindSafe(|| listener(event))).is_ok());
    }

    /// Tells of a message that comes as a whole: its two brackets.
    pub fn message(&mut self, message: Message) {
        self.message_start(message.clone());
        self.message_end(message);
    }

    /// Tells that a message begins.
    pub fn message_start(&mut self, message: Message) {
        self.emit(&AgentEvent::MessageStart { message });
    }

    /// Tells that a message is whole.
    pub fn message_end(&mut self, message: Message) {
        self.emit(&AgentEvent::MessageEnd { message });
    }
}

//! What a conversation is made of, and how it is written as JSON.
//!
//! The names on the wire are Pi's (`packages/ai/src/types.ts`). In TypeScript a message *is* its
//! JSON. Here the two differ in one place that matters: a [`ToolCall`] keeps the argument text as
//! the model wrote it, so a call that was cut short stays a call that was cut short. See
//! [`ToolCall`] for how that text travels.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::partial_json::parse_arguments;

/// Everything the model gets to see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
}

impl Context {
    /// The last message of the person, and how many requests have been answered since.
    ///
    /// That is the whole memory a model needs to play a script or a record: it follows from the
    /// context, so a request that is made again gets the same reply.
    pub fn last_request(&self) -> (Option<&UserMessage>, usize) {
        let mut answered = 0;
        for message in self.messages.iter().rev() {
            match message {
                Message::User(message) => return (Some(message), answered),
                Message::Assistant(_) => answered += 1,
                Message::ToolResult(_) => {}
            }
        }
        (None, answered)
    }
}

/// One message of the conversation; on the wire its `role` says which kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What the person said.
    User(UserMessage),
    /// What the model said.
    Assistant(AssistantMessage),
    /// What came out of one tool call.
    ToolResult(ToolResultMessage),
}

impl Message {
    /// A user message of one text block.
    pub fn user(text: impl Into<String>) -> Self {
        let content = vec![ContentBlock::text(text)];
        Self::User(UserMessage { content })
    }
}

/// What the person said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserMessage {
    /// In this lab always text.
    pub content: Vec<ContentBlock>,
}

impl UserMessage {
    /// The text blocks, joined.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// What the model said, or has said so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssistantMessage {
    /// Text, thinking and tool calls, in the order in which they were begun.
    pub content: Vec<ContentBlock>,
    /// Why the model stopped; `None` while the message grows. (Pi writes `"pending"` there, and
    /// every reader must know that this reason is none.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// What went wrong, beside `error` and `aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

impl AssistantMessage {
    /// A message without content that says why there is none.
    pub fn broken_off(reason: StopReason, why: impl Into<String>) -> Self {
        Self { content: Vec::new(), stop_reason: Some(reason), error_message: Some(why.into()) }
    }

    /// The text blocks, joined; neither thinking nor calls.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// What came out of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolResultMessage {
    /// The [`ToolCall::id`] that this answers.
    pub tool_call_id: String,
    /// The name of the tool, for a reader who doesn't want to look the call up.
    pub tool_name: String,
    /// What the model gets to read.
    pub content: Vec<ContentBlock>,
    /// Whether the tool failed, was refused, or never ran.
    pub is_error: bool,
}

/// One piece of a message; on the wire its `type` says which kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum ContentBlock {
    /// Text for the person.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it spoke; shown apart from text.
    Thinking {
        /// The thought.
        thinking: String,
    },
    /// A wish to have a tool run.
    ToolCall(ToolCall),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The string that grows while this block streams in: text, thought, or raw argument text.
    pub fn body(&self) -> &str {
        match self {
            Self::Text { text } => text,
            Self::Thinking { thinking } => thinking,
            Self::ToolCall(call) => &call.arguments_text,
        }
    }

    /// The same block as it was when its [body](Self::body) had `len` bytes.
    ///
    /// A `len` that is no character boundary, or beyond the end, gives the whole block.
    pub(crate) fn cut(&self, len: usize) -> Self {
        let body = self.body();
        let body = body.get(..len).unwrap_or(body).to_owned();
        match self {
            Self::Text { .. } => Self::Text { text: body },
            Self::Thinking { .. } => Self::Thinking { thinking: body },
            Self::ToolCall(call) => Self::ToolCall(ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments_text: body,
            }),
        }
    }
}

/// A wish of the model to have a tool run.
///
/// On the wire it has `arguments`, the object, when the text is one. Otherwise `arguments` is `{}`,
/// `argumentsError` says what is wrong, and `argumentsText` is the text: nothing that can be read
/// as a small but valid call, and nothing lost. (Pi keeps the mended object, and so a call cut in
/// half comes back from its session file as a whole one with fewer arguments.)
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "WireCall")]
pub struct ToolCall {
    /// Ties the call to its result.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON, if all went well. Only
    /// [`parse_arguments`] makes of it what a tool may run with.
    pub arguments_text: String,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It had said all it wanted to.
    Stop,
    /// It ran into its limit; the last block may be cut short.
    Length,
    /// It waits for the results of its tool calls.
    ToolUse,
    /// The request failed; `error_message` says why.
    Error,
    /// The person, or the program, stopped it.
    Aborted,
}

fn text_of(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Objects nested deeper than this travel as text.
///
/// JSON readers refuse what is nested too deeply (`serde_json` at 128), and a message is itself
/// nested in a line of a log. A call that reads well alone must not make its log unreadable.
const DEEPEST_ON_WIRE: usize = 100;

/// A [`ToolCall`] as it stands in JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireCall {
    id: String,
    name: String,
    arguments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_text: Option<String>,
}

impl Serialize for ToolCall {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (arguments, arguments_error) = match wire_arguments(&self.arguments_text) {
            Ok(arguments) => (arguments, None),
            Err(reason) => (Map::new(), Some(reason)),
        };
        let arguments_text = arguments_error.is_some().then(|| self.arguments_text.clone());
        let wire = WireCall {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments,
            arguments_error,
            arguments_text,
        };
        wire.serialize(serializer)
    }
}

/// The object that `text` stands for, or why it can't be written as one.
/// The arguments of a call as they are told to others.
///
/// # Errors
///
/// Why they stay a text.
pub(crate) fn wire_arguments(text: &str) -> Result<Map<String, Value>, String> {
    match parse_arguments(text).map(|arguments| arguments.as_value().clone()) {
        Ok(value) if is_deeper_than(DEEPEST_ON_WIRE, &value) => {
            Err(format!("kept as text, because it is nested more than {DEEPEST_ON_WIRE} deep"))
        }
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn is_too_deep(value: &Value) -> bool {
    is_deeper_than(DEEPEST_ON_WIRE, value)
}

fn is_deeper_than(levels: usize, value: &Value) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(items), Some(rest)) => items.iter().any(|item| is_deeper_than(rest, item)),
        (Value::Object(members), Some(rest)) => members.values().any(|v| is_deeper_than(rest, v)),
        (Value::Array(_) | Value::Object(_), None) => true,
        _ => false,
    }
}

impl TryFrom<WireCall> for ToolCall {
    type Error = &'static str;

    /// Refuses what can't be said in a `ToolCall`, instead of losing it.
    fn try_from(wire: WireCall) -> Result<Self, &'static str> {
        let arguments_text = match (wire.arguments_text, wire.arguments_error) {
            (Some(_), _) if !wire.arguments.is_empty() => {
                return Err("`arguments` must be {} beside `argumentsText`");
            }
            (Some(text), _) => text,
            (None, Some(_)) => return Err("`argumentsError` needs `argumentsText`"),
            (None, None) => Value::Object(wire.arguments).to_string(),
        };
        Ok(Self { id: wire.id, name: wire.name, arguments_text })
    }
}

/// Writes and reads an [`AssistantMessage`] that stands alone, with its `role`, for serde's `with`.
pub mod with_role {
    use super::{AssistantMessage, Message};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize)]
    #[serde(tag = "role", rename_all = "camelCase")]
    enum Tagged<'a> {
        Assistant(&'a AssistantMessage),
    }

    /// As [`Message::Assistant`] would be written.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(m: &AssistantMessage, to: S) -> Result<S::Ok, S::Error> {
        Tagged::Assistant(m).serialize(to)
    }

    /// Reads a [`Message`] that must be an assistant's.
    ///
    /// # Errors
    ///
    /// Those of the deserializer, and a message of another role.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Box<AssistantMessage>, D::Error> {
        match Message::deserialize(from)? {
            Message::Assistant(message) => Ok(Box::new(message)),
            _ => Err(D::Error::custom("the role must be `assistant`")),
        }
    }
}

/// Writes and reads a [`ToolCall`] that stands alone, with its `type`, for serde's `with`.
pub mod with_type {
    use super::{ContentBlock, ToolCall};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    enum Tagged<'a> {
        ToolCall(&'a ToolCall),
    }

    /// As [`ContentBlock::ToolCall`] would be written.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(call: &ToolCall, to: S) -> Result<S::Ok, S::Error> {
        Tagged::ToolCall(call).serialize(to)
    }

    /// Reads a [`ContentBlock`] that must be a tool call.
    ///
    /// # Errors
    ///
    /// Those of the deserializer, and a block of another type.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<ToolCall>, D::Error> {
        match ContentBlock::deserialize(from)? {
            ContentBlock::ToolCall(call) => Ok(Box::new(call)),
            _ => Err(D::Error::custom("the type must be `toolCall`")),
        }
    }
}

//! What a conversation is made of.
//!
//! The names are those of Pi (`packages/ai/src/types.ts`): a message has a role and a list of
//! content blocks. In TypeScript the role is a string that a `switch` narrows; here it is the enum
//! variant itself, and a `match` that forgets one does not compile.

/// One piece of a message's content. There is only text so far; calls of tools join in step 04.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text, as it is shown.
        text: String,
    },
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The blocks, in order.
    pub content: Vec<ContentBlock>,
}

/// What the model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssistantMessage {
    /// The blocks, in order.
    pub content: Vec<ContentBlock>,
}

/// One entry of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Role `user`.
    User(UserMessage),
    /// Role `assistant`.
    Assistant(AssistantMessage),
}

/// All that a model is told: the messages so far, oldest first.
///
/// A model remembers nothing between two requests. What is not in here, it does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The history, which ends with the message to be answered.
    pub messages: Vec<Message>,
}

impl Message {
    /// What a person says in one block of text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage { content: ContentBlock::text(text) })
    }

    /// The text of the message, whoever said it.
    pub fn text(&self) -> String {
        let content = match self {
            Self::User(message) => &message.content,
            Self::Assistant(message) => &message.content,
        };
        content.iter().map(|ContentBlock::Text { text }| text.as_str()).collect()
    }
}

impl ContentBlock {
    /// The content of a message that is one block of text.
    pub fn text(text: impl Into<String>) -> Vec<Self> {
        vec![Self::Text { text: text.into() }]
    }
}

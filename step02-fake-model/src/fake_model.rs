//! A model that follows rules instead of thinking.
//!
//! It costs nothing and always says the same, so every claim about the program can be tested. Pi
//! has one too, for the same reason (`packages/ai/src/providers/faux.ts`).

use std::time::Duration;

use crate::message::{AssistantMessage, Context, Message, plain_text};
use crate::model::{Model, ModelError};

/// What to say when the input contains a certain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    contains: Option<String>,
    text: String,
    error: Option<String>,
}

impl Rule {
    /// Replies with `text` when the input contains `needle`.
    pub fn reply(needle: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            contains: Some(needle.into()),
            ..Self::fallback(text)
        }
    }

    /// Fails with `reason` when the input contains `needle`.
    pub fn fail(needle: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            error: Some(reason.into()),
            ..Self::reply(needle, "")
        }
    }

    /// Replies with `text` whatever the input is; it belongs at the end, for the first hit wins.
    pub fn fallback(text: impl Into<String>) -> Self {
        Self {
            contains: None,
            text: text.into(),
            error: None,
        }
    }

    fn hits(&self, input: &str) -> bool {
        self.contains
            .as_ref()
            .is_none_or(|needle| input.contains(needle))
    }
}

/// The scripted model.
#[derive(Debug, Clone)]
pub struct FakeModel {
    rules: Vec<Rule>,
    delay: Duration,
}

impl FakeModel {
    /// A model with these rules, which takes `delay` to finish a reply.
    pub fn new(rules: Vec<Rule>, delay: Duration) -> Self {
        Self { rules, delay }
    }

    /// The first rule that hits the last message.
    fn rule(&self, context: &Context) -> Option<&Rule> {
        let input = context
            .messages
            .last()
            .map(Message::content)
            .map(plain_text);
        let input = input.unwrap_or_default();
        self.rules.iter().find(|rule| rule.hits(&input))
    }
}

impl Model for FakeModel {
    async fn reply(&self, context: &Context) -> Result<AssistantMessage, ModelError> {
        // The whole wait comes before the first word. That is what step 03 is about.
        tokio::time::sleep(self.delay).await;

        match self.rule(context) {
            None => Err(ModelError::NoRule),
            Some(Rule {
                error: Some(reason),
                ..
            }) => Err(ModelError::Refused(reason.clone())),
            Some(Rule { text, .. }) => Ok(AssistantMessage::text(text)),
        }
    }
}

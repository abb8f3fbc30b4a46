//! A model that follows rules instead of thinking.
//!
//! It costs nothing and always says the same, so every claim about the program can be tested. Pi
//! has one too, for the same reason (`packages/ai/src/providers/faux.ts`).

use std::time::Duration;

use crate::message::{AssistantMessage, ContentBlock, Context, Message};
use crate::model::{Model, ModelError, Reply};

/// What to say when the input contains a certain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    contains: String,
    text: String,
    error: Option<String>,
}

impl Rule {
    /// Replies with `text` when the input contains `needle`.
    pub fn reply(needle: impl Into<String>, text: impl Into<String>) -> Self {
        Self { contains: needle.into(), text: text.into(), error: None }
    }

    /// Replies with `text` to everything (any input contains the empty text). It belongs at the
    /// end, for the first hit wins.
    pub fn fallback(text: impl Into<String>) -> Self {
        Self::reply("", text)
    }

    /// Fails with `reason` instead of replying.
    pub fn fail(mut self, reason: impl Into<String>) -> Self {
        self.error = Some(reason.into());
        self
    }
}

/// The scripted model.
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
    fn rule(&self, context: &Context) -> Rule {
        let input = context.messages.last().map(Message::text).unwrap_or_default();
        let rule = self.rules.iter().find(|rule| input.contains(&rule.contains));
        rule.cloned().unwrap_or_else(|| Rule::fallback("").fail("no rule matched"))
    }
}

impl Model for FakeModel {
    async fn reply(&self, context: &Context) -> Reply {
        // The whole wait comes before the first word. That is what step 03 is about.
        tokio::time::sleep(self.delay).await;

        let rule = self.rule(context);
        match rule.error {
            None => Ok(AssistantMessage { content: ContentBlock::text(rule.text) }),
            Some(reason) => Err(ModelError::Refused(reason)),
        }
    }
}

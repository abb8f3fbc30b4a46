//! A model that follows rules instead of thinking.
//!
//! It costs nothing and always says the same, so every claim about the program can be tested. Pi
//! has one too, for the same reason (`packages/ai/src/providers/faux.ts`).

use std::time::Duration;

use async_stream::stream;
use futures::Stream;
use unicode_segmentation::UnicodeSegmentation;

use crate::event::{StreamEvent, StreamOptions};
use crate::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};
use crate::model::Model;

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

    /// Fails with `reason` once the text, if there is any, has been said.
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
    /// A model with these rules, which pauses for `delay` before each token.
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
    fn stream(&self, context: &Context, options: StreamOptions) -> impl Stream<Item = StreamEvent> {
        let delay = options.delay.unwrap_or(self.delay);
        // `stream!` makes a generator: it runs up to the next `yield` when it is polled, and no
        // further. So the pauses below are real ones, between the tokens and not before them.
        stream! {
            yield StreamEvent::Start;

            // One text, twice: piece by piece for whoever shows it, whole for whoever keeps it.
            let rule = self.rule(context);
            let mut text = String::new();
            for token in tokenize(&rule.text) {
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                text.push_str(token);
                yield StreamEvent::TextDelta { delta: token.to_owned() };
            }

            if let Some(error) = rule.error {
                yield StreamEvent::Error { error };
            } else {
                let content = ContentBlock::text(text);
                let message = AssistantMessage { content, stop_reason: StopReason::Stop };
                yield StreamEvent::Done { message };
            }
        }
    }
}

/// Cuts a text into tokens of two grapheme clusters.
///
/// Real models cut in other places, but never mind where: what matters is that a reply comes in
/// pieces. A grapheme cluster is what a person calls a character. A family emoji is one, of up to
/// seven code points; cutting by `char` or by UTF-16 unit, as JavaScript does, would tear it.
pub fn tokenize(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = rest.graphemes(true).take(2).map(str::len).sum();
        let (token, behind) = rest.split_at(length);
        rest = behind;
        (!token.is_empty()).then_some(token)
    })
}

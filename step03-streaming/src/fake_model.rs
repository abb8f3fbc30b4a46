//! A model that follows rules instead of thinking.
//!
//! It costs nothing and always says the same, so every claim about the program can be tested. Pi
//! has one too, for the same reason (`packages/ai/src/providers/faux.ts`).

use async_stream::stream;
use futures::Stream;
use unicode_segmentation::UnicodeSegmentation;

use crate::event::{StreamEvent, StreamOptions};
use crate::message::{AssistantMessage, Context, Message, plain_text};
use crate::model::Model;

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

    /// Says `text` and then fails with `reason` when the input contains `needle`.
    pub fn break_off(
        needle: impl Into<String>,
        text: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            error: Some(reason.into()),
            ..Self::reply(needle, text)
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
}

impl FakeModel {
    /// A model with these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
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
    fn stream(&self, context: &Context, options: StreamOptions) -> impl Stream<Item = StreamEvent> {
        // `stream!` makes a generator: it runs up to the next `yield` when it is polled, and no
        // further. So the pauses below are real ones, between the tokens and not before them.
        stream! {
            yield StreamEvent::Start;

            let Some(rule) = self.rule(context) else {
                yield StreamEvent::Error { error: "no rule matched".to_owned() };
                return;
            };

            // One text, twice: piece by piece for whoever shows it, whole for whoever keeps it.
            let mut text = String::new();
            for token in tokenize(&rule.text) {
                if !options.delay.is_zero() {
                    tokio::time::sleep(options.delay).await;
                }
                text.push_str(token);
                yield StreamEvent::TextDelta { delta: token.to_owned() };
            }

            match &rule.error {
                None => yield StreamEvent::Done { message: AssistantMessage::text(text) },
                Some(error) => yield StreamEvent::Error { error: error.clone() },
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

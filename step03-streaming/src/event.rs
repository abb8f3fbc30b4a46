//! What a model emits while it replies.
//!
//! Four events, and only two shapes of a stream: `start, text_delta*, done` and
//! `start, text_delta*, error`. They are the skeleton of Pi's twelve (`AssistantMessageEvent` in
//! `packages/ai/src/types.ts`); the others say which content block a piece belongs to, and here
//! there is just one.

use std::time::Duration;

use crate::message::AssistantMessage;

/// Something that happened in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The reply begins.
    Start,
    /// A small piece of text has arrived.
    TextDelta {
        /// The piece: one token, never a torn character.
        delta: String,
    },
    /// The reply is whole. Nothing follows.
    Done {
        /// All deltas in one message. Whoever produces them also puts them together, once, so
        /// that no consumer has to.
        message: AssistantMessage,
    },
    /// The reply failed. Nothing follows.
    ///
    /// An error is an event and not an `Err`: by the time it comes, half a sentence may be on the
    /// screen, and the consumer is in the middle of a loop that handles events anyway.
    Error {
        /// The reason, for people to read.
        error: String,
    },
}

/// What a caller may ask of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The pause before each token, if not the model's own.
    pub delay: Option<Duration>,
}

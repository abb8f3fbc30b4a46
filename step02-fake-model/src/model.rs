//! Who answers: the one interface between the conversation and whatever produces replies.
//!
//! The loop knows only this trait. The fake model implements it, a real provider would implement
//! it, and neither changes a line of the loop.

use std::fmt;

use crate::message::{AssistantMessage, Context};

/// A model that is asked once and answers once.
pub trait Model {
    /// Answers the last message of `context` with one whole message.
    ///
    /// The future is lazy, unlike a JavaScript promise: nothing happens until it is awaited.
    ///
    /// # Errors
    /// [`ModelError`] when there is no reply. Nothing of it has been seen then: all or nothing.
    fn reply(&self, context: &Context) -> impl Future<Output = Reply>;
}

/// One whole message, or the reason why there is none.
pub type Reply = Result<AssistantMessage, ModelError>;

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelError {
    /// The provider turned the request down; the text is its reason.
    Refused(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Refused(reason) = self;
        f.write_str(reason)
    }
}

impl std::error::Error for ModelError {}

//! When a reply becomes history: two bargains, side by side.
//!
//! Step 03 adds a reply to the history once it is whole, and drops one that broke off: the history
//! holds no half sentences, but the person has seen words that it does not know. Pi puts the reply
//! in at its first event and lets it grow there: whatever was seen is kept, and every reader of the
//! history must look at the stop reason. Neither is wrong. What the demo counts at the end tells
//! which one was made. (Seed 8.2; Pi's `streamAssistantResponse` in
//! `packages/agent/src/agent-loop.ts`.)
//!
//! Either way the history must be one that a provider takes. [`mend`] makes it so where a run was
//! left in the middle.

use std::collections::{HashMap, HashSet};
use std::mem;

use crate::event::{Change, fold};
use crate::message::{
    AssistantMessage, ContentBlock, Message, StopReason, ToolCall, ToolResultMessage,
};
use crate::reply::ABORTED;
use crate::tool::{ToolError, ToolOutput};

/// Which bargain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fold {
    /// Step 03's: only a whole reply becomes history.
    OnDone,
    /// Pi's: a reply is history from its first event on, and is folded where it stands.
    #[default]
    InPlace,
}

impl Fold {
    /// Whether a message with this stop reason stays.
    pub fn keeps(self, message: &AssistantMessage) -> bool {
        let broken_off =
            matches!(message.stop_reason, Some(StopReason::Error | StopReason::Aborted) | None);
        self == Self::InPlace || !broken_off
    }
}

/// A reply that grows, in the history or beside it.
pub struct GrowingReply<'a> {
    history: &'a mut Vec<Message>,
    fold: Fold,
    begun: bool,
    /// Its place in the history, once it has one.
    index: Option<usize>,
    /// Where it grows as long as it has none.
    aside: AssistantMessage,
}

impl<'a> GrowingReply<'a> {
    /// A reply that has not begun.
    pub fn new(history: &'a mut Vec<Message>, fold: Fold) -> Self {
        Self { history, fold, begun: false, index: None, aside: AssistantMessage::default() }
    }

    /// The first event: in place, the still empty message takes its place now. Says whether it was
    /// the first.
    pub fn begin(&mut self) -> bool {
        if self.begun {
            return false;
        }
        self.begun = true;
        if self.fold == Fold::InPlace {
            self.index = Some(self.history.len());
            self.history.push(Message::Assistant(AssistantMessage::default()));
        }
        true
    }

    /// Any event after that. It costs the length of its delta, in both bargains.
    pub fn change(&mut self, change: &Change) {
        fold(self.message(), change);
    }

    /// Ends the reply from outside: what has arrived, with the reason why there is no more.
    pub fn break_off(&mut self, reason: StopReason, why: &str) -> AssistantMessage {
        let content = mem::take(&mut self.message().content);
        AssistantMessage { content, ..AssistantMessage::broken_off(reason, why) }
    }

    /// The final message is the authority, whatever has grown: it takes the place, or is dropped.
    ///
    /// Given back is the message as it stays: its calls have ids that no call before them has. A
    /// model that writes with a [`Reply`](crate::reply::Reply) has seen to that; others may not.
    pub fn finish(self, mut last: AssistantMessage) -> AssistantMessage {
        self.history.truncate(self.index.unwrap_or(self.history.len()));
        make_ids_unique(&mut last, self.history);
        if self.fold.keeps(&last) {
            self.history.push(Message::Assistant(last.clone()));
        }
        last
    }

    fn message(&mut self) -> &mut AssistantMessage {
        match self.index.and_then(|index| self.history.get_mut(index)) {
            Some(Message::Assistant(message)) => message,
            _ => &mut self.aside,
        }
    }
}

/// The message that a terminal event ends with.
pub(crate) fn ended_by(change: &Change) -> AssistantMessage {
    let mut message = AssistantMessage::default();
    fold(&mut message, change);
    message
}

/// One number for all: so even a message of nothing but doubled ids costs no square.
fn make_ids_unique(last: &mut AssistantMessage, history: &[Message]) {
    let mut taken: HashSet<String> = calls(history).map(|call| call.id.clone()).collect();
    let mut number = 1;
    for block in &mut last.content {
        let ContentBlock::ToolCall(call) = block else { continue };
        let base = if call.id.is_empty() { "call".to_owned() } else { call.id.clone() };
        while call.id.is_empty() || taken.contains(&call.id) {
            number += 1;
            call.id = format!("{base}-{number}");
        }
        taken.insert(call.id.clone());
    }
}

/// Makes a history well formed whose last run was dropped, or died with the program: an unfinished
/// reply is marked as aborted, and results stand behind their message in the order of its calls; a
/// call that has none is answered as aborted (law L3).
///
/// A promise runs to its end whether or not anybody waits for it. A future is gone when it is
/// dropped, at any `await`, and what it was about to do is never done.
pub fn mend(history: &mut Vec<Message>) {
    let mut results = HashMap::new();
    let mut others = Vec::new();
    for message in mem::take(history) {
        match message {
            Message::ToolResult(result) => {
                results.insert(result.tool_call_id.clone(), result);
            }
            other => others.push(other),
        }
    }
    for mut message in others {
        let calls = close(&mut message, history);
        history.push(message);
        history.extend(calls.iter().map(|call| {
            let result = results.remove(&call.id);
            Message::ToolResult(result.unwrap_or_else(|| answer(call, Err(ToolError::Aborted))))
        }));
    }
}

/// Ends a reply that has no stop reason, as [`GrowingReply::finish`] would have; its calls.
fn close(message: &mut Message, before: &[Message]) -> Vec<ToolCall> {
    let Message::Assistant(reply) = message else { return Vec::new() };
    if reply.stop_reason.is_none() {
        reply.stop_reason = Some(StopReason::Aborted);
        reply.error_message = Some(ABORTED.to_owned());
        make_ids_unique(reply, before);
    }
    reply.tool_calls().cloned().collect()
}

/// The result of `call`, as the model will read it.
pub(crate) fn answer(call: &ToolCall, outcome: Result<ToolOutput, ToolError>) -> ToolResultMessage {
    let (text, is_error) = match outcome {
        Ok(output) => (output.text, false),
        Err(error) => (error.to_string(), true),
    };
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![ContentBlock::text(text)],
        is_error,
    }
}

fn calls(history: &[Message]) -> impl Iterator<Item = &ToolCall> {
    let replies = history.iter().filter_map(|message| match message {
        Message::Assistant(message) => Some(message),
        _ => None,
    });
    replies.flat_map(AssistantMessage::tool_calls)
}

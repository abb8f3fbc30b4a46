//! Ids of tool calls: made where there is none, and no two alike.
//!
//! Some providers send calls without an id, or two with the same. A result is tied to its call by
//! the id alone, so both would lose their results (law L3).

use std::collections::HashMap;

use crate::message::{Context, Message};

/// The ids in use, each with the suffix to try next; so many doubled ids don't cost a square.
#[derive(Default)]
pub(super) struct Ids(HashMap<String, usize>);

impl Ids {
    /// All ids that the calls in `context` have.
    pub(super) fn of(context: &Context) -> Self {
        let calls = context.messages.iter().filter_map(|message| match message {
            Message::Assistant(message) => Some(message.tool_calls()),
            _ => None,
        });
        Self(calls.flatten().map(|call| (call.id.clone(), 2)).collect())
    }

    /// `wanted`, or the first free of `wanted-2`, `wanted-3` …; `call` when nothing is wanted.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let base = if wanted.is_empty() { "call" } else { wanted };
        let mut id = base.to_owned();
        let mut suffix = self.0.get(base).copied().unwrap_or(2);
        while self.0.contains_key(&id) {
            id = format!("{base}-{suffix}");
            suffix += 1;
        }
        self.0.insert(base.to_owned(), suffix);
        self.0.entry(id.clone()).or_insert(2);
        id
    }
}

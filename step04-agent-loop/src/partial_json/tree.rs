//! A value that grows at its open end.
//!
//! The value is complete after every step, so it can be shown by reference, without a copy: what is
//! still open is only remembered beside it, as the way from the root to the open end. Holding `&mut`
//! references to the open containers, as one would hold objects in TypeScript, is what the borrow
//! checker forbids: the parent could be changed under the child. So the way is walked again when
//! something is added; it is short, as the depth is bounded.

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// The value so far, and which of its containers are still open.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    root: Option<Value>,
    /// Outermost first. Each but the last holds the next one as its newest value.
    open: Vec<Container>,
}

/// An open container, and where its newest value is.
#[derive(Debug, Clone)]
pub(super) enum Container {
    /// The newest value is the last one.
    Array,
    /// The newest member is the last one, unless its key was there before: a repeated key replaces
    /// the earlier value where it stands (last wins, as in `JSON.parse` and serde_json).
    Object { repeated: Option<String> },
}

impl Tree {
    pub(super) fn root(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    pub(super) fn into_root(self) -> Option<Value> {
        self.root
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn innermost(&self) -> Option<&Container> {
        self.open.last()
    }

    /// Adds a value to the innermost open container; `key` counts only if that is an object.
    pub(super) fn add(&mut self, key: String, value: Value) {
        let Some(parents) = self.open.len().checked_sub(1) else {
            self.root = Some(value);
            return;
        };
        let Some(container) = newest(&mut self.root, &self.open[..parents]) else {
            return;
        };
        match (container, &mut self.open[parents]) {
            (Value::Object(members), Container::Object { repeated }) => {
                *repeated = insert(members, key, value);
            }
            (Value::Array(elements), _) => elements.push(value),
            _ => {}
        }
    }

    pub(super) fn open_array(&mut self, key: String) {
        self.add(key, Value::Array(Vec::new()));
        self.open.push(Container::Array);
    }

    pub(super) fn open_object(&mut self, key: String) {
        self.add(key, Value::Object(Map::new()));
        self.open.push(Container::Object { repeated: None });
    }

    /// Closes the innermost container. Nothing moves: the value was in its place all the time.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// The string at the open end, to be appended to.
    #[inline]
    pub(super) fn newest_string(&mut self) -> Option<&mut String> {
        match newest(&mut self.root, &self.open)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Walks from the root to the newest value of the last of `open`.
#[inline]
fn newest<'a>(root: &'a mut Option<Value>, open: &[Container]) -> Option<&'a mut Value> {
    let mut value = root.as_mut()?;
    for container in open {
        value = match (value, container) {
            (Value::Array(elements), _) => elements.last_mut()?,
            (Value::Object(members), Container::Object { repeated: Some(key) }) => {
                members.get_mut(key)?
            }
            // No look-up by key here: this walk happens at every delta of a long string.
            (Value::Object(members), _) => members.values_mut().next_back()?,
            _ => return None,
        };
    }
    Some(value)
}

/// Inserts a member and returns its key if it was there before.
fn insert(members: &mut Map<String, Value>, key: String, value: Value) -> Option<String> {
    match members.entry(key) {
        Entry::Vacant(place) => {
            place.insert(value);
            None
        }
        Entry::Occupied(mut place) => {
            place.insert(value);
            Some(place.key().clone())
        }
    }
}

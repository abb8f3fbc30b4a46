//! The state machine: a delta in, a little more to show out.
//!
//! Parsing the text again at each delta is what TypeScript agents do; its cost grows with the square
//! of the length. A machine that remembers where it stands looks at each byte once. It remembers:
//! what may come next (`State`), the containers that are open (in the tree), and the piece of text
//! that can't be shown yet: a key, half an escape, a number whose next digit may be on its way.

use std::mem::take;

use serde_json::Value;

use super::error::{Fault, Freeze};
use super::scalar::Scalar;
use super::string::StringReader;
use super::tree::{Container, Tree};

/// How many containers may be open at once: one more, and serde_json refuses the text as well. With
/// a bound, showing, dropping and `Debug`, which all recurse, can't overflow the stack.
const MAX_DEPTH: usize = 127;

/// What a person may see of arguments that are still being written.
///
/// ```
/// use serde_json::json;
/// use step04_agent_loop::partial_json::ArgumentsPreview;
///
/// let mut preview = ArgumentsPreview::new();
/// preview.push(r#"{"path":"src/ma"#);
/// assert_eq!(preview.value(), Some(&json!({"path": "src/ma"})));
/// preview.push(r#"in.rs","limit":1"#); // could become 12
/// assert_eq!(preview.value(), Some(&json!({"path": "src/main.rs"})));
/// preview.push("2}");
/// assert_eq!(preview.value(), Some(&json!({"path": "src/main.rs", "limit": 12})));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ArgumentsPreview {
    state: State,
    tree: Tree,
    string: StringReader,
    /// The key that waits for its value: a member appears when its value does.
    key: String,
    /// The number or literal being written.
    scalar: Scalar,
    /// Where the next byte stands in the whole text.
    offset: usize,
    frozen: Option<Freeze>,
    examined: u64,
}

/// What may come next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// A value: at the root, after a colon, after a comma in an array.
    #[default]
    Value,
    /// Right after `[`: a value, or the end of the empty array.
    FirstElement,
    /// Right after `{`: a key, or the end of the empty object.
    FirstKey,
    /// After a comma in an object: a key. Not `}`, as JSON has no trailing commas.
    Key,
    InKey,
    Colon,
    InString,
    /// In a number, `true`, `false` or `null`: only the character after it ends it.
    InScalar,
    /// After a value: a comma, or the end of the container; at the root only white space.
    AfterValue,
}

/// How the text ended, for the strict reader.
pub(super) enum Outcome {
    /// Nothing but white space.
    Blank,
    Whole(Value),
    /// The text could go on; it ends inside this.
    Cut(&'static str),
    Broken(Freeze),
}

impl ArgumentsPreview {
    /// A preview that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads on. The cost is proportional to `delta`, however long the text is already.
    ///
    /// Any text will do, there is no error to handle: see [`frozen`](Self::frozen).
    pub fn push(&mut self, delta: &str) {
        let mut rest = delta;
        while let (Some(next), None) = (rest.chars().next(), &self.frozen) {
            match self.read(rest, next) {
                Ok(used) => {
                    self.offset += used;
                    self.examined += used as u64;
                    rest = &rest[used..];
                }
                Err(freeze) => self.frozen = Some(freeze),
            }
        }
    }

    /// Says that the text has ended. This matters to a text that is nothing but a number or a
    /// literal, as no character follows to say that it is whole.
    pub fn finish(&mut self) {
        if self.state != State::InScalar || self.frozen.is_some() {
            return;
        }
        match self.read_scalar() {
            Some(value) if self.tree.depth() == 0 => self.show(value),
            None if self.scalar.is_whole() => self.frozen = Some(self.out_of_range()),
            // A half (`tr`, `1e`), or a number in a container that could have gone on.
            _ => {}
        }
    }

    /// The value so far, to look at; `None` until there is something. Costs nothing.
    ///
    /// Each value contains the one before it: strings go on, containers gain elements and members,
    /// and nothing is taken back. (One exception: a repeated key replaces the earlier member.)
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.tree.root()
    }

    /// Where and why the preview froze, if it did: whatever follows, the text can't become JSON any
    /// more, and the value stays what it was before the fault.
    #[must_use]
    pub fn frozen(&self) -> Option<&Freeze> {
        self.frozen.as_ref()
    }

    /// How many bytes were read in all. No delta is kept, so each byte is read once; only the bytes
    /// of a number or literal are read a second time, by serde_json, when it is whole.
    #[doc(hidden)]
    #[must_use]
    pub fn bytes_examined(&self) -> u64 {
        self.examined
    }

    /// Reads a piece of `text`, which begins with `next`, and returns its length in bytes: as much
    /// of a string as there is, or one character of anything else.
    fn read(&mut self, text: &str, next: char) -> Result<usize, Freeze> {
        let (end, after) = match self.state {
            State::InKey => (self.string.read(text, &mut self.key), State::Colon),
            State::InString => (self.read_string(text), State::AfterValue),
            _ => return self.step(next).map(|()| next.len_utf8()),
        };
        if end.is_some() {
            self.state = after;
        }
        Ok(end.unwrap_or(text.len()))
    }

    /// Straight into the value that is shown: no string is copied when it is whole.
    fn read_string(&mut self, text: &str) -> Option<usize> {
        self.string.read(text, self.tree.newest_string()?)
    }

    /// One character between strings.
    fn step(&mut self, next: char) -> Result<(), Freeze> {
        match (self.state, next) {
            (State::InScalar, _) if self.scalar.push(next) => {}
            (State::InScalar, _) => return self.end_scalar(next),
            (_, ' ' | '\t' | '\n' | '\r') => {}
            (State::FirstElement, ']') | (State::FirstKey, '}') => self.close(),
            (State::Value | State::FirstElement, _) => return self.begin_value(next),
            (State::FirstKey | State::Key, '"') => self.state = State::InKey,
            (State::Colon, ':') => self.state = State::Value,
            (State::AfterValue, _) if self.may_follow_value(next) => self.after_value(next),
            _ => return Err(self.unexpected(next)),
        }
        Ok(())
    }

    /// A container or string is shown as soon as it begins; a number or literal is not.
    fn begin_value(&mut self, next: char) -> Result<(), Freeze> {
        match next {
            '{' | '[' if self.tree.depth() == MAX_DEPTH => {
                return Err(Freeze { at: self.offset, fault: Fault::TooDeep });
            }
            '{' => {
                self.tree.open_object(take(&mut self.key));
                self.state = State::FirstKey;
            }
            '[' => {
                self.tree.open_array(take(&mut self.key));
                self.state = State::FirstElement;
            }
            '"' => {
                self.show(Value::String(String::new()));
                self.state = State::InString;
            }
            _ if self.scalar.push(next) => self.state = State::InScalar,
            _ => return Err(self.unexpected(next)),
        }
        Ok(())
    }

    /// A number or literal is over. It is shown only if `next` may stand there: a fault shows
    /// nothing new, so `1x` is not shown as `1`.
    fn end_scalar(&mut self, next: char) -> Result<(), Freeze> {
        if !self.scalar.is_whole() || !self.may_follow_value(next) {
            return Err(self.unexpected(next));
        }
        let value = self.read_scalar().ok_or_else(|| self.out_of_range())?;
        self.show(value);
        self.after_value(next);
        Ok(())
    }

    fn read_scalar(&mut self) -> Option<Value> {
        self.examined += self.scalar.len() as u64;
        self.scalar.value()
    }

    fn show(&mut self, value: Value) {
        self.tree.add(take(&mut self.key), value);
        self.scalar.clear();
        self.state = State::AfterValue;
    }

    fn may_follow_value(&self, next: char) -> bool {
        matches!(
            (next, self.tree.innermost()),
            (' ' | '\t' | '\n' | '\r', _)
                | (',' | ']', Some(Container::Array))
                | (',' | '}', Some(Container::Object { .. }))
        )
    }

    /// `next` may follow a value: what does it mean?
    fn after_value(&mut self, next: char) {
        match (next, self.tree.innermost()) {
            (',', Some(Container::Object { .. })) => self.state = State::Key,
            (',', _) => self.state = State::Value,
            (']' | '}', _) => self.close(),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.tree.close();
        self.state = State::AfterValue;
    }

    fn unexpected(&self, found: char) -> Freeze {
        let expected = match (self.state, self.tree.innermost()) {
            (State::FirstElement, _) => "a value or `]`",
            (State::FirstKey, _) => "a key in double quotes or `}`",
            (State::Key, _) => "a key in double quotes",
            (State::Colon, _) => "`:`",
            (State::InScalar, _) if !self.scalar.is_whole() => self.scalar.expected(),
            (State::AfterValue | State::InScalar, Some(Container::Array)) => "`,` or `]`",
            (State::AfterValue | State::InScalar, Some(Container::Object { .. })) => "`,` or `}`",
            (State::AfterValue | State::InScalar, None) => "nothing more",
            _ => "a value",
        };
        Freeze { at: self.offset, fault: Fault::Unexpected { found, expected } }
    }

    /// The only fault that is reported where the scalar begins: no single digit is wrong.
    fn out_of_range(&self) -> Freeze {
        Freeze { at: self.offset - self.scalar.len(), fault: Fault::OutOfRange }
    }

    /// The verdict on the whole text, once it was pushed and finished.
    pub(super) fn into_outcome(self) -> Outcome {
        if let Some(freeze) = self.frozen {
            return Outcome::Broken(freeze);
        }
        let inside = match (self.state, self.tree.innermost()) {
            (State::InString, _) => "a string",
            (State::InKey, _) => "a key",
            (State::InScalar, _) => "a number or literal",
            (_, Some(Container::Array)) => "an array",
            (_, Some(Container::Object { .. })) => "an object",
            (_, None) => return self.tree.into_root().map_or(Outcome::Blank, Outcome::Whole),
        };
        Outcome::Cut(inside)
    }
}

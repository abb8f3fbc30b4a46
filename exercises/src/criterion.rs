//! One thing an answer must do, in words, and the code that looks whether it does.

use std::fmt::Debug;

use crate::text::Text;

/// What a check returns: nothing when all is well, else the difference.
pub type Checked = Result<(), Fault>;

/// One thing an answer must do.
pub struct Criterion {
    /// What must hold, in words: the line with ✓ or ✗ in the verdict.
    pub name: Text,
    /// Looks whether it holds. It may panic or never return: that is the answer's fault, and the
    /// harness deals with it.
    pub check: Box<dyn Fn() -> Checked + Send>,
}

impl Criterion {
    /// A criterion with its name in English and Chinese.
    pub fn new(name: impl Into<Text>, check: impl Fn() -> Checked + Send + 'static) -> Self {
        Self { name: name.into(), check: Box::new(check) }
    }
}

/// What was expected, what was seen instead, and what that probably means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// What a right answer gives.
    pub expected: Text,
    /// What this one gave.
    pub seen: Text,
    /// What the difference says about the answer, if it is one that learners are known to make.
    pub why: Text,
    /// Where it happened, as `file:line`, if it was a panic.
    pub place: Option<Box<str>>,
    /// What kind of thing happened.
    pub kind: Kind,
}

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Something else was seen than expected.
    #[default]
    Difference,
    /// Nothing is wrong yet: the answer ran into its own `todo!`.
    Todo,
    /// It panicked.
    Panic,
    /// It did not come back in time.
    Hung,
}

impl Fault {
    /// A difference between two values, which are shown as they are.
    pub fn differs(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self { expected: Text::value(expected), seen: Text::value(seen), ..Self::default() }
    }

    /// A difference told in words.
    pub fn told(expected: impl Into<Text>, seen: impl Into<Text>) -> Self {
        Self { expected: expected.into(), seen: seen.into(), ..Self::default() }
    }

    /// Adds what the difference says about the answer.
    pub fn because(mut self, why: impl Into<Text>) -> Self {
        self.why = why.into();
        self
    }
}

/// Compares two values; `why` is asked only if they differ, and sees the wrong one.
///
/// # Errors
/// The difference.
pub fn same<T: PartialEq + Debug>(expected: &T, seen: &T, why: impl FnOnce(&T) -> Text) -> Checked {
    if expected == seen {
        return Ok(());
    }
    let fault = Fault::differs(format!("{expected:?}"), format!("{seen:?}"));
    Err(fault.because(why(seen)))
}

/// Compares two texts of several lines and shows only the first line that differs.
///
/// # Errors
/// The difference; `why` is asked only if there is one, and sees the wrong text.
pub fn same_text(expected: &str, seen: &str, why: impl FnOnce(&str) -> Text) -> Checked {
    if expected == seen {
        return Ok(());
    }
    let at = expected.split('\n').zip(seen.split('\n')).take_while(|(a, b)| a == b).count();
    let line = |text: &str| match text.split('\n').nth(at) {
        Some(line) => {
            Text::new(format!("line {}: {line:?}", at + 1), format!("第 {} 行：{line:?}", at + 1))
        }
        None => Text::new(format!("the end after line {at}"), format!("第 {at} 行后结束")),
    };
    Err(Fault::told(line(expected), line(seen)).because(why(seen)))
}

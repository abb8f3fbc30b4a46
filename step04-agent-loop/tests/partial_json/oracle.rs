//! What the parsers are compared with: slow, simple, and written the other way round.
//!
//! The machine under test moves forward byte by byte and never looks ahead. The two functions here
//! have the whole text and look ahead as they please, and leave all values to serde_json.

use serde_json::{Map, Value};
use step04_agent_loop::partial_json::ArgumentsPreview;

/// serde_json allows this many open containers (see the test of it in `cases`).
pub const DEPTH: usize = 127;

/// The value shown after the whole of `text`, fed in one piece.
pub fn preview(text: &str) -> Option<Value> {
    let mut preview = ArgumentsPreview::new();
    preview.push(text);
    preview.value().cloned()
}

/// Applies the three mends to the text itself; what comes out, serde_json can judge.
pub fn mend(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut mended = String::new();
    let mut at = 0;
    let mut in_string = false;
    while let Some(&next) = chars.get(at) {
        let rest = &chars[at..];
        if next == '"' {
            in_string = !in_string;
        }
        let (used, written) = match (in_string, next) {
            (true, '\\') => mend_escape(rest),
            (true, '\0'..='\x1f') => (1, format!("\\u{:04x}", u32::from(next))),
            _ => (1, next.to_string()),
        };
        mended += &written;
        at += used;
    }
    mended
}

/// `rest` begins with a backslash: how many characters are its escape, and what to write for them.
fn mend_escape(rest: &[char]) -> (usize, String) {
    let as_written = |length: usize| (length, rest[..length].iter().collect());
    match (rest.get(1), unicode_unit(rest)) {
        (Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't'), _) => as_written(2),
        (_, Some(0xD800..=0xDBFF)) => match unicode_unit(&rest[6..]) {
            Some(0xDC00..=0xDFFF) => as_written(12),
            _ => (6, "\\ufffd".into()),
        },
        (_, Some(0xDC00..=0xDFFF)) => (6, "\\ufffd".into()),
        (_, Some(_)) => as_written(6),
        _ => (1, "\\\\".into()),
    }
}

/// The four digits, if `rest` begins with a whole `\uXXXX`.
fn unicode_unit(rest: &[char]) -> Option<u32> {
    match rest {
        ['\\', 'u', digits @ ..] => {
            digits.get(..4)?.iter().try_fold(0, |unit, digit| Some(unit * 16 + digit.to_digit(16)?))
        }
        _ => None,
    }
}

/// What a preview must show for `text`, by recursive descent over the whole of it.
pub fn shown(text: &str) -> Option<Value> {
    Reference { rest: text, depth: 0 }.value(None).0
}

struct Reference<'a> {
    rest: &'a str,
    depth: usize,
}

/// What can be shown, and whether reading may go on after it.
type Shown<T> = (T, bool);

impl Reference<'_> {
    /// `closer` is the end of the container around the value.
    fn value(&mut self, closer: Option<char>) -> Shown<Option<Value>> {
        self.skip_space();
        match self.rest.chars().next() {
            Some('[' | '{') if self.depth == DEPTH => (None, false),
            Some('[') => self.nested(Self::array),
            Some('{') => self.nested(Self::object),
            Some('"') => {
                let (text, whole) = self.string();
                (Some(text.into()), whole)
            }
            _ => self.scalar(closer),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Shown<Value>) -> Shown<Option<Value>> {
        self.depth += 1;
        let (value, whole) = read(self);
        self.depth -= 1;
        (Some(value), whole)
    }

    fn array(&mut self) -> Shown<Value> {
        let mut elements = Vec::new();
        self.take('[');
        if self.take(']') {
            return (elements.into(), true);
        }
        loop {
            let (element, whole) = self.value(Some(']'));
            elements.extend(element);
            if !whole || !self.take(',') {
                let closed = whole && self.take(']');
                return (elements.into(), closed);
            }
        }
    }

    fn object(&mut self) -> Shown<Value> {
        let mut members = Map::new();
        self.take('{');
        if self.take('}') {
            return (members.into(), true);
        }
        loop {
            self.skip_space();
            if !self.rest.starts_with('"') {
                return (members.into(), false);
            }
            let (key, whole) = self.string();
            if !whole || !self.take(':') {
                return (members.into(), false);
            }
            let (value, whole) = self.value(Some('}'));
            members.extend(value.map(|value| (key, value)));
            if !whole || !self.take(',') {
                let closed = whole && self.take('}');
                return (members.into(), closed);
            }
        }
    }

    /// A number or literal: nothing, until a character that may follow it is there.
    fn scalar(&mut self, closer: Option<char>) -> Shown<Option<Value>> {
        let in_scalar = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let end = self.rest.find(|c| !in_scalar(c)).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at(end);
        let may_follow = rest.starts_with([' ', '\t', '\n', '\r'])
            || closer.is_some_and(|closer| rest.starts_with([',', closer]));
        match serde_json::from_str(scalar) {
            Ok(value) if may_follow => {
                self.rest = rest;
                (Some(value), true)
            }
            _ => (None, false),
        }
    }

    /// A string, closed or not: the longest beginning whose meaning is certain.
    fn string(&mut self) -> Shown<String> {
        let inside = &self.rest[1..];
        let (inside, whole) = match end_of_string(inside) {
            Some(end) => (&inside[..end], true),
            None => (&inside[..inside.len() - uncertain_tail(inside)], false),
        };
        self.rest = &self.rest[1 + inside.len() + usize::from(whole)..];
        // Mended and closed, the text is a string of plain JSON.
        let mended = mend(&format!("\"{inside}\""));
        (serde_json::from_str(&mended).expect("a mended string"), whole)
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, expected: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Bytes before the quote that closes the string: a quote after an even number of backslashes.
fn end_of_string(inside: &str) -> Option<usize> {
    inside.match_indices('"').map(|(at, _)| at).find(|&at| {
        let backslashes = inside[..at].bytes().rev().take_while(|&byte| byte == b'\\').count();
        backslashes % 2 == 0
    })
}

/// How many bytes at the end of an open string depend on what comes next.
fn uncertain_tail(inside: &str) -> usize {
    // At most one pair of escapes, `\ud83d\ude00`, can be uncertain; and the tail is uncertain
    // exactly if some continuation changes how it reads.
    let starts = inside.char_indices().map(|(at, _)| at).rev().take(12);
    starts
        .filter(|&at| inside[at..].starts_with('\\') && !is_escaped(inside, at))
        .filter(|&at| is_uncertain(&inside[at..]))
        .map(|at| inside.len() - at)
        .max()
        .unwrap_or(0)
}

/// Is the character at `at` the second one of `\\`?
fn is_escaped(inside: &str, at: usize) -> bool {
    inside[..at].bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

/// Is `tail`, which begins with a backslash, the beginning of an escape or of a pair of escapes?
fn is_uncertain(tail: &str) -> bool {
    let chars: Vec<char> = tail.chars().collect();
    let begins_escape = |rest: &[char]| match rest {
        [] | ['\\'] => true,
        ['\\', 'u', digits @ ..] => digits.len() < 4 && digits.iter().all(char::is_ascii_hexdigit),
        _ => false,
    };
    let high = matches!(unicode_unit(&chars), Some(0xD800..=0xDBFF));
    begins_escape(&chars) || (high && begins_escape(&chars[6..]))
}

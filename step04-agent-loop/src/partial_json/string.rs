//! What stands between two quotes, decoded piece by piece.
//!
//! A string can be cut anywhere: between two deltas there may be half an escape (`\u4e`) or half a
//! surrogate pair (`\ud83d`). Such a half is held back here, since what it will become is not known
//! yet, and text that was shown must never be taken back. All other text goes out at once.

use std::char::REPLACEMENT_CHARACTER;

/// Decodes one string after another; between calls it remembers what it holds back.
#[derive(Debug, Clone, Default)]
pub(super) struct StringReader {
    /// The escape begun so far, as it was written: empty, `\`, `\u`, `\u4`, `\u4e`, `\u4e2`.
    /// Keeping the written text makes the second mend trivial: an escape that turns out to be
    /// illegal is appended as it is, whatever the case of its digits.
    escape: String,
    /// A high surrogate that waits for its low half. In TypeScript the half would simply be in the
    /// string, which is UTF-16; a Rust string is UTF-8 and can't hold it.
    high: Option<u16>,
}

impl StringReader {
    /// Decodes `text` onto the end of `into`.
    ///
    /// Returns how many bytes belong to the string, its closing quote included, or `None` when
    /// `text` ends before the string does.
    #[inline]
    pub(super) fn read(&mut self, text: &str, into: &mut String) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.escape.is_empty() {
                at += self.copy_plain(&text[at..], into);
            }
            let byte = *text.as_bytes().get(at)?;
            if !self.escape.is_empty() {
                at += self.continue_escape(byte, into);
            } else if byte == b'"' {
                self.give_up_on_pair(into);
                return Some(at + 1);
            } else {
                self.escape.push('\\');
                at += 1;
            }
        }
    }

    /// Copies everything before the next quote or backslash in one go, and returns its length. Raw
    /// control characters are copied like the rest: that is the first mend.
    fn copy_plain(&mut self, text: &str, into: &mut String) -> usize {
        let special = |byte: u8| byte == b'"' || byte == b'\\';
        let length = text.bytes().position(special).unwrap_or(text.len());
        if length > 0 {
            self.give_up_on_pair(into);
            into.push_str(&text[..length]);
        }
        length
    }

    /// Looks at one byte after a backslash. Returns how many bytes it used: 0 when the byte does
    /// not belong to the escape, which is then illegal, and the byte is to be read normally.
    fn continue_escape(&mut self, byte: u8, into: &mut String) -> usize {
        match (self.escape.len(), byte) {
            (1, b'u') => self.escape.push('u'),
            (1, _) => match short_escape(byte) {
                Some(decoded) => {
                    self.escape.clear();
                    self.give_up_on_pair(into);
                    into.push(decoded);
                }
                None => return self.keep_as_written(into),
            },
            (written, digit) if digit.is_ascii_hexdigit() => {
                self.escape.push(char::from(digit));
                if written == r"\u123".len() {
                    self.end_unicode_escape(into);
                }
            }
            _ => return self.keep_as_written(into),
        }
        1
    }

    /// The second mend: the illegal escape is text like any other.
    fn keep_as_written(&mut self, into: &mut String) -> usize {
        self.give_up_on_pair(into);
        into.push_str(&self.escape);
        self.escape.clear();
        0
    }

    /// `\u` and four digits are there: a character, or half of one.
    fn end_unicode_escape(&mut self, into: &mut String) {
        // Can't fail: exactly four hexadecimal digits follow the `\u`.
        let unit = u16::from_str_radix(&self.escape[2..], 16).unwrap_or_default();
        self.escape.clear();
        match (self.high, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                self.high = None;
                into.extend(char::decode_utf16([high, unit]).flatten());
            }
            (_, 0xD800..=0xDBFF) => {
                self.give_up_on_pair(into);
                self.high = Some(unit);
            }
            _ => {
                self.give_up_on_pair(into);
                // `from_u32` refuses a low surrogate, which has no high half here.
                into.push(char::from_u32(unit.into()).unwrap_or(REPLACEMENT_CHARACTER));
            }
        }
    }

    /// The third mend: what follows a high surrogate is not its low half.
    fn give_up_on_pair(&mut self, into: &mut String) {
        if self.high.take().is_some() {
            into.push(REPLACEMENT_CHARACTER);
        }
    }
}

/// The eight escapes of one letter.
#[inline]
fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

//! A number or literal, character by character.
//!
//! Neither says where it ends: `12` may become `123`, and only the character after it tells. (The
//! literals could be guessed at their first letter, as Pi does; then `to=…` shows `true`.) So their
//! text is collected here, and a value comes out when it is whole.

use serde_json::Value;

/// The scalar begun so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Scalar {
    text: String,
    place: Place,
}

/// Where in the grammar of RFC 8259, section 6, the text stands.
#[derive(Debug, Clone, Copy, Default)]
enum Place {
    #[default]
    Start,
    Minus,
    /// A number that begins with 0 has no more digits before its point: `01` is not JSON.
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    /// In `true`, `false` or `null`, of which this is still to come.
    Literal(&'static str),
}

impl Scalar {
    /// Takes `next` if the scalar can go on with it (or begin, if it is empty).
    pub(super) fn push(&mut self, next: char) -> bool {
        let place = match (self.place, next) {
            (Place::Start, '-') => Place::Minus,
            (Place::Start | Place::Minus, '0') => Place::Zero,
            (Place::Start | Place::Minus, '1'..='9') => Place::Integer,
            (Place::Integer, '0'..='9') => Place::Integer,
            (Place::Zero | Place::Integer, '.') => Place::Point,
            (Place::Point | Place::Fraction, '0'..='9') => Place::Fraction,
            (Place::Zero | Place::Integer | Place::Fraction, 'e' | 'E') => Place::Exponent,
            (Place::Exponent, '+' | '-') => Place::ExponentSign,
            (Place::Exponent | Place::ExponentSign | Place::ExponentDigits, '0'..='9') => {
                Place::ExponentDigits
            }
            (Place::Start, 't') => Place::Literal("rue"),
            (Place::Start, 'f') => Place::Literal("alse"),
            (Place::Start, 'n') => Place::Literal("ull"),
            (Place::Literal(rest), _) => match rest.strip_prefix(next) {
                Some(rest) => Place::Literal(rest),
                None => return false,
            },
            _ => return false,
        };
        self.place = place;
        self.text.push(next);
        true
    }

    /// May it end here?
    pub(super) fn is_whole(&self) -> bool {
        use Place::{ExponentDigits, Fraction, Integer, Literal, Zero};
        matches!(self.place, Zero | Integer | Fraction | ExponentDigits | Literal(""))
    }

    /// What must come next, in words, if it may not end here.
    pub(super) fn expected(&self) -> &'static str {
        match self.place {
            Place::Literal(_) => "the rest of `true`, `false` or `null`",
            _ => "a digit",
        }
    }

    /// The value of a whole scalar, as serde_json reads it. As the grammar is kept, `None` means
    /// that the number is too big for a 64-bit float.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Makes room for the next one; the buffer is kept.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.place = Place::Start;
    }
}

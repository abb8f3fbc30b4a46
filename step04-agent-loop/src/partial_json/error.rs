//! What can be wrong with arguments, and where.

use std::error::Error;
use std::fmt;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters (not bytes, not UTF-16 units), from 1.
    pub column: usize,
}

impl Position {
    /// Where `offset` is in `text`. Counted only when there is an error to report.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            offset,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} (line {}, column {})", self.offset, self.line, self.column)
    }
}

/// Why a text can't become JSON, whatever follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A character that can't stand where it stands.
    Unexpected {
        /// The character.
        found: char,
        /// What could stand there, in words.
        expected: &'static str,
    },
    /// A right number that no 64-bit float can hold: `1e999`. (`JSON.parse` makes it `Infinity`.)
    OutOfRange,
    /// More than 127 containers inside each other.
    TooDeep,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found, expected } => {
                write!(f, "expected {expected}, found {found:?}")
            }
            Self::OutOfRange => f.write_str("number out of range"),
            Self::TooDeep => f.write_str("nested more than 127 levels deep"),
        }
    }
}

impl Error for Fault {}

/// Where a preview stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freeze {
    /// Bytes before the fault.
    pub at: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// Why a text is not the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentsError {
    /// The text is right as far as it goes, and ends too early.
    Truncated {
        /// Its end.
        at: Position,
        /// What is not closed there, in words.
        inside: &'static str,
    },
    /// The text is not JSON, whatever would follow.
    Malformed {
        /// The first fault.
        at: Position,
        /// What is wrong there; also the error's source.
        fault: Fault,
    },
    /// One whole JSON value, but arguments are an object.
    NotAnObject {
        /// What it is instead, in words.
        found: &'static str,
    },
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { at, inside } => {
                write!(f, "arguments truncated at {at}: the text ends inside {inside}")
            }
            Self::Malformed { at, fault } => write!(f, "arguments malformed at {at}: {fault}"),
            Self::NotAnObject { found } => {
                write!(f, "arguments malformed: expected an object, found {found}")
            }
        }
    }
}

impl Error for ArgumentsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Malformed { fault, .. } => Some(fault),
            Self::Truncated { .. } | Self::NotAnObject { .. } => None,
        }
    }
}

/// Arguments that are an object, but not the one a tool wants: a field is missing, or of another
/// type.
#[derive(Debug)]
pub struct ArgumentsMismatch(pub(super) serde_json::Error);

impl fmt::Display for ArgumentsMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arguments do not fit the tool: {}", self.0)
    }
}

impl Error for ArgumentsMismatch {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

//! Files of JSON lines, and what can be wrong with them.
//!
//! A session log and a record are read line by line, because that is how they are written: a line
//! is whole or it isn't, and a fault can say in which line it is. Both fail in the same few ways, so
//! one error serves both. It says what is wrong, where, and what to do.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use serde::de::DeserializeOwned;

/// A file without the byte order mark that Windows editors put at its beginning.
pub fn without_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file)
}

/// Reads one line; a line end of either kind may follow.
///
/// # Errors
///
/// It is no text, no JSON, or no `T`.
pub fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, Fault> {
    let text = std::str::from_utf8(line).map_err(Fault::NotUtf8)?;
    // Without its end: a fault behind it would be one in the next line.
    serde_json::from_str(text.trim_end_matches(['\r', '\n'])).map_err(Fault::Json)
}

/// Whether there is nothing in a line.
pub fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// What is wrong with a line.
#[derive(Debug)]
pub enum Fault {
    /// Its bytes are no text.
    NotUtf8(Utf8Error),
    /// It is not JSON, or not what should stand here.
    Json(serde_json::Error),
    /// It is good, but not behind the lines before it: what is wrong, in words.
    Order(String),
}

impl Fault {
    /// Whether nothing is wrong but that the rest of the line is missing.
    pub fn is_cut_short(&self) -> bool {
        match self {
            Self::NotUtf8(error) => error.error_len().is_none(), // inside a character
            Self::Json(error) => error.is_eof(),
            Self::Order(_) => false,
        }
    }
}

/// Why a file can't be used. It is as it was.
#[derive(Debug)]
pub enum FileError {
    /// The operating system said no.
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `open`, `read`, …
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A line is damaged.
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        fault: Fault,
    },
}

impl FileError {
    /// For `map_err`: what was tried with which file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.into(), doing, source }
    }

    /// For `map_err`: the place of a fault.
    pub(crate) fn line(path: &Path, line: usize) -> impl FnOnce(Fault) -> Self {
        move |fault| Self::Line { path: path.into(), line, fault }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What a file that is locked says is "operation would block".
            Self::Io { path, source, .. } if source.kind() == ErrorKind::WouldBlock => {
                write!(f, "{path:?} is in use: end the other program, or choose another file")
            }
            Self::Io { path, doing, source } => {
                let advice = match source.kind() {
                    ErrorKind::NotFound => "is its folder there?",
                    _ => "choose another file",
                };
                write!(f, "cannot {doing} {path:?}: {source}; {advice}")
            }
            Self::Line { path, line, fault } => write!(
                f,
                "{path:?} is damaged in line {line}: {fault}; nothing was changed: mend it, or \
                 choose another file"
            ),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8(error) => write!(f, "not UTF-8: {error}"),
            Self::Order(what) => f.write_str(what),
            Self::Json(error) => {
                // "at line 1 column 7": true of this line, and misleading in a file of many.
                let text = error.to_string();
                let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
                match error.column() {
                    0 => f.write_str(what),
                    column => write!(f, "column {column}: {what}"),
                }
            }
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Line { fault, .. } => Some(fault),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotUtf8(source) => Some(source),
            Self::Json(source) => Some(source),
            Self::Order(_) => None,
        }
    }
}

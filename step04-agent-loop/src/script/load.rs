//! From a file to a script, or to an error that says where in the file.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::Utf8Error;

use super::format::Script;

/// The longest script that is read, in bytes.
const LONGEST: u64 = 16 << 20;

impl Script {
    /// Reads a script file.
    ///
    /// # Errors
    ///
    /// See [`ScriptError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        Self::read(File::open(path).map_err(ScriptError::Io)?)
    }

    /// Reads a script from anywhere. All bytes are taken before they are read as text, so it does
    /// not matter in what pieces a character arrives.
    ///
    /// # Errors
    ///
    /// See [`ScriptError`].
    pub fn read(mut from: impl Read) -> Result<Self, ScriptError> {
        let mut bytes = Vec::new();
        // One byte more than the limit tells whether there is more, also where there is no end.
        from.by_ref().take(LONGEST + 1).read_to_end(&mut bytes).map_err(ScriptError::Io)?;
        if bytes.len() as u64 > LONGEST {
            return Err(ScriptError::TooLong);
        }
        match std::str::from_utf8(&bytes) {
            // Windows editors put a byte order mark at the beginning.
            Ok(text) => Self::parse(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(source) => Err(ScriptError::not_utf8(&bytes, source)),
        }
    }

    /// Reads a script from its text.
    ///
    /// # Errors
    ///
    /// See [`ScriptError`].
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let script = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            // Where no field was reached, the path ends in a question mark.
            let path = error.path().to_string();
            let field = match path.trim_end_matches(['.', '?']) {
                "" => ".".to_owned(),
                field => field.to_owned(),
            };
            ScriptError::Json { field, source: error.into_inner() }
        })?;
        let rest = json.end().map_err(|source| ScriptError::Json { field: ".".into(), source });
        rest.map(|()| script)
    }
}

/// A script can't be used.
#[derive(Debug)]
pub enum ScriptError {
    /// It can't be read.
    Io(io::Error),
    /// It has more than 16 MiB.
    TooLong,
    /// It is not UTF-8.
    NotUtf8 {
        /// Counted from 1.
        line: usize,
        /// What is wrong with the bytes.
        source: Utf8Error,
    },
    /// It is not JSON, or not a script.
    Json {
        /// Where in the value: `rules[0].replies[1].end`; `.` is the whole.
        field: String,
        /// What is wrong, with its line and column.
        source: serde_json::Error,
    },
}

impl ScriptError {
    fn not_utf8(bytes: &[u8], source: Utf8Error) -> Self {
        let good = bytes.iter().take(source.valid_up_to());
        let line = 1 + good.filter(|&&byte| byte == b'\n').count();
        Self::NotUtf8 { line, source }
    }
}

impl fmt::Display for ScriptError {
    /// `serde_json` ends its message with the line and column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "the script can't be read: {source}"),
            Self::TooLong => f.write_str("the script has more than 16 MiB; make it shorter"),
            Self::NotUtf8 { line, source } => {
                write!(f, "line {line} is not UTF-8: {source}; save it as UTF-8")
            }
            Self::Json { field, source } => write!(f, "field `{field}`: {source}"),
        }
    }
}

impl Error for ScriptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::TooLong => None,
            Self::NotUtf8 { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
        }
    }
}

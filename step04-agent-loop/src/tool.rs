//! What a tool is: a name, a schema for the model, and a future that ends in an answer.
//!
//! The loop knows this trait and nothing of files. A tool gets two things, the arguments and the
//! [`ToolRun`] it is part of: whether to stop, and where to report progress. It gives back one text,
//! because a text is all the model will read.
//!
//! In Pi (`AgentTool` in `packages/agent/src/types.ts`) a tool throws to say that it failed, and its
//! arguments are whatever the parser made of the model's text. Here both are in the signature: the
//! failure is a [`ToolError`], and [`ToolArguments`] exist only if the whole text was valid.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::partial_json::{ArgumentsError, ToolArguments};

/// Something the model can ask for.
pub trait Tool: Send + Sync {
    /// The name the model calls it by.
    fn name(&self) -> &str;

    /// What it does, in a sentence or two, written for the model.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments. Derive it from the struct that the arguments become
    /// ([`schema_of`]): a schema written by hand drifts from the code that reads the arguments.
    fn schema(&self) -> Value;

    /// Whether it asks not to run beside other tools.
    fn sequential(&self) -> bool {
        false
    }

    /// Does the work.
    ///
    /// The future is `'static`: it borrows nothing, so the loop may run several at once, or drop one
    /// that does not answer. It must not block the thread that polls it.
    ///
    /// # Errors
    ///
    /// Whatever went wrong, worded for the model. An error is a normal answer: it becomes a result
    /// with `isError`, and the loop goes on. Once [`ToolRun::cancel`] has been cancelled the only
    /// right answer is [`ToolError::Aborted`].
    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// One execution of a tool, seen from inside: may it go on, and who wants to hear of its progress.
///
/// A clone is the same run, so a blocking thread can have one.
#[derive(Clone)]
pub struct ToolRun {
    /// Cancelled when the answer is no longer wanted. Async code waits for it in a `select!`; a
    /// blocking thread asks [`ToolRun::check`] between two pieces of work.
    pub cancel: CancellationToken,
    on_update: Arc<dyn Fn(String) + Send + Sync>,
}

impl ToolRun {
    /// A run whose progress goes to `on_update`.
    ///
    /// The function is called on the tool's thread, so it must be quick and never wait: sending to
    /// an unbounded channel is right. A channel that is closed when the tool ends also gives the
    /// rule that later updates are ignored, at no cost.
    pub fn new(
        cancel: CancellationToken,
        on_update: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        Self { cancel, on_update: Arc::new(on_update) }
    }

    /// Reports progress. Cheap, never waits, and may be called as often as the tool likes: how often
    /// a person sees it is the [throttle](crate::throttle)'s business.
    pub fn update(&self, text: impl Into<String>) {
        (self.on_update)(text.into());
    }

    /// The question to ask between two pieces of work, with a `?` behind it.
    ///
    /// # Errors
    ///
    /// [`ToolError::Aborted`] once the run has been cancelled.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() { Err(ToolError::Aborted) } else { Ok(()) }
    }
}

impl fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// What a tool found out or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text for the model. If it was cut, it says so, and how to get the rest.
    pub text: String,
}

impl ToolOutput {
    /// An answer.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// Why a call has no good answer. Each one says what, where, and what to do about it, since the
/// model reads it and tries again.
#[derive(Debug)]
pub enum ToolError {
    /// There is no tool of that name.
    Unknown {
        /// The name in the call.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The text of the arguments is no JSON object: cut off, or malformed.
    Unreadable(ArgumentsError),
    /// A JSON object, but not the one that the tool takes.
    BadArguments {
        /// The member that is wrong, as a path (`edits[1].text`); `.` for the object itself.
        field: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The tool could do it but must not.
    Refused {
        /// The path as the model wrote it.
        path: String,
        /// Why not, and what would be right.
        why: String,
    },
    /// The operating system said no.
    Io {
        /// What was tried: `read`, `write`, …
        doing: &'static str,
        /// The path as the model wrote it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The reply ended at its length limit, so the arguments may be half there.
    Truncated,
    /// The reply broke off, so the call may be half there.
    BrokenOff,
    /// The run was cancelled before the tool was done.
    Aborted,
    /// The tool has a bug: it panicked with this message.
    Panicked(String),
    /// Anything else, in the tool's own words.
    Failed(String),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(f, "unknown tool {name:?}; the tools are: {}", known.join(", "))
            }
            Self::Unreadable(error) => write!(f, "{error}; send the whole call again"),
            Self::BadArguments { field, source } if field == "." => {
                write!(f, "bad arguments: {source}")
            }
            Self::BadArguments { field, source } => {
                write!(f, "bad arguments: field `{field}`: {source}")
            }
            Self::Refused { path, why } => write!(f, "refused {path:?}: {why}"),
            Self::Io { doing, path, source } => write!(f, "cannot {doing} {path:?}: {source}"),
            Self::Truncated => f.write_str(
                "not run: the reply was truncated at its length limit, and so may be the arguments; \
                 send the whole call again",
            ),
            Self::BrokenOff => f.write_str("not run: the reply broke off before it was whole"),
            Self::Aborted => f.write_str("aborted before it was done"),
            Self::Panicked(message) => write!(f, "the tool crashed: {message}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(source) => Some(source),
            Self::BadArguments { source, .. } => Some(source),
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl ToolError {
    /// What a panic becomes: `payload` is what `catch_unwind` or a `JoinError` hands out.
    pub fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self::Panicked(panic_text(payload).to_owned())
    }
}

/// What a panic said, if it said it in words.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message")
}

impl From<ArgumentsError> for ToolError {
    fn from(error: ArgumentsError) -> Self {
        Self::Unreadable(error)
    }
}

/// The arguments as the struct that a tool declares.
///
/// # Errors
///
/// [`ToolError::BadArguments`], which names the field. serde alone names a field that is missing or
/// unknown, but of one with the wrong type it only says `invalid type: integer`; `serde_path_to_error`
/// keeps the path.
pub fn typed<T: DeserializeOwned>(arguments: &ToolArguments) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(arguments.as_value()).map_err(|error| {
        ToolError::BadArguments { field: error.path().to_string(), source: error.into_inner() }
    })
}

/// The JSON schema of an argument struct, as a provider takes it: in one piece, and without the
/// note which draft of JSON Schema it follows.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title"); // the Rust name of the struct is nothing to the model
    schema.to_value()
}

/// The tools a model may use, in the order it is told of them.
#[derive(Clone, Default)]
pub struct Toolbox(Vec<Arc<dyn Tool>>);

impl Toolbox {
    /// A box of these. If two have the same name, the first one answers.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self(tools)
    }

    /// The tool of that name.
    ///
    /// # Errors
    ///
    /// [`ToolError::Unknown`], which lists the names there are.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        self.iter().find(|tool| tool.name() == name).ok_or_else(|| ToolError::Unknown {
            name: name.to_owned(),
            known: self.iter().map(|tool| tool.name().to_owned()).collect(),
        })
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.0.iter()
    }
}

//! The strict door: the only way from text to arguments that a tool will take.
//!
//! In TypeScript "never execute a preview" is a comment that everybody has to remember, because the
//! preview and the arguments are both `any`. Here they are two types, and the second one can be made
//! by one function only.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{ArgumentsError, ArgumentsMismatch, Position};
use super::preview::{ArgumentsPreview, Outcome};

/// Arguments that were read from a whole, valid text: what a tool is executed with.
///
/// Only [`parse_arguments`] makes them. The field is private and nothing else leads here.
///
/// A value that was made for display is refused:
///
/// ```
/// # use step04_agent_loop::partial_json::*;
/// fn execute(arguments: ToolArguments) {}
/// # let mut preview = ArgumentsPreview::new();
/// # preview.push(r#"{"path":"src/ma"#);
/// # let raw = "{}";
/// execute(parse_arguments(raw).unwrap());
/// ```
/// ```compile_fail,E0308
/// # use step04_agent_loop::partial_json::*;
/// fn execute(arguments: ToolArguments) {}
/// # let mut preview = ArgumentsPreview::new();
/// # preview.push(r#"{"path":"src/ma"#);
/// # let raw = "{}";
/// execute(preview.value().cloned().unwrap());
/// ```
///
/// It can't be wrapped by hand either:
///
/// ```
/// # use step04_agent_loop::partial_json::*;
/// let shown = serde_json::json!({"path": "src/ma"});
/// let arguments: ToolArguments = parse_arguments(&shown.to_string()).unwrap();
/// ```
/// ```compile_fail,E0423
/// # use step04_agent_loop::partial_json::*;
/// let shown = serde_json::json!({"path": "src/ma"});
/// let arguments: ToolArguments = ToolArguments(shown);
/// ```
///
/// No conversion, no empty default, and no serde back door:
///
/// ```
/// # use step04_agent_loop::partial_json::*;
/// let shown = serde_json::json!({"path": "src/ma"});
/// let other = serde_json::Value::from(shown);
/// ```
/// ```compile_fail,E0277
/// # use step04_agent_loop::partial_json::*;
/// let shown = serde_json::json!({"path": "src/ma"});
/// let other = ToolArguments::from(shown);
/// ```
/// ```
/// # use step04_agent_loop::partial_json::*;
/// let empty = ArgumentsPreview::default();
/// ```
/// ```compile_fail,E0599
/// # use step04_agent_loop::partial_json::*;
/// let empty = ToolArguments::default();
/// ```
/// ```
/// # use step04_agent_loop::partial_json::*;
/// let read = serde_json::from_str::<serde_json::Value>("{}").unwrap();
/// ```
/// ```compile_fail,E0277
/// # use step04_agent_loop::partial_json::*;
/// let read = serde_json::from_str::<ToolArguments>("{}").unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ToolArguments(Value);

/// Reads the whole text of a call's arguments. Call it once, after the message has ended with
/// `done`.
///
/// After the three mends (see the [module](super)) the text must be one JSON object
/// and nothing else. A text of white space only is `{}`: that is what models send to a tool without
/// parameters.
///
/// # Errors
///
/// Everything else is an error that says whether the text was cut or is wrong, and where. There is
/// no fallback: a silent `{}` would run a tool with arguments that nobody wrote.
pub fn parse_arguments(raw: &str) -> Result<ToolArguments, ArgumentsError> {
    let mut reader = ArgumentsPreview::new();
    reader.push(raw);
    reader.finish();
    match reader.into_outcome() {
        Outcome::Blank => Ok(ToolArguments(Value::Object(Map::new()))),
        Outcome::Whole(value @ Value::Object(_)) => Ok(ToolArguments(value)),
        Outcome::Whole(value) => Err(ArgumentsError::NotAnObject { found: kind_of(&value) }),
        Outcome::Cut(inside) => {
            Err(ArgumentsError::Truncated { at: Position::of(raw, raw.len()), inside })
        }
        Outcome::Broken(freeze) => {
            Err(ArgumentsError::Malformed { at: Position::of(raw, freeze.at), fault: freeze.fault })
        }
    }
}

impl ToolArguments {
    /// The object, to look at.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// One member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The arguments as the struct that a tool declares.
    ///
    /// # Errors
    ///
    /// The object does not fit `T`; the source says how.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentsMismatch> {
        T::deserialize(&self.0).map_err(ArgumentsMismatch)
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

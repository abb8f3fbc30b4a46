//! Reads a script more strictly than serde does by itself.
//!
//! serde is made for programs that write to each other: it takes a list for a struct, `null` for
//! nothing, and of two members of one name in a map the last. A script is written by hand, and there
//! each of these is a mistake that should be told with its line. (The `arguments` of a call are as
//! free as a model is: of two members of one name the last wins, as in the strict parser.)

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::format::{Block, Call, Chunk, End, Pace, Reply, Rule, Script};

/// serde can read an enum like [`Block`] without this, but of two members beside each other it says
/// no more than "expected value".
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
pub(super) struct RawBlock {
    #[serde(deserialize_with = "given")]
    text: Option<String>,
    #[serde(deserialize_with = "given")]
    thinking: Option<String>,
    #[serde(deserialize_with = "given")]
    tool_call: Option<Call>,
}

impl TryFrom<RawBlock> for Block {
    type Error = &'static str;

    fn try_from(raw: RawBlock) -> Result<Self, &'static str> {
        match (raw.text, raw.thinking, raw.tool_call) {
            (Some(text), None, None) => Ok(Self::Text(text)),
            (None, Some(thinking), None) => Ok(Self::Thinking(thinking)),
            (None, None, Some(call)) => Ok(Self::ToolCall(call)),
            _ => Err("give one of `text`, `thinking` and `toolCall`"),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
#[schemars(extend("not" = {"required": ["arguments", "argumentsText"]}))]
pub(super) struct RawCall {
    name: String,
    #[serde(default)]
    id: String,
    arguments: Option<Map<String, Value>>,
    arguments_text: Option<String>,
}

impl TryFrom<RawCall> for Call {
    type Error = &'static str;

    fn try_from(raw: RawCall) -> Result<Self, &'static str> {
        let arguments_text = match (raw.arguments, raw.arguments_text) {
            (Some(_), Some(_)) => return Err("give `arguments` or `argumentsText`, not both"),
            (Some(arguments), None) => Some(Value::Object(arguments).to_string()),
            (None, text) => text,
        };
        Ok(Self { name: raw.name, id: raw.id, arguments_text })
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, remote = "Self")]
pub(super) struct RawChunk {
    #[serde(deserialize_with = "given")]
    size: Option<NonZeroUsize>,
    #[serde(deserialize_with = "given")]
    min: Option<NonZeroUsize>,
    #[serde(deserialize_with = "given")]
    max: Option<NonZeroUsize>,
    #[serde(deserialize_with = "given")]
    seed: Option<u64>,
}

impl TryFrom<RawChunk> for Chunk {
    type Error = &'static str;

    fn try_from(raw: RawChunk) -> Result<Self, &'static str> {
        match (raw.size, raw.min, raw.max, raw.seed) {
            (Some(size), None, None, None) => Ok(Self::Size(size)),
            (None, Some(min), Some(max), _) if max < min => Err("`max` is less than `min`"),
            (None, Some(min), Some(max), seed) => {
                Ok(Self::Random { min, max, seed: seed.unwrap_or_default() })
            }
            _ => Err("give `size`, or `min`, `max` and perhaps `seed`"),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
pub(super) struct RawPace {
    #[serde(deserialize_with = "given")]
    delay_ms: Option<u64>,
    #[serde(deserialize_with = "given")]
    tokens_per_second: Option<NonZeroU32>,
}

impl TryFrom<RawPace> for Pace {
    type Error = &'static str;

    fn try_from(raw: RawPace) -> Result<Self, &'static str> {
        match (raw.delay_ms, raw.tokens_per_second) {
            (Some(millis), None) => Ok(Self::DelayMs(millis)),
            (None, Some(count)) => Ok(Self::TokensPerSecond(count)),
            _ => Err("give `delayMs` or `tokensPerSecond`"),
        }
    }
}

/// Again what serde could do, but its words for a mistake are those of a Rust program.
impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Ending;

        impl<'de> Visitor<'de> for Ending {
            type Value = End;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a word, or {"error": "…"}"#)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<End, E> {
                match word {
                    "stop" => Ok(End::Stop),
                    "length" => Ok(End::Length),
                    "toolUse" => Ok(End::ToolUse),
                    "aborted" => Ok(End::Aborted),
                    "earlyEnd" => Ok(End::EarlyEnd),
                    "silence" => Ok(End::Silence),
                    "error" => Err(E::custom(r#"an error has a message: {"error": "…"}"#)),
                    _ => Err(E::unknown_variant(word, &ENDS)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<End, A::Error> {
                let end = match map.next_key::<String>()?.as_deref() {
                    Some("error") => End::Error(map.next_value()?),
                    _ => return Err(A::Error::custom(r#"give a word, or {"error": "…"}"#)),
                };
                match map.next_key::<String>()? {
                    Some(_) => Err(A::Error::custom("nothing stands beside `error`")),
                    None => Ok(end),
                }
            }
        }

        from.deserialize_any(Ending)
    }
}

const ENDS: [&str; 7] = ["stop", "length", "toolUse", "error", "aborted", "earlyEnd", "silence"];

/// A member that is there has a value: `null` is none.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Why a script can't have this file beside those, if so.
fn fault_of(path: &str, files: &BTreeMap<String, String>) -> Option<&'static str> {
    // One way to write it, that leads below the folder on every system.
    let is_name = |part: &str| !["", ".", ".."].contains(&part) && part.len() <= 255;
    let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below || !path.split('/').all(is_name) || path.contains(char::is_control) {
        return Some("must name a file in the folder");
    }
    if files.contains_key(path) {
        return Some("is there twice");
    }
    let is_file = |above: &Path| above.to_str().is_some_and(|above| files.contains_key(above));
    let below = format!("{path}/");
    let is_folder =
        files.range(below.clone()..).next().is_some_and(|(it, _)| it.starts_with(&below));
    let clash = is_folder || Path::new(path).ancestors().skip(1).any(is_file);
    clash.then_some("clashes with another one: what is a file can't be a folder")
}

/// Reads [`Script::files`]. Their paths are looked at here, while line and column are known.
pub(super) fn files<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    struct Files;

    impl<'de> Visitor<'de> for Files {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut files = Self::Value::new();
            while let Some((path, content)) = map.next_entry::<String, String>()? {
                if let Some(why) = fault_of(&path, &files) {
                    return Err(A::Error::custom(format!("{path:?} {why}")));
                }
                files.insert(path, content);
            }
            Ok(files)
        }
    }

    from.deserialize_map(Files)
}

/// serde reads a struct from a JSON array as well, its fields in the order of the source. In a script
/// that is a mistake, so these are read from objects only.
macro_rules! objects_only {
    ($($name:ident)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Object;

                impl<'de> Visitor<'de> for Object {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        // Not this method again, but the one that was derived.
                        $name::deserialize(MapAccessDeserializer::new(map))
                    }
                }

                from.deserialize_map(Object)
            }
        }
    )*};
}

objects_only! { Script Rule Reply RawBlock RawCall RawChunk RawPace }

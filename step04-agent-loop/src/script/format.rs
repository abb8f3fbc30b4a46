//! The JSON in which a lesson says what the model will answer.
//!
//! ```json
//! {
//!   "inputs": ["what is in a.txt?"],
//!   "chunk": {"size": 2},
//!   "pace": {"delayMs": 30},
//!   "rules": [
//!     {
//!       "match": "a.txt",
//!       "replies": [
//!         {"content": [{"thinking": "I must look."}, {"text": "Let me see."},
//!                      {"toolCall": {"name": "read", "arguments": {"path": "a.txt"}}}]},
//!         {"content": [{"text": "It says hello."}]}
//!       ]
//!     },
//!     {"replies": [{"content": [{"text": "I was cut o"}], "end": {"error": "line is down"}}]}
//!   ]
//! }
//! ```
//!
//! **Which rule?** The first whose `match` is part of the last user message; a rule without `match`
//! fits always. **Which reply?** The first request after a user message gets the first reply. The
//! request that brings the results of its tools gets the second, and so on. So a script is a pure
//! function from a context to a [`Reply`], and the model needs no memory.
//!
//! Each field is described where it is declared below. A field that isn't known is an error and not
//! a guess: a `"mach"` that silently made a fallback of a rule would be hard to find.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Component, Path};
use std::str::Utf8Error;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::message::{Context, UserMessage};

/// The longest script that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// A whole script.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Script {
    /// What the person says in the demo, line by line.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Files for the tools, by path: they are written to a folder of their own before the
    /// conversation begins.
    #[serde(default, deserialize_with = "files")]
    pub files: BTreeMap<String, String>,
    /// How replies are cut into deltas, unless a reply says otherwise.
    #[serde(default)]
    pub chunk: Chunk,
    /// How long each delta takes, unless a reply says otherwise.
    pub pace: Option<Pace>,
    /// Tried in order.
    pub rules: Vec<Rule>,
}

/// What the model answers to certain inputs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Rule {
    /// `match`: part of the user message that makes this rule fit; without it, every message does.
    #[serde(rename = "match")]
    pub matches: Option<String>,
    /// For the first, second, … request since the user message.
    pub replies: Vec<Reply>,
    /// Whether the last reply answers all further requests too. A model that calls tools for ever
    /// is made with it.
    #[serde(default)]
    pub repeat: bool,
}

/// One reply: what it says, in what pieces, and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Reply {
    /// The blocks, in order.
    #[serde(default)]
    pub content: Vec<Block>,
    /// Whether the blocks take turns, one delta each, instead of coming one after the other.
    #[serde(default)]
    pub interleave: bool,
    /// How it ends. Not given: `toolUse` if there is a call, else `stop`.
    pub end: Option<End>,
    /// The end comes after so many deltas, however much is left to say. Not given: after all.
    pub after: Option<usize>,
    /// Overrides [`Script::chunk`].
    pub chunk: Option<Chunk>,
    /// Overrides [`Script::pace`].
    pub pace: Option<Pace>,
}

/// One block of a reply.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "RawBlock")]
#[schemars(!try_from)]
pub enum Block {
    /// `{"text": "…"}`
    Text(String),
    /// `{"thinking": "…"}`
    Thinking(String),
    /// `{"toolCall": {…}}`
    ToolCall(Call),
}

/// serde can read an enum like [`Block`] without this, but of two members beside each other it says
/// no more than "expected value".
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
struct RawBlock {
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

/// A tool call of a reply.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "RawCall")]
#[schemars(with = "RawCall")]
pub struct Call {
    /// Which tool.
    pub name: String,
    /// Not given: the model makes one.
    pub id: String,
    /// The argument text: `arguments`, written out as compact JSON, or `argumentsText` as it is,
    /// which need not be JSON at all. Neither: no delta comes.
    pub arguments_text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
#[schemars(extend("not" = {"required": ["arguments", "argumentsText"]}))]
struct RawCall {
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

/// How a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// `done(stop)`
    Stop,
    /// `done(length)`
    Length,
    /// `done(toolUse)`
    ToolUse,
    /// `error(error)` with this message: `{"error": "…"}`
    Error(String),
    /// `error(aborted)`, as if the provider had stopped it.
    Aborted,
    /// The producer goes away without a word.
    EarlyEnd,
    /// Nothing comes any more, and it doesn't end.
    Silence,
}

/// How a text is cut into deltas. The unit is what a reader calls a character (a grapheme cluster):
/// no emoji and no accent is ever torn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "RawChunk", rename_all = "camelCase")]
#[schemars(!try_from, deny_unknown_fields)]
pub enum Chunk {
    /// `{"size": 4}`: always so many.
    Size(NonZeroUsize),
    /// `{"min": 1, "max": 8, "seed": 7}`: between `min` and `max`; the same seed, the same cuts.
    #[schemars(untagged)]
    Random {
        /// At least so many.
        min: NonZeroUsize,
        /// At most so many.
        max: NonZeroUsize,
        /// Where the random sequence begins.
        #[schemars(default)]
        seed: u64,
    },
}

impl Default for Chunk {
    fn default() -> Self {
        Self::Size(NonZeroUsize::MIN.saturating_add(3))
    }
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, remote = "Self")]
#[derive(Default)]
struct RawChunk {
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

/// How long the model takes for each delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "RawPace")]
#[schemars(!try_from)]
pub enum Pace {
    /// `{"delayMs": 30}`: milliseconds before each delta.
    DelayMs(u64),
    /// `{"tokensPerSecond": 40}`: a delta counts as one token.
    TokensPerSecond(NonZeroU32),
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
struct RawPace {
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

impl Default for Pace {
    fn default() -> Self {
        Self::DelayMs(0)
    }
}

impl Pace {
    /// The pause before a delta.
    pub fn delay(self) -> Duration {
        match self {
            Self::DelayMs(millis) => Duration::from_millis(millis),
            Self::TokensPerSecond(count) => Duration::from_secs(1) / count.get(),
        }
    }
}

/// A member that is there has a value: `null` is none.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads [`Script::files`]. Their paths are looked at here, while line and column are known.
fn files<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Files;

    impl<'de> Visitor<'de> for Files {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut files = BTreeMap::new();
            while let Some((path, content)) = map.next_entry::<String, String>()? {
                let is_name = |part| matches!(part, Component::Normal(_));
                if path.is_empty()
                    || path.ends_with('/')
                    || !Path::new(&path).components().all(is_name)
                {
                    return Err(A::Error::custom(format!(
                        "{path:?} must name a file in the folder"
                    )));
                }
                if files.contains_key(&path) {
                    return Err(A::Error::custom(format!("{path:?} is there twice")));
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
            Ok(text) => Self::parse(text.trim_start_matches('\u{feff}')),
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

    /// Sets the pace: `forced` for everything, or else `default` for what has none of its own.
    pub fn set_pace(&mut self, forced: Option<Pace>, default: Pace) {
        if let Some(pace) = forced {
            self.pace = Some(pace);
            let replies = self.rules.iter_mut().flat_map(|rule| &mut rule.replies);
            replies.for_each(|reply| reply.pace = None);
        } else {
            self.pace.get_or_insert(default);
        }
    }

    /// The reply to the last message of `context`.
    ///
    /// # Errors
    ///
    /// No rule fits, or the rule that fits has no reply for a request that late.
    pub fn answer(&self, context: &Context) -> Result<&Reply, NoReply> {
        let (said, request) = context.last_request();
        let input = said.map(UserMessage::text).unwrap_or_default();
        let fits = |rule: &&Rule| rule.matches.as_ref().is_none_or(|part| input.contains(part));
        let rule = self.rules.iter().find(fits).ok_or_else(|| NoReply::NoRule(input.clone()))?;
        let last = rule.replies.last().filter(|_| rule.repeat);
        rule.replies.get(request).or(last).ok_or_else(|| NoReply::UsedUp {
            rule: rule.matches.clone(),
            replies: rule.replies.len(),
        })
    }
}

/// A script has nothing to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoReply {
    /// No rule fits this input.
    NoRule(String),
    /// The rule has fewer replies than there were requests.
    UsedUp {
        /// Its `match`.
        rule: Option<String>,
        /// How many replies it has.
        replies: usize,
    },
}

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRule(input) => {
                write!(f, "no rule of the script fits {input:?}; a rule without `match` fits all")
            }
            Self::UsedUp { rule, replies } => {
                match rule {
                    Some(part) => write!(f, "the rule for {part:?}"),
                    None => f.write_str("the rule without `match`"),
                }?;
                let noun = if *replies == 1 { "reply" } else { "replies" };
                write!(f, " has no more than {replies} {noun}")
            }
        }
    }
}

impl Error for NoReply {}

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

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
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::strict::{RawBlock, RawCall, RawChunk, RawPace, files};
use crate::message::{Context, UserMessage};

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

/// How a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
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

impl Script {
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

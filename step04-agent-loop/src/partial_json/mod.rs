//! Half-written JSON: shown while it grows, executed only when it is whole.
//!
//! A model writes the arguments of a tool call a few characters at a time. A person wants to see
//! them at once (`write` to `src/main.rs`, and its first lines); a tool must not see them before the
//! last character is there. `JSON.parse` in a `try` block serves neither: it shows nothing until the
//! end, and its habitual companion `catch { return {} }` lets a tool run with arguments that nobody
//! wrote. So there are two readers here, and two types that can't be taken for each other:
//!
//! | | [`ArgumentsPreview`] | [`parse_arguments`] |
//! |---|---|---|
//! | reads | each delta as it comes | the whole text, after `done` |
//! | gives | a [`serde_json::Value`] to look at | [`ToolArguments`] to execute |
//! | cut text | shows what is certain | an error: truncated, and where |
//! | broken text | freezes at the last good value | an error: malformed, and where |
//!
//! Both are the same state machine, so both mend the same three faults that models really make
//! inside strings, and whatever the strict reader accepts is what the preview showed last:
//!
//! 1. a raw control character (a real line break, a tab) is kept;
//! 2. an illegal escape (`\q`, `\u12G4`) is kept as written, backslash included;
//! 3. half a surrogate pair (`\ud83d` alone) becomes U+FFFD, as a Rust string can't hold it.
//!
//! Read the modules in this order: `string` decodes what stands between two quotes, `scalar` collects
//! a number or literal, `tree` grows a value at its open end, `preview` is the state machine that
//! uses the three, `arguments` the strict door.
//!
//! Where this is from: seed 05 ("shown, never executed") and Pi's
//! `packages/ai/src/utils/json-parse.ts`, which parses the whole text again at each delta.

mod arguments;
mod error;
mod preview;
mod scalar;
mod string;
mod tree;

pub use arguments::{ToolArguments, parse_arguments};
pub use error::{ArgumentsError, ArgumentsMismatch, Fault, Freeze, Position};
pub use preview::ArgumentsPreview;

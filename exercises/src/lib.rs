//! What the checks of all exercises share, and the checks themselves.
//!
//! Every exercise is a folder of its own. Its `checks.rs` is compiled here, once: what is left to
//! compile after an edit is the learner's file and a few lines that hand it over, so the verdict
//! comes quickly. The rooms, in the order to read them:
//!
//! - [`text`]: what people read, in both languages
//! - [`criterion`]: one thing an answer must do, in words, and the code that looks
//! - [`harness`]: runs all criteria of an exercise, whatever the answer does
//! - [`report`]: what came out, as a value and as lines of a file
//! - [`verdict`]: a report as people read it
//! - [`probe`]: the instruments the checks look through
//! - [`registry`]: which exercises there are, and in which order
//!
//! The tool (`cargo run -p exercises`) is in `main.rs` and the modules beside it.

pub mod criterion;
pub mod harness;
pub mod probe;
pub mod registry;
pub mod report;
pub mod text;
pub mod verdict;

#[path = "../errors_are_events/checks.rs"]
pub mod errors_are_events;
#[path = "../fold_in_place/checks.rs"]
pub mod fold_in_place;
#[path = "../fold_on_done/checks.rs"]
pub mod fold_on_done;
#[path = "../lazy_stream/checks.rs"]
pub mod lazy_stream;
#[path = "../own_rule/checks.rs"]
pub mod own_rule;
#[path = "../typewriter/checks.rs"]
pub mod typewriter;

pub use harness::check;

//! The TODO is gone and nothing is in its place.
//!
//! Fails: a question about the weather gets an answer of its own
//! Says: no rule for this language

use step03_streaming::fake_model::Rule;
use step03_streaming::script::Lang;

/// The rules of step03 and one more: a question about the weather gets an answer of its own.
///
/// Whatever an older rule answers today, it goes on answering.
pub fn rules(lang: Lang) -> Vec<Rule> {
    let rules: Vec<Rule> = lang.rules();
    rules
}

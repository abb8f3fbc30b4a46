//! Answers in English, whatever the language of the question.
//!
//! Fails: a question about the weather gets an answer of its own
//! Says: says nothing in the language of the question

use step03_streaming::fake_model::Rule;
use step03_streaming::script::Lang;

/// The rules of step03 and one more: a question about the weather gets an answer of its own.
///
/// Whatever an older rule answers today, it goes on answering.
pub fn rules(lang: Lang) -> Vec<Rule> {
    let mut rules = lang.rules();
    let (weather, answer) = match lang {
        Lang::En => ("weather", "I have no window, but I hope for sun."),
        Lang::Zh => ("天气", "I have no window, but I hope for sun."),
    };
    // The first hit wins. Behind all that was there, so that nothing is taken from it; before the
    // fallback, which hits everything.
    let before_fallback = rules.len() - 1;
    rules.insert(before_fallback, Rule::reply(weather, answer));
    rules
}

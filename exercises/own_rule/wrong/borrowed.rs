//! Says what another rule says.
//!
//! Fails: a question about the weather gets an answer of its own
//! Says: your own

use step03_streaming::fake_model::Rule;
use step03_streaming::script::Lang;

/// The rules of step03 and one more: a question about the weather gets an answer of its own.
///
/// Whatever an older rule answers today, it goes on answering.
pub fn rules(lang: Lang) -> Vec<Rule> {
    let mut rules = lang.rules();
    let (weather, answer) = match lang {
        Lang::En => {
            ("weather", "Hello! I am FakeModel, handing you this sentence one token at a time.")
        }
        Lang::Zh => ("天气", "我没有窗户，但愿是晴天。"),
    };
    // The first hit wins. Behind all that was there, so that nothing is taken from it; before the
    // fallback, which hits everything.
    let before_fallback = rules.len() - 1;
    rules.insert(before_fallback, Rule::reply(weather, answer));
    rules
}

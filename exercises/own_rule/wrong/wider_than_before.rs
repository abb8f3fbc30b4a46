//! Writes the rules down again, and one of them is not what it was.
//!
//! Fails: what has nothing to do with the weather is answered as before
//! Says: the same rules, in the same order

use step03_streaming::fake_model::Rule;
use step03_streaming::script::Lang;

/// The rules of step03 and one more: a question about the weather gets an answer of its own.
///
/// Whatever an older rule answers today, it goes on answering.
pub fn rules(lang: Lang) -> Vec<Rule> {
    let mut rules = lang.rules();
    if lang == Lang::Zh {
        rules[1] = Rule::reply(
            "流",
            "流式输出的本质是：模型每生成一小段就发一个事件，调用方一边收一边打印。",
        );
    }
    let (weather, answer) = match lang {
        Lang::En => ("weather", "I have no window, but I hope for sun."),
        Lang::Zh => ("天气", "我没有窗户，但愿是晴天。"),
    };
    // The first hit wins. Behind all that was there, so that nothing is taken from it; before the
    // fallback, which hits everything.
    let before_fallback = rules.len() - 1;
    rules.insert(before_fallback, Rule::reply(weather, answer));
    rules
}

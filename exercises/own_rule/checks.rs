//! What a rule of one's own must do, and leave alone. The answer is a list of rules; the real fake
//! model follows it.

use std::time::Duration;

use futures::StreamExt;
use step03_streaming::event::{StreamEvent, StreamOptions};
use step03_streaming::fake_model::{FakeModel, Rule};
use step03_streaming::message::{Context, Message};
use step03_streaming::model::Model;
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::clock::on_a_paused_clock;
use crate::probe::conversation::{demo, transcript};
use crate::probe::random::Random;
use crate::text::Text;

/// The learner's function.
pub type Rules = fn(Lang) -> Vec<Rule>;

/// All criteria, in the order to meet them.
pub fn checks(rules: Rules) -> Vec<Criterion> {
    vec![
        Criterion::new(
            ("a question about the weather gets an answer of its own", "问天气能得到专门的回答"),
            move || weather(rules),
        ),
        Criterion::new(
            (
                "what has nothing to do with the weather is answered as before",
                "和天气无关的话，回答和以前一样",
            ),
            move || all_else(rules),
        ),
        Criterion::new(
            (
                "a line that an older rule knows is still answered by that rule",
                "旧规则认得的话，仍由旧规则回答",
            ),
            move || older_first(rules),
        ),
        Criterion::new(
            ("the demo of step03 runs as it always did", "step03 的 demo 和原来一样"),
            move || same_demo(rules),
        ),
    ]
}

/// The text that stands for the weather in a language.
fn needle(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "weather",
        Lang::Zh => "天气",
    }
}

/// Lines around a text, none of which an older rule knows.
fn lines_around(middle: &str, lang: Lang, random: &mut Random) -> Vec<String> {
    let (before, after) = match lang {
        Lang::En => {
            (["", "how is the ", "any ", "tell me: "], ["", "?", " today", " in May, please"])
        }
        Lang::Zh => (["", "今天", "请问", "明天的"], ["", "？", "怎么样", "好不好呀"]),
    };
    (0..12).map(|_| format!("{}{middle}{}", random.pick(&before), random.pick(&after))).collect()
}

/// The last event of the real model's reply to `line`, and all the text before it.
fn reply(rules: Vec<Rule>, line: &str) -> (String, Option<StreamEvent>) {
    let model = FakeModel::new(rules, Duration::ZERO);
    let context = Context { messages: vec![Message::user(line)] };
    let events: Vec<_> =
        on_a_paused_clock(model.stream(&context, StreamOptions::default()).collect());
    let text = events.iter().filter_map(|event| match event {
        StreamEvent::TextDelta { delta } => Some(delta.as_str()),
        _ => None,
    });
    (text.collect(), events.last().cloned())
}

/// What is answered to `line`, in words.
fn answered(rules: Vec<Rule>, line: &str) -> String {
    match reply(rules, line) {
        (text, Some(StreamEvent::Error { error })) => {
            format!("{line:?} → {text:?}, error {error:?}")
        }
        (text, _) => format!("{line:?} → {text:?}"),
    }
}

fn weather(rules: Rules) -> Checked {
    let mut random = Random::new(4);
    for lang in [Lang::En, Lang::Zh] {
        for line in lines_around(needle(lang), lang, &mut random) {
            let (text, last) = reply(rules(lang), &line);
            let old = answered(lang.rules(), &line);
            let is_new = answered(rules(lang), &line) != old && is_own(&text, lang);
            if is_new && matches!(last, Some(StreamEvent::Done { .. })) {
                continue;
            }
            let expected =
                (format!("{line:?} → a text of your own"), format!("{line:?} → 你自己写的一句话"));
            let fault = Fault::told(expected, Text::value(answered(rules(lang), &line)));
            return Err(fault.because(why_not_answered(&rules(lang), lang, is_new)));
        }
    }
    Ok(())
}

/// Whether a text is in this language, and none that some older rule says.
fn is_own(text: &str, lang: Lang) -> bool {
    let olds = match lang {
        Lang::En => ["hello", "streaming", "error", "break", ""],
        Lang::Zh => ["你好", "流式", "报错", "断开", ""],
    };
    let is_old = olds.iter().any(|line| reply(lang.rules(), line).0 == text);
    let in_language = match lang {
        Lang::En => text.chars().any(|char| char.is_ascii_alphabetic()),
        Lang::Zh => text.chars().any(|char| char.is_alphabetic() && !char.is_ascii()),
    };
    !is_old && in_language
}

fn why_not_answered(rules: &[Rule], lang: Lang, is_new: bool) -> Text {
    let old = lang.rules();
    let behind_fallback =
        old.last().and_then(|fallback| rules.iter().position(|rule| rule == fallback));
    let new = rules.iter().position(|rule| !old.contains(rule));
    if is_new {
        Text::new("The answer must be a reply, not a failure.", "应该正常回答，而不是报错。")
    } else if new.is_none() {
        Text::new(
            "The list holds no rule for this language that was not there before.",
            "在这种语言的列表里没有任何新规则。",
        )
    } else if behind_fallback < new {
        Text::new(
            "The fallback hits every line and the first hit wins: a rule behind it is never asked.",
            "兜底规则什么都能命中，而先命中者胜：排在它后面的规则永远轮不到。",
        )
    } else {
        Text::new(
            "A rule hits when the line contains its text, letter for letter: give it the shortest \
             text that means the weather, in lower case, and something to say that is your own and \
             in the language of the question.",
            "规则在输入包含它的文本时命中，一个字母都不能差：用最短的、能代表天气的文本（英文用小写），并且用提问的语言说一句你自己的话。",
        )
    }
}

fn all_else(rules: Rules) -> Checked {
    let mut random = Random::new(5);
    for lang in [Lang::En, Lang::Zh] {
        let topics = match lang {
            Lang::En => [
                "",
                "hello",
                "streaming",
                "error",
                "break",
                "tea",
                "we",
                "heat",
                "leather",
                "whether",
            ],
            Lang::Zh => ["", "你好", "流式", "报错", "断开", "茶", "今天", "天空", "空气", "生气"],
        };
        for topic in topics {
            for line in lines_around(topic, lang, &mut random) {
                let (old, new) = (answered(lang.rules(), &line), answered(rules(lang), &line));
                same_text(&old, &new, |_| {
                    Text::new(
                        "The older rules must all still be there, and the new one must not hit a \
                         line that does not speak of the weather.",
                        "旧规则一条都不能少，新规则也不能命中与天气无关的话。",
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn older_first(rules: Rules) -> Checked {
    let mut random = Random::new(6);
    for lang in [Lang::En, Lang::Zh] {
        let olds = match lang {
            Lang::En => ["hello, ", "streaming, ", "error, ", "break, "],
            Lang::Zh => ["你好，", "流式，", "报错，", "断开，"],
        };
        for old in olds {
            for line in lines_around(needle(lang), lang, &mut random) {
                let line = format!("{old}{line}");
                let (old, new) = (answered(lang.rules(), &line), answered(rules(lang), &line));
                same_text(&old, &new, |_| {
                    Text::new(
                        "The first hit wins, and your rule stands too early: it takes lines from a \
                         rule that was there before it. Only the fallback must come after it.",
                        "先命中者胜，而你的规则排得太靠前，抢走了旧规则的话。只有兜底规则应该在它后面。",
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn same_demo(rules: Rules) -> Checked {
    for lang in [Lang::En, Lang::Zh] {
        let mut out = Vec::new();
        let model = FakeModel::new(rules(lang), Duration::ZERO);
        demo(model, &mut out, lang).map_err(|error| Fault::differs("Ok", error.to_string()))?;
        same_text(transcript(lang), &String::from_utf8_lossy(&out), |_| Text::default())?;
    }
    Ok(())
}

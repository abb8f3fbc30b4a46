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
            let is_new = answered(rules(lang), &line) != answered(lang.rules(), &line);
            let is_done = matches!(last, Some(StreamEvent::Done { .. }));
            if is_new && is_done && !is_old(&text, lang) && is_in(&text, lang) {
                continue;
            }
            let expected =
                (format!("{line:?} → a text of your own"), format!("{line:?} → 你自己写的一句话"));
            let fault = Fault::told(expected, Text::value(answered(rules(lang), &line)));
            return Err(fault.because(why_not_answered(&rules(lang), lang, &line)));
        }
    }
    Ok(())
}

/// Whether some older rule says this text.
fn is_old(text: &str, lang: Lang) -> bool {
    let olds = match lang {
        Lang::En => ["hello", "streaming", "error", "break", ""],
        Lang::Zh => ["你好", "流式", "报错", "断开", ""],
    };
    olds.iter().any(|line| reply(lang.rules(), line).0 == text)
}

/// Whether a text says something in this language.
fn is_in(text: &str, lang: Lang) -> bool {
    match lang {
        Lang::En => text.chars().any(|char| char.is_ascii_alphabetic()),
        Lang::Zh => text.chars().any(|char| char.is_alphabetic() && !char.is_ascii()),
    }
}

/// Whether a rule hits a line.
fn hits(rule: &Rule, line: &str) -> bool {
    // With no rule at all, the model fails with an error of its own.
    answered(vec![rule.clone()], line) != answered(vec![], line)
}

/// Where the rule is that was not there before; one that hits the line, if there are more.
fn new_rule(rules: &[Rule], lang: Lang, line: &str) -> Option<usize> {
    let old = lang.rules();
    let is_new = |rule: &Rule| !old.contains(rule);
    let hit = rules.iter().position(|rule| is_new(rule) && hits(rule, line));
    hit.or_else(|| rules.iter().position(is_new))
}

fn why_not_answered(rules: &[Rule], lang: Lang, line: &str) -> Text {
    let Some(new) = new_rule(rules, lang, line) else {
        return Text::new(
            "The list holds no rule for this language that was not there before.",
            "在这种语言的列表里没有任何新规则。",
        );
    };
    let fallback = lang.rules().pop();
    let fallback = rules.iter().position(|rule| Some(rule) == fallback.as_ref());
    let (text, last) = reply(vec![rules[new].clone()], line);
    if !hits(&rules[new], line) {
        Text::new(
            "A rule hits when the line contains its text, letter for letter: give it the shortest \
             text that means the weather, in lower case.",
            "规则在输入包含它的文本时命中，一个字母都不能差：用最短的、能代表天气的文本（英文用小写）。",
        )
    } else if fallback.is_some_and(|fallback| fallback < new) {
        Text::new(
            "The fallback hits every line and the first hit wins: a rule behind it is never asked.",
            "兜底规则什么都能命中，而先命中者胜：排在它后面的规则永远轮不到。",
        )
    } else if !matches!(last, Some(StreamEvent::Done { .. })) {
        Text::new("The answer must be a reply, not a failure.", "应该正常回答，而不是报错。")
    } else if is_old(&text, lang) && !text.is_empty() {
        Text::new(
            "Your rule hits, and says what another rule says already: write a sentence of your own.",
            "你的规则命中了，但说的是别的规则已有的话：写一句你自己的。",
        )
    } else {
        Text::new(
            "Your rule hits, but its answer says nothing in the language of the question: write a \
             few words in English to the English one, in Chinese to the Chinese one.",
            "你的规则命中了，但它的回答没有用提问的语言说出什么：英文问题用英文答几个词，中文问题用中文答一句。",
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
        others_unchanged(&rules(lang), lang)?;
    }
    Ok(())
}

/// Takes the new rule out: what is left must be the rules of before. No list of lines, however
/// long, would find every change of a rule.
fn others_unchanged(rules: &[Rule], lang: Lang) -> Checked {
    let (old, mut left) = (lang.rules(), rules.to_vec());
    if let Some(new) = new_rule(rules, lang, needle(lang)) {
        left.remove(new);
    }
    let Some(at) = (0..old.len().max(left.len())).find(|&at| old.get(at) != left.get(at)) else {
        return Ok(());
    };
    let told = |rule: Option<&Rule>| match rule {
        Some(rule) => Text::value(format!("{rule:?}")),
        None => Text::new("no further rule", "后面没有规则了"),
    };
    Err(Fault::told(told(old.get(at)), told(left.get(at))).because((
        "Without your rule about the weather, the list must be the one of step03: the same rules, \
         in the same order, and no other. Add one rule and change nothing else.",
        "去掉你那条天气规则，列表就应该和 step03 的一样：同样的规则，同样的顺序，不多不少。只加一条，别的都不改。",
    )))
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

//! Conversations made up at random.

use std::num::NonZeroUsize;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::StopReason;
use step04_agent_loop::script::{Block, Call, Chunk, End, Pace, Reply};
use step04_agent_loop::settings::Settings;

use super::tools::NAMES;
use super::world::{Answer, Run, Stop, World};

/// So many cases, unless `PROPTEST_CASES` asks for another number.
pub fn cases(usual: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { usual };
    ProptestConfig { cases, ..asked }
}

/// Argument texts; one in four is not what a tool may run with.
fn arguments_text() -> impl Strategy<Value = Option<String>> {
    let numbers = (0..100_000u64, 0..400u64, 0..8u64);
    let good = numbers.prop_map(|(tag, ms, n)| format!(r#"{{"tag":{tag},"ms":{ms},"n":{n}}}"#));
    let bad = select(&[r#"{"tag":1,"ms"#, "[1]", "{}{}", "nonsense", r#"{"a":"unfin"#][..]);
    prop_oneof![
        6 => good.prop_map(Some),
        1 => bad.prop_map(|text| Some(text.to_owned())),
        1 => select(&[None, Some(""), Some("{}")][..]).prop_map(|text| text.map(str::to_owned)),
    ]
}

pub fn block() -> impl Strategy<Value = Block> {
    let id = select(&["", "a", "a-2", "b", "call", "call-2"][..]);
    // Those that take their time are what an abort meets.
    let name = prop_oneof![2 => select(&NAMES[..]), 1 => select(&["slow", "stubborn", "deaf"][..])];
    let call = (name, id, arguments_text()).prop_map(|(name, id, arguments_text)| {
        Block::ToolCall(Call { name: name.into(), id: id.into(), arguments_text })
    });
    let text = || select(&["", "hello", "你好🦀"][..]);
    prop_oneof![
        2 => text().prop_map(|text| Block::Text(text.into())),
        1 => text().prop_map(|text| Block::Thinking(text.into())),
        8 => call,
    ]
}

fn end() -> impl Strategy<Value = Option<End>> {
    let odd = vec![
        End::Stop,
        End::Length,
        End::ToolUse,
        End::Error("line is down".into()),
        End::Aborted,
        End::EarlyEnd,
        End::Silence,
    ];
    prop_oneof![2 => Just(None), 1 => select(odd).prop_map(Some)]
}

pub fn reply() -> impl Strategy<Value = Reply> {
    let after = prop_oneof![3 => Just(None), 1 => (0..8usize).prop_map(Some)];
    let millis = select(&[0, 0, 1, 30][..]);
    (vec(block(), 0..7), any::<bool>(), end(), after, 1..40usize, millis).prop_map(
        |(content, interleave, end, after, size, millis)| Reply {
            content,
            interleave,
            end,
            after,
            chunk: NonZeroUsize::new(size).map(Chunk::Size),
            pace: Some(Pace::DelayMs(millis)),
        },
    )
}

fn answer() -> impl Strategy<Value = Answer> {
    let says = option::of(select(&[StopReason::Error, StopReason::Stop, StopReason::Aborted][..]));
    prop_oneof![
        14 => reply().prop_map(Answer::Plays),
        1 => reply().prop_map(Answer::Careless),
        1 => (reply(), vec(0..40usize, 0..20)).prop_map(|(reply, at)| Answer::Shuffled(reply, at)),
        1 => (reply(), says).prop_map(|(reply, says)| Answer::Contradicts(reply, says)),
        1 => Just(Answer::SaysNothing),
        1 => Just(Answer::NeverAnswers),
        1 => Just(Answer::Panics),
    ]
}

fn stop() -> impl Strategy<Value = Stop> {
    prop_oneof![
        3 => Just(Stop::Patient),
        1 => Just(Stop::Before),
        3 => (0..60usize).prop_map(Stop::AtEvent),
        3 => (0..20usize).prop_map(Stop::AtPoll),
        3 => (0..500u64).prop_map(Stop::After),
        3 => (0..15usize).prop_map(Stop::DroppedAt),
    ]
}

pub fn run() -> impl Strategy<Value = Run> {
    (vec(answer(), 0..4), stop(), 0..80usize).prop_map(|(answers, stop, panicking_listener)| Run {
        answers,
        stop,
        panicking_listener,
    })
}

pub fn settings() -> impl Strategy<Value = Settings> {
    let fold = select(&[Fold::InPlace, Fold::OnDone][..]);
    (fold, any::<bool>(), 0..5usize).prop_map(|(fold, sequential, max_turns)| Settings {
        fold,
        sequential,
        max_turns,
        ..Settings::default()
    })
}

/// One to four runs.
pub fn world() -> impl Strategy<Value = World> {
    (vec(run(), 1..5), settings()).prop_map(|(runs, settings)| World { runs, settings })
}

//! What always holds of a stream, checked on generated scripts. Time is tokio's paused clock, so
//! every pause is exact and no test waits.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use proptest::prelude::*;
use step03_streaming::event::{StreamEvent, StreamOptions};
use step03_streaming::fake_model::{FakeModel, Rule, tokenize};
use step03_streaming::input::Line;
use step03_streaming::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};
use step03_streaming::model::Model;
use step03_streaming::render::render;
use step03_streaming::repl::{Ending, Repl};
use step03_streaming::script::Lang;
use tokio::time::Instant;
use unicode_segmentation::UnicodeSegmentation;

/// Runs a future on a clock that stands still until everybody waits for it.
fn on_a_paused_clock<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(future)
}

fn asked(text: &str) -> Context {
    Context { messages: vec![Message::user(text)] }
}

/// All events of a reply to `text`, whatever the rules say.
fn events(rules: Vec<Rule>, text: &str) -> Vec<StreamEvent> {
    let model = FakeModel::new(rules, Duration::ZERO);
    let context = asked(text);
    on_a_paused_clock(model.stream(&context, StreamOptions::default()).collect())
}

fn delta(text: &str) -> StreamEvent {
    StreamEvent::TextDelta { delta: text.to_owned() }
}

fn stopped(text: &str) -> AssistantMessage {
    AssistantMessage { content: ContentBlock::text(text), stop_reason: StopReason::Stop }
}

/// Text as people and models write it: what is hard to cut stands beside what is easy.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z ]{1,3}",
        prop::sample::select(vec![
            "👨‍👩‍👧‍👦",
            "👍🏽",
            "🇨🇳",
            "🏳️‍🌈",
            "e\u{301}\u{323}",
            "한",
            "ㅎㅏㄴ",
            "ก็",
            "กำ",
            "नि",
            "你",
            "。",
            "\r\n",
            "\u{200d}",
            "\u{fe0f}",
            "\u{301}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// How one reply ends: whole, failed (after its text), or without a word.
#[derive(Debug, Clone)]
enum Outcome {
    Done(String),
    Error(String, String),
    Silence(String),
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        text().prop_map(Outcome::Done),
        (text(), "[a-z]{0,8}").prop_map(|(text, error)| Outcome::Error(text, error)),
        text().prop_map(Outcome::Silence),
    ]
}

/// A model that plays one outcome per request and notes how long the history was at each.
struct Scripted {
    outcomes: Vec<Outcome>,
    seen: Arc<std::sync::Mutex<Vec<usize>>>,
}

impl Model for Scripted {
    fn stream(&self, context: &Context, _: StreamOptions) -> impl Stream<Item = StreamEvent> {
        let mut seen = self.seen.lock().expect("one thread");
        let outcome = self.outcomes[seen.len()].clone();
        seen.push(context.messages.len());
        let (text, end) = match outcome {
            Outcome::Done(text) => {
                (text.clone(), Some(StreamEvent::Done { message: stopped(&text) }))
            }
            Outcome::Error(text, error) => (text, Some(StreamEvent::Error { error })),
            Outcome::Silence(text) => (text, None),
        };
        let deltas: Vec<_> = tokenize(&text).map(delta).collect();
        stream::iter([StreamEvent::Start]).chain(stream::iter(deltas)).chain(stream::iter(end))
    }
}

proptest! {
    /// A token is one or two whole grapheme clusters, and the tokens are the text.
    #[test]
    fn no_token_tears_a_character(text in text()) {
        let tokens: Vec<_> = tokenize(&text).collect();
        prop_assert_eq!(tokens.concat(), text.as_str());
        let clusters: Vec<_> = text.graphemes(true).collect();
        let pairs: Vec<_> = clusters.chunks(2).map(<[_]>::concat).collect();
        prop_assert_eq!(tokens, pairs);
    }

    /// Two shapes only, and the deltas concatenate to the message.
    #[test]
    fn a_reply_has_one_of_two_shapes(text in text(), error in prop::option::of("[a-z]{0,9}")) {
        let rule = Rule::fallback(&text);
        let rule = match &error {
            Some(reason) => rule.fail(reason),
            None => rule,
        };
        let events = events(vec![rule], "anything");
        let (first, rest) = events.split_first().expect("never empty");
        let (last, deltas) = rest.split_last().expect("never only a start");
        prop_assert_eq!(first, &StreamEvent::Start);
        let mut said = String::new();
        for event in deltas {
            let StreamEvent::TextDelta { delta } = event else {
                return Err(TestCaseError::fail(format!("{event:?} in the middle")));
            };
            prop_assert!(!delta.is_empty());
            said += delta;
        }
        prop_assert_eq!(&said, &text);
        match error {
            None => prop_assert_eq!(last, &StreamEvent::Done { message: stopped(&said) }),
            Some(error) => prop_assert_eq!(last, &StreamEvent::Error { error }),
        }
    }

    /// Each delta comes exactly one delay after the last, the first one delay after the start;
    /// `start` and the last event cost no time.
    #[test]
    fn each_delta_comes_one_delay_after_the_last(
        text in text(),
        own in 0..50u64,
        asked_for in prop::option::of(1..50u64),
    ) {
        let model = FakeModel::new(vec![Rule::fallback(&text)], Duration::from_millis(own));
        let options = StreamOptions { delay: asked_for.map(Duration::from_millis) };
        let delay = Duration::from_millis(asked_for.unwrap_or(own));
        let pauses = on_a_paused_clock(async {
            let context = asked("");
            let mut stream = pin!(model.stream(&context, options));
            let mut last = Instant::now();
            let mut pauses = Vec::new();
            while let Some(event) = stream.next().await {
                pauses.push((matches!(event, StreamEvent::TextDelta { .. }), last.elapsed()));
                last = Instant::now();
            }
            pauses
        });
        for (is_delta, pause) in pauses {
            prop_assert_eq!(pause, if is_delta { delay } else { Duration::ZERO });
        }
    }

    /// The history grows by one for each line of the person, and by one more only on `done`: never
    /// while a reply is still growing, and never for one that broke off.
    #[test]
    fn only_done_makes_history(outcomes in prop::collection::vec(outcome(), 0..6)) {
        let seen = Arc::default();
        let model = Scripted { outcomes: outcomes.clone(), seen: Arc::clone(&seen) };
        let input = outcomes.iter().map(|_| Ok(Line::Text("go".to_owned()))).collect::<Vec<_>>();
        let mut out = Vec::new();
        let mut repl = Repl::new(model, stream::iter(input), &mut out, Lang::En, false);
        let ending = on_a_paused_clock(repl.run(std::future::pending()))?;
        prop_assert_eq!(ending, Ending::Finished);

        let done = |outcome: &&Outcome| matches!(outcome, Outcome::Done(_));
        let lengths: Vec<_> = (0..outcomes.len())
            .map(|turn| turn + 1 + outcomes[..turn].iter().filter(done).count())
            .collect();
        let seen = seen.lock().expect("one thread").clone();
        prop_assert_eq!(seen, lengths);
        let messages = outcomes.len() + outcomes.iter().filter(done).count();
        let out = String::from_utf8(out).expect("text");
        let farewell = Lang::En.farewell(messages) + "\n";
        prop_assert!(out.ends_with(&farewell), "{out:?}");
    }

    /// What is shown is the deltas side by side; an error stands on a line of its own, after text
    /// or without any; a stream that just stops is an error too. Only `done` yields a message.
    #[test]
    fn what_is_shown_is_what_was_said(outcome in outcome()) {
        let seen = Arc::default();
        let model = Scripted { outcomes: vec![outcome.clone()], seen };
        let context = asked("");
        let mut out = Vec::new();
        let stream = model.stream(&context, StreamOptions::default());
        let message = on_a_paused_clock(render(stream, &mut out, Lang::En))?;
        let out = String::from_utf8(out).expect("text");
        let broken_off = |text: &str, error: &str| {
            let line_break = if text.is_empty() { "" } else { "\n" };
            format!("Assistant> {text}{line_break}[error] {error}\n\n")
        };
        match outcome {
            Outcome::Done(text) => {
                prop_assert_eq!(out, format!("Assistant> {text}\n\n"));
                prop_assert_eq!(message, Some(stopped(&text)));
            }
            Outcome::Error(text, error) => {
                prop_assert_eq!(out, broken_off(&text, &error));
                prop_assert_eq!(message, None);
            }
            Outcome::Silence(text) => {
                let error = "the stream stopped without done or error";
                prop_assert_eq!(out, broken_off(&text, error));
                prop_assert_eq!(message, None);
            }
        }
    }

    /// The first rule whose text the input contains answers; a rule without a text answers all.
    #[test]
    fn the_first_rule_that_hits_wins(
        needles in prop::collection::vec("[ab]{1,2}", 0..5),
        input in "[abc]{0,4}",
    ) {
        let rule = |(n, needle): (usize, &String)| Rule::reply(needle, n.to_string());
        let mut rules: Vec<_> = needles.iter().enumerate().map(rule).collect();
        let hit = needles.iter().position(|needle| input.contains(needle.as_str()));
        let expected = hit.map(|n| n.to_string());

        let no_fallback = events(rules.clone(), &input).pop();
        rules.push(Rule::fallback("fallback"));
        let fallback = events(rules, &input).pop();
        let said = |text: &str| Some(StreamEvent::Done { message: stopped(text) });
        if let Some(text) = expected {
            prop_assert_eq!(&no_fallback, &said(&text));
            prop_assert_eq!(fallback, said(&text));
        } else {
            let error = "no rule matched".to_owned();
            prop_assert_eq!(no_fallback, Some(StreamEvent::Error { error }));
            prop_assert_eq!(fallback, said("fallback"));
        }
    }

    /// A dropped stream has done no more than what was asked of it.
    #[test]
    fn work_happens_only_when_polled(text in text(), taken in 0..20usize) {
        let events = Arc::new(AtomicUsize::new(0));
        let model = FakeModel::new(vec![Rule::fallback(&text)], Duration::from_millis(10));
        let total = tokenize(&text).count() + 2;
        let counter = Arc::clone(&events);
        let elapsed = on_a_paused_clock(async {
            let begin = Instant::now();
            let context = asked("");
            let stream = model.stream(&context, StreamOptions::default());
            let mut stream = pin!(stream.inspect(|_| { counter.fetch_add(1, Ordering::Relaxed); }));
            tokio::time::advance(Duration::from_secs(3600)).await; // nobody polls: nothing happens
            for _ in 0..taken {
                stream.next().await;
            }
            begin.elapsed() - Duration::from_secs(3600)
        });
        prop_assert_eq!(events.load(Ordering::Relaxed), taken.min(total));
        // Every delta taken has cost its pause, and none that was not taken has.
        let deltas = taken.saturating_sub(1).min(total - 2) as u64;
        prop_assert_eq!(elapsed, Duration::from_millis(10 * deltas));
    }
}

/// The counterfactual of the probe: a history that folds the broken-off reply too ends with 6.
#[test]
fn folding_the_broken_off_reply_too_gives_six() {
    let model = FakeModel::new(Lang::En.rules(), Duration::ZERO);
    let mut context = Context::default();
    let mut dropped = 0;
    on_a_paused_clock(async {
        for input in ["hello", "what is streaming", "trigger an error"] {
            context.messages.push(Message::user(input));
            let mut text = String::new();
            let events: Vec<_> = model.stream(&context, StreamOptions::default()).collect().await;
            for event in events {
                let message = match event {
                    StreamEvent::Start => continue,
                    StreamEvent::TextDelta { delta } => {
                        text += &delta;
                        continue;
                    }
                    StreamEvent::Done { message } => message,
                    // What step 03 drops and Pi keeps: the same reply with another stop reason.
                    StreamEvent::Error { .. } => {
                        dropped += 1;
                        let content = ContentBlock::text(&text);
                        AssistantMessage { content, stop_reason: StopReason::Error }
                    }
                };
                context.messages.push(Message::Assistant(message));
            }
        }
    });
    assert_eq!(dropped, 1);
    assert_eq!(
        Lang::En.farewell(context.messages.len() - dropped),
        "Goodbye. (5 messages in this conversation)"
    );
    assert_eq!(
        Lang::En.farewell(context.messages.len()),
        "Goodbye. (6 messages in this conversation)"
    );
}

/// An interrupt is seen while a reply is still growing, and the history keeps no half of it.
#[test]
fn an_interrupt_drops_the_reply_where_it_stands() {
    let model = FakeModel::new(vec![Rule::fallback("abcdef")], Duration::from_millis(100));
    let mut out = Vec::new();
    let input = stream::iter([Ok(Line::Text("go".to_owned()))]).chain(stream::pending());
    let mut repl = Repl::new(model, input, &mut out, Lang::En, true);
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(250)).await;
        Ok(())
    };
    let ending = on_a_paused_clock(repl.run(interrupt)).expect("no error");
    assert_eq!(ending, Ending::Interrupted);
    let out = String::from_utf8(out).expect("text");
    assert_eq!(out, "You> go\nAssistant> abcd\nGoodbye. (1 message in this conversation)\n");
}

/// An error of the input or of the output ends the conversation as what it is.
#[test]
fn errors_of_the_system_are_handed_on() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let model = || FakeModel::new(Lang::En.rules(), Duration::ZERO);
    let kind = |ending: io::Result<Ending>| ending.expect_err("it fails").kind();

    let broken = stream::iter([Err(io::Error::from(io::ErrorKind::PermissionDenied))]);
    let mut repl = Repl::new(model(), broken, Vec::new(), Lang::En, false);
    let ending = on_a_paused_clock(repl.run(std::future::pending()));
    assert_eq!(kind(ending), io::ErrorKind::PermissionDenied);

    let mut repl = Repl::new(model(), Lang::En.demo_input(), Full, Lang::En, false);
    let ending = on_a_paused_clock(repl.run(std::future::pending()));
    assert_eq!(kind(ending), io::ErrorKind::StorageFull);
}

/// An empty piece after a word does not undo the word: the error still gets a line of its own.
#[test]
fn an_empty_delta_changes_nothing() {
    let error = StreamEvent::Error { error: "e".to_owned() };
    let events = [StreamEvent::Start, delta("a"), delta(""), error];
    let mut out = Vec::new();
    let message = on_a_paused_clock(render(stream::iter(events), &mut out, Lang::En));
    assert_eq!(message.expect("a vector takes everything"), None);
    assert_eq!(String::from_utf8(out).expect("text"), "Assistant> a\n[error] e\n\n");
}

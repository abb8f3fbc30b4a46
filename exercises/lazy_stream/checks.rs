//! What a lazy generator must do: nothing, until it is asked. The checks ask by hand, one poll at a
//! time, on a clock that stands still.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::StreamExt;
use step03_streaming::event::StreamEvent;
use step03_streaming::script::Lang;
use tokio::time::{Instant, advance};

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::clock::on_a_paused_clock;
use crate::probe::conversation::{Playing, converse};
use crate::probe::events::{Events, delta, done, in_short, poll};
use crate::probe::random::Random;
use crate::text::Text;

/// The learner's function.
pub type Reply = fn(Tokens, Duration) -> Events;

/// The tokens of a reply, made one by one: taking one is the work a model does for it.
#[derive(Debug)]
pub struct Tokens {
    rest: VecDeque<String>,
    taken: Arc<AtomicUsize>,
}

impl Iterator for Tokens {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let token = self.rest.pop_front()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(token)
    }
}

/// All criteria, in the order to meet them.
pub fn checks(reply: Reply) -> Vec<Criterion> {
    vec![
        Criterion::new(
            (
                "the events are start, a delta for each token, and done with the whole text",
                "事件依次是 start、每个 token 一个 delta、带全文的 done",
            ),
            move || right_events(reply),
        ),
        Criterion::new(
            ("no token is taken before the first poll", "第一次轮询之前不取任何 token"),
            move || nothing_before_the_first_poll(reply),
        ),
        Criterion::new(
            (
                "no token is taken before its event is asked for",
                "没有人要下一个事件，就不取下一个 token",
            ),
            move || one_at_a_time(reply),
        ),
        Criterion::new(
            (
                "there is one pause before each token, and it blocks nobody",
                "每个 token 之前停顿一次，而且不阻塞别人",
            ),
            move || pauses(reply),
        ),
        Criterion::new(
            ("dropped half way, it takes no more tokens", "中途丢弃之后，不再取 token"),
            move || stops_when_dropped(reply),
        ),
        Criterion::new(
            ("step03's loop shows the reply", "step03 的循环能显示这个回复"),
            move || in_the_loop(reply),
        ),
    ]
}

/// Tokens of these texts, and how many have been taken.
fn tokens(texts: &[String]) -> (Tokens, impl Fn() -> usize + use<>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let tokens = Tokens { rest: texts.to_vec().into(), taken: Arc::clone(&taken) };
    (tokens, move || taken.load(Ordering::Relaxed))
}

/// The texts to try: a few, and always more than one.
fn texts(random: &mut Random) -> Vec<String> {
    let mut texts = random.pieces(5);
    texts.extend([random.piece(), random.piece()]);
    texts
}

fn right_events(reply: Reply) -> Checked {
    let mut random = Random::new(8);
    for round in 0..30 {
        let texts = if round == 29 { vec![] } else { texts(&mut random) };
        let mut expected = vec![StreamEvent::Start];
        expected.extend(texts.iter().map(delta));
        expected.push(done(texts.concat()));
        let seen: Vec<_> = on_a_paused_clock(async {
            reply(tokens(&texts).0, Duration::from_millis(1)).collect().await
        });
        same_text(&in_short(&expected), &in_short(&seen), |_| why_other_events(&seen))?;
    }
    Ok(())
}

fn why_other_events(seen: &[StreamEvent]) -> Text {
    match seen.last() {
        Some(StreamEvent::Done { .. }) if seen.first() == Some(&StreamEvent::Start) => Text::new(
            "Each token is a delta, unchanged, and `done` carries one message: all deltas in one \
             block of text, with `StopReason::Stop`.",
            "每个 token 原样成为一个 delta；`done` 带一条消息：所有 delta 拼成的一个文本块，`StopReason::Stop`。",
        ),
        Some(StreamEvent::Done { .. }) => {
            Text::new("`start` comes first, and once.", "`start` 最先来，而且只来一次。")
        }
        _ => Text::new(
            "A reply ends with `done`: who reads it can't know otherwise that nothing more will come.",
            "回复要以 `done` 结束，否则读的人不知道后面没有了。",
        ),
    }
}

/// The fault of taking another number of tokens than expected.
fn took(expected: usize, seen: usize, when: (&str, &str), why: impl Into<Text>) -> Checked {
    if expected == seen {
        return Ok(());
    }
    let told =
        |n: usize| (format!("{n} tokens taken {}", when.0), format!("{}取了 {n} 个 token", when.1));
    Err(Fault::told(told(expected), told(seen)).because(why))
}

fn nothing_before_the_first_poll(reply: Reply) -> Checked {
    on_a_paused_clock(async {
        let (tokens, taken) = tokens(&texts(&mut Random::new(9)));
        let _events = reply(tokens, Duration::from_millis(1));
        advance(Duration::from_secs(60)).await;
        let when = ("though nobody has polled", "还没有人轮询时就");
        took(
            0,
            taken(),
            when,
            (
                "What stands before `stream!` runs at the call. What stands inside runs when it is \
             polled: move the work there.",
                "写在 `stream!` 前面的代码在调用时就会执行，写在里面的等轮询时才执行：把活儿移进去。",
            ),
        )
    })
}

fn one_at_a_time(reply: Reply) -> Checked {
    on_a_paused_clock(async {
        let texts = texts(&mut Random::new(10));
        let (tokens, taken) = tokens(&texts);
        let mut events = reply(tokens, Duration::from_millis(1));
        for event in 0..=texts.len() {
            events.next().await;
            advance(Duration::from_secs(60)).await; // time for whoever works ahead
            let when =
                (format!("after {} events", event + 1), format!("第 {} 个事件之后共", event + 1));
            took(
                event,
                taken(),
                (&when.0, &when.1),
                (
                    "The generator works ahead. Take one token, yield its delta, and only then take the \
                 next: no `collect`, no task beside it.",
                    "生成器提前干活了。取一个 token，yield 它的 delta，然后才取下一个：不要 `collect`，也不要另起任务。",
                ),
            )?;
        }
        Ok(())
    })
}

fn pauses(reply: Reply) -> Checked {
    let mut random = Random::new(11);
    for _ in 0..5 {
        let texts = texts(&mut random);
        let pause = Duration::from_millis(random.below(20) as u64 + 3);
        on_a_paused_clock(async {
            let mut events = reply(tokens(&texts).0, pause);
            let begin = Instant::now();
            let mut last = begin;
            let mut pauses = Vec::new();
            while let Some(event) = events.next().await {
                pauses.push((event, last.elapsed()));
                last = Instant::now();
            }
            pauses.into_iter().try_for_each(|(event, seen)| {
                let is_delta = matches!(event, StreamEvent::TextDelta { .. });
                let expected = if is_delta { pause } else { Duration::ZERO };
                let event = in_short(&[event]);
                let told = |pause: Duration| {
                    (format!("{pause:?} before {event}"), format!("{event} 之前停 {pause:?}"))
                };
                if seen == expected {
                    return Ok(());
                }
                let fault = Fault::told(told(expected), told(seen));
                Err(fault.because(why_other_pause(last - begin)))
            })
        })?;
        on_a_paused_clock(async { first_delta_is_pending(reply(tokens(&texts).0, pause)) })?;
    }
    Ok(())
}

/// What other pauses say about the code; `in_all` is the time the whole reply took.
fn why_other_pause(in_all: Duration) -> Text {
    if in_all.is_zero() {
        Text::new(
            "No time passed on tokio's clock. `tokio::time::sleep(pause).await` waits there and lets \
             others work; `std::thread::sleep` stops the whole thread, and a future that is not \
             awaited does nothing.",
            "tokio 的时钟上没有过去任何时间。`tokio::time::sleep(pause).await` 在那里等，别人可以继续干活；\
             `std::thread::sleep` 会停住整个线程；没有 await 的 future 什么都不做。",
        )
    } else {
        Text::new(
            "One pause before each token; none before `start` and none before `done`.",
            "每个 token 之前停一次；`start` 和 `done` 之前不停。",
        )
    }
}

fn first_delta_is_pending(mut events: Events) -> Checked {
    let _start = poll(&mut events);
    match poll(&mut events) {
        Poll::Pending => Ok(()),
        Poll::Ready(event) => {
            let seen = in_short(&event.into_iter().collect::<Vec<_>>());
            Err(Fault::told(
                ("pending, while the pause lasts", "停顿期间应为 Pending"),
                Text::value(seen),
            )
            .because(why_other_pause(Duration::ZERO)))
        }
    }
}

fn stops_when_dropped(reply: Reply) -> Checked {
    on_a_paused_clock(async {
        let (tokens, taken) = tokens(&texts(&mut Random::new(12)));
        let mut events = reply(tokens, Duration::from_millis(1));
        events.next().await;
        events.next().await;
        drop(events);
        advance(Duration::from_secs(60)).await;
        tokio::task::yield_now().await;
        let when = ("by a reply that was dropped after one", "（回复在第一个之后就被丢弃）");
        took(
            1,
            taken(),
            when,
            (
                "Whatever works for the reply must be dropped with it: a spawned task lives on.",
                "为这个回复干活的一切都应随它一起被丢弃；spawn 出去的任务会继续活着。",
            ),
        )
    })
}

fn in_the_loop(reply: Reply) -> Checked {
    let model = Playing(move |line: &str| {
        let texts: Vec<_> = line.split_inclusive(' ').map(str::to_owned).collect();
        reply(tokens(&texts).0, Duration::from_millis(30))
    });
    let mut out = Vec::new();
    converse(model, &["one two three"], &mut out, Lang::En)
        .map_err(|error| Fault::differs("Ok", error.to_string()))?;
    let expected = "You> one two three\nAssistant> one two three\n\nYou> \nGoodbye. (2 messages in this conversation)\n";
    same_text(expected, &String::from_utf8_lossy(&out), |_| Text::default())
}

//! What a lazy generator must do: nothing, until it is asked. The checks ask by hand, one poll at a
//! time, on a clock that stands still.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::StreamExt;
use futures::future::join;
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

/// The texts to try: a few, always more than one, and one of them empty, as some models send it.
fn texts(random: &mut Random) -> Vec<String> {
    let mut texts = random.pieces(5);
    texts.extend([random.piece(), String::new(), random.piece()]);
    texts
}

fn right_events(reply: Reply) -> Checked {
    let mut random = Random::new(8);
    for round in 0..30 {
        let texts = match round {
            28 => (0..200).map(|_| random.piece()).collect(),
            29 => vec![],
            _ => texts(&mut random),
        };
        let pause = Duration::from_millis(1);
        let seen = on_a_paused_clock(async { reply(tokens(&texts).0, pause).collect().await });
        same_events(&texts, seen, why_other_events)?;
    }
    two_at_once(reply, &texts(&mut random), &texts(&mut random))
}

fn same_events(
    texts: &[String],
    seen: Vec<StreamEvent>,
    why: impl FnOnce(&[StreamEvent]) -> Text,
) -> Checked {
    let mut expected = vec![StreamEvent::Start];
    expected.extend(texts.iter().map(delta));
    expected.push(done(texts.concat()));
    same_text(&in_short(&expected), &in_short(&seen), |_| why(&seen))
}

/// Two replies that grow side by side, as for two people at a time.
fn two_at_once(reply: Reply, one: &[String], other: &[String]) -> Checked {
    let start = |texts| reply(tokens(texts).0, Duration::from_millis(1)).collect();
    let seen = on_a_paused_clock(async { join(start(one), start(other)).await });
    for (texts, seen) in [(one, seen.0), (other, seen.1)] {
        same_events(texts, seen, |_| {
            Text::new(
                "Two replies were read at the same time: each needs a text of its own, made inside \
                 `stream!`, and no `static`.",
                "有两个回复在同时被读取：每个都要有自己的全文，在 `stream!` 里面造，不要用 `static`。",
            )
        })?;
    }
    Ok(())
}

fn why_other_events(seen: &[StreamEvent]) -> Text {
    let count = |wanted: fn(&StreamEvent) -> bool| seen.iter().filter(|&it| wanted(it)).count();
    let starts = count(|event| matches!(event, StreamEvent::Start));
    let dones = count(|event| matches!(event, StreamEvent::Done { .. }));
    let ends = matches!(seen.last(), Some(StreamEvent::Done { .. }));
    if dones == 0 || (dones == 1 && !ends) {
        Text::new(
            "A reply ends with `done`: who reads it can't know otherwise that nothing more will come.",
            "回复要以 `done` 结束，否则读的人不知道后面没有了。",
        )
    } else if seen.first() != Some(&StreamEvent::Start) || starts > 1 {
        Text::new("`start` comes first, and once.", "`start` 最先来，而且只来一次。")
    } else if dones > 1 {
        Text::new("`done` comes last, and once.", "`done` 最后来，而且只来一次。")
    } else {
        Text::new(
            "Each token is a delta, unchanged, also an empty one, and `done` carries one message: \
             all deltas in one block of text, with `StopReason::Stop`.",
            "每个 token 原样成为一个 delta，空的也一样；`done` 带一条消息：所有 delta 拼成的一个文本块，`StopReason::Stop`。",
        )
    }
}

/// The fault of taking another number of tokens than expected.
fn took(expected: usize, seen: usize, when: (&str, &str), why: impl Into<Text>) -> Checked {
    if expected == seen {
        return Ok(());
    }
    let told = |n: usize| {
        let tokens = counted(n, "token");
        (format!("{tokens} taken {}", when.0), format!("{}取了 {n} 个 token", when.1))
    };
    Err(Fault::told(told(expected), told(seen)).because(why))
}

/// A number of things, in English.
fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
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
            let when = (
                format!("after {}", counted(event + 1, "event")),
                format!("第 {} 个事件之后共", event + 1),
            );
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
    let mut pauses: Vec<_> = (0..5).map(|_| random.below(20) as u64 + 3).collect();
    pauses.extend([0, 1250]); // none at all, and one of more than a second
    for pause in pauses.into_iter().map(Duration::from_millis) {
        let texts = texts(&mut random);
        for thinks in [Duration::ZERO, Duration::from_secs(60)] {
            let seen = on_a_paused_clock(measured(|| reply(tokens(&texts).0, pause), thinks));
            right_pauses(&seen, pause, thinks)?;
        }
        if !pause.is_zero() {
            on_a_paused_clock(first_delta_is_pending(|| reply(tokens(&texts).0, pause), pause))?;
        }
    }
    Ok(())
}

/// The events of a reply and how long each took, counted from when its reader asked. Between two
/// events the reader `thinks` for a while.
async fn measured(
    reply: impl FnOnce() -> Events,
    thinks: Duration,
) -> Vec<(StreamEvent, Duration)> {
    let mut events = reply();
    let mut seen = Vec::new();
    loop {
        advance(thinks).await;
        let asked = Instant::now();
        let Some(event) = events.next().await else { return seen };
        seen.push((event, asked.elapsed()));
    }
}

fn right_pauses(seen: &[(StreamEvent, Duration)], pause: Duration, thinks: Duration) -> Checked {
    let expected = |event: &StreamEvent| {
        if matches!(event, StreamEvent::TextDelta { .. }) { pause } else { Duration::ZERO }
    };
    let Some((event, took)) = seen.iter().find(|(event, took)| *took != expected(event)) else {
        return Ok(());
    };
    let short = in_short(std::slice::from_ref(event));
    let told = |pause: Duration| {
        if thinks.is_zero() {
            (format!("{pause:?} before {short}"), format!("{short} 之前停 {pause:?}"))
        } else {
            (
                format!("a reader who asks late waits {pause:?} for {short}"),
                format!("隔了很久才来要的人，等 {short} 等 {pause:?}"),
            )
        }
    };
    // Whether there is a pause wherever one belongs and nowhere else, of whatever length.
    let in_place = seen.iter().all(|(event, took)| took.is_zero() == expected(event).is_zero());
    let why = if !thinks.is_zero() {
        late_timer()
    } else if seen.iter().all(|(_, took)| took.is_zero()) {
        no_time_passed()
    } else if in_place || pause.is_zero() {
        Text::new(
            "There is a pause before each token, but not of the length that was asked for: wait for \
             `pause` itself, be it nothing or more than a second.",
            "每个 token 之前都停了，但停的时长不对：就等 `pause` 那么久，不管它是零还是一秒多。",
        )
    } else {
        Text::new(
            "One pause before each token; none before `start` and none before `done`.",
            "每个 token 之前停一次；`start` 和 `done` 之前不停。",
        )
    };
    Err(Fault::told(told(expected(event)), told(*took)).because(why))
}

fn late_timer() -> Text {
    Text::new(
        "The pause counts from when somebody asks. An `interval`, a deadline, or a `sleep` made \
         before the `yield` runs while the reader is busy, and is over when they ask: make the \
         `sleep` where it is awaited.",
        "停顿从有人来要的那一刻算起。`interval`、截止时间，或者在 `yield` 之前造好的 `sleep`，在读的人忙别的时候\
         就已经走完了：在 await 的地方才造 `sleep`。",
    )
}

fn no_time_passed() -> Text {
    Text::new(
        "No time passed on tokio's clock. `tokio::time::sleep(pause).await` waits there and lets \
         others work; `std::thread::sleep` stops the whole thread, a future that is not awaited does \
         nothing, and of a short pause `as_secs()` is 0.",
        "tokio 的时钟上没有过去任何时间。`tokio::time::sleep(pause).await` 在那里等，别人可以继续干活；\
         `std::thread::sleep` 会停住整个线程；没有 await 的 future 什么都不做；停顿很短时 `as_secs()` 是 0。",
    )
}

async fn first_delta_is_pending(reply: impl FnOnce() -> Events, pause: Duration) -> Checked {
    let mut events = reply();
    let _start = poll(&mut events);
    let before = Instant::now();
    match poll(&mut events) {
        Poll::Pending if before.elapsed().is_zero() => Ok(()),
        Poll::Pending => Err(Fault::told(
            ("a clock that goes on by itself", "自己走的时钟"),
            ("a clock that the answer turned", "被答案拨快的时钟"),
        )
        .because((
            "`tokio::time::advance` is for tests: it turns the clock for everybody. `sleep` waits.",
            "`tokio::time::advance` 是给测试用的：它会把所有人的时钟拨快。`sleep` 才是等待。",
        ))),
        Poll::Ready(event) => {
            let seen = in_short(&event.into_iter().collect::<Vec<_>>());
            Err(Fault::told(
                (
                    format!("pending, while the pause of {pause:?} lasts"),
                    format!("{pause:?} 的停顿期间应为 Pending"),
                ),
                Text::value(seen),
            )
            .because(no_time_passed()))
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

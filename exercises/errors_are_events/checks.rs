//! What must become of a call that fails. The answer streams a reply from such a call; the real
//! loop and renderer show it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{error, fmt, io};

use futures::StreamExt;
use futures::future::join;
use step03_streaming::event::StreamEvent;
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::clock::on_a_paused_clock;
use crate::probe::conversation::{Playing, converse};
use crate::probe::events::{Events, delta, done, error, in_short};
use crate::probe::random::Random;
use crate::text::Text;

/// The learner's function.
pub type Reply = fn(Call) -> Events;

/// A call to a provider of models, as its library offers it: with a `Result`.
#[derive(Debug)]
pub struct Call {
    answers: VecDeque<Result<String, CallError>>,
    asked: Arc<AtomicUsize>,
}

impl Call {
    /// The next piece of the reply; nothing when it is whole.
    ///
    /// # Errors
    /// When the provider fails. That can be at any time: before the first word, or after many.
    pub async fn next(&mut self) -> Result<Option<String>, CallError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await; // as a network would, it takes a while
        self.answers.pop_front().transpose()
    }
}

/// Why a call fails.
#[derive(Debug)]
pub enum CallError {
    /// The provider refuses.
    Refused {
        /// What it says.
        reason: String,
    },
    /// The network fails.
    Network(io::Error),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason } => write!(f, "the provider refuses: {reason}"),
            Self::Network(error) => write!(f, "the network failed: {error}"),
        }
    }
}

impl error::Error for CallError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Refused { .. } => None,
            Self::Network(error) => Some(error),
        }
    }
}

/// All criteria, in the order to meet them.
pub fn checks(reply: Reply) -> Vec<Criterion> {
    vec![
        Criterion::new(
            ("a call that goes well is start, its pieces, done", "顺利的调用是 start、各段、done"),
            move || goes_well(reply),
        ),
        Criterion::new(
            (
                "a call that fails is start, what had arrived, error with the reason",
                "失败的调用是 start、已到的各段、带原因的 error",
            ),
            move || fails(reply),
        ),
        Criterion::new(
            (
                "the provider is asked when somebody wants the next event, and never after the end",
                "有人要下一个事件时才去问服务商，结束之后不再问",
            ),
            move || asked_in_time(reply),
        ),
        Criterion::new(
            (
                "step03's loop shows the reason and the conversation goes on",
                "step03 的循环显示原因，对话继续",
            ),
            move || in_the_loop(reply),
        ),
    ]
}

/// What a call brings that is asked again after its failure: real libraries answer anything then.
const AFTER: &str = "a piece from after the failure";

/// A call that brings these pieces and then perhaps fails.
fn call(pieces: &[String], failure: Option<CallError>) -> Call {
    let mut answers: VecDeque<_> = pieces.iter().cloned().map(Ok).collect();
    if let Some(failure) = failure {
        answers.extend([Err(failure), Ok(AFTER.to_owned())]);
    }
    Call { answers, asked: Arc::default() }
}

/// More events than any right answer has here; one that never ends is cut off there.
const MOST: usize = 40;

fn seen(reply: Reply, call: Call) -> Vec<StreamEvent> {
    on_a_paused_clock(async { reply(call).take(MOST).collect().await })
}

fn goes_well(reply: Reply) -> Checked {
    let mut random = Random::new(13);
    for _ in 0..30 {
        let pieces = random.pieces(5);
        same_reply(&pieces, &seen(reply, call(&pieces, None)), || {
            Text::new("This part was right in starter.rs.", "这一部分在 starter.rs 里本来是对的。")
        })?;
    }
    let [one, other] = [["one ", "two"], ["three ", "four"]].map(|words| words.map(str::to_owned));
    two_at_once(reply, &one, &other)
}

fn same_reply(pieces: &[String], seen: &[StreamEvent], why: impl FnOnce() -> Text) -> Checked {
    let mut expected = vec![StreamEvent::Start];
    expected.extend(pieces.iter().map(delta));
    expected.push(done(pieces.concat()));
    same_text(&in_short(&expected), &in_short(seen), |_| why())
}

/// Two replies that grow side by side, as for two people at a time.
fn two_at_once(reply: Reply, one: &[String], other: &[String]) -> Checked {
    let start = |pieces| reply(call(pieces, None)).take(MOST).collect::<Vec<_>>();
    let seen = on_a_paused_clock(async { join(start(one), start(other)).await });
    for (pieces, seen) in [(one, seen.0), (other, seen.1)] {
        same_reply(pieces, &seen, || {
            Text::new(
                "Two replies were read at the same time: each needs a text of its own, as in \
                 starter.rs, and no `static`.",
                "有两个回复在同时被读取：每个都要有自己的全文，像 starter.rs 里那样，不要用 `static`。",
            )
        })?;
    }
    Ok(())
}

fn failure(random: &mut Random) -> CallError {
    let reason = random.pick(&[
        "quota exceeded",
        "model overloaded",
        "key revoked",
        // As it comes from a server: several lines, capitals, a blank at the end, and long.
        "HTTP 503\n{\"message\": \"Model Overloaded: too many requests for this Region, try again in 30 s\"} ",
    ]);
    let kind = random.pick(&[io::ErrorKind::ConnectionReset, io::ErrorKind::TimedOut]);
    if random.flip() {
        CallError::Refused { reason: reason.to_owned() }
    } else {
        CallError::Network(io::Error::new(kind, reason))
    }
}

fn fails(reply: Reply) -> Checked {
    let mut random = Random::new(14);
    for _ in 0..40 {
        let pieces = random.pieces(5);
        let failure = failure(&mut random);
        let (reason, debug) = (failure.to_string(), format!("{failure:?}"));
        let mut expected = vec![StreamEvent::Start];
        expected.extend(pieces.iter().map(delta));
        expected.push(error(&reason));
        let seen = seen(reply, call(&pieces, Some(failure)));
        same_text(&in_short(&expected), &in_short(&seen), |_| why(&seen, &expected, &debug))?;
    }
    Ok(())
}

/// What other events say about the code that made them.
fn why(seen: &[StreamEvent], expected: &[StreamEvent], debug: &str) -> Text {
    let end = seen.iter().position(|event| matches!(event, StreamEvent::Error { .. }));
    let Some(end) = end else { return why_no_error(seen) };
    if end + 1 < seen.len() {
        return Text::new(
            "Nothing follows an `error`: leave the generator after it, with `return` or by ending \
             the loop and yielding nothing more.",
            "`error` 之后什么都没有：yield 它之后就离开生成器，用 `return`，或者结束循环并不再 yield。",
        );
    }
    let starts = seen.iter().filter(|event| **event == StreamEvent::Start).count();
    if seen.first() != Some(&StreamEvent::Start) || starts > 1 {
        Text::new(
            "`start` comes first, and once, also in a reply that fails at once.",
            "`start` 最先来，而且只来一次；一上来就失败的回复也一样。",
        )
    } else if seen.iter().any(|event| matches!(event, StreamEvent::Done { .. })) {
        Text::new(
            "A reply ends once: with `done` or with `error`. This one is done and then fails.",
            "一个回复只结束一次：要么 `done`，要么 `error`。这里先 `done` 了，又 `error`。",
        )
    } else if end + 1 < expected.len() {
        Text::new(
            "What had arrived before the failure was shown: it stays.",
            "失败之前到的内容已经显示过了，要保留。",
        )
    } else if end + 1 > expected.len() {
        Text::new(
            "A delta is what the model said, and it said no more: the reason goes into the `error` \
             event, and only there.",
            "delta 是模型说的话，而它没有再说什么：原因放进 `error` 事件，而且只放在那里。",
        )
    } else if matches!(&seen[end], StreamEvent::Error { error } if error == debug) {
        Text::new(
            "`{:?}` is for programmers; `{}` or `to_string()` is the reason in words.",
            "`{:?}` 是给程序员看的；`{}` 或 `to_string()` 才是用文字写的原因。",
        )
    } else {
        Text::new(
            "The event carries the reason this very call gave: the error's own words, and all of \
             them.",
            "事件里要带这一次调用给出的原因：错误自己的话，一字不漏。",
        )
    }
}

/// What a reply without an `error` event says about its code.
fn why_no_error(seen: &[StreamEvent]) -> Text {
    if seen.contains(&delta(AFTER)) {
        Text::new(
            "The call was asked again after it had failed. What comes then belongs to no reply: say \
             that it failed, and leave.",
            "调用失败之后又被问了一次。之后来的东西不属于任何回复：说出它失败了，然后离开。",
        )
    } else if matches!(seen.last(), Some(StreamEvent::Done { .. })) {
        Text::new(
            "The failure was passed off as an end that went well: half a reply would enter the \
             history as a whole one.",
            "失败被当成了正常结束：半截回复会作为完整的一条进入历史。",
        )
    } else {
        Text::new(
            "The stream just stops. Who reads it can't tell a failure from a pause: say it with an \
             `error` event.",
            "流就这么停了。读的人分不清是失败还是停顿：要用一个 `error` 事件说出来。",
        )
    }
}

fn asked_in_time(reply: Reply) -> Checked {
    let mut random = Random::new(25);
    for round in 0..10 {
        let mut pieces = random.pieces(3);
        pieces.push(random.piece());
        let failure = (round % 2 == 0).then(|| failure(&mut random));
        let call = call(&pieces, failure);
        let asked = Arc::clone(&call.asked);
        on_a_paused_clock(async {
            let mut events = reply(call);
            // The start needs no answer, each piece one, the end one more, and what is behind none.
            for event in 0..pieces.len() + 3 {
                events.next().await;
                let expected = event.min(pieces.len() + 1);
                let asked = asked.load(Ordering::Relaxed);
                if asked != expected {
                    return Err(asked_otherwise(expected, asked, event, pieces.len()));
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The fault of asking more or less often than `expected` for the events up to this one.
fn asked_otherwise(expected: usize, seen: usize, event: usize, pieces: usize) -> Fault {
    let next = event + 2; // people count from 1
    let told = |n: usize| {
        let times = if n == 1 { "once".to_owned() } else { format!("{n} times") };
        (format!("asked {times} before event {next}"), format!("第 {next} 个事件之前问了 {n} 次"))
    };
    let why = if expected > pieces {
        Text::new(
            "Who has failed, or has said everything, is asked no more.",
            "已经失败的，或者已经说完的，就不再问。",
        )
    } else {
        Text::new(
            "Ask for one piece, yield it, and only then ask for the next: a piece that waits for the \
             others is shown too late.",
            "要一段，就 yield 一段，然后才要下一段：等别的段一起，就显示得太晚了。",
        )
    };
    Fault::told(told(expected), told(seen)).because(why)
}

fn in_the_loop(reply: Reply) -> Checked {
    let model = Playing(move |line: &str| {
        let failure = CallError::Refused { reason: "quota exceeded".to_owned() };
        let words: Vec<_> = line.split_inclusive(' ').map(str::to_owned).collect();
        let failure = line.contains("fail").then_some(failure);
        reply(call(&words, failure))
    });
    let mut out = Vec::new();
    converse(model, &["one two", "this will fail", "three"], &mut out, Lang::En)
        .map_err(|error| Fault::differs("Ok", error.to_string()))?;
    let expected = "You> one two\nAssistant> one two\n\n\
                    You> this will fail\nAssistant> this will fail\n\
                    [error] the provider refuses: quota exceeded\n\n\
                    You> three\nAssistant> three\n\n\
                    You> \nGoodbye. (5 messages in this conversation)\n";
    same_text(expected, &String::from_utf8_lossy(&out), |_| Text::default())
}

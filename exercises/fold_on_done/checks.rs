//! What a history must be that grows only on `done`. The answer folds one event into it; the checks
//! feed it whole conversations, and then the real demo.

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, Context, Message, StopReason};
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::conversation::{Fold, folded_demo, transcript};
use crate::probe::events::{any_said, delta, done, error, said};
use crate::probe::history::{in_short, same_history};
use crate::probe::random::Random;
use crate::text::Text;

/// All criteria, in the order to meet them.
pub fn checks(fold: Fold) -> Vec<Criterion> {
    vec![
        Criterion::new(
            (
                "a reply that is done becomes one message, the one it carries",
                "正常结束的回复成为一条消息，就是它带的那条",
            ),
            move || done_is_kept(fold),
        ),
        Criterion::new(
            (
                "while a reply is growing, the history stays as it is",
                "回复还在长的时候，历史保持不变",
            ),
            move || nothing_while_growing(fold),
        ),
        Criterion::new(
            ("a reply that broke off leaves no trace", "中断的回复不留痕迹"),
            move || errors_are_dropped(fold),
        ),
        Criterion::new(
            ("so it goes through a long conversation", "一场长对话从头到尾都是如此"),
            move || long_conversation(fold),
        ),
        Criterion::new(
            ("the demo of step03 ends with 5 messages", "step03 的 demo 以 5 条消息结束"),
            move || five_messages(fold),
        ),
    ]
}

/// A history of some turns, which ends with what a person has just said.
fn history(random: &mut Random) -> Context {
    let mut context = Context::default();
    for _ in 0..random.below(3) {
        context.messages.push(Message::user(random.piece()));
        let StreamEvent::Done { message } = done(random.piece()) else { continue };
        context.messages.push(Message::Assistant(message));
    }
    context.messages.push(Message::user(random.piece()));
    context
}

/// Folds the start and all pieces, and looks after each.
fn grow(fold: Fold, context: &mut Context, pieces: &[String]) -> Checked {
    let before = context.clone();
    let events = [StreamEvent::Start].into_iter().chain(pieces.iter().map(delta));
    for event in events {
        fold(context, event.clone());
        same_history(&before, context, &event, |seen| {
            if seen.messages.len() > before.messages.len() {
                Text::new(
                    "A piece is not a message. The pieces go to the screen; `done` brings the whole \
                     message, already put together.",
                    "一小段不是一条消息。各段只去屏幕；`done` 会带来已经拼好的整条消息。",
                )
            } else {
                Text::new(
                    "What is in the history already was said by somebody else, or before: leave it.",
                    "历史里已有的消息是别人说的，或是以前说的：不要动它。",
                )
            }
        })?;
    }
    Ok(())
}

fn done_is_kept(fold: Fold) -> Checked {
    let mut random = Random::new(15);
    for round in 0..40 {
        let mut context = history(&mut random);
        // The reason is the producer's to give; the history takes the message as it is.
        let reason = random.pick(&[StopReason::Stop, StopReason::Aborted, StopReason::Error]);
        let message = match round {
            0 => said("Hello! 你好！", StopReason::Stop),
            _ => any_said(&mut random, reason),
        };
        let before = context.clone();
        let mut expected = context.clone();
        expected.messages.push(Message::Assistant(message.clone()));
        let event = StreamEvent::Done { message: message.clone() };
        fold(&mut context, event.clone());
        same_history(&expected, &context, &event, |seen| {
            if *seen == before {
                why_left_out(&message)
            } else {
                why_other_message(seen, &expected)
            }
        })?;
    }
    Ok(())
}

/// What it says about the code that this message did not enter the history.
fn why_left_out(message: &AssistantMessage) -> Text {
    if Message::Assistant(message.clone()).text().trim().is_empty() {
        Text::new(
            "A reply without text is a reply, too: `done` says that it counts, whatever is in it.",
            "没有文字的回复也是回复：`done` 说了它算数，不管里面有什么。",
        )
    } else if message.stop_reason != StopReason::Stop {
        Text::new(
            "Which stop reason a message has is not the fold's to judge: `done` says that it counts.",
            "消息的停止原因不归折叠来评判：`done` 说了它算数。",
        )
    } else {
        Text::new(
            "`done` carries the message; the history is `context.messages`, and `push` adds to it.",
            "`done` 带着那条消息；历史是 `context.messages`，用 `push` 加进去。",
        )
    }
}

/// What it says about the code that the history has changed, but not as it should.
fn why_other_message(seen: &Context, expected: &Context) -> Text {
    if seen.messages.len() > expected.messages.len() {
        Text::new("One reply, one message.", "一个回复，一条消息。")
    } else if seen.messages.len() < expected.messages.len() {
        Text::new(
            "The history is `context.messages`, and `push` adds to it: all that was there stays.",
            "历史是 `context.messages`，`push` 往里加：原有的都留着。",
        )
    } else {
        Text::new(
            "It goes behind all others, as `Message::Assistant`, and exactly as `done` brought it: \
             with its stop reason and all its blocks, be there none or two.",
            "它排在最后，是 `Message::Assistant`，和 `done` 带来的一模一样：停止原因不变，块也不变，没有块或有两块都照样。",
        )
    }
}

fn nothing_while_growing(fold: Fold) -> Checked {
    let mut random = Random::new(16);
    (0..30).try_for_each(|_| grow(fold, &mut history(&mut random), &random.pieces(5)))
}

fn errors_are_dropped(fold: Fold) -> Checked {
    let mut random = Random::new(17);
    for _ in 0..30 {
        let mut context = history(&mut random);
        let before = context.clone();
        let pieces = random.pieces(4);
        grow(fold, &mut context, &pieces)?;
        let event = error("connection lost");
        fold(&mut context, event.clone());
        same_history(&before, &context, &event, |_| {
            Text::new(
                "This step's bargain: a whole message or nothing. What broke off was seen on the \
                 screen and is gone; the question it was to answer stays.",
                "这一步的取舍：要么是一条完整的消息，要么什么都没有。中断的半截在屏幕上出现过就算了；它要回答的问题仍然留着。",
            )
        })?;
    }
    Ok(())
}

fn long_conversation(fold: Fold) -> Checked {
    let mut random = Random::new(18);
    for _ in 0..3 {
        let (mut context, mut expected) = (Context::default(), Context::default());
        for _ in 0..40 {
            let said = Message::user(random.piece());
            context.messages.push(said.clone());
            expected.messages.push(said);
            let pieces = random.pieces(4);
            grow(fold, &mut context, &pieces)?;
            // What `done` brings need not be the pieces side by side.
            let end = match random.below(3) {
                0 => error("lost"),
                1 => done(pieces.concat()),
                _ => done(random.piece()),
            };
            if let StreamEvent::Done { message } = end.clone() {
                expected.messages.push(Message::Assistant(message));
            }
            fold(&mut context, end.clone());
            same_history(&expected, &context, &end, |seen| why_not_again(seen, &expected))?;
        }
    }
    Ok(())
}

fn why_not_again(seen: &Context, expected: &Context) -> Text {
    if seen.messages.len() == expected.messages.len() {
        Text::new(
            "`done` has the last word: the message it carries, and not what the pieces gave.",
            "以 `done` 为准：放进它带的消息，而不是各段拼成的。",
        )
    } else {
        Text::new(
            "The same event must always do the same, however long the history is and whatever came \
             before.",
            "同样的事件永远做同样的事，不管历史有多长、之前发生过什么。",
        )
    }
}

fn five_messages(fold: Fold) -> Checked {
    for lang in [Lang::En, Lang::Zh] {
        let (text, context) =
            folded_demo(fold, lang).map_err(|error| Fault::differs("Ok", error.to_string()))?;
        same_text(transcript(lang), &text, |_| {
            let history = in_short(&context);
            Text::new(
                format!(
                    "3 of the person, 2 of the assistant; the failed reply counts for nothing. \
                 Yours holds:\n{history}"
                ),
                format!("人说的 3 条，助手 2 条；失败的回复不算。你的历史里有：\n{history}"),
            )
        })?;
    }
    Ok(())
}

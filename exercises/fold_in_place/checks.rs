//! What a history must be in which the reply grows. It is Pi's bargain: whatever a person has seen
//! is in the history, and its stop reason says how far to trust it.

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{Context, Message, StopReason};
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::conversation::{Fold, folded_demo, transcript};
use crate::probe::events::{delta, done, error, said};
use crate::probe::history::{differ, in_short, same_history};
use crate::probe::random::Random;
use crate::text::Text;

/// All criteria, in the order to meet them.
pub fn checks(fold: Fold) -> Vec<Criterion> {
    vec![
        Criterion::new(
            (
                "at start, a message of the assistant without text takes its place",
                "start 时，一条没有文字的助手消息先占位",
            ),
            move || start_takes_a_place(fold),
        ),
        Criterion::new(
            (
                "each delta grows that message where it stands, in one block of text",
                "每个 delta 让那条消息就地变长，始终是一个文本块",
            ),
            move || deltas_grow_it(fold),
        ),
        Criterion::new(
            ("done puts its own message there", "done 把它带的消息放到那个位置"),
            move || done_replaces_it(fold),
        ),
        Criterion::new(
            (
                "error leaves there what had arrived, with the stop reason Error",
                "error 保留已到的内容，停止原因为 Error",
            ),
            move || error_keeps_it(fold),
        ),
        Criterion::new(
            ("so it goes through a long conversation", "一场长对话从头到尾都是如此"),
            move || long_conversation(fold),
        ),
        Criterion::new(
            ("the demo of step03 ends with 6 messages", "step03 的 demo 以 6 条消息结束"),
            move || six_messages(fold),
        ),
    ]
}

/// A history of some turns, which ends with what a person has just said.
fn history(random: &mut Random) -> Context {
    let mut context = Context::default();
    for _ in 0..random.below(3) {
        context.messages.push(Message::user(random.piece()));
        let reason = random.pick(&[StopReason::Stop, StopReason::Error, StopReason::Aborted]);
        context.messages.push(Message::Assistant(said(random.piece(), reason)));
    }
    context.messages.push(Message::user(random.piece()));
    context
}

/// `before` and one more message of the assistant.
fn with(before: &Context, text: &str, reason: StopReason) -> Context {
    let mut context = before.clone();
    context.messages.push(Message::Assistant(said(text, reason)));
    context
}

/// Compares what a reader can tell apart: no block and one empty block are the same to them, and
/// until a reply has ended, so are all stop reasons.
fn same_growing(expected: &Context, seen: &Context, after: &StreamEvent) -> Checked {
    let (Some((Message::Assistant(last), older)), Some((_, expected_older))) =
        (seen.messages.split_last(), expected.messages.split_last())
    else {
        return Err(differ(expected, seen, after).because(why_not_growing(expected, seen)));
    };
    let text = seen.messages.last().map(Message::text);
    let same_text = text == expected.messages.last().map(Message::text);
    if older == expected_older && same_text && last.content.len() <= 1 {
        return Ok(());
    }
    Err(differ(expected, seen, after).because(why_not_growing(expected, seen)))
}

fn why_not_growing(expected: &Context, seen: &Context) -> Text {
    let (expected_length, length) = (expected.messages.len(), seen.messages.len());
    if length < expected_length {
        Text::new(
            "Whoever looks at the history while the reply is growing should find it there: `start` \
             pushes a message with an empty list of blocks.",
            "回复还在长的时候，看历史的人就应该能看到它：`start` 时 push 一条内容为空的消息。",
        )
    } else if length > expected_length {
        Text::new(
            "A piece is not a message: it goes into the one that `start` has put there, the last.",
            "一小段不是一条消息：它要进 `start` 放好的那条，也就是最后一条。",
        )
    } else if matches!(seen.messages.last(), Some(Message::Assistant(last)) if last.content.len() > 1)
    {
        Text::new(
            "The text of a reply is one block. A delta is pushed onto the end of its text.",
            "一个回复的文字是一个块。delta 接在块的文本末尾。",
        )
    } else {
        Text::new(
            "Only the last message grows, by exactly the delta; all before it stay as they are.",
            "只有最后一条变长，恰好长出这个 delta；前面的都保持不变。",
        )
    }
}

/// Folds the start and all pieces, and looks after each.
fn grow(fold: Fold, context: &mut Context, pieces: &[String]) -> Checked {
    let before = context.clone();
    let mut text = String::new();
    fold(context, StreamEvent::Start);
    same_growing(&with(&before, "", StopReason::Stop), context, &StreamEvent::Start)?;
    for piece in pieces {
        text += piece;
        let event = delta(piece);
        fold(context, event.clone());
        same_growing(&with(&before, &text, StopReason::Stop), context, &event)?;
    }
    Ok(())
}

fn start_takes_a_place(fold: Fold) -> Checked {
    let mut random = Random::new(19);
    (0..20).try_for_each(|_| grow(fold, &mut history(&mut random), &[]))
}

fn deltas_grow_it(fold: Fold) -> Checked {
    let mut random = Random::new(20);
    (0..30).try_for_each(|_| grow(fold, &mut history(&mut random), &random.pieces(5)))
}

fn done_replaces_it(fold: Fold) -> Checked {
    let mut random = Random::new(21);
    for round in 0..30 {
        let mut context = history(&mut random);
        let before = context.clone();
        let pieces = random.pieces(4);
        grow(fold, &mut context, &pieces)?;
        // Whoever made the message has the last word, also when it is not the pieces side by side.
        let text = if round % 2 == 0 { pieces.concat() } else { random.piece() };
        let reason = random.pick(&[StopReason::Stop, StopReason::Aborted]);
        let event = StreamEvent::Done { message: said(&text, reason) };
        fold(&mut context, event.clone());
        same_history(&with(&before, &text, reason), &context, &event, |seen| {
            if seen.messages.len() > before.messages.len() + 1 {
                Text::new(
                    "The reply has its place already: the message of `done` replaces what grew there.",
                    "回复已经有位置了：`done` 的消息替换在那里长大的那条。",
                )
            } else {
                Text::new(
                    "`done` has the last word: its message, whole, and not what the pieces gave.",
                    "以 `done` 为准：放进它带的整条消息，而不是各段拼成的。",
                )
            }
        })?;
    }
    Ok(())
}

fn error_keeps_it(fold: Fold) -> Checked {
    let mut random = Random::new(22);
    for _ in 0..30 {
        let mut context = history(&mut random);
        let before = context.clone();
        let pieces = random.pieces(4);
        grow(fold, &mut context, &pieces)?;
        let event = error(random.pick(&["connection lost", "quota exceeded"]));
        fold(&mut context, event.clone());
        let expected = with(&before, &pieces.concat(), StopReason::Error);
        same_growing(&expected, &context, &event).map_err(|fault| {
            let gone = context.messages.len() < expected.messages.len();
            fault.because(if gone {
                Text::new(
                    "Here the broken-off reply stays: the person has seen it.",
                    "在这里，中断的回复要留下：人已经看到它了。",
                )
            } else {
                Text::new(
                    "The text stays as it had arrived: the reason of the error is not part of what \
                     the model said.",
                    "文字保持到那时为止的样子：错误原因不是模型说的话。",
                )
            })
        })?;
        let Some(Message::Assistant(last)) = context.messages.last() else { continue };
        if last.stop_reason != StopReason::Error {
            return Err(differ(&expected, &context, &event).because((
                "Only the stop reason tells a later reader that this message is half a sentence.",
                "后来的读者只有靠停止原因才知道这条消息只有半句。",
            )));
        }
    }
    Ok(())
}

fn long_conversation(fold: Fold) -> Checked {
    let mut random = Random::new(23);
    let mut context = Context::default();
    for _ in 0..40 {
        context.messages.push(Message::user(random.piece()));
        let before = context.clone();
        let pieces = random.pieces(4);
        grow(fold, &mut context, &pieces)?;
        let well = random.flip();
        let (end, reason) = if well {
            (done(pieces.concat()), StopReason::Stop)
        } else {
            (error("lost"), StopReason::Error)
        };
        fold(&mut context, end.clone());
        same_growing(&with(&before, &pieces.concat(), reason), &context, &end)?;
    }
    Ok(())
}

fn six_messages(fold: Fold) -> Checked {
    for lang in [Lang::En, Lang::Zh] {
        let (text, context) =
            folded_demo(fold, lang).map_err(|error| Fault::differs("Ok", error.to_string()))?;
        let expected = transcript(lang).replace(&lang.farewell(5), &lang.farewell(6));
        same_text(&expected, &text, |_| {
            let history = in_short(&context);
            Text::new(
                format!(
                    "3 of the person, 3 of the assistant, of which the last failed. Yours holds:\n{history}"
                ),
                format!("人说的 3 条，助手 3 条，其中最后一条失败了。你的历史里有：\n{history}"),
            )
        })?;
    }
    Ok(())
}

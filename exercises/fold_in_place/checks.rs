//! What a history must be in which the reply grows. It is Pi's bargain: whatever a person has seen
//! is in the history, and its stop reason says how far to trust it.

use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same_text};
use crate::probe::conversation::{Fold, folded_demo, transcript};
use crate::probe::events::{any_said, delta, done, error, said};
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
    let content = if text.is_empty() { vec![] } else { ContentBlock::text(text) };
    context.messages.push(Message::Assistant(AssistantMessage { content, stop_reason: reason }));
    context
}

/// What a wrong history says about the code, beside the one that was expected.
type Why = fn(&Context, &Context) -> Text;

/// Compares what a reader can tell apart: no block and one empty block are the same to them, and
/// until a reply has ended, so are all stop reasons.
fn same_growing(expected: &Context, seen: &Context, after: &StreamEvent, why: Why) -> Checked {
    if let Some((Message::Assistant(last), older)) = seen.messages.split_last()
        && Some(older) == expected.messages.split_last().map(|(_, older)| older)
        && seen.messages.last().map(Message::text) == expected.messages.last().map(Message::text)
        && last.content.len() <= 1
    {
        return Ok(());
    }
    Err(differ(expected, seen, after).because(why(expected, seen)))
}

fn why_not_started(expected: &Context, seen: &Context) -> Text {
    let before = &expected.messages[..expected.messages.len() - 1];
    if seen.messages == before {
        Text::new(
            "Whoever looks at the history while the reply is growing should find it there: `start` \
             pushes a message with an empty list of blocks.",
            "回复还在长的时候，看历史的人就应该能看到它：`start` 时 push 一条内容为空的消息。",
        )
    } else if !seen.messages.starts_with(before) {
        Text::new(
            "`start` puts the new message behind all others, with `push`; what was in the history \
             stays there, in its order.",
            "`start` 用 `push` 把新消息放在最后；历史里原有的都留着，顺序也不变。",
        )
    } else if seen.messages.len() > expected.messages.len() {
        Text::new("`start` adds one message, and no more.", "`start` 只加一条消息，不多加。")
    } else {
        Text::new(
            "The new message is the assistant's and has no text yet: `Message::Assistant` with an \
             empty list of blocks.",
            "新消息是助手的，还没有文字：`Message::Assistant`，内容为空。",
        )
    }
}

fn why_not_grown(expected: &Context, seen: &Context) -> Text {
    if seen.messages.len() > expected.messages.len() {
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

fn why_not_replaced(expected: &Context, seen: &Context) -> Text {
    if seen.messages.len() > expected.messages.len() {
        Text::new(
            "The reply has its place already: the message of `done` replaces what grew there.",
            "回复已经有位置了：`done` 的消息替换在那里长大的那条。",
        )
    } else {
        Text::new(
            "`done` has the last word: its message, whole, with all its blocks, be there none or two, \
             and not what the pieces gave.",
            "以 `done` 为准：放进它带的整条消息，没有块或有两块都照样，而不是各段拼成的。",
        )
    }
}

fn why_not_kept(expected: &Context, seen: &Context) -> Text {
    let (expected_length, length) = (expected.messages.len(), seen.messages.len());
    if length < expected_length {
        Text::new(
            "Here the broken-off reply stays, also one that failed before its first word: `error` \
             changes its stop reason and takes nothing away.",
            "在这里，中断的回复要留下，第一个字之前就失败的也一样：`error` 只改它的停止原因，什么都不拿走。",
        )
    } else if length > expected_length {
        Text::new(
            "An error is no message of its own: the reply that broke off is there already, and gets \
             the stop reason.",
            "错误不另成一条消息：中断的回复已经在那里了，由它得到这个停止原因。",
        )
    } else if seen.messages[..length - 1] != expected.messages[..length - 1] {
        Text::new(
            "Only the last reply failed: those before it keep their text and their stop reason.",
            "失败的只是最后这个回复：前面的都保持自己的文字和停止原因。",
        )
    } else {
        Text::new(
            "The text stays as it had arrived: the reason of the error is not part of what the model \
             said.",
            "文字保持到那时为止的样子：错误原因不是模型说的话。",
        )
    }
}

/// Folds the start and all pieces, and looks after each.
fn grow(fold: Fold, context: &mut Context, pieces: &[String]) -> Checked {
    let before = context.clone();
    let mut text = String::new();
    fold(context, StreamEvent::Start);
    let started = with(&before, "", StopReason::Stop);
    same_growing(&started, context, &StreamEvent::Start, why_not_started)?;
    for piece in pieces {
        text += piece;
        let event = delta(piece);
        fold(context, event.clone());
        same_growing(&with(&before, &text, StopReason::Stop), context, &event, why_not_grown)?;
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
        let reason = random.pick(&[StopReason::Stop, StopReason::Aborted, StopReason::Error]);
        let message = match round % 2 {
            0 => said(pieces.concat(), reason),
            _ => any_said(&mut random, reason),
        };
        let event = StreamEvent::Done { message: message.clone() };
        fold(&mut context, event.clone());
        let mut expected = before;
        expected.messages.push(Message::Assistant(message));
        same_history(&expected, &context, &event, |seen| why_not_replaced(&expected, seen))?;
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
        same_growing(&expected, &context, &event, why_not_kept)?;
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
        let (end, reason, why): (_, _, Why) = if well {
            (done(pieces.concat()), StopReason::Stop, why_not_replaced)
        } else {
            (error("lost"), StopReason::Error, why_not_kept)
        };
        fold(&mut context, end.clone());
        same_growing(&with(&before, &pieces.concat(), reason), &context, &end, why)?;
    }
    two_at_once(fold)
}

/// Two conversations whose replies grow side by side, as for two people at a time.
fn two_at_once(fold: Fold) -> Checked {
    let short = Context { messages: vec![Message::user("you?")] };
    let mut long = with(&short, "me.", StopReason::Stop);
    long.messages.push(Message::user("and?"));
    let mut histories = [long, short];
    let before = histories.clone();
    let steps = [
        (StreamEvent::Start, ""),
        (delta("one "), "one "),
        (delta("two"), "one two"),
        (done("one two"), "one two"),
    ];
    for (event, text) in steps {
        for (context, before) in histories.iter_mut().zip(&before) {
            fold(context, event.clone());
            let expected = with(before, text, StopReason::Stop);
            same_growing(&expected, context, &event, |_, _| {
                Text::new(
                    "Two conversations go on at the same time: all that a fold knows is in the \
                     history it is given, and nothing in a `static`.",
                    "有两场对话在同时进行：折叠所知道的一切都在交给它的历史里，不要放进 `static`。",
                )
            })?;
        }
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

//! What the tests of the protocol share: replies made up at random, and a checker of their order.
#![allow(dead_code)] // Each test file uses its part.

use futures::FutureExt;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use step04_agent_loop::event::{Change, DoneReason, StreamEvent};
use step04_agent_loop::message::{AssistantMessage, ContentBlock};
use step04_agent_loop::reply::{Reply, ReplyStream};

/// One thing a producer can do with a reply.
#[derive(Debug, Clone)]
pub enum Op {
    Text,
    Thinking,
    Call(String, String),
    /// To one of the open blocks.
    Delta(Index, String),
    /// To one of the open blocks.
    End(Index),
    /// Lets go of one of the open blocks, without its end.
    Forget(Index),
}

/// How it lets go of the reply.
#[derive(Debug, Clone)]
pub enum Finish {
    Done(DoneReason),
    Error(String),
    Aborted,
    Drop,
}

/// Text in which everything that can be torn or must be escaped is frequent.
pub fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "bc ",
        "你",
        "好",
        "🦀",
        "👨‍👩‍👧",
        "🇨🇳",
        "e\u{301}",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        ":",
        "\n",
        "\t",
        "\u{1b}",
        "1",
        "\r\n",
    ];
    prop::collection::vec(select(pieces.to_vec()), 0..7).prop_map(|pieces| pieces.concat())
}

/// Ids with many empty and doubled ones.
pub fn id() -> impl Strategy<Value = String> {
    select(&["", "a", "a-2", "b", "call", "call-2"][..]).prop_map(str::to_owned)
}

pub fn op() -> impl Strategy<Value = Op> {
    let delta = (any::<Index>(), text()).prop_map(|(block, text)| Op::Delta(block, text));
    prop_oneof![
        2 => Just(Op::Text),
        1 => Just(Op::Thinking),
        2 => (id(), select(&["read", "write"][..])).prop_map(|(id, name)| Op::Call(id, name.into())),
        8 => delta,
        2 => any::<Index>().prop_map(Op::End),
        1 => any::<Index>().prop_map(Op::Forget),
    ]
}

pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 0..25)
}

pub fn done_reason() -> impl Strategy<Value = DoneReason> {
    select(&[DoneReason::Stop, DoneReason::Length, DoneReason::ToolUse][..])
}

pub fn finish() -> impl Strategy<Value = Finish> {
    prop_oneof![
        3 => done_reason().prop_map(Finish::Done),
        1 => text().prop_map(Finish::Error),
        1 => Just(Finish::Aborted),
        1 => Just(Finish::Drop),
    ]
}

/// Does all of it, calling `look` after each op with the stream it goes to.
pub fn perform(ops: &[Op], finish: &Finish, mut look: impl FnMut(&ReplyStream)) -> ReplyStream {
    let (reply, stream) = Reply::start();
    let mut open = Vec::new();
    look(&stream);
    for op in ops {
        match op {
            Op::Text => open.push(reply.text()),
            Op::Thinking => open.push(reply.thinking()),
            Op::Call(id, name) => open.push(reply.tool_call(id, name)),
            _ if open.is_empty() => {}
            Op::Delta(at, delta) => at.get(&open).delta(delta.as_str()).unwrap(),
            Op::End(at) => open.remove(at.index(open.len())).end(),
            Op::Forget(at) => drop(open.remove(at.index(open.len()))),
        }
        look(&stream);
    }
    drop(open);
    match finish.clone() {
        Finish::Done(reason) => reply.done(reason),
        Finish::Error(text) => reply.error(text),
        Finish::Aborted => reply.aborted(),
        Finish::Drop => drop(reply),
    }
    look(&stream);
    stream
}

/// All that is in the stream now.
pub fn take(stream: &ReplyStream) -> Vec<StreamEvent> {
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

pub fn changes(events: &[StreamEvent]) -> Vec<Change> {
    events.iter().map(|event| event.change.clone()).collect()
}

/// The final message, which must be there by now.
pub fn result(stream: &ReplyStream) -> AssistantMessage {
    let settled = stream.result().now_or_never().expect("it has ended");
    settled.expect("a reply always has a result")
}

/// What [`order`] says, as an assertion.
pub fn check_order(changes: &[Change]) {
    assert_eq!(order(changes), Ok(()), "{changes:#?}");
}

/// Checks the order of a whole stream without any help from the library: `start` once and first;
/// each block start, delta*, end under its own index; one terminal event, last; after `done`
/// nothing open. What the deltas of a block add up to is its end, and its block in the message.
pub fn order(changes: &[Change]) -> Result<(), &'static str> {
    let (first, rest) = changes.split_first().ok_or("empty")?;
    ensure(*first == Change::Start, "no start")?;
    let (last, rest) = rest.split_last().ok_or("no end")?;
    let mut blocks = Blocks::default();
    for change in rest {
        let index = change.content_index().ok_or("no block event")?;
        match change {
            Change::TextStart { .. } => blocks.begin(index, "text")?,
            Change::ThinkingStart { .. } => blocks.begin(index, "thinking")?,
            Change::ToolcallStart { .. } => blocks.begin(index, "call")?,
            Change::TextDelta { delta, .. } => *blocks.body(index, "text")? += delta,
            Change::ThinkingDelta { delta, .. } => *blocks.body(index, "thinking")? += delta,
            Change::ToolcallDelta { delta, .. } => *blocks.body(index, "call")? += delta,
            Change::TextEnd { content, .. } => blocks.close(index, "text", content)?,
            Change::ThinkingEnd { content, .. } => blocks.close(index, "thinking", content)?,
            Change::ToolcallEnd { tool_call, .. } => {
                blocks.close(index, "call", &tool_call.arguments_text)?;
            }
            _ => return Err("an index, and no block event"),
        }
    }
    let message = last.final_message().ok_or("the last one is not terminal")?;
    ensure(message.content.len() == blocks.0.len(), "another number of blocks")?;
    for (block, (kind, body, open)) in message.content.iter().zip(&blocks.0) {
        ensure(block_parts(block) == (*kind, body.as_str()), "another block in the message")?;
        ensure(!open || matches!(last, Change::Error { .. }), "done, and a block is open")?;
    }
    Ok(())
}

fn ensure(holds: bool, fault: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(fault) }
}

/// Kind, body, and whether it is open.
#[derive(Default)]
struct Blocks(Vec<(&'static str, String, bool)>);

impl Blocks {
    fn begin(&mut self, index: usize, kind: &'static str) -> Result<(), &'static str> {
        ensure(index == self.0.len(), "a block begins out of order")?;
        self.0.push((kind, String::new(), true));
        Ok(())
    }

    fn body(&mut self, index: usize, kind: &str) -> Result<&mut String, &'static str> {
        let (begun, body, open) = self.0.get_mut(index).ok_or("a block that has not begun")?;
        ensure(*begun == kind, "another kind of block")?;
        ensure(*open, "a block that has ended")?;
        Ok(body)
    }

    fn close(&mut self, index: usize, kind: &str, content: &str) -> Result<(), &'static str> {
        ensure(self.body(index, kind)? == content, "the end is not what the deltas add up to")?;
        self.0[index].2 = false;
        Ok(())
    }
}

fn block_parts(block: &ContentBlock) -> (&'static str, &str) {
    match block {
        ContentBlock::Text { text } => ("text", text),
        ContentBlock::Thinking { thinking } => ("thinking", thinking),
        ContentBlock::ToolCall(call) => ("call", &call.arguments_text),
    }
}

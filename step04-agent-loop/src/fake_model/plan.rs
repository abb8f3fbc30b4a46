//! What the fake model is going to do, worked out before it does anything.
//!
//! A plan is plain data: cutting, taking turns and breaking off early can be tested without a clock
//! and without a task, and what is left for the task is to walk down a list.

use std::iter;
use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;

use crate::script::{Block, Chunk, End, Reply, Script};

/// The steps of one reply, and how it ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The pause before each delta.
    pub(super) delay: Duration,
    pub(super) end: End,
}

/// One step; blocks are named by their index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The next block begins.
    Start(Block),
    Delta(usize, String),
    End(usize),
}

impl Plan {
    pub(super) fn new(reply: &Reply, script: &Script) -> Self {
        let mut sizes = sizes(reply.chunk.unwrap_or(script.chunk));
        let blocks = reply.content.iter().enumerate();
        let blocks = blocks.map(|(index, block)| steps_of(index, block, &mut sizes)).collect();
        let mut steps = if reply.interleave { take_turns(blocks) } else { blocks.concat() };
        if let Some(deltas) = reply.after {
            break_off(&mut steps, deltas);
        }
        Self {
            steps,
            delay: reply.pace.or(script.pace).unwrap_or_default().delay(),
            end: reply.end.clone().unwrap_or_else(|| usual_end(&reply.content)),
        }
    }
}

fn usual_end(content: &[Block]) -> End {
    let has_call = content.iter().any(|block| matches!(block, Block::ToolCall(_)));
    if has_call { End::ToolUse } else { End::Stop }
}

/// Start, deltas, end.
fn steps_of(index: usize, block: &Block, sizes: &mut impl Iterator<Item = usize>) -> Vec<Step> {
    let text = match block {
        Block::Text(text) | Block::Thinking(text) => Some(text),
        Block::ToolCall(call) => call.arguments_text.as_ref(),
    };
    let pieces = text.map(|text| pieces(text, sizes)).unwrap_or_default();
    let deltas = pieces.into_iter().map(|piece| Step::Delta(index, piece));
    iter::once(Step::Start(block.clone())).chain(deltas).chain([Step::End(index)]).collect()
}

/// Cuts `text` between grapheme clusters; an empty text is one empty piece, as in Pi.
fn pieces(text: &str, sizes: &mut impl Iterator<Item = usize>) -> Vec<String> {
    let mut graphemes = text.graphemes(true).peekable();
    let mut pieces = Vec::new();
    for size in sizes {
        pieces.push(graphemes.by_ref().take(size).collect());
        if graphemes.peek().is_none() {
            break;
        }
    }
    pieces
}

/// How many clusters go into each piece, for ever.
fn sizes(chunk: Chunk) -> impl Iterator<Item = usize> {
    let (min, max, mut seed) = match chunk {
        Chunk::Size(size) => (size.get(), size.get(), 0),
        Chunk::Random { min, max, seed } => (min.get(), max.get(), seed),
    };
    iter::repeat_with(move || {
        // `usize` to `u64` and back loses nothing: the rest is no bigger than the span.
        let span = (max - min) as u64;
        min + (split_mix(&mut seed) % span.saturating_add(1)) as usize
    })
}

/// SplitMix64, the smallest good generator: the same seed gives the same lesson on every machine.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One delta of each block in turn. A block starts with its first delta and ends with its last.
fn take_turns(blocks: Vec<Vec<Step>>) -> Vec<Step> {
    let mut blocks: Vec<_> = blocks.into_iter().map(|steps| steps.into_iter().peekable()).collect();
    let mut turns = Vec::new();
    while !blocks.is_empty() {
        for block in &mut blocks {
            turns.extend(block.next_if(|step| matches!(step, Step::Start(_))));
            turns.extend(block.next_if(|step| matches!(step, Step::Delta(..))));
            turns.extend(block.next_if(|step| matches!(step, Step::End(_))));
        }
        blocks.retain_mut(|block| block.peek().is_some());
    }
    turns
}

/// Leaves so many deltas, and what comes before the next one.
fn break_off(steps: &mut Vec<Step>, deltas: usize) {
    let is_delta = |(_, step): &(usize, &Step)| matches!(step, Step::Delta(..));
    let next = steps.iter().enumerate().filter(is_delta).nth(deltas);
    if let Some((at, _)) = next {
        steps.truncate(at);
    }
}

//! Do the made-up conversations reach what the laws are about? A law over cases in which nothing
//! happens would hold of any program.

use std::collections::BTreeMap;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::message::{Message, StopReason};

use super::strategies::world;
use super::world::{Record, play};

/// What happened in a run, in words.
fn happenings(record: &Record) -> Vec<String> {
    let mut seen = Vec::new();
    let mut open = Vec::new();
    for (at, event) in &record.events {
        let late = record.cancelled.is_some_and(|cancelled| cancelled < *at);
        match event {
            AgentEvent::ToolExecutionStart { tool_call_id, .. } => open.push(tool_call_id.clone()),
            AgentEvent::ToolExecutionUpdate { .. } => seen.push("an update is shown".into()),
            AgentEvent::ToolExecutionEnd { tool_call_id, result, is_error, .. } => {
                if late && open.len() > 1 {
                    seen.push("several tools run, and an abort".into());
                }
                open.retain(|id| id != tool_call_id);
                let text = result.content[0].body();
                let kinds = [
                    "truncated",
                    "broke off",
                    "aborted",
                    "crashed",
                    "unknown tool",
                    "kaput",
                    "send the whole call again",
                    "answer",
                ];
                let kind = kinds.iter().find(|kind| text.contains(**kind));
                seen.push(format!("{}: {is_error}", kind.unwrap_or(&"other")));
            }
            AgentEvent::MessageEnd { message: Message::Assistant(reply) } => {
                let content = if reply.content.is_empty() { "nothing" } else { "something" };
                seen.push(format!("{:?} with {content}", reply.stop_reason.unwrap()));
                let why = reply.error_message.as_deref().unwrap_or("");
                for part in ["max-turns", "called no tool", "the model crashed"] {
                    if why.contains(part) {
                        seen.push(part.into());
                    }
                }
            }
            AgentEvent::TurnStart if !record.before.messages.is_empty() => {
                seen.push("a turn with a past".into());
            }
            _ => {}
        }
    }
    if record.ended.is_none() {
        seen.push(if open.is_empty() { "dropped" } else { "dropped while tools run" }.into());
    }
    let unfinished = |message: &Message| matches!(message, Message::Assistant(reply) if reply.stop_reason.is_none());
    if record.after.messages.iter().any(unfinished) {
        seen.push("dropped while a reply grows".into());
    }
    seen
}

#[test]
fn the_conversations_have_everything_in_them() {
    let mut runner = TestRunner::deterministic();
    let mut counts = BTreeMap::new();
    for _ in 0..256 {
        let world = world().new_tree(&mut runner).unwrap().current();
        for happening in play(&world).iter().flat_map(happenings) {
            *counts.entry(happening).or_insert(0) += 1;
        }
    }
    println!("{counts:#?}");
    let reasons = [StopReason::Stop, StopReason::Length, StopReason::ToolUse, StopReason::Error];
    let with_something = reasons.map(|reason| format!("{reason:?} with something"));
    let others = [
        "Aborted with something",
        "Aborted with nothing",
        "Error with nothing",
        "max-turns",
        "called no tool",
        "the model crashed",
        "truncated: true",
        "broke off: true",
        "aborted: true",
        "crashed: true",
        "unknown tool: true",
        "kaput: true",
        "send the whole call again: true",
        "answer: false",
        "an update is shown",
        "several tools run, and an abort",
        "a turn with a past",
        "dropped",
        "dropped while tools run",
        "dropped while a reply grows",
    ];
    for happening in with_something.into_iter().chain(others.map(str::to_owned)) {
        assert!(
            counts.get(&happening).is_some_and(|&count| count >= 5),
            "{happening}: {counts:#?}"
        );
    }
}

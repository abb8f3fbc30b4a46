//! What must hold of any run, looked at without any help from the library.

use std::collections::HashSet;

use step04_agent_loop::agent_event::AgentEvent::{self, *};
use step04_agent_loop::message::{AssistantMessage, Context, Message, StopReason};

type Verdict = Result<(), String>;

fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(fault()) }
}

/// L1: brackets nest and close, and each kind stands where it belongs.
pub fn brackets(events: &[AgentEvent]) -> Verdict {
    let mut open = Open::default();
    for (number, event) in events.iter().enumerate() {
        open.next(event).map_err(|fault| format!("event {number}: {fault}"))?;
    }
    ensure(open.over, || "no agent_end".into())
}

#[derive(Default)]
struct Open {
    agent: bool,
    over: bool,
    turn: bool,
    message: Option<Message>,
    /// Ids of the calls that are looked at.
    tools: Vec<String>,
    ended_tools: Vec<String>,
    /// The assistant's message of this turn.
    said: Option<AssistantMessage>,
    results: Vec<String>,
}

impl Open {
    fn next(&mut self, event: &AgentEvent) -> Verdict {
        ensure(!self.over, || "after agent_end".into())?;
        ensure(self.agent != matches!(event, AgentStart), || "agent_start: once and first".into())?;
        let in_turn = !matches!(event, AgentStart | AgentEnd { .. } | TurnStart);
        ensure(self.turn == in_turn, || format!("turn open: {}, {event:?}", self.turn))?;
        match event {
            AgentStart => self.agent = true,
            TurnStart => *self = Self { agent: true, turn: true, ..Self::default() },
            MessageStart { message } => {
                ensure(self.message.is_none(), || "a message in a message".into())?;
                ensure(self.tools.is_empty(), || "a message beside running tools".into())?;
                self.message = Some(message.clone());
            }
            MessageUpdate(_) => {
                let of_assistant = matches!(self.message, Some(Message::Assistant(_)));
                ensure(of_assistant, || "an update, and no assistant message is open".into())?;
            }
            MessageEnd { message } => self.end_message(message)?,
            ToolExecutionStart { tool_call_id: id, .. } => {
                ensure(self.message.is_none(), || "a tool in a message".into())?;
                ensure(!self.tools.contains(id), || "a tool started twice".into())?;
                self.tools.push(id.clone());
            }
            ToolExecutionUpdate { tool_call_id: id, .. } => {
                ensure(self.tools.contains(id), || "an update of no open tool".into())?;
            }
            ToolExecutionEnd { tool_call_id: id, .. } => {
                let at = self.tools.iter().position(|open| open == id);
                self.tools.remove(at.ok_or("the end of no open tool")?);
                self.ended_tools.push(id.clone());
            }
            TurnEnd { message, tool_results } => {
                ensure(self.message.is_none() && self.tools.is_empty(), || "still open".into())?;
                ensure(self.said.as_ref() == Some(message), || "another message".into())?;
                let results: Vec<_> = tool_results.iter().map(|r| r.tool_call_id.clone()).collect();
                ensure(self.results == results, || "other results".into())?;
                self.turn = false;
            }
            AgentEnd { .. } => self.over = true,
        }
        Ok(())
    }

    fn end_message(&mut self, message: &Message) -> Verdict {
        let begun = self.message.take().ok_or("the end of no message")?;
        match message {
            Message::Assistant(message) => {
                ensure(matches!(begun, Message::Assistant(_)), || "another role".into())?;
                ensure(self.said.is_none(), || "two replies in a turn".into())?;
                ensure(message.stop_reason.is_some(), || "no stop reason".into())?;
                self.said = Some(message.clone());
            }
            whole => {
                ensure(begun == *whole, || "a whole message that changed".into())?;
                if let Message::ToolResult(result) = whole {
                    let ended = self.ended_tools.contains(&result.tool_call_id);
                    ensure(ended, || "a result before its tool has ended".into())?;
                    self.results.push(result.tool_call_id.clone());
                }
            }
        }
        Ok(())
    }
}

/// L3: what a provider demands of a context. Each call has one result, right behind its message and
/// in the order of the calls; there are no other results; no two calls have the same id.
pub fn well_formed(context: &Context) -> Verdict {
    let mut ids = HashSet::new();
    let mut expected = Vec::new().into_iter();
    for message in &context.messages {
        if let Message::ToolResult(result) = message {
            let id = expected.next().ok_or_else(|| format!("a result of no call: {result:?}"))?;
            ensure(id == result.tool_call_id, || format!("the result of {id} is missing"))?;
            continue;
        }
        ensure(expected.next().is_none(), || format!("no result before {message:?}"))?;
        if let Message::Assistant(reply) = message {
            ensure(reply.stop_reason.is_some(), || "a reply that has not ended".into())?;
            let calls: Vec<_> = reply.tool_calls().map(|call| call.id.clone()).collect();
            for id in &calls {
                ensure(!id.is_empty() && ids.insert(id.clone()), || format!("the id {id:?}"))?;
            }
            expected = calls.into_iter();
        }
    }
    ensure(expected.next().is_none(), || "no result at the end".into())
}

/// The messages of the assistant, as they ended.
pub fn replies(events: &[AgentEvent]) -> Vec<AssistantMessage> {
    let reply = |event: &AgentEvent| match event {
        MessageEnd { message: Message::Assistant(message) } => Some(message.clone()),
        _ => None,
    };
    events.iter().filter_map(reply).collect()
}

/// Whether its calls may run.
pub fn runs_its_calls(reply: &AssistantMessage) -> bool {
    matches!(reply.stop_reason, Some(StopReason::Stop | StopReason::ToolUse))
}

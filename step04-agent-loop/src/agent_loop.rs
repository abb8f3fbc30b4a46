//! The agent loop: ask, run what was asked for, tell, ask again.
//!
//! A model that can only talk is asked once. An agent is asked until it has nothing more to do: as
//! long as a reply holds tool calls they are run, their results join the history, and the model is
//! asked again. That is all. The rest of this file is about ending well: every bracket is closed,
//! every call answered, and an abort takes less than a second, whatever the model and the tools do.
//! (Pi's `runLoop` and `streamAssistantResponse` in `packages/agent/src/agent-loop.ts`.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::task::consume_budget;
use tokio_util::sync::CancellationToken;

use crate::agent_event::{AgentEvent, Listeners, MessageUpdate};
use crate::event::Change;
use crate::history::{GrowingReply, ended_by, mend};
use crate::message::{AssistantMessage, Context, Message, StopReason};
use crate::model::{Model, StreamOptions};
use crate::reply::{ABORTED, EARLY_END, Reply, ReplyStream};
use crate::tool::{Toolbox, panic_text};
use crate::tool_calls::{ToolCalls, refusal};

pub use crate::settings::Settings;

const NO_CALL: &str = "the model stopped for tool results but called no tool";
const TOO_LONG: &str = "the run was ended: it took as many turns as it may (see --max-turns)";

/// A model, tools, and the conversation they have had so far.
pub struct Agent {
    model: Arc<dyn Model>,
    tools: Toolbox,
    settings: Settings,
    /// The history. In every one that a run leaves behind, each call has one result (law L3).
    pub context: Context,
}

impl Agent {
    /// An agent that has not been told anything yet.
    pub fn new(model: Arc<dyn Model>, tools: Toolbox, settings: Settings) -> Self {
        Self { model, tools, settings, context: Context::default() }
    }

    /// The tools it may use.
    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Answers `text`: one run, from `agent_start` to `agent_end`.
    ///
    /// It returns no error: whatever goes wrong is an event, and stands in the history. To stop it,
    /// cancel the token, and go on waiting: only then is every bracket closed. Tools need a tokio
    /// runtime with a clock around it.
    pub async fn run(
        &mut self,
        text: impl Into<String>,
        cancel: &CancellationToken,
        listeners: &mut Listeners<'_>,
    ) {
        mend(&mut self.context.messages); // the last run may have been dropped on its way
        let before = self.context.messages.len();
        listeners.emit(&AgentEvent::AgentStart);
        listeners.emit(&AgentEvent::TurnStart);
        let user = Message::user(text);
        self.context.messages.push(user.clone());
        listeners.message(user);
        if let Some(last) = self.turns(cancel, listeners).await {
            self.closing_turn(last, listeners);
        }
        listeners
            .emit(&AgentEvent::AgentEnd { messages: self.context.messages[before..].to_vec() });
    }

    /// Turn after turn; the first one is open. If it is not the model that ends the run, the message
    /// that says why is returned.
    async fn turns(
        &mut self,
        cancel: &CancellationToken,
        listeners: &mut Listeners<'_>,
    ) -> Option<AssistantMessage> {
        let mut turn = 0;
        loop {
            turn += 1;
            let message = self.reply(cancel, listeners).await;
            let (reason, calls) = (message.stop_reason, message.tool_calls().count());
            self.answer(message, cancel, listeners).await;
            let end = |reason, why: &str| Some(AssistantMessage::broken_off(reason, why));
            match reason {
                Some(StopReason::Error | StopReason::Aborted) | None => return None,
                // The model waits for results of calls that it never made: it would wait for ever.
                Some(StopReason::ToolUse) if calls == 0 => return end(StopReason::Error, NO_CALL),
                _ if calls == 0 => return None,
                _ if cancel.is_cancelled() => return end(StopReason::Aborted, ABORTED),
                _ if turn >= self.settings.max_turns => return end(StopReason::Error, TOO_LONG),
                _ => listeners.emit(&AgentEvent::TurnStart),
            }
        }
    }

    /// Asks the model, and folds what it says into the history while it says it.
    async fn reply(
        &mut self,
        cancel: &CancellationToken,
        listeners: &mut Listeners<'_>,
    ) -> AssistantMessage {
        let stream = self.ask(cancel);
        let mut reply = GrowingReply::new(&mut self.context.messages, self.settings.fold);
        let cancelled = cancel.cancelled();
        tokio::pin!(cancelled);
        let last = loop {
            consume_budget().await; // a flood of events must not keep Ctrl-C from being heard
            let event = tokio::select! {
                biased; // an abort does not wait its turn behind events that are already there
                () = &mut cancelled => break reply.break_off(StopReason::Aborted, ABORTED),
                event = stream.next() => event,
            };
            let Some(event) = event else { break reply.break_off(StopReason::Error, EARLY_END) };
            if reply.begin() {
                listeners.message_start(Message::Assistant(AssistantMessage::default()));
            }
            match event.change {
                Change::Start => {}
                change if change.is_terminal() => break ended_by(&change),
                _ => {
                    reply.change(&event.change);
                    listeners.emit(&AgentEvent::MessageUpdate(MessageUpdate(event)));
                }
            }
        };
        let called_off = reply.begin(); // before its first event
        let last = reply.finish(last);
        if called_off {
            listeners.message_start(Message::Assistant(last.clone()));
        }
        listeners.message_end(Message::Assistant(last.clone()));
        last
    }

    /// Begins a request. A model that panics instead of answering has answered with an error.
    fn ask(&self, cancel: &CancellationToken) -> ReplyStream {
        if cancel.is_cancelled() {
            return Reply::start().1; // nobody will look at it, and the model need not know
        }
        let options = StreamOptions { cancel: cancel.child_token() };
        let answer = catch_unwind(AssertUnwindSafe(|| self.model.stream(&self.context, options)));
        answer.unwrap_or_else(|panic| {
            let (reply, stream) = Reply::start();
            reply.error(format!("the model crashed: {}", panic_text(&*panic)));
            stream
        })
    }

    /// Answers the calls of a message, and closes its turn.
    ///
    /// This is the only place from which a tool is run, and it takes a message that has ended: never
    /// a `toolcall_end`, after which the reply may still break off or turn out to be truncated.
    async fn answer(
        &mut self,
        message: AssistantMessage,
        cancel: &CancellationToken,
        listeners: &mut Listeners<'_>,
    ) {
        let kept = self.settings.fold.keeps(&message); // no results for calls that nobody remembers
        let calls: Vec<_> = message.tool_calls().filter(|_| kept).cloned().collect();
        let refusal = refusal(message.stop_reason);
        let Settings { sequential, update_interval, .. } = self.settings;
        let tools = ToolCalls { tools: &self.tools, sequential, update_interval, refusal, cancel };
        let tool_results = tools.run(&calls, listeners).await;
        self.context.messages.extend(tool_results.iter().cloned().map(Message::ToolResult));
        listeners.emit(&AgentEvent::TurnEnd { message, tool_results });
    }

    /// A turn in which nobody is asked: the loop says why it ends the run.
    fn closing_turn(&mut self, message: AssistantMessage, listeners: &mut Listeners<'_>) {
        let reply = GrowingReply::new(&mut self.context.messages, self.settings.fold);
        let message = reply.finish(message);
        listeners.emit(&AgentEvent::TurnStart);
        listeners.message(Message::Assistant(message.clone()));
        listeners.emit(&AgentEvent::TurnEnd { message, tool_results: Vec::new() });
    }
}

//! Runs the tool calls of one message: started in order, answered all, stopped in time.
//!
//! The loop hands over a whole message and gets back one result per call, in the order of the calls
//! (law L3). In between calls run side by side, report progress through a [`Throttle`], and may
//! fail, panic or hang; each of those costs the one call its result and nothing else.
//! (Pi's `executeToolCalls` in `packages/agent/src/agent-loop.ts`.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::agent_event::{AgentEvent, Listeners, ToolResultContent};
use crate::history::answer;
use crate::message::{Message, StopReason, ToolCall, ToolResultMessage, wire_arguments};
use crate::partial_json::parse_arguments;
use crate::progress::Progress;
use crate::throttle::Throttle;
use crate::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};

/// How long tools may take to stop once they are told to. What has not stopped by then is left
/// behind: its call is answered as aborted.
pub const GRACE: Duration = Duration::from_millis(500);

/// How the calls of one message are run.
pub struct ToolCalls<'a> {
    /// The tools there are.
    pub tools: &'a Toolbox,
    /// One after the other, even if no tool asks for it.
    pub sequential: bool,
    /// How often one of them may show progress.
    pub update_interval: Duration,
    /// Why none of them may run, if so; see [`refusal`].
    pub refusal: Option<fn() -> ToolError>,
    /// Stops them.
    pub cancel: &'a CancellationToken,
}

/// Why the calls of a message that ended like this must not run, if so (law L2).
pub fn refusal(reason: Option<StopReason>) -> Option<fn() -> ToolError> {
    match reason {
        Some(StopReason::Stop | StopReason::ToolUse) => None,
        Some(StopReason::Length) => Some(|| ToolError::Truncated),
        Some(StopReason::Aborted) => Some(|| ToolError::Aborted),
        Some(StopReason::Error) | None => Some(|| ToolError::BrokenOff),
    }
}

impl ToolCalls<'_> {
    /// Answers every call, and reports each result as a message too.
    pub async fn run(
        &self,
        calls: &[ToolCall],
        listeners: &mut Listeners<'_>,
    ) -> Vec<ToolResultMessage> {
        let in_turn = |call: &ToolCall| self.look_up(call).is_ok_and(|(_, sequential)| sequential);
        let together = if self.sequential || calls.iter().any(in_turn) { 1 } else { calls.len() };
        let mut results = Vec::new();
        for calls in calls.chunks(together.max(1)) {
            let batch = self.run_together(calls, listeners).await;
            for result in &batch {
                listeners.message(Message::ToolResult(result.clone()));
            }
            results.extend(batch);
        }
        results
    }

    /// Starts these calls in order, and waits until all have ended or the grace is over.
    async fn run_together(
        &self,
        calls: &[ToolCall],
        listeners: &mut Listeners<'_>,
    ) -> Vec<ToolResultMessage> {
        let news = Arc::new(Notify::new());
        let mut executions: Vec<_> =
            calls.iter().map(|call| Execution::new(call, &news, self.update_interval)).collect();
        let running = FuturesUnordered::new();
        for (index, execution) in executions.iter_mut().enumerate() {
            listeners.emit(&execution.start());
            match self.start(execution.call, execution.progress.clone()) {
                Ok(outcome) => running.push(outcome.map(move |outcome| (index, outcome)).boxed()),
                Err(error) => execution.end(Err(error), listeners),
            }
        }
        wait(self.cancel, &mut executions, running, &news, listeners).await;
        executions.into_iter().map(|execution| execution.into_result(listeners)).collect()
    }

    /// The one gate between a call and its tool (seed 05): a whole message, a known tool, and
    /// arguments that the strict parser accepts. A preview can't come through: it is no
    /// `ToolArguments`.
    fn start(
        &self,
        call: &ToolCall,
        progress: Progress,
    ) -> Result<impl Future<Output = Outcome> + Send + use<>, ToolError> {
        if let Some(refusal) = self.refusal {
            return Err(refusal());
        }
        let (tool, _) = self.look_up(call)?;
        let arguments = parse_arguments(&call.arguments_text)?;
        let cancel = self.cancel.child_token(); // a tool may cancel itself, not the run
        let run = ToolRun::new(cancel, move |text| progress.say(text));
        // A task of its own: what panics in there is caught, and what hangs can be left behind.
        let task = tokio::spawn(async move {
            run.check()?; // at the last moment: much may have happened since it was its turn
            tool.execute(arguments, run).await
        });
        let task = AbortOnDropHandle::new(task);
        Ok(async move { task.await.unwrap_or_else(|error| Err(crashed(error))) })
    }

    /// The tool, and whether it wants to be alone. Both are asked of code that may panic.
    fn look_up(&self, call: &ToolCall) -> Result<(Arc<dyn Tool>, bool), ToolError> {
        let look = || self.tools.get(&call.name).map(|tool| (Arc::clone(tool), tool.sequential()));
        catch_unwind(AssertUnwindSafe(look))
            .unwrap_or_else(|panic| Err(ToolError::panicked(&*panic)))
    }
}

type Outcome = Result<ToolOutput, ToolError>;

/// Reports what the running tools do, until all have ended or the grace is over.
async fn wait(
    cancel: &CancellationToken,
    executions: &mut [Execution<'_>],
    mut running: FuturesUnordered<BoxFuture<'static, (usize, Outcome)>>,
    news: &Notify,
    listeners: &mut Listeners<'_>,
) {
    let grace = async {
        cancel.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::pin!(grace);
    while !running.is_empty() {
        let due = executions.iter().filter_map(|execution| execution.throttle.due()).min();
        tokio::select! {
            biased; // ends before news: they are few, and a chatty tool must not hold them up
            () = &mut grace => return,
            Some((index, outcome)) = running.next() => {
                // Done or not, what was called off is no success: nobody waited for its answer.
                let stopped = cancel.is_cancelled() && outcome.is_ok();
                let outcome = if stopped { Err(ToolError::Aborted) } else { outcome };
                executions[index].end(outcome, listeners);
            }
            () = news.notified() => {
                executions.iter_mut().for_each(|execution| execution.catch_up(listeners));
            }
            () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {
                executions.iter_mut().for_each(|execution| execution.catch_up(listeners));
            }
        }
    }
}

/// One call on its way to its result.
struct Execution<'a> {
    call: &'a ToolCall,
    args: Value,
    progress: Progress,
    throttle: Throttle,
    result: Option<ToolResultMessage>,
}

impl<'a> Execution<'a> {
    fn new(call: &'a ToolCall, news: &Arc<Notify>, update_interval: Duration) -> Self {
        let args = Value::Object(wire_arguments(&call.arguments_text).unwrap_or_default());
        let throttle = Throttle::new(update_interval);
        Self { call, args, progress: Progress::new(news), throttle, result: None }
    }

    fn start(&self) -> AgentEvent {
        AgentEvent::ToolExecutionStart {
            tool_call_id: self.call.id.clone(),
            tool_name: self.call.name.clone(),
            args: self.args.clone(),
        }
    }

    /// Shows what may be shown by now. After the end a tool has nothing to say any more.
    fn catch_up(&mut self, listeners: &mut Listeners<'_>) {
        if self.result.is_some() {
            return;
        }
        let now = Instant::now();
        for text in self.progress.take() {
            let shown = self.throttle.push(now, text);
            self.show(shown, listeners);
        }
        let shown = self.throttle.poll(now);
        self.show(shown, listeners);
    }

    fn show(&self, text: Option<String>, listeners: &mut Listeners<'_>) {
        if let Some(text) = text {
            listeners.emit(&AgentEvent::ToolExecutionUpdate {
                tool_call_id: self.call.id.clone(),
                tool_name: self.call.name.clone(),
                args: self.args.clone(),
                partial_result: ToolResultContent::text(text),
            });
        }
    }

    fn end(&mut self, outcome: Outcome, listeners: &mut Listeners<'_>) {
        self.catch_up(listeners);
        let pending = self.throttle.flush();
        self.show(pending, listeners);
        let result = answer(self.call, outcome);
        listeners.emit(&AgentEvent::ToolExecutionEnd {
            tool_call_id: self.call.id.clone(),
            tool_name: self.call.name.clone(),
            result: ToolResultContent { content: result.content.clone() },
            is_error: result.is_error,
        });
        self.result = Some(result);
    }

    /// The result; a call that has none by now never answered.
    fn into_result(mut self, listeners: &mut Listeners<'_>) -> ToolResultMessage {
        loop {
            match self.result.take() {
                Some(result) => return result,
                None => self.end(Err(ToolError::Aborted), listeners),
            }
        }
    }
}

/// A task that did not end by itself: it panicked, or the runtime is shutting down.
fn crashed(error: tokio::task::JoinError) -> ToolError {
    match error.try_into_panic() {
        Ok(panic) => ToolError::panicked(&*panic),
        Err(_) => ToolError::Aborted,
    }
}

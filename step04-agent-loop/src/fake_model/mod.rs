//! The model that plays a script.
//!
//! It does what a provider does, with two things taken out: the network and chance. Each request
//! spawns a task that pushes the scripted reply, piece by piece, and stops at once when it is
//! cancelled or nobody listens. (Pi's faux provider, `packages/ai/src/providers/faux.ts`; seed 8.2.)

mod plan;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::event::DoneReason;
use crate::event_stream::Closed;
use crate::message::Context;
use crate::model::{Model, StreamOptions};
use crate::reply::{Block, Reply, ReplyStream};
use crate::script::{self, End, Script};
use plan::{Plan, Step};

/// A [`Model`] that says what its script says.
#[derive(Debug, Clone)]
pub struct FakeModel {
    script: Arc<Script>,
}

impl FakeModel {
    /// A model that plays `script`.
    pub fn new(script: Script) -> Self {
        let script = Arc::new(script);
        Self { script }
    }

    fn plan(&self, context: &Context) -> Result<Plan, String> {
        let reply = self.script.answer(context).map_err(|error| error.to_string())?;
        Ok(Plan::new(reply, &self.script))
    }
}

impl Model for FakeModel {
    fn stream(&self, context: &Context, options: StreamOptions) -> ReplyStream {
        let (reply, stream) = Reply::start_after(context);
        // `tokio::spawn` panics outside a runtime, and a model must not.
        let runtime = Handle::try_current().map_err(|error| error.to_string());
        match (runtime, self.plan(context)) {
            (Ok(runtime), Ok(plan)) => drop(runtime.spawn(play(plan, reply, options.cancel))),
            (Err(why), _) | (_, Err(why)) => reply.error(why),
        }
        stream
    }
}

/// The producer's task.
async fn play(plan: Plan, reply: Reply, cancel: CancellationToken) {
    // `biased`: looked at in this order, before each piece. Without it, `select!` asks in random
    // order, and a cancelled reply would sometimes say one thing more.
    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => End::Aborted,
        () = reply.closed() => End::EarlyEnd,
        end = perform(plan, &reply) => end,
    };
    match end {
        End::Stop => reply.done(DoneReason::Stop),
        End::Length => reply.done(DoneReason::Length),
        End::ToolUse => reply.done(DoneReason::ToolUse),
        End::Error(message) => reply.error(message),
        End::Aborted => reply.aborted(),
        // The reply is dropped, and says so itself.
        End::EarlyEnd | End::Silence => {}
    }
}

/// Says all there is to say, and how it wants to end.
async fn perform(plan: Plan, reply: &Reply) -> End {
    let mut open = Vec::new();
    for step in plan.steps {
        if matches!(step, Step::Delta(..)) {
            pause(plan.delay).await;
        }
        if take(step, reply, &mut open).is_err() {
            return End::EarlyEnd;
        }
    }
    if plan.end == End::Silence {
        // For ever: only the other two branches of `select!` lead out of here.
        pending::<()>().await;
    }
    plan.end
}

/// Takes one step. A block stays in `open` from its start to its end; what is left there when the
/// reply breaks off is dropped with the list, and so stays without an end.
fn take<'a>(step: Step, reply: &'a Reply, open: &mut Vec<Option<Block<'a>>>) -> Result<(), Closed> {
    match step {
        Step::Start(block) => open.push(Some(begin(&block, reply))),
        Step::Delta(index, delta) => {
            if let Some(Some(block)) = open.get(index) {
                block.delta(delta)?;
            }
        }
        Step::End(index) => {
            if let Some(block) = open.get_mut(index).and_then(Option::take) {
                block.end();
            }
        }
    }
    Ok(())
}

/// The script names a kind; the reply has one method for each.
fn begin<'a>(block: &script::Block, reply: &'a Reply) -> Block<'a> {
    match block {
        script::Block::Text(_) => reply.text(),
        script::Block::Thinking(_) => reply.thinking(),
        script::Block::ToolCall(call) => reply.tool_call(&call.id, &call.name),
    }
}

/// Even without a delay the others get their turn, so that a consumer sees each piece when it comes.
async fn pause(delay: Duration) {
    if delay.is_zero() {
        yield_now().await;
    } else {
        sleep(delay).await;
    }
}

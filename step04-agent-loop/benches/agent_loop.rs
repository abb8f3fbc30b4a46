//! What the agent loop costs: 1 MB of text in deltas of 4 bytes, from the model to a listener.

mod growth;

use std::sync::Arc;
use std::time::{Duration, Instant};

use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::Agent;
use step04_agent_loop::event::DoneReason;
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::Context;
use step04_agent_loop::model::{Model, StreamOptions};
use step04_agent_loop::reply::{Reply, ReplyStream};
use step04_agent_loop::settings::Settings;
use step04_agent_loop::tool::Toolbox;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

/// A tenth of 1 MB, and 1 MB.
const DELTAS: [usize; 2] = [26_214, 262_140];

/// Has said everything before anybody listens.
struct Buffered {
    deltas: usize,
}

impl Model for Buffered {
    fn stream(&self, context: &Context, _: StreamOptions) -> ReplyStream {
        let (reply, stream) = Reply::start_after(context);
        let text = reply.text();
        for _ in 0..self.deltas {
            text.delta("abcd").expect("the stream is here");
        }
        text.end();
        reply.done(DoneReason::Stop);
        stream
    }
}

fn main() {
    growth::head("event");
    // 60 ms for the 262,140 deltas of 1 MB; Pi takes 888 ms.
    let aim = Some(0.229);
    growth::rows("agent loop, in place", &DELTAS, aim, |deltas| run(deltas, Fold::InPlace));
    growth::rows("agent loop, on done", &DELTAS, aim, |deltas| run(deltas, Fold::OnDone));
}

/// One run, model included.
fn run(deltas: usize, fold: Fold) -> Duration {
    let runtime = Builder::new_current_thread().enable_time().build();
    runtime.expect("a clock is always there").block_on(async {
        let settings = Settings { fold, ..Settings::default() };
        let mut agent = Agent::new(Arc::new(Buffered { deltas }), Toolbox::default(), settings);
        let mut updates = 0;
        let mut listeners = Listeners::new();
        listeners
            .add(|event| updates += usize::from(matches!(event, AgentEvent::MessageUpdate(_))));
        let started = Instant::now();
        agent.run("go", &CancellationToken::new(), &mut listeners).await;
        let time = started.elapsed();
        drop(listeners);
        assert_eq!(updates, deltas + 2); // and the block's start and end
        assert_eq!(agent.context.messages.len(), 2);
        time
    })
}

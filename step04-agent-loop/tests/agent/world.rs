//! A world to run agents in: models, listeners and moments to stop, with every fault we could think
//! of, and a record of what came of it.
//!
//! All of it is data, so that proptest can make it up and shrink it. Time is tokio's paused clock:
//! an hour passes in no time, and the same case always runs the same way.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, Once};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::event::{Change, DoneReason, StreamEvent};
use step04_agent_loop::event_stream::event_stream;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::message::{Context, StopReason};
use step04_agent_loop::model::{Model, StreamOptions};
use step04_agent_loop::reply::{Reply, ReplyStream};
use step04_agent_loop::script::{self, Block, Rule, Script};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::tools::{Ran, toolbox};

/// What a model does with one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Plays a scripted reply.
    Plays(script::Reply),
    /// The same, but it has not looked which ids are taken.
    Careless(script::Reply),
    /// These of its events, in this order.
    Shuffled(script::Reply, Vec<usize>),
    /// `done`, in which the final message says that it ended otherwise, and has no good ids.
    Contradicts(script::Reply, Option<StopReason>),
    /// The stream ends without any event.
    SaysNothing,
    /// The stream never has any event.
    NeverAnswers,
    /// `stream` itself panics.
    Panics,
}

/// Gives its answers one after the other; when they are used up it says goodbye.
#[derive(Default)]
pub struct TestModel {
    pub answers: Mutex<VecDeque<Answer>>,
    /// What it was asked.
    pub requests: Mutex<Vec<Context>>,
}

impl Model for TestModel {
    fn stream(&self, context: &Context, options: StreamOptions) -> ReplyStream {
        self.requests.lock().unwrap().push(context.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        match answer.unwrap_or_else(goodbye) {
            Answer::Plays(reply) => fake(reply).stream(context, options),
            Answer::Careless(reply) => fake(reply).stream(&Context::default(), options),
            Answer::Shuffled(reply, order) => {
                let events = written(&reply);
                stream_of(order.iter().map(|at| events[at % events.len()].clone()))
            }
            Answer::Contradicts(reply, says) => {
                stream_of(written(&reply).into_iter().map(|mut event| {
                    if let Change::Done { message, .. } = &mut event.change {
                        message.stop_reason = says;
                        spoil_ids(&mut message.content);
                    }
                    event
                }))
            }
            Answer::SaysNothing => stream_of([]),
            Answer::NeverAnswers => {
                let (producer, stream) = event_stream(|_| None);
                tokio::spawn(async move {
                    producer.closed().await; // it does go away when nobody listens
                });
                stream
            }
            Answer::Panics => panic!("bug: in a model"),
        }
    }
}

fn goodbye() -> Answer {
    let content = vec![Block::Text("bye".into())];
    Answer::Plays(script::Reply { content, ..script::Reply::default() })
}

/// A model that says one thing, whatever it is asked.
pub fn fake(reply: script::Reply) -> FakeModel {
    let rule = Rule { replies: vec![reply], repeat: true, ..Rule::default() };
    FakeModel::new(Script { rules: vec![rule], ..Script::default() })
}

/// The events of a reply that says all its blocks at once and is done.
fn written(reply: &script::Reply) -> Vec<StreamEvent> {
    let (pen, stream) = Reply::start();
    for block in &reply.content {
        let (writer, text) = match block {
            Block::Text(text) => (pen.text(), Some(text)),
            Block::Thinking(text) => (pen.thinking(), Some(text)),
            Block::ToolCall(call) => {
                (pen.tool_call(&call.id, &call.name), call.arguments_text.as_ref())
            }
        };
        text.into_iter().for_each(|text| writer.delta(text.as_str()).unwrap());
        writer.end();
    }
    pen.done(DoneReason::ToolUse);
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

/// A stream of these events: what a `Reply` would never write.
fn stream_of(events: impl IntoIterator<Item = StreamEvent>) -> ReplyStream {
    let (producer, stream) =
        event_stream(|event: &StreamEvent| event.change.final_message().cloned());
    events.into_iter().for_each(|event| producer.push(event).unwrap());
    stream
}

/// All alike, and every second one empty.
fn spoil_ids(content: &mut [step04_agent_loop::message::ContentBlock]) {
    for (number, block) in content.iter_mut().enumerate() {
        if let step04_agent_loop::message::ContentBlock::ToolCall(call) = block {
            call.id = if number % 2 == 0 { String::new() } else { "a".into() };
        }
    }
}

/// When a run is stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// Only if it has not ended after a minute.
    Patient,
    /// Before it begins.
    Before,
    /// By a listener, at an event.
    AtEvent(usize),
    /// Between two awaits.
    AtPoll(usize),
    /// After so many milliseconds.
    After(u64),
    /// Not stopped, but dropped: between two awaits its future is gone.
    DroppedAt(usize),
}

/// One user message, and all that happens until the agent is done with it.
#[derive(Debug, Clone)]
pub struct Run {
    pub answers: Vec<Answer>,
    pub stop: Stop,
    /// A listener that panics at this event.
    pub panicking_listener: usize,
}

/// A conversation.
#[derive(Debug, Clone)]
pub struct World {
    pub runs: Vec<Run>,
    pub settings: Settings,
}

/// What came of one run.
pub struct Record {
    /// The events, and when they came.
    pub events: Vec<(Instant, AgentEvent)>,
    /// How many events a listener saw that stands behind one that panicked.
    pub heard_behind: usize,
    /// How many the panicking one saw.
    pub heard_by_panicking: usize,
    pub cancelled: Option<Instant>,
    /// How many requests had been made by then, and how many tools had begun.
    pub begun_by_then: Option<(usize, usize)>,
    /// `None`: it was dropped.
    pub ended: Option<Instant>,
    pub before: Context,
    pub after: Context,
    /// What the model was asked.
    pub requests: Vec<Context>,
    /// The tags of the calls that were run.
    pub ran: Vec<u64>,
}

impl Record {
    pub fn events(&self) -> Vec<AgentEvent> {
        self.events.iter().map(|(_, event)| event.clone()).collect()
    }
}

/// Plays a conversation. It panics if a run hangs.
pub fn play(world: &World) -> Vec<Record> {
    hush();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (model, ran) = (Arc::new(TestModel::default()), Arc::new(Ran::default()));
        let mut agent = Agent::new(model.clone(), toolbox(&ran), world.settings);
        let mut records = Vec::new();
        for run in &world.runs {
            records.push(play_run(run, &mut agent, &model, &ran).await);
        }
        records
    })
}

/// Panics that are part of a test are not printed: there are thousands.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let expected = text.is_none_or(|text| text.starts_with("bug: "));
            if !expected {
                usual(info);
            }
        }));
    });
}

async fn play_run(run: &Run, agent: &mut Agent, model: &TestModel, ran: &Ran) -> Record {
    *model.answers.lock().unwrap() = run.answers.clone().into();
    model.requests.lock().unwrap().clear();
    ran.lock().unwrap().clear();
    let before = agent.context.clone();
    let (token, cancelled) = (CancellationToken::new(), Mutex::new(None));
    let stop = || {
        let begun = (model.requests.lock().unwrap().len(), ran.lock().unwrap().len());
        cancelled.lock().unwrap().get_or_insert((Instant::now(), begun));
        token.cancel();
    };
    let (mut events, mut heard_by_panicking, mut heard_behind) = (Vec::new(), 0, 0);
    let mut count = 0;
    let mut listeners = Listeners::new();
    listeners.add(|_| {
        if run.stop == Stop::AtEvent(count) {
            stop();
        }
        count += 1;
    });
    listeners.add(|event| events.push((Instant::now(), event.clone())));
    listeners.add(|_| {
        heard_by_panicking += 1;
        assert!(heard_by_panicking <= run.panicking_listener, "bug: in a listener");
    });
    listeners.add(|_| heard_behind += 1);
    if run.stop == Stop::Before {
        stop();
    }
    let ended = {
        let mut running = pin!(agent.run("go", &token, &mut listeners));
        let patience = if let Stop::After(millis) = run.stop { millis } else { 60_000 };
        let mut patience = pin!(sleep(Duration::from_millis(patience)).fuse());
        let mut polls = 0;
        let driven = poll_fn(|cx| {
            if run.stop == Stop::DroppedAt(polls) {
                return Poll::Ready(None);
            }
            if run.stop == Stop::AtPoll(polls) || patience.as_mut().poll(cx).is_ready() {
                stop(); // once and for all: the fused timer is ready once
            }
            polls += 1;
            running.as_mut().poll(cx).map(|()| Some(Instant::now()))
        });
        timeout(Duration::from_secs(120), driven).await.expect("a run hangs")
    };
    drop(listeners);
    let cancelled = *cancelled.lock().unwrap();
    Record {
        events,
        heard_behind,
        heard_by_panicking,
        cancelled: cancelled.map(|(at, _)| at),
        begun_by_then: cancelled.map(|(_, begun)| begun),
        ended,
        before,
        after: agent.context.clone(),
        requests: model.requests.lock().unwrap().clone(),
        ran: ran.lock().unwrap().clone(),
    }
}

/// One run with these replies, in the JSON of a script.
pub fn run_once(replies: serde_json::Value, stop: Stop, settings: Settings) -> Record {
    let replies: Vec<script::Reply> = serde_json::from_value(replies).unwrap();
    let answers = replies.into_iter().map(Answer::Plays).collect();
    let run = Run { answers, stop, panicking_listener: usize::MAX };
    play(&World { runs: vec![run], settings }).remove(0)
}

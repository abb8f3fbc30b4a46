//! L7 at every point there is: each event and each await of a run that has everything in it.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::{Message, StopReason};
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::reply::ABORTED;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};
use tokio::sync::oneshot;
use tokio::time::{Instant, advance};
use tokio_util::sync::CancellationToken;

use super::check::{brackets, well_formed};
use super::world::{Record, Stop, fake, run_once};

/// Text, thinking, and six tools: three that stop when told to, one that ends a little later all the
/// same, one that talks, and one that never answers.
fn everything() -> Value {
    json!([
        {"content": [
            {"thinking": "let me see"},
            {"text": "I look."},
            {"toolCall": {"id": "a", "name": "slow", "arguments": {"ms": 50}}},
            {"toolCall": {"id": "b", "name": "chatty", "arguments": {"ms": 30, "n": 5}}},
            {"toolCall": {"id": "c", "name": "stubborn", "arguments": {"ms": 300}}},
            {"toolCall": {"id": "d", "name": "slow", "arguments": {"ms": 400}}},
            {"toolCall": {"id": "e", "name": "fails"}},
            {"toolCall": {"id": "f", "name": "deaf"}},
        ], "chunk": {"size": 8}, "pace": {"delayMs": 5}},
        {"content": [{"text": "never said"}]},
    ])
}

fn check(record: &Record, what: &str) {
    assert_eq!(brackets(&record.events()), Ok(()), "{what}");
    assert_eq!(well_formed(&record.after), Ok(()), "{what}");
    let took = record.ended.unwrap() - record.cancelled.unwrap();
    assert!(took < Duration::from_secs(1), "{what}: {took:?}");
}

/// Stops the run at each moment in turn, until it ends before that moment.
fn at_every(moment: fn(usize) -> Stop, settings: Settings) -> usize {
    let minute = Duration::from_secs(60);
    for number in 0.. {
        let record = run_once(everything(), moment(number), settings);
        check(&record, &format!("{:?}, {settings:?}", moment(number)));
        if record.cancelled.unwrap() >= record.events[0].0 + minute {
            return number; // it was patience that ended, with the tool that never answers
        }
    }
    unreachable!()
}

fn all_settings() -> impl Iterator<Item = Settings> {
    let folds = [Fold::InPlace, Fold::OnDone].into_iter();
    folds.flat_map(|fold| {
        [false, true].map(|sequential| Settings { fold, sequential, ..Settings::default() })
    })
}

#[test]
fn l7_at_every_event() {
    for settings in all_settings() {
        let moments = at_every(Stop::AtEvent, settings);
        assert!(moments > 40, "{moments}");
    }
}

#[test]
fn l7_at_every_await() {
    for settings in all_settings() {
        let moments = at_every(Stop::AtPoll, settings);
        assert!(moments > 20, "{moments}");
    }
}

#[test]
fn l7_at_every_tick_of_the_clock() {
    for millis in (0..800).step_by(7) {
        let record = run_once(everything(), Stop::After(millis), Settings::default());
        check(&record, &format!("after {millis} ms"));
    }
}

/// A run that is dropped can't close its brackets. The next one begins with a good history.
#[test]
fn l3_dropped_at_every_await() {
    use super::world::{Answer, Run, World, play};
    let answers = |replies: Value| -> Vec<Answer> {
        let replies: Vec<_> = serde_json::from_value(replies).unwrap();
        replies.into_iter().map(Answer::Plays).collect()
    };
    for settings in all_settings() {
        for number in 0..60 {
            let run = |replies, stop| Run {
                answers: answers(replies),
                stop,
                panicking_listener: usize::MAX,
            };
            let runs = vec![
                run(everything(), Stop::DroppedAt(number)),
                run(json!([{"content": [{"text": "hello again"}]}]), Stop::Patient),
            ];
            let records = play(&World { runs, settings });
            let [request] = &records[1].requests[..] else { panic!("one request") };
            assert_eq!(well_formed(request), Ok(()), "{number}: {request:#?}");
            assert!(request.messages.len() > records[0].before.messages.len());
            // What had been told stays, as far as the bargain goes.
            if let Some(Message::Assistant(reply)) = records[0].after.messages.get(1) {
                let Message::Assistant(mended) = &request.messages[1] else { panic!("a reply") };
                assert_eq!(mended.content, reply.content);
                let reason = reply.stop_reason.unwrap_or(StopReason::Aborted);
                assert_eq!(mended.stop_reason, Some(reason));
                if reply.stop_reason.is_none() {
                    assert_eq!(mended.error_message.as_deref(), Some(ABORTED));
                }
            }
        }
    }
}

/// Blocks a thread until it is let go, and hears nothing meanwhile.
struct Stuck {
    entered: Mutex<Option<oneshot::Sender<()>>>,
    let_go: Mutex<Option<mpsc::Receiver<()>>>,
}

impl Tool for Stuck {
    fn name(&self) -> &str {
        "stuck"
    }

    fn description(&self) -> &str {
        "for tests"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn execute(
        &self,
        _: ToolArguments,
        _: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let entered = self.entered.lock().unwrap().take().unwrap();
        let let_go = self.let_go.lock().unwrap().take().unwrap();
        async move {
            let thread = tokio::task::spawn_blocking(move || {
                entered.send(()).unwrap();
                let _ = let_go.recv();
            });
            thread.await.unwrap();
            Ok(ToolOutput::new("let go"))
        }
        .boxed()
    }
}

/// A thread can't be stopped. The run ends without it.
#[tokio::test(start_paused = true)]
async fn l7_a_tool_that_blocks_its_thread() {
    let (entered, is_in) = oneshot::channel();
    let (release, let_go) = mpsc::channel();
    let stuck = Stuck { entered: Mutex::new(Some(entered)), let_go: Mutex::new(Some(let_go)) };
    let reply = json!({"content": [{"toolCall": {"id": "a", "name": "stuck"}}]});
    let model = fake(serde_json::from_value(reply).unwrap());
    let tools = Toolbox::new(vec![Arc::new(stuck)]);
    let mut agent = Agent::new(Arc::new(model), tools, Settings::default());
    let token = CancellationToken::new();
    let mut events = Vec::new();
    let mut listeners = Listeners::new();
    listeners.add(|event| events.push((Instant::now(), event.clone())));
    // The paused clock does not go on by itself while a thread is busy, so it is moved by hand.
    let person = async {
        is_in.await.unwrap();
        token.cancel();
        let cancelled = Instant::now();
        loop {
            advance(Duration::from_millis(100)).await;
            assert!(cancelled.elapsed() < Duration::from_secs(1), "the run waits for the thread");
        }
    };
    tokio::select! {
        biased;
        () = agent.run("go", &token, &mut listeners) => {}
        () = person => {}
    }
    drop(listeners);
    drop(release); // or the runtime would wait for the thread
    let events: Vec<_> = events.into_iter().map(|(_, event)| event).collect();
    assert_eq!(brackets(&events), Ok(()));
    let Some(AgentEvent::AgentEnd { messages }) = events.last() else { panic!("no agent_end") };
    let Message::ToolResult(result) = &messages[2] else { panic!("no result") };
    assert!(result.is_error);
    assert_eq!(result.content[0].body(), ToolError::Aborted.to_string());
}

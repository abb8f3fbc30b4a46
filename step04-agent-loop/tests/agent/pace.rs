//! L6: how often progress is shown, seen through the whole loop.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::throttle::UPDATE_INTERVAL;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::world::{Stop, fake, run_once};

/// Says `0`, `1`, … after these pauses in milliseconds, and ends after the last one.
struct Timed(Vec<u64>);

impl Tool for Timed {
    fn name(&self) -> &str {
        "timed"
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
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let pauses = self.0.clone();
        async move {
            for (number, pause) in pauses.iter().enumerate() {
                sleep(Duration::from_millis(*pause)).await;
                if number + 1 < pauses.len() {
                    run.update(number.to_string());
                }
            }
            Ok(ToolOutput::new("done"))
        }
        .boxed()
    }
}

/// What is shown, when, since the tool started; and when it ended.
struct Shown {
    updates: Vec<(Duration, usize)>,
    end: Duration,
}

fn shown(pauses: &[u64], beside: &[u64]) -> Shown {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let other = Timed(beside.to_vec());
        let tools = vec![Arc::new(Timed(pauses.to_vec())) as Arc<dyn Tool>, Arc::new(Other(other))];
        let reply = json!({"content": [{"toolCall": {"id": "a", "name": "timed"}},
            {"toolCall": {"id": "b", "name": "other"}}], "end": "toolUse"});
        let model = fake(serde_json::from_value(reply).unwrap());
        let settings = Settings { max_turns: 1, ..Settings::default() };
        let mut agent = Agent::new(Arc::new(model), Toolbox::new(tools), settings);
        let (mut start, mut updates, mut end) = (Instant::now(), Vec::new(), None);
        let mut listeners = Listeners::new();
        listeners.add(|event| match event {
            AgentEvent::ToolExecutionStart { .. } => start = Instant::now(),
            AgentEvent::ToolExecutionUpdate { tool_call_id, partial_result, .. }
                if tool_call_id == "a" =>
            {
                let text = partial_result.content[0].body().parse().unwrap();
                updates.push((start.elapsed(), text));
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, .. } if tool_call_id == "a" => {
                end = Some(start.elapsed());
            }
            _ => {}
        });
        agent.run("go", &CancellationToken::new(), &mut listeners).await;
        drop(listeners);
        Shown { updates, end: end.unwrap() }
    })
}

/// The same tool under another name.
struct Other(Timed);

impl Tool for Other {
    fn name(&self) -> &str {
        "other"
    }

    fn description(&self) -> &str {
        self.0.description()
    }

    fn schema(&self) -> Value {
        self.0.schema()
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        self.0.execute(arguments, run)
    }
}

fn pauses() -> impl Strategy<Value = Vec<u64>> {
    vec(prop_oneof![3 => 0..20u64, 1 => 0..150u64], 1..25)
}

proptest! {
    /// Whatever another tool says meanwhile: the first at once, then one per interval; nothing is
    /// kept back for longer than that; the last one is shown before the end; the end is on time.
    #[test]
    fn l6_progress_at_a_pace(pauses in pauses(), beside in pauses()) {
        let Shown { updates, end } = shown(&pauses, &beside);
        let mut now = Duration::ZERO;
        let said: Vec<_> = pauses.iter().map(|ms| { now += Duration::from_millis(*ms); now }).collect();
        let (finished, said) = said.split_last().unwrap();
        prop_assert_eq!(end, *finished);
        prop_assert_eq!(updates.first().map(|first| first.0), said.first().copied());
        prop_assert_eq!(updates.last().map(|last| last.1), said.len().checked_sub(1));
        for (number, pair) in updates.windows(2).enumerate() {
            let flushed = number + 2 == updates.len() && pair[1].0 == end;
            prop_assert!(pair[0].1 < pair[1].1, "{updates:?}");
            prop_assert!(flushed || pair[1].0 - pair[0].0 >= UPDATE_INTERVAL, "{updates:?}");
        }
        for (number, at) in said.iter().enumerate() {
            let seen = updates.iter().find(|(_, shown)| *shown >= number).unwrap();
            prop_assert!(seen.0 >= *at && seen.0 <= *at + UPDATE_INTERVAL, "{number}: {updates:?}");
        }
    }
}

/// 1,000 updates in 100 ms: two are shown, the first and the last.
#[test]
fn a_thousand_updates_in_an_interval() {
    let mut pauses = vec![0; 1_001];
    (0..100).for_each(|number| pauses[number * 10] = u64::from(number > 0));
    let shown = shown(&pauses, &[0]);
    assert_eq!(shown.updates, [(Duration::ZERO, 0), (Duration::from_millis(99), 999)]);
    assert_eq!(shown.end, Duration::from_millis(99));
}

#[test]
fn updates_after_the_end_are_ignored() {
    let replies = json!([{"content": [
        {"toolCall": {"id": "a", "name": "talks_on", "arguments": {"ms": 50}}},
        {"toolCall": {"id": "b", "name": "slow", "arguments": {"ms": 5000}}},
    ]}]);
    let record = run_once(replies, Stop::Patient, Settings::default());
    let said = record.events().into_iter().filter_map(|event| match event {
        AgentEvent::ToolExecutionUpdate { partial_result, .. } => Some(partial_result.content),
        _ => None,
    });
    let said: Vec<_> = said.flatten().map(|block| block.body().to_owned()).collect();
    assert_eq!(said, ["before the end"]);
}

/// A tool that never stops talking holds up nobody else.
#[tokio::test(start_paused = true)]
async fn a_flood_of_updates_holds_up_nobody() {
    struct Flood;
    impl Tool for Flood {
        fn name(&self) -> &str {
            "flood"
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
            run: ToolRun,
        ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
            async move {
                while !run.cancel.is_cancelled() {
                    (0..1_000).for_each(|number| run.update(number.to_string()));
                    yield_now().await;
                }
                Err(ToolError::Aborted)
            }
            .boxed()
        }
    }
    let reply = json!({"content": [{"toolCall": {"id": "a", "name": "flood"}},
        {"toolCall": {"id": "b", "name": "other"}}], "end": "toolUse"});
    let model = fake(serde_json::from_value(reply).unwrap());
    let tools = Toolbox::new(vec![Arc::new(Flood), Arc::new(Other(Timed(Vec::new())))]);
    let mut agent = Agent::new(Arc::new(model), tools, Settings::default());
    let token = CancellationToken::new();
    let mut ends = Vec::new();
    let mut listeners = Listeners::new();
    listeners.add(|event| {
        if let AgentEvent::ToolExecutionEnd { tool_call_id, .. } = event {
            ends.push(tool_call_id.clone());
            token.cancel(); // the flood stops only now
        }
    });
    agent.run("go", &token, &mut listeners).await;
    drop(listeners);
    assert_eq!(ends, ["b", "a"]);
}

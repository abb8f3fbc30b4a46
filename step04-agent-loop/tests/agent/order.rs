//! L4: the order of calls that run side by side, and of those that don't.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::agent_loop::Settings;
use step04_agent_loop::message::Message;
use tokio::time::Instant;

use super::world::{Record, Stop, run_once};

/// The tool events and results of a run, in short.
fn lines(record: &Record) -> Vec<(Instant, String)> {
    let line = |(at, event): &(Instant, AgentEvent)| {
        let line = match event {
            AgentEvent::ToolExecutionStart { tool_call_id, .. } => format!("start {tool_call_id}"),
            AgentEvent::ToolExecutionEnd { tool_call_id, .. } => format!("end {tool_call_id}"),
            AgentEvent::MessageEnd { message: Message::ToolResult(result) } => {
                format!("result {}", result.tool_call_id)
            }
            _ => return None,
        };
        Some((*at, line))
    };
    record.events.iter().filter_map(line).collect()
}

/// How long each call takes: all different, in any order.
fn durations() -> impl Strategy<Value = Vec<u64>> {
    (1..7usize).prop_flat_map(|count| {
        let durations = (1..=count as u64).map(|number| 20 * number).collect::<Vec<_>>();
        Just(durations).prop_shuffle()
    })
}

fn run(durations: &[u64], alone: Option<usize>, sequential: bool) -> Record {
    let call = |(number, ms): (usize, &u64)| {
        let name = if alone == Some(number) { "alone" } else { "slow" };
        json!({"toolCall": {"id": format!("c{number}"), "name": name, "arguments": {"ms": ms}}})
    };
    let content: Vec<_> = durations.iter().enumerate().map(call).collect();
    let settings = Settings { sequential, ..Settings::default() };
    run_once(json!([{"content": content}]), Stop::Patient, settings)
}

proptest! {
    /// Side by side: starts in source order and at once, ends as they finish and when they finish,
    /// results in source order once all have ended.
    #[test]
    fn l4_side_by_side(durations in durations()) {
        let lines = lines(&run(&durations, None, false));
        let start = lines[0].0;
        let count = durations.len();
        let mut finishing: Vec<_> = (0..count).collect();
        finishing.sort_by_key(|&number| durations[number]);
        let at = |ms: u64| start + Duration::from_millis(ms);
        let longest = *durations.iter().max().unwrap();
        let mut expected: Vec<_> = (0..count).map(|c| (start, format!("start c{c}"))).collect();
        expected.extend(finishing.iter().map(|&c| (at(durations[c]), format!("end c{c}"))));
        expected.extend((0..count).map(|c| (at(longest), format!("result c{c}"))));
        prop_assert_eq!(lines, expected);
    }

    /// One after the other, because the settings say so or because one tool asks for it: each has
    /// ended and has its result before the next one starts.
    #[test]
    fn l4_one_after_the_other(durations in durations(), alone in any::<Option<Index>>()) {
        let alone = alone.map(|alone| alone.index(durations.len()));
        let lines = lines(&run(&durations, alone, alone.is_none()));
        let mut now = lines[0].0;
        let mut expected = Vec::new();
        for (number, ms) in durations.iter().enumerate() {
            expected.push((now, format!("start c{number}")));
            now += Duration::from_millis(*ms);
            expected.push((now, format!("end c{number}")));
            expected.push((now, format!("result c{number}")));
        }
        prop_assert_eq!(lines, expected);
    }
}

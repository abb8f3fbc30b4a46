//! The laws of the loop, L1 to L8, over conversations made up at random.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::event::fold;
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::{AssistantMessage, Message, StopReason};
use step04_agent_loop::partial_json::parse_arguments;

use super::check::{brackets, replies, runs_its_calls, well_formed};
use super::strategies::{cases, world};
use super::world::{Record, play};

/// The runs that were not dropped: who drops a run hears nothing more of it.
fn whole(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|record| record.ended.is_some())
}

proptest! {
    // Each case is a whole conversation.
    #![proptest_config(cases(128))]

    /// L1: brackets nest and close; and a listener that panics costs the others nothing.
    #[test]
    fn l1_brackets_nest_and_close(world in world()) {
        for record in whole(&play(&world)) {
            prop_assert_eq!(brackets(&record.events()), Ok(()), "{:#?}", record.events());
            prop_assert_eq!(record.heard_behind, record.events.len());
        }
    }

    /// L1: a listener that has panicked is not called again.
    #[test]
    fn l1_a_listener_that_panicked_is_left_alone(world in world()) {
        for (run, record) in world.runs.iter().zip(play(&world)) {
            let heard = record.events.len().min(run.panicking_listener + 1);
            prop_assert_eq!(record.heard_by_panicking, heard);
        }
    }

    /// L2: a tool runs only for a call of a message that ended well, and once.
    #[test]
    fn l2_only_whole_calls_run(world in world()) {
        for record in whole(&play(&world)) {
            let mut may_run: HashMap<u64, i64> = HashMap::new();
            for reply in replies(&record.events()).iter().filter(|reply| runs_its_calls(reply)) {
                for call in reply.tool_calls() {
                    if let Ok(arguments) = parse_arguments(&call.arguments_text) {
                        let unable = ["unknown", "panics_when_asked"].contains(&call.name.as_str());
                        let tag = arguments.as_value()["tag"].as_u64().unwrap_or(0);
                        *may_run.entry(tag).or_default() += i64::from(!unable);
                    }
                }
            }
            for tag in &record.ran {
                *may_run.entry(*tag).or_default() -= 1;
            }
            let left: i64 = may_run.values().sum();
            prop_assert!(may_run.values().all(|&count| count >= 0), "{may_run:?}");
            prop_assert!(left == 0 || record.cancelled.is_some(), "a call did not run: {may_run:?}");
        }
    }

    /// L2: `done(length)`: each call gets an error that speaks of truncation. `done(toolUse)` without
    /// a call is an error. An error of the loop is the last turn, and empty.
    #[test]
    fn l2_what_the_stop_reason_means(world in world()) {
        for record in whole(&play(&world)) {
            let events = record.events();
            for event in &events {
                if let AgentEvent::TurnEnd { message, tool_results } = event
                    && message.stop_reason == Some(StopReason::Length)
                {
                    for result in tool_results {
                        prop_assert!(result.is_error, "{result:?}");
                        let text = format!("{:?}", result.content);
                        prop_assert!(text.contains("truncated"), "{text}");
                    }
                }
            }
            let replies = replies(&events);
            for (number, reply) in replies.iter().enumerate() {
                let reason = reply.stop_reason.unwrap();
                let calls = reply.tool_calls().count();
                let goes_on = match reason {
                    StopReason::ToolUse if calls == 0 => {
                        let next = replies.get(number + 1);
                        let why = next.and_then(|next| next.error_message.as_deref());
                        prop_assert!(why.is_some_and(|why| why.contains("called no tool")));
                        true
                    }
                    StopReason::Error | StopReason::Aborted => false,
                    _ => calls > 0,
                };
                prop_assert_eq!(goes_on, number + 1 < replies.len());
            }
        }
    }

    /// L3: whatever has happened, the next request is well formed, and so is what a run leaves.
    #[test]
    fn l3_every_request_is_well_formed(world in world()) {
        for record in play(&world) {
            for request in &record.requests {
                prop_assert_eq!(well_formed(request), Ok(()), "{:#?}", request);
            }
            if record.ended.is_some() {
                prop_assert_eq!(well_formed(&record.after), Ok(()), "{:#?}", record.after);
            }
        }
    }

    /// L3: what was said stays: a run only adds to the history.
    #[test]
    fn l3_history_only_grows(world in world()) {
        let mut before = Vec::new();
        for record in whole(&play(&world)) {
            if record.before.messages == before {
                prop_assert_eq!(&record.after.messages[..before.len()], &before[..]);
            }
            before.clone_from(&record.after.messages);
        }
    }

    /// L5: what a run leaves in the history is what its events have said, by the bargain.
    #[test]
    fn l5_the_history_is_what_was_told(world in world()) {
        for record in whole(&play(&world)) {
            let events = record.events();
            let told: Vec<_> = events
                .iter()
                .filter_map(|event| match event {
                    AgentEvent::MessageEnd { message } => Some(message.clone()),
                    _ => None,
                })
                .filter(|message| match message {
                    Message::Assistant(reply) => {
                        world.settings.fold == Fold::InPlace
                            || runs_its_calls(reply)
                            || reply.stop_reason == Some(StopReason::Length)
                    }
                    _ => true,
                })
                .collect();
            let Some(AgentEvent::AgentEnd { messages }) = events.last() else { unreachable!() };
            prop_assert_eq!(&told, messages);
            prop_assert!(record.after.messages.ends_with(&told));
        }
    }

    /// L5, at every moment: a run that is dropped has in its history the fold of the events so far.
    #[test]
    fn l5_history_is_folded_event_by_event(mut world in world(), polls in 0..60usize) {
        world.runs.truncate(1);
        world.runs[0].stop = super::world::Stop::DroppedAt(polls);
        for record in play(&world).iter().filter(|record| record.ended.is_none()) {
            let mut growing: Option<AssistantMessage> = None;
            for event in record.events() {
                match event {
                    AgentEvent::MessageStart { message: Message::Assistant(message) } => {
                        growing = Some(message);
                    }
                    AgentEvent::MessageUpdate(update) => {
                        fold(growing.as_mut().unwrap(), &update.0.change);
                    }
                    AgentEvent::MessageEnd { .. } => growing = None,
                    _ => {}
                }
            }
            if let Some(growing) = growing {
                let grows_there = world.settings.fold == Fold::InPlace;
                let last = record.after.messages.last();
                prop_assert_eq!(last == Some(&Message::Assistant(growing)), grows_there);
            }
        }
    }

    /// L7: once it is told to stop, a run ends within a second, whoever does not listen; and what
    /// was running has not succeeded.
    #[test]
    fn l7_an_abort_takes_less_than_a_second(world in world()) {
        for record in whole(&play(&world)) {
            let Some(cancelled) = record.cancelled else { continue };
            let took = record.ended.unwrap().duration_since(cancelled);
            prop_assert!(took < Duration::from_secs(1), "{took:?}");
            let late = record.events.iter().filter(|(at, _)| *at > cancelled);
            for (_, event) in late {
                if let AgentEvent::ToolExecutionEnd { is_error, .. } = event {
                    prop_assert!(is_error);
                }
                prop_assert!(!matches!(event, AgentEvent::MessageUpdate(_)), "{event:?}");
            }
        }
    }

    /// L7: nothing begins once the run is told to stop: no tool, and no request.
    #[test]
    fn l7_nothing_begins_after_an_abort(world in world()) {
        for record in play(&world) {
            if let Some(begun) = record.begun_by_then {
                prop_assert_eq!(begun, (record.requests.len(), record.ran.len()));
            }
        }
    }

    /// L7: a run that was stopped says so: its last reply broke off, or was whole by then.
    #[test]
    fn l7_an_abort_is_told(world in world()) {
        for record in whole(&play(&world)) {
            let replies = replies(&record.events());
            let last = replies.last().unwrap();
            let aborted = last.stop_reason == Some(StopReason::Aborted);
            prop_assert_eq!(aborted && last.error_message.is_none(), false);
            let was_waiting = record.events.iter().rev().find_map(|(at, event)| match event {
                AgentEvent::TurnStart => Some(record.cancelled.is_some_and(|stop| *at > stop)),
                _ => None,
            });
            if was_waiting == Some(true) {
                prop_assert!(aborted && last.content.is_empty(), "{last:?}");
            }
        }
    }

    /// L8: no more requests than allowed; and if the model still had calls, an error says so.
    #[test]
    fn l8_a_cap_on_turns(world in world()) {
        let cap = world.settings.max_turns.max(1);
        let capped = |reply: &AssistantMessage| {
            reply.error_message.as_deref().is_some_and(|why| why.contains("max-turns"))
        };
        for record in whole(&play(&world)) {
            let replies = replies(&record.events());
            prop_assert!(record.requests.len() <= cap);
            let [before @ .., last] = &replies[..] else { panic!("no reply") };
            prop_assert!(!before.iter().any(capped));
            let wanted_more = before.len() == cap && before[cap - 1].tool_calls().count() > 0;
            let stopped = last.stop_reason == Some(StopReason::Aborted);
            prop_assert_eq!(capped(last), wanted_more && !stopped, "{:#?}", replies);
        }
    }
}

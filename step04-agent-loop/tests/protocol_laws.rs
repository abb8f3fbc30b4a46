//! The laws of the protocol, P1 to P7, over replies made up at random.

mod common;

use std::collections::HashSet;

use common::{Finish, Op, changes, check_order, finish, ops, order, perform, result, take};
use proptest::prelude::*;
use proptest::sample::Index;
use step04_agent_loop::event::{Change, DoneReason, ErrorReason, StreamEvent, fold};
use step04_agent_loop::message::ToolCall;
use step04_agent_loop::message::{AssistantMessage, ContentBlock, Context, Message, StopReason};
use step04_agent_loop::reply::{ABORTED, EARLY_END, Reply};

/// The message that `changes` add up to.
fn folded(changes: &[Change]) -> AssistantMessage {
    let mut message = AssistantMessage::default();
    for change in changes {
        fold(&mut message, change);
    }
    message
}

/// The messages after each of `changes`.
fn snapshots(changes: &[Change]) -> Vec<AssistantMessage> {
    let mut message = AssistantMessage::default();
    let mut after = |change| {
        fold(&mut message, change);
        message.clone()
    };
    changes.iter().map(&mut after).collect()
}

proptest! {
    /// P1 and P2: one terminal event, last; deltas add up to ends and to the message.
    #[test]
    fn p1_p2_one_end_and_deltas_add_up(ops in ops(), finish in finish()) {
        let stream = perform(&ops, &finish, |_| ());
        check_order(&changes(&take(&stream)));
    }

    /// P3, consumed live: each partial is looked at when its event comes.
    #[test]
    fn p3_a_partial_is_exact_when_live(ops in ops(), finish in finish()) {
        let mut seen = Vec::new();
        perform(&ops, &finish, |stream| {
            for event in take(stream) {
                seen.push((event.change, event.partial.message()));
            }
        });
        let (changes, partials): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
        prop_assert_eq!(snapshots(&changes), partials);
    }

    /// P3, consumed late: all events were buffered, and the last one is looked at first.
    #[test]
    fn p3_a_partial_is_exact_when_late(ops in ops(), finish in finish()) {
        let events = take(&perform(&ops, &finish, |_| ()));
        let expected = snapshots(&changes(&events));
        for (event, expected) in events.iter().zip(expected).rev() {
            prop_assert_eq!(event.partial.message(), expected);
        }
    }

    /// P3: the number, the lengths told without copying, and what `Debug` shows are those of its
    /// message.
    #[test]
    fn p3_a_partial_knows_its_number_and_lengths(ops in ops(), finish in finish()) {
        for (number, event) in take(&perform(&ops, &finish, |_| ())).iter().enumerate() {
            let message = event.partial.message();
            let lengths: Vec<_> = message.content.iter().map(|block| block.body().len()).collect();
            let told = (0..=lengths.len()).map_while(|index| event.partial.len(index));
            let told: Vec<_> = told.collect();
            prop_assert_eq!(told, lengths);
            prop_assert_eq!(event.partial.event(), number);
            prop_assert_eq!(format!("{:?}", event.partial), format!("{message:?}"));
        }
    }

    /// P4: folding the events gives the final message, in `done`, in `result()` and in the fold;
    /// the terminal event adds nothing but the reason.
    #[test]
    fn p4_folding_gives_the_final_message(ops in ops(), finish in finish()) {
        let stream = perform(&ops, &finish, |_| ());
        let changes = changes(&take(&stream));
        let (last, before) = changes.split_last().unwrap();
        prop_assert_eq!(&folded(&changes), last.final_message().unwrap());
        prop_assert_eq!(&folded(before).content, &last.final_message().unwrap().content);
        prop_assert_eq!(&result(&stream), last.final_message().unwrap());
    }

    /// P5: an error keeps what had arrived, and says what happened.
    #[test]
    fn p5_an_error_keeps_what_had_arrived(ops in ops(), finish in finish()) {
        let changes = changes(&take(&perform(&ops, &finish, |_| ())));
        let (last, before) = changes.split_last().unwrap();
        let message = last.final_message().unwrap();
        prop_assert_eq!(&message.content, &folded(before).content);
        let (stop_reason, error_message) = match finish {
            Finish::Done(reason) => (StopReason::from(reason), None),
            Finish::Error(text) => (StopReason::Error, Some(text)),
            Finish::Aborted => (StopReason::Aborted, Some(ABORTED.to_owned())),
            Finish::Drop => (StopReason::Error, Some(EARLY_END.to_owned())),
        };
        prop_assert_eq!(message.stop_reason, Some(stop_reason));
        prop_assert_eq!(&message.error_message, &error_message);
        match last {
            Change::Error { reason, .. } => prop_assert_eq!(StopReason::from(*reason), stop_reason),
            Change::Done { reason, .. } => prop_assert_eq!(StopReason::from(*reason), stop_reason),
            other => prop_assert!(false, "{:?} is not terminal", other),
        }
    }

    /// P6: who comes at any event, and folds on from its partial, ends where all others end.
    #[test]
    fn p6_a_late_subscriber_sees_the_same(ops in ops(), finish in finish(), at in any::<Index>()) {
        let events = take(&perform(&ops, &finish, |_| ()));
        let all = snapshots(&changes(&events));
        let at = at.index(events.len());
        let mut state = events[at].partial.message();
        for (event, expected) in events.iter().zip(all).skip(at + 1) {
            fold(&mut state, &event.change);
            prop_assert_eq!(&state, &expected);
        }
    }

    /// L3, within a message and against the history: no id is empty, none is twice, and events,
    /// ends and message say the same.
    #[test]
    fn ids_are_there_and_unique(ops in ops(), taken in prop::collection::vec(common::id(), 0..4)) {
        let calls = taken.iter().map(|id| {
            ContentBlock::ToolCall(ToolCall { id: id.clone(), ..ToolCall::default() })
        });
        let content = calls.collect();
        let earlier = Message::Assistant(AssistantMessage { content, ..AssistantMessage::default() });
        let (reply, stream) = Reply::start_after(&Context { messages: vec![earlier] });
        for op in &ops {
            if let Op::Call(id, name) = op {
                reply.tool_call(id, name).end();
            }
        }
        reply.done(DoneReason::ToolUse);
        let mut started = Vec::new();
        let mut ended = Vec::new();
        for change in changes(&take(&stream)) {
            match change {
                Change::ToolcallStart { id, .. } => started.push(id),
                Change::ToolcallEnd { tool_call, .. } => ended.push(tool_call.id),
                _ => {}
            }
        }
        let message: Vec<_> = result(&stream).tool_calls().map(|call| call.id.clone()).collect();
        prop_assert_eq!(&started, &ended);
        prop_assert_eq!(&started, &message);
        prop_assert!(started.iter().all(|id| !id.is_empty() && !taken.contains(id)));
        prop_assert_eq!(started.iter().collect::<HashSet<_>>().len(), started.len());
    }

    /// P7: changes in any order end in one error that keeps what was good, and never panic.
    #[test]
    fn p7_any_order_of_changes_is_survived(
        has_start in any::<bool>(),
        record in prop::collection::vec(change(), 0..30),
    ) {
        let (mut reply, stream) = Reply::start();
        for change in has_start.then_some(Change::Start).into_iter().chain(record) {
            reply.apply(change).unwrap();
        }
        drop(reply);
        check_order(&changes(&take(&stream)));
        result(&stream);
    }

    /// P7: `fold` is total, and nothing happens after the end.
    #[test]
    fn p7_fold_is_total(changes in prop::collection::vec(change(), 0..30)) {
        let mut message = AssistantMessage::default();
        let mut ended = None;
        for change in &changes {
            let before = message.clone();
            fold(&mut message, change);
            match &ended {
                Some(end) => prop_assert_eq!(&message, end),
                None if change.is_terminal() => ended = Some(message.clone()),
                // A change touches its own block and no other.
                None => for (index, block) in before.content.iter().enumerate() {
                    prop_assert!(Some(index) == change.content_index() || message.content[index] == *block);
                },
            }
            prop_assert!(message.content.len() <= before.content.len() + 1 || change.is_terminal());
        }
    }

    /// A record plays back as itself, and read back from its JSON too.
    #[test]
    fn a_record_plays_back_as_itself(ops in ops(), finish in finish()) {
        let record = changes(&take(&perform(&ops, &finish, |_| ())));
        prop_assert_eq!(&played_back(record.clone()), &record);
        let lines: Vec<_> = record.iter().map(|change| serde_json::to_string(change).unwrap()).collect();
        let read = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let again: Vec<_> = played_back(read).iter().map(|c| serde_json::to_string(c).unwrap()).collect();
        prop_assert_eq!(again, lines);
    }

    /// A record with one event left out, doubled, or two swapped, is an error, unless the spoiled
    /// one is itself a right record.
    #[test]
    fn a_spoiled_record_is_an_error(
        ops in ops(), at in any::<Index>(), how in 0..3,
    ) {
        let record = changes(&take(&perform(&ops, &Finish::Done(DoneReason::Stop), |_| ())));
        let mut spoiled = record.clone();
        let at = at.index(record.len());
        match how {
            0 => drop(spoiled.remove(at)),
            1 => spoiled.insert(at, record[at].clone()),
            _ => spoiled.swap(at, (at + 1) % record.len()),
        }
        // White space around a call's arguments may move and go: it means nothing.
        let is_blank = |change: &Change| {
            matches!(change, Change::ToolcallDelta { delta, .. } if delta.trim().is_empty())
        };
        prop_assume!(!is_blank(&record[at]) && !is_blank(&record[(at + 1) % record.len()]));
        let played = played_back(spoiled.clone());
        check_order(&played);
        let is_right = order(&spoiled).is_ok();
        let failed = matches!(played.last(), Some(Change::Error { .. }));
        // What comes after a terminal event is ignored, by every reader.
        let doubled_end = how == 1 && at + 1 == record.len();
        prop_assert_eq!(failed, !is_right && !doubled_end);
    }
}

fn played_back(record: Vec<Change>) -> Vec<Change> {
    let (mut reply, stream) = Reply::start();
    for change in record {
        reply.apply(change).unwrap();
    }
    drop(reply);
    changes(&take(&stream))
}

/// Any change at all, most of them wrong where they come.
fn change() -> impl Strategy<Value = Change> {
    let index = || 0..4_usize;
    let content = (index(), common::text());
    let message = prop::collection::vec(common::text(), 0..3).prop_map(|texts| AssistantMessage {
        content: texts.into_iter().map(ContentBlock::text).collect(),
        ..AssistantMessage::default()
    });
    let message = message.boxed();
    prop_oneof![
        Just(Change::Start),
        index().prop_map(|content_index| Change::TextStart { content_index }),
        index().prop_map(|content_index| Change::ThinkingStart { content_index }),
        (index(), common::id()).prop_map(|(content_index, id)| {
            Change::ToolcallStart { content_index, id, name: "read".into() }
        }),
        (0..3, content).prop_map(|(kind, (content_index, delta))| match kind {
            0 => Change::TextDelta { content_index, delta },
            1 => Change::ThinkingDelta { content_index, delta },
            _ => Change::ToolcallDelta { content_index, delta },
        }),
        (0..3, index()).prop_map(|(kind, content_index)| {
            let content = String::new();
            match kind {
                0 => Change::TextEnd { content_index, content },
                1 => Change::ThinkingEnd { content_index, content },
                _ => Change::ToolcallEnd { content_index, tool_call: Box::default() },
            }
        }),
        (message.clone(), common::done_reason())
            .prop_map(|(message, reason)| Change::Done { reason, message: Box::new(message) }),
        message
            .prop_map(|error| Change::Error { reason: ErrorReason::Error, error: Box::new(error) }),
    ]
}

/// The strategies reach every kind of event, so no law above is empty.
#[test]
fn all_twelve_kinds_are_generated() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut kinds = HashSet::new();
    for _ in 0..200 {
        let ops = ops().new_tree(&mut runner).unwrap().current();
        let finish = finish().new_tree(&mut runner).unwrap().current();
        let events: Vec<StreamEvent> = take(&perform(&ops, &finish, |_| ()));
        kinds.extend(events.iter().map(|event| std::mem::discriminant(&event.change)));
    }
    assert_eq!(kinds.len(), 12);
}

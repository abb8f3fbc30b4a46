//! L3 for a history that was left in the middle: a run was dropped, or the program died.

use proptest::prelude::*;
use proptest::sample::Index;
use step04_agent_loop::history::mend;
use step04_agent_loop::message::{Context, Message, StopReason, ToolResultMessage};
use step04_agent_loop::reply::ABORTED;
use step04_agent_loop::tool::ToolError;

use super::check::well_formed;
use super::strategies::{cases, world};
use super::world::play;

fn results(history: &[Message]) -> Vec<&ToolResultMessage> {
    let mut results = Vec::new();
    for message in history {
        if let Message::ToolResult(result) = message {
            results.push(result);
        }
    }
    results
}

/// What people and models said, without how it ended.
fn said(history: &[Message]) -> Vec<Message> {
    let mut history = history.to_vec();
    history.retain(|message| !matches!(message, Message::ToolResult(_)));
    for message in &mut history {
        if let Message::Assistant(reply) = message {
            (reply.stop_reason, reply.error_message) = (None, None);
        }
    }
    history
}

proptest! {
    // Each case is a whole conversation.
    #![proptest_config(cases(128))]

    /// Cut anywhere, with messages taken out, results in another order, and the last reply unfinished:
    /// nothing that was said is lost, no result that is there, and every call is answered.
    #[test]
    fn l3_any_history_is_mended(
        world in world(),
        cut in any::<Index>(),
        lost in prop::collection::vec(any::<Index>(), 0..3),
        moved in prop::collection::vec((any::<Index>(), any::<Index>()), 0..4),
        unfinished in any::<bool>(),
    ) {
        let mut whole = play(&world).pop().unwrap().after.messages;
        mend(&mut whole); // the last run may have been one of those that are dropped
        let mut history = whole[..cut.index(whole.len() + 1)].to_vec();
        let places: Vec<_> = history.iter().enumerate()
            .filter(|(_, message)| matches!(message, Message::ToolResult(_)))
            .map(|(place, _)| place).collect();
        if !places.is_empty() {
            for (a, b) in &moved {
                history.swap(*a.get(&places), *b.get(&places));
            }
            let mut lost: Vec<_> = lost.iter().map(|lost| *lost.get(&places)).collect();
            lost.sort_unstable();
            lost.dedup();
            lost.iter().rev().for_each(|place| drop(history.remove(*place)));
        }
        if let (true, Some(Message::Assistant(reply))) = (unfinished, history.last_mut()) {
            (reply.stop_reason, reply.error_message) = (None, None);
        }
        let before = history.clone();
        mend(&mut history);

        prop_assert_eq!(well_formed(&Context { messages: history.clone() }), Ok(()));
        prop_assert_eq!(said(&before), said(&history));
        for result in results(&history) {
            let made = !results(&before).contains(&result);
            prop_assert!(!made || (result.is_error
                && result.content[0].body() == ToolError::Aborted.to_string()));
        }
        for result in results(&before) {
            prop_assert!(results(&history).contains(&result), "lost: {result:?}");
        }
        for (old, new) in said_with_reasons(&before).iter().zip(said_with_reasons(&history)) {
            let expected = old.0.unwrap_or(StopReason::Aborted);
            prop_assert_eq!(new.0, Some(expected));
            prop_assert_eq!(new.1.as_deref(), if old.0.is_none() { Some(ABORTED) } else { old.1.as_deref() });
        }
        let once = history.clone();
        mend(&mut history);
        prop_assert_eq!(once, history, "mending again changes nothing");
    }
}

fn said_with_reasons(history: &[Message]) -> Vec<(Option<StopReason>, Option<String>)> {
    let reason = |message: &Message| match message {
        Message::Assistant(reply) => Some((reply.stop_reason, reply.error_message.clone())),
        _ => None,
    };
    history.iter().filter_map(reason).collect()
}

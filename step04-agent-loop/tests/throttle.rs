//! The law of the throttle: the first update at once, then at most one per interval, none stuck for
//! longer than that, and the last one never lost.

use std::time::Duration;

use proptest::prelude::*;
use step04_agent_loop::throttle::{Throttle, UPDATE_INTERVAL};
use tokio::time::Instant;

/// What was shown, and when. The text of an update is its number.
type Shown = Vec<(Instant, usize)>;

fn number(text: &str) -> usize {
    text.parse().expect("the text of an update is its number")
}

/// Drives a throttle as a loop does: it comes back when an update is due, or on an update, or at the
/// end. Gives what was shown in time, and what was flushed at the end.
fn drive(arrivals: &[Instant], end: Instant) -> (Shown, Option<usize>) {
    let mut throttle = Throttle::new(UPDATE_INTERVAL);
    let mut shown = Vec::new();
    let wake = |throttle: &mut Throttle, shown: &mut Shown, until: Instant| {
        if let Some(due) = throttle.due().filter(|due| *due <= until) {
            assert_eq!(throttle.poll(due - Duration::from_nanos(1)), None, "woken too early");
            shown.push((due, number(&throttle.poll(due).expect("it was due"))));
        }
    };
    for (index, &at) in arrivals.iter().enumerate() {
        wake(&mut throttle, &mut shown, at);
        if let Some(text) = throttle.push(at, index.to_string()) {
            shown.push((at, number(&text)));
        }
    }
    wake(&mut throttle, &mut shown, end);
    let last = throttle.flush().map(|text| number(&text));
    assert_eq!(throttle.flush(), None, "nothing is shown twice");
    assert_eq!(throttle.due(), None, "nothing is pending after the end");
    (shown, last)
}

/// Times from the gaps between them, in milliseconds; the last gap leads to the end.
fn times(gaps: &[u64]) -> Vec<Instant> {
    let start = Instant::now();
    let sums = gaps.iter().scan(0, |sum, gap| {
        *sum += gap;
        Some(*sum)
    });
    sums.map(|ms| start + Duration::from_millis(ms)).collect()
}

proptest! {
    #[test]
    fn the_law_holds_for_all_arrivals(
        gaps in prop::collection::vec(
            prop_oneof![4 => Just(0_u64), 4 => 1_u64..30, 2 => 95_u64..106, 1 => 150_u64..400], 1..80),
    ) {
        let mut arrivals = times(&gaps);
        let end = arrivals.pop().expect("there is at least one gap");
        let (shown, last) = drive(&arrivals, end);

        if let Some(first) = arrivals.first() {
            prop_assert_eq!(shown.first(), Some(&(*first, 0)), "the first is shown at once");
        }
        for pair in shown.windows(2) {
            prop_assert!(pair[1].0 - pair[0].0 >= UPDATE_INTERVAL, "too soon: {:?}", shown);
            prop_assert!(pair[1].1 > pair[0].1, "out of order or twice: {:?}", shown);
        }
        for &(at, update) in &shown {
            prop_assert!(arrivals[update] <= at, "shown before it came");
        }
        let everything: Vec<_> = shown.iter().map(|shown| shown.1).chain(last).collect();
        prop_assert!(everything.is_sorted_by(|a, b| a < b), "flushed twice or out of order");
        prop_assert_eq!(everything.last().copied(), arrivals.len().checked_sub(1), "the last is lost");
        // Nobody waits longer than the interval for this update or a newer one, the end aside.
        for (update, &at) in arrivals.iter().enumerate() {
            let limit = at + UPDATE_INTERVAL;
            prop_assert!(
                limit > end || shown.iter().any(|&(when, newer)| newer >= update && when <= limit),
                "update {} was held back", update
            );
        }
    }

    /// Whoever drives it may come too early, too late, or with a clock that goes back.
    #[test]
    fn it_never_panics_and_never_hurries(
        interval in prop_oneof![Just(Duration::ZERO), Just(Duration::MAX), Just(UPDATE_INTERVAL)],
        calls in prop::collection::vec((any::<bool>(), 0_u64..500), 0..40),
    ) {
        let start = Instant::now();
        let mut throttle = Throttle::new(interval);
        let mut before: Option<Instant> = None;
        for (push, ms) in calls {
            let now = start + Duration::from_millis(ms);
            let text = if push { throttle.push(now, ms.to_string()) } else { throttle.poll(now) };
            if text.is_some() {
                prop_assert!(before.is_none_or(|before| now.duration_since(before) >= interval));
                before = Some(now);
            }
        }
    }
}

/// The row of the fault list, to the number.
#[test]
fn a_thousand_updates_in_100_ms_show_two_and_the_last() {
    let start = Instant::now();
    let arrivals: Vec<_> = (0..1000).map(|n| start + Duration::from_micros(n * 100)).collect();
    let (shown, last) = drive(&arrivals, start + UPDATE_INTERVAL);
    assert_eq!(shown, [(start, 0), (start + UPDATE_INTERVAL, 999)]);
    assert_eq!(last, None);

    let (shown, last) = drive(&arrivals, start + Duration::from_micros(99_950));
    assert_eq!(shown, [(start, 0)]);
    assert_eq!(last, Some(999), "the end does not wait, and the last update goes out before it");
}

#[test]
fn the_interval_is_100_ms() {
    assert_eq!(UPDATE_INTERVAL, Duration::from_millis(100));
}

#[test]
fn nothing_is_due_as_long_as_nothing_is_pending() {
    let start = Instant::now();
    let mut throttle = Throttle::new(UPDATE_INTERVAL);
    assert_eq!(throttle.due(), None);
    assert_eq!(throttle.poll(start), None);
    assert_eq!(throttle.push(start, "a".into()).as_deref(), Some("a"));
    assert_eq!(throttle.due(), None, "it was shown");
    assert_eq!(throttle.push(start, "b".into()), None);
    assert_eq!(throttle.due(), Some(start + UPDATE_INTERVAL));
}

//! Progress at a pace a person can follow.
//!
//! A tool may report hundreds of times a second; a terminal that draws each report becomes a slide
//! show. The rule of seed 05: the first update is shown at once, then at most one per 100 ms, and
//! the last one is never lost: what is pending goes out right before the end. The end itself is not
//! an update and waits for nobody.
//!
//! A throttle is usually written with a timer inside (`setTimeout` in TypeScript) and then needs
//! real time to be tested. This one has neither timer nor clock: whoever drives it says what time it
//! is and asks when to come back. That makes it a plain value, one per call.

use std::time::Duration;

use tokio::time::Instant;

/// How often one call may show progress.
pub const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Decides which updates of one call are shown, and when.
///
/// ```
/// # use std::time::Duration;
/// # use step04_agent_loop::throttle::*;
/// # let start = tokio::time::Instant::now();
/// let mut throttle = Throttle::new(UPDATE_INTERVAL);
/// assert_eq!(throttle.push(start, "10%".into()), Some("10%".into())); // the first, at once
/// assert_eq!(throttle.push(start, "20%".into()), None); // too early: kept
/// assert_eq!(throttle.push(start, "30%".into()), None); // takes its place
/// assert_eq!(throttle.due(), Some(start + UPDATE_INTERVAL)); // come back then …
/// assert_eq!(throttle.flush(), Some("30%".into())); // … or when the call ends
/// ```
#[derive(Debug, Clone)]
pub struct Throttle {
    interval: Duration,
    /// When an update was shown last.
    shown: Option<Instant>,
    /// The newest update that was not shown. One is enough: progress that is outdated is of no use.
    pending: Option<String>,
}

impl Throttle {
    /// A throttle that lets one update through per `interval`.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self { interval, shown: None, pending: None }
    }

    /// An update has come. Gives what to show now: this one, or nothing.
    pub fn push(&mut self, now: Instant, text: String) -> Option<String> {
        self.pending = Some(text);
        self.poll(now)
    }

    /// Time has passed. Gives the pending update if it may be shown now.
    pub fn poll(&mut self, now: Instant) -> Option<String> {
        if self.shown.is_some_and(|shown| now.duration_since(shown) < self.interval) {
            return None;
        }
        let text = self.pending.take()?;
        self.shown = Some(now);
        Some(text)
    }

    /// When to [`poll`](Self::poll): the time at which the pending update may be shown; `None` as
    /// long as nothing is pending (or the interval is beyond the end of time).
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.pending.as_ref().and(self.shown)?.checked_add(self.interval)
    }

    /// The call has ended. Gives the pending update, to be shown right before the end.
    pub fn flush(&mut self) -> Option<String> {
        self.pending.take()
    }
}

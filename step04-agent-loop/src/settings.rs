//! What may differ from one agent to the next, whatever its model and its tools.

use std::time::Duration;

use crate::history::Fold;
use crate::throttle::UPDATE_INTERVAL;

/// The settings of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// When a reply becomes history (law L5).
    pub fold: Fold,
    /// Run the calls of a message one after the other.
    pub sequential: bool,
    /// How many turns a run may take before it is ended with an error (law L8); at least one.
    pub max_turns: usize,
    /// How often a tool may show progress (law L6).
    pub update_interval: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fold: Fold::default(),
            sequential: false,
            max_turns: 50,
            update_interval: UPDATE_INTERVAL,
        }
    }
}

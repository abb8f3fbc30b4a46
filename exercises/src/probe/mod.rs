//! The instruments the checks look through: what an answer writes, when it works, what it does in
//! the real step.
//!
//! Nothing here waits, and nothing depends on the scheduler: the same answer gets the same verdict.

pub mod clock;
pub mod conversation;
pub mod events;
pub mod history;
pub mod random;
pub mod screen;

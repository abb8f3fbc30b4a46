//! The agent loop: its laws, the faults that users met, the peer's recordings, real files.
//!
//! One binary of several modules: each further binary would have to be linked.

mod abort;
mod cases;
mod check;
mod files;
mod golden;
mod laws;
mod mending;
mod order;
mod pace;
mod pi;
mod reach;
mod strategies;
mod tools;
mod world;

//! The lock and the shared pointer that [`event_stream`](crate::event_stream) is built on.
//!
//! Why a module for two names of the standard library? A test swaps them: it brings a `sync` module
//! of its own, with the look-alikes of the model checker `loom`, which then tries every order in
//! which threads can meet at these two types. The code under test is the same file, byte for byte.

pub use std::sync::{Arc, Mutex};

//! Step 03: the model becomes a stream of events, and the history folds them.
//!
//! Awaiting one whole message left the person in front of an empty line. Now every small piece is
//! an event: it is shown the moment it comes, and only the last event says what the history keeps.
//! The rooms, in the order to read them:
//!
//! - [`message`]: what a conversation is made of
//! - [`event`]: what a model emits while it replies
//! - [`model`]: who answers: a context in, a stream of events out
//! - [`fake_model`]: a model that follows rules instead of thinking
//! - [`render`]: events in, terminal text out
//! - [`repl`]: the conversation loop over any input and any output
//! - [`command`]: what one line of input asks for
//! - [`input`]: lines from a terminal, a pipe or a script
//! - [`stdin`]: standard input, read beside the runtime
//! - [`cli`]: what the command line may say
//! - [`script`]: every text a person sees, in both languages, and the fake model's rules

pub mod cli;
pub mod command;
pub mod event;
pub mod fake_model;
pub mod input;
pub mod message;
pub mod model;
pub mod render;
pub mod repl;
pub mod script;
pub mod stdin;

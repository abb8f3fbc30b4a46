//! Step 02: a model you await. A context goes in, one whole message comes out.
//!
//! The loop of step 01 now asks somebody. Who answers is a trait, so that a scripted fake can stand
//! where a real provider would; the conversation so far is the only thing it is given. The rooms,
//! in the order to read them:
//!
//! - [`message`]: what a conversation is made of
//! - [`model`]: who answers: a context in, a future of one message out
//! - [`fake_model`]: a model that follows rules instead of thinking
//! - [`repl`]: the conversation loop over any input and any output
//! - [`command`]: what one line of input asks for
//! - [`input`]: lines from a terminal, a pipe or a script
//! - [`stdin`]: standard input, read beside the runtime
//! - [`cli`]: what the command line may say
//! - [`script`]: every text a person sees, in both languages, and the fake model's rules

pub mod cli;
pub mod command;
pub mod fake_model;
pub mod input;
pub mod message;
pub mod model;
pub mod repl;
pub mod script;
pub mod stdin;

//! Step 01: the conversation loop, before there is any model.
//!
//! Every agent is a loop around a conversation: read a line, answer it, read the next. This step
//! has only that loop, and it already meets everything a loop must survive: the end of input, a
//! closed pipe, a line that is not text. The rooms, in the order to read them:
//!
//! - [`repl`]: the conversation loop over any input and any output
//! - [`command`]: what one line of input asks for
//! - [`input`]: lines from a terminal, a pipe or a script
//! - [`cli`]: what the command line may say
//! - [`script`]: every text a person sees, in both languages

pub mod cli;
pub mod command;
pub mod input;
pub mod repl;
pub mod script;

//! Step 04: tool calls, partial JSON and the agent loop.
//!
//! Read the modules in this order. Each knows only those before it, save that an event and its
//! partial know each other. First the core path:
//!
//! | module | what it is for |
//! |---|---|
//! | [`partial_json`] | shows argument text that is half there, and refuses to run it |
//! | [`message`] | what a conversation is made of, and how it is written as JSON |
//! | [`event`] | the twelve things a model can report, and `fold`, which adds one to a message |
//! | [`partial`] | the message as it was at an event, at no cost until somebody looks |
//! | `sync` | the lock and the shared pointer that the next one is built on |
//! | [`event_stream`] | one production, two views: the events, and the final result |
//! | [`reply`] | the producer's pen: it can't write events in a wrong order |
//! | [`model`] | the `Model` trait: a context in, a stream of events out |
//! | [`script`] | the JSON in which a lesson says what the model will answer; every text a person sees |
//! | [`fake_model`] | the model that plays a script |
//! | [`visible`] | makes text safe to show |
//! | [`tool`] | what a tool is: a name, a schema for the model, a future that ends in an answer |
//! | [`tools`] | read and write: real files, inside one folder that nothing escapes; grep goes beyond |
//! | [`agent_event`] | the ten things an agent reports while it works, and those who listen |
//! | [`history`] | when a reply becomes history: two bargains; and how a broken one is mended |
//! | [`throttle`] | progress at a pace a person can follow |
//! | `progress` | what a running tool says, on its way to the loop |
//! | [`settings`] | what may differ from one agent to the next |
//! | [`tool_calls`] | runs the tool calls of one message: started in order, answered all |
//! | [`agent_loop`] | ask, run what was asked for, tell, ask again |
//!
//! Then the program that a person talks to:
//!
//! | module | what it is for |
//! |---|---|
//! | [`brief`] | a JSON value on one short line |
//! | [`live_line`] | one line that changes in place |
//! | [`render`] | agent events in, terminal text out |
//! | [`command`] | what one line of input asks for |
//! | [`input`] | lines from a terminal, a pipe or a script |
//! | [`stdin`] | standard input, read beside the runtime |
//! | [`scratch`] | the folder the tools work in, if a script brings its files along |
//!
//! And last what goes beyond: a conversation that is kept, recorded and played back.
//!
//! | module | what it is for |
//! |---|---|
//! | [`json_lines`] | files of JSON lines, and what can be wrong with them |
//! | [`session`] | the session log: a conversation that survives its program |
//! | [`record`] | every agent event as a line of JSON |
//! | [`replay`] | the model that plays a record back |
//! | [`repl`] | the conversation loop over any input and any output, and who writes it down |
//! | [`cli`] | what the command line may say |

pub mod agent_event;
pub mod agent_loop;
pub mod brief;
pub mod cli;
pub mod command;
pub mod event;
pub mod event_stream;
pub mod fake_model;
pub mod history;
pub mod input;
pub mod json_lines;
pub mod live_line;
pub mod message;
pub mod model;
pub mod partial;
pub mod partial_json;
mod progress;
pub mod record;
pub mod render;
pub mod repl;
pub mod replay;
pub mod reply;
pub mod scratch;
pub mod script;
pub mod session;
pub mod settings;
pub mod stdin;
mod sync;
pub mod throttle;
pub mod tool;
pub mod tool_calls;
pub mod tools;
pub mod visible;

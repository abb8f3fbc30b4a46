//! Step 04: tool calls, partial JSON and the agent loop.
//!
//! Read the modules in this order; each knows only those before it.
//!
//! | module | what it is for |
//! |---|---|
//! | [`partial_json`] | shows argument text that is half there, and refuses to run it |
//! | [`message`] | what a conversation is made of, and how it is written as JSON |
//! | [`event`] | the twelve things a model can report, and `fold`, which adds one to a message |
//! | [`event_stream`] | one production, two views: the events, and the final result |
//! | [`partial`] | the message as it was at an event, at no cost until somebody looks |
//! | [`reply`] | the producer's pen: it can't write events in a wrong order |
//! | [`model`] | the `Model` trait: a context in, a stream of events out |
//! | [`script`] | the JSON in which a lesson says what the model will answer |
//! | [`fake_model`] | the model that plays a script |
//! | [`tool`] | what a tool is: a name, a schema for the model, a future that ends in an answer |
//! | [`tools`] | read, write and grep: real files, inside one folder that nothing escapes |
//! | [`agent_event`] | the ten things an agent reports while it works, and those who listen |
//! | [`history`] | when a reply becomes history: two bargains; and how a broken one is mended |
//! | `progress` | what a running tool says, on its way to the loop |
//! | [`tool_calls`] | runs the tool calls of one message: started in order, answered all |
//! | [`settings`] | what may differ from one agent to the next |
//! | [`agent_loop`] | ask, run what was asked for, tell, ask again |
//! | [`throttle`] | progress at a pace a person can follow |
//! | [`json_lines`] | files of JSON lines, and what can be wrong with them |
//! | [`session`] | the session log: a conversation that survives its program |
//! | [`record`] | every agent event as a line of JSON |
//! | [`replay`] | the model that plays a record back |

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

//! From the bytes of a log to a history. It reads and decides; the file is not touched.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::Notice;
use crate::history::{Fold, answer, mend};
use crate::json_lines::{self, Fault, FileError};
use crate::message::{AssistantMessage, Message, ToolCall, with_role};
use crate::tool::ToolError;

/// What a log holds.
pub(super) struct Loaded {
    /// The history, with every call answered.
    pub(super) messages: Vec<Message>,
    /// Those of the answers that the log lacks.
    pub(super) answers: Vec<Message>,
    /// So many bytes are good.
    pub(super) whole: usize,
    pub(super) notices: Vec<Notice>,
}

/// Reads a log.
pub(super) fn load(path: &Path, log: &[u8]) -> Result<Loaded, FileError> {
    let (mut messages, mut open) = (Vec::new(), OpenCalls::default());
    let lines = json_lines::without_mark(log);
    let (mut whole, mut notices) = (log.len() - lines.len(), Vec::new());
    for (number, line) in (1..).zip(lines.split_inclusive(|&byte| byte == b'\n')) {
        let message = match read(line) {
            Err(fault) if is_torn(line, &fault) => {
                notices.push(Notice::TornLine { line: number });
                break; // only the last line can be torn
            }
            message => message.map_err(FileError::line(path, number))?,
        };
        if let Some(message) = message {
            open.see(&message).map_err(FileError::line(path, number))?;
            messages.push(message);
        }
        whole += line.len();
    }
    let answers = open.answer_all();
    if !answers.is_empty() {
        notices.push(Notice::Answered { calls: answers.len() });
    }
    messages.extend(answers.iter().cloned());
    mend(&mut messages); // results into the order of their calls
    Ok(Loaded { messages, answers, whole, notices })
}

/// The message of a line, checked to its last field: `JSON.parse(line) as Message` would believe
/// whatever stands there, and the fault would show up in the middle of a conversation. A blank
/// line has none, nor has a reply that was dropped.
fn read(line: &[u8]) -> Result<Option<Message>, Fault> {
    if json_lines::is_blank(line) {
        return Ok(None);
    }
    let value: Value = json_lines::read(line)?;
    let dropped = value.get("dropped");
    if !is_made_of_objects(dropped.unwrap_or(&value)) {
        let what = "a message, and each block of it, is an object with its `type` in words";
        return Err(Fault::Order(what.to_owned()));
    }
    // Read again from the text: of a doubled member `value` has the last one only. What was dropped
    // is read all the same: damage is not to be passed over.
    match dropped {
        Some(_) => match json_lines::read::<DroppedLine>(line)?.reply {
            reply if reply.stop_reason.is_none() || Fold::OnDone.keeps(&reply) => {
                Err(Fault::Order("no reply that ended like this is dropped".to_owned()))
            }
            _ => Ok(None),
        },
        None => json_lines::read(line).map(Some),
    }
}

/// serde would take a list for an object, its elements for the members in order, and a number for
/// the name of a type.
fn is_made_of_objects(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array);
    let is_block = |block: &Value| block.get("type").is_none_or(Value::is_string);
    message.is_object()
        && blocks.is_none_or(|blocks| blocks.iter().all(|it| it.is_object() && is_block(it)))
}

/// The line of a reply that was dropped: only replies are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DroppedLine {
    #[serde(rename = "dropped", with = "with_role")]
    reply: Box<AssistantMessage>,
}

/// What our lines begin with.
const BEGINNINGS: [&[u8]; 4] = [
    br#"{"role":"user","#,
    br#"{"role":"assistant","#,
    br#"{"role":"toolResult","#,
    br#"{"dropped":{"role":"assistant","#,
];

/// Whether a line is one of ours whose end is missing. Without its first test, a note that somebody
/// wrote and named as the log by mistake would be cut off.
fn is_torn(line: &[u8], fault: &Fault) -> bool {
    let begins = |ours: &&[u8]| line.starts_with(ours) || ours.starts_with(line);
    BEGINNINGS.iter().any(begins) && !line.ends_with(b"\n") && fault.is_cut_short()
}

/// The calls of the last reply that wait for their results.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    waiting: Vec<ToolCall>,
    /// Of all calls there were.
    ids: HashSet<String>,
}

impl OpenCalls {
    /// The next message of a log. It is a fault if it can't come now: a line is missing or doubled.
    ///
    /// Only what ties messages together can tell. That a text is missing, no later line knows.
    pub(super) fn see(&mut self, message: &Message) -> Result<(), Fault> {
        match (message, self.waiting.first()) {
            (Message::ToolResult(result), _) => self.answered(&result.tool_call_id)?,
            // Whatever happened, all calls are answered before the next message comes.
            (_, Some(ToolCall { id, .. })) => {
                let what = format!("the result of the call {id:?} is missing before it");
                return Err(Fault::Order(what));
            }
            (Message::Assistant(reply), None) => {
                if reply.stop_reason.is_none() {
                    return Err(Fault::Order("the reply has no `stopReason`".to_owned()));
                }
                self.waiting = reply.tool_calls().cloned().collect();
                if let Some(call) = reply.tool_calls().find(|it| !self.ids.insert(it.id.clone())) {
                    return Err(Fault::Order(format!("there are two calls {:?}", call.id)));
                }
            }
            (Message::User(_), None) => {}
        }
        Ok(())
    }

    fn answered(&mut self, id: &str) -> Result<(), Fault> {
        let at = self.waiting.iter().position(|call| call.id == *id);
        let none = || Fault::Order(format!("a result for {id:?}, but no such call waits for one"));
        self.waiting.remove(at.ok_or_else(none)?);
        Ok(())
    }

    /// Answers those that nobody else will answer.
    pub(super) fn answer_all(&mut self) -> Vec<Message> {
        let aborted = |call| Message::ToolResult(answer(&call, Err(ToolError::Aborted)));
        self.waiting.drain(..).map(aborted).collect()
    }
}

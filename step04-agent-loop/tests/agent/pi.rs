//! What the TypeScript peer emits for the same scripts, event by event.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::event::Change;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::message::Message;
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::script::Script;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

type Act = fn(String, ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;

/// The one tool of the recordings; what it does differs.
struct Echo {
    act: Act,
    sequential: bool,
}

impl Tool for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "for tests"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn sequential(&self) -> bool {
        self.sequential
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        (self.act)(arguments.as_value()["value"].as_str().unwrap().to_owned(), run)
    }
}

fn echoes(value: String, _: ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move { Ok(ToolOutput::new(format!("echo:{value}"))) }.boxed()
}

/// `a` takes longer than `b`.
fn a_is_slow(value: String, _: ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move {
        sleep(Duration::from_millis(if value == "a" { 20 } else { 5 })).await;
        Ok(ToolOutput::new(value))
    }
    .boxed()
}

fn fails(_: String, _: ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async { Err(ToolError::Failed("kaput".into())) }.boxed()
}

fn reports(_: String, run: ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move {
        run.update("10%");
        run.update("90%");
        Ok(ToolOutput::new("ok"))
    }
    .boxed()
}

fn honours_abort(value: String, run: ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move {
        run.cancel.cancelled().await;
        Err(ToolError::Failed(format!("cancelled {value}")))
    }
    .boxed()
}

/// When the person stops the run.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    Never,
    /// Having seen this delta.
    AtDelta(&'static str),
    /// While the first tool runs.
    InTool,
}

macro_rules! recording {
    ($name:literal, $act:expr, $sequential:expr, $stop:expr) => {
        (
            $name,
            include_str!(concat!("../data/pi/agent/", $name, ".jsonl")),
            Echo { act: $act, sequential: $sequential },
            $stop,
        )
    };
}

fn recordings() -> [(&'static str, &'static str, Echo, Stop); 10] {
    [
        recording!("loop-text", echoes, false, Stop::Never),
        recording!("loop-one-tool", echoes, false, Stop::Never),
        recording!("loop-parallel-two", a_is_slow, false, Stop::Never),
        recording!("loop-sequential-two", a_is_slow, true, Stop::Never),
        recording!("loop-tool-throws", fails, false, Stop::Never),
        recording!("loop-tool-updates", reports, false, Stop::Never),
        recording!("loop-unknown-tool", echoes, false, Stop::Never),
        recording!("loop-length-truncated-tool", echoes, false, Stop::Never),
        recording!("loop-abort-mid-text", echoes, false, Stop::AtDelta("efgh")),
        recording!(
            "loop-abort-mid-tool-honor-sequential-2calls",
            honours_abort,
            true,
            Stop::InTool
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn our_order_is_pis() {
    for (name, recording, echo, stop) in recordings() {
        let (theirs, their_history) = pis(recording);
        let (ours, our_history) = play(&their_history, echo, stop).await;
        for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{name}: event {number}");
        }
        assert_eq!(ours.len(), theirs.len(), "{name}");
        assert_eq!(our_history, their_history, "{name}");
    }
}

/// Pi's events and history, without what we don't have: the system message, `details`, the index,
/// and the messages in updates, which run ahead of their deltas.
fn pis(recording: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut events, mut history) = (Vec::new(), Vec::new());
    for line in recording.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        in_our_words(&mut line);
        if let Some(result) = line.get("result").filter(|result| result.is_array()) {
            history.extend(result.as_array().unwrap().iter().cloned());
        }
        if line.get("i").is_none() || line["message"]["role"] == "system" {
            continue;
        }
        let event = line.as_object_mut().unwrap();
        event.remove("i");
        if event["type"] == "message_update" {
            event.remove("message");
        }
        if let Some(messages) = event.get_mut("messages") {
            messages.as_array_mut().unwrap().retain(|message| message != "system");
        }
        for key in ["result", "partialResult"] {
            if let Some(result) = event.get_mut(key) {
                result.as_object_mut().unwrap().remove("details");
            }
        }
        events.push(line);
    }
    history.retain(|message| message["role"] != "system");
    (events, history)
}

/// What is said to the model about a call that was not run is worded in our way.
fn in_our_words(value: &mut Value) {
    match value {
        Value::String(text) if text == "Tool nope not found" => {
            let known = vec!["echo".to_owned()];
            *text = ToolError::Unknown { name: "nope".into(), known }.to_string();
        }
        Value::String(text) if text == "Operation aborted" => {
            *text = ToolError::Aborted.to_string()
        }
        Value::String(text) if text.contains("hit the output token limit") => {
            *text = ToolError::Truncated.to_string();
        }
        Value::Array(items) => items.iter_mut().for_each(in_our_words),
        Value::Object(members) => members.values_mut().for_each(in_our_words),
        _ => {}
    }
}

/// The script that Pi was given, read from the history it led to.
fn script(history: &[Value]) -> Script {
    let replies = history.iter().filter(|message| message["role"] == "assistant").map(|message| {
        if message["content"][0]["text"] == "abcdefgh" {
            return json!({"content": [{"text": "abcdefghijklmnop"}]}); // it was not let finish
        }
        let block = |block: &Value| match block["type"].as_str() {
            Some("text") => json!({"text": block["text"]}),
            _ => json!({"toolCall": {"id": block["id"], "name": block["name"],
                "arguments": block["arguments"]}}),
        };
        let content: Vec<_> = message["content"].as_array().unwrap().iter().map(block).collect();
        json!({"content": content, "end": message["stopReason"]})
    });
    let replies: Vec<_> = replies.collect();
    let script = json!({"chunk": {"size": 4}, "rules": [{"replies": replies}]});
    Script::parse(&script.to_string()).unwrap()
}

/// Our events and history, in Pi's JSON.
async fn play(their_history: &[Value], echo: Echo, stop: Stop) -> (Vec<Value>, Vec<Value>) {
    let model = Arc::new(FakeModel::new(script(their_history)));
    let tools = Toolbox::new(vec![Arc::new(echo)]);
    let mut agent = Agent::new(model, tools, Settings::default());
    let (token, events) = (CancellationToken::new(), Mutex::new(Vec::new()));
    let mut listeners = Listeners::new();
    listeners.add(|event| {
        events.lock().unwrap().push(as_pi(event));
        if let (AgentEvent::MessageUpdate(update), Stop::AtDelta(last)) = (event, stop)
            && matches!(&update.0.change, Change::TextDelta { delta, .. } if delta == last)
        {
            token.cancel();
        }
    });
    let stopped = async {
        sleep(Duration::from_secs(1)).await;
        if stop == Stop::InTool {
            token.cancel();
        }
    };
    tokio::join!(agent.run("go", &token, &mut listeners), stopped);
    drop(listeners);
    let history = agent.context.messages.iter().map(message).collect();
    (events.into_inner().unwrap(), history)
}

fn as_pi(event: &AgentEvent) -> Value {
    let mut json = serde_json::to_value(event).unwrap();
    match event {
        AgentEvent::MessageStart { message: begun } | AgentEvent::MessageEnd { message: begun } => {
            json["message"] = message(begun);
        }
        AgentEvent::MessageUpdate(_) => {
            let inner = &json["assistantMessageEvent"];
            let mut update = json!({"type": "message_update", "ame": inner["type"]});
            if let Some(delta) = inner.get("delta") {
                update["delta"] = delta.clone();
            }
            json = update;
        }
        AgentEvent::TurnEnd { tool_results, .. } => {
            json["toolResults"] = tool_results.iter().map(|r| json!(r.tool_call_id)).collect();
        }
        AgentEvent::AgentEnd { messages } => {
            json["messages"] = messages.iter().map(brief).collect()
        }
        _ => {}
    }
    json
}

/// A user's text is a string in the recordings, and an unfinished message has a stop reason.
fn message(message: &Message) -> Value {
    let mut json = serde_json::to_value(message).unwrap();
    match message {
        Message::User(user) => json["content"] = json!(user.text()),
        Message::Assistant(reply) if reply.stop_reason.is_none() => {
            json["stopReason"] = json!("pending");
        }
        _ => {}
    }
    json
}

/// How the recordings write the messages of `agent_end`.
fn brief(message: &Message) -> Value {
    json!(match message {
        Message::User(_) => "user".to_owned(),
        Message::Assistant(reply) => {
            format!("assistant:{}", json!(reply.stop_reason).as_str().unwrap())
        }
        Message::ToolResult(result) => {
            format!(
                "toolResult:{}{}",
                result.tool_call_id,
                if result.is_error { ":err" } else { "" }
            )
        }
    })
}

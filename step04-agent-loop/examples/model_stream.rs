//! One model request, seen in three ways: as events, as `result()`, and aborted.
//!
//! ```text
//! cargo run -p step04-agent-loop --example model_stream
//! cargo run -p step04-agent-loop --example model_stream -- --lang zh
//! ```
//!
//! The model is scripted, but what happens here is what happens with a real one: a producer runs in
//! a task of its own and pushes, and a consumer takes what is there.

use std::error::Error;
use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use step04_agent_loop::event::Change;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::message::{AssistantMessage, Context, Message};
use step04_agent_loop::model::{Model, StreamOptions};
use step04_agent_loop::reply::ReplyStream;
use step04_agent_loop::script::Script;

/// Prints what three consumers of a model's reply see.
#[derive(Parser)]
pub struct Args {
    /// The language of the text.
    #[arg(long, env = "LAB_LANG", default_value = "en")]
    pub lang: Lang,
}

/// The language of the text.
#[derive(Clone, Copy, ValueEnum)]
pub enum Lang {
    /// English.
    En,
    /// Chinese.
    Zh,
}

/// The third reply falls silent in the middle of a sentence: only an abort gets us out of there.
const ENGLISH: &str = r#"{
  "chunk": {"size": 8},
  "rules": [
    {"match": "read", "replies": [{"content": [
      {"text": "Let me look."},
      {"toolCall": {"id": "t1", "name": "read", "arguments": {"path": "a.txt"}}}
    ]}]},
    {"match": "wait", "replies": [{"content": [{"text": "This will take a long time."}],
                                  "after": 2, "end": "silence"}]}
  ]
}"#;

const CHINESE: &str = r#"{
  "chunk": {"size": 8},
  "rules": [
    {"match": "读", "replies": [{"content": [
      {"text": "我先看一下这个文件。"},
      {"toolCall": {"id": "t1", "name": "read", "arguments": {"path": "a.txt"}}}
    ]}]},
    {"match": "等", "replies": [{"content": [{"text": "这件事要花很长的时间，请你耐心地等一等。"}],
                                 "after": 2, "end": "silence"}]}
  ]
}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lesson = lesson(Args::parse().lang).await?;
    match io::stdout().write_all(lesson.as_bytes()) {
        // Whoever reads us has left (`| head -1`), and nothing is wrong.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Asks three times and writes down what was seen.
pub async fn lesson(lang: Lang) -> Result<String, Box<dyn Error>> {
    let (script, [read, wait], [a, b, c]) = match lang {
        Lang::En => (
            ENGLISH,
            ["read a.txt", "wait for me"],
            [
                "[A] Events: each change, and under it the partial message by then",
                "[B] result(): the final message, without taking a single event",
                "[C] Aborted after two deltas: what had arrived is kept",
            ],
        ),
        Lang::Zh => (
            CHINESE,
            ["读 a.txt", "等一下"],
            [
                "【A】事件：每个变化，下面一行是此刻的半成品消息",
                "【B】result()：不取任何事件，直接等最终消息",
                "【C】收到两个增量后中止：已经到达的内容保留",
            ],
        ),
    };
    let model = FakeModel::new(Script::parse(script)?);
    let events = as_events(ask(&model, read, &StreamOptions::default())).await?;
    let message = as_result(ask(&model, read, &StreamOptions::default())).await?;
    let aborted = abort_after_two_deltas(&model, wait).await?;
    Ok(format!("{a}\n{events}{b}\n{}\n{c}\n{}\n", show(message)?, show(aborted)?))
}

fn ask(model: &FakeModel, input: &str, options: &StreamOptions) -> ReplyStream {
    let messages = vec![Message::user(input)];
    model.stream(&Context { messages }, options.clone())
}

/// A: what a terminal does. A partial is drawn as it is, without adding up deltas.
async fn as_events(stream: ReplyStream) -> Result<String, Box<dyn Error>> {
    let mut seen = String::new();
    while let Some(event) = stream.next().await {
        seen += &format!("  {}\n", serde_json::to_string(&event.change)?);
        if !event.change.is_terminal() {
            seen += &format!("      {}\n", serde_json::to_string(&event.partial)?);
        }
    }
    Ok(seen)
}

/// B: what the agent loop does when nobody watches.
async fn as_result(stream: ReplyStream) -> Result<AssistantMessage, Box<dyn Error>> {
    Ok(stream.result().await?)
}

/// C: what Ctrl-C does. The consumer doesn't kill anything: it asks, and the end comes as an event.
async fn abort_after_two_deltas(
    model: &FakeModel,
    input: &str,
) -> Result<AssistantMessage, Box<dyn Error>> {
    let options = StreamOptions::default();
    let stream = ask(model, input, &options);
    let mut deltas = 0;
    while let Some(event) = stream.next().await {
        deltas += usize::from(matches!(event.change, Change::TextDelta { .. }));
        if deltas == 2 {
            options.cancel.cancel();
        }
    }
    Ok(stream.result().await?)
}

fn show(message: AssistantMessage) -> serde_json::Result<String> {
    let line = serde_json::to_string(&Message::Assistant(message))?;
    Ok(format!("  {line}"))
}

//! Whole runs made up at random: what the model says, what the tools do, when the person stops them.
#![allow(dead_code)] // Each test file uses its part.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserialize;
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::agent_loop::Agent;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::{Message, ToolCall};
use step04_agent_loop::model::Model;
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::script::Script;
use step04_agent_loop::settings::Settings;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox, typed};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// A conversation: the model's part, and the person's.
#[derive(Debug, Clone)]
pub struct Case {
    pub script: Value,
    pub turns: Vec<Turn>,
    pub fold: Fold,
    pub sequential: bool,
    pub max_turns: usize,
}

/// What the person says, and at which event of the run they press Ctrl-C.
#[derive(Debug, Clone)]
pub struct Turn {
    pub text: String,
    pub cancel_at: Option<usize>,
}

impl Case {
    pub fn model(&self) -> Arc<dyn Model> {
        Arc::new(FakeModel::new(Script::parse(&self.script.to_string()).expect("a good script")))
    }

    pub fn agent(&self, model: Arc<dyn Model>) -> Agent {
        let Self { fold, sequential, max_turns, .. } = *self;
        Agent::new(
            model,
            toolbox(),
            Settings { fold, sequential, max_turns, ..Settings::default() },
        )
    }
}

/// Whole conversations take their time: fewer of them, unless somebody asks for more.
pub fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig { cases: if asked { default.cases } else { 64 }, ..default }
}

/// Holds the conversation. A person waits ten minutes for an answer, no longer.
pub async fn converse(agent: &mut Agent, turns: &[Turn], mut hear: impl FnMut(&AgentEvent) + Send) {
    for turn in turns {
        let cancel = CancellationToken::new();
        let mut seen = 0;
        let mut listeners = Listeners::new();
        listeners.add(&mut hear);
        listeners.add(|_| {
            seen += 1;
            if turn.cancel_at == Some(seen) {
                cancel.cancel();
            }
        });
        let run = agent.run(turn.text.as_str(), &cancel, &mut listeners);
        tokio::pin!(run);
        tokio::select! {
            biased;
            () = &mut run => continue,
            () = sleep(Duration::from_secs(600)) => cancel.cancel(),
        }
        run.await;
    }
}

/// Runs a future on a clock that jumps whenever all are waiting.
pub fn on_paused_clock<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(future)
}

/// Law L3, written down anew: behind each message its results, one per call, in order; no others.
pub fn check_history(messages: &[Message]) {
    let mut waiting: Vec<ToolCall> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for message in messages {
        match message {
            Message::ToolResult(result) => {
                assert!(!waiting.is_empty(), "a result too many: {messages:#?}");
                assert_eq!(waiting.remove(0).id, result.tool_call_id, "{messages:#?}");
            }
            _ => assert!(waiting.is_empty(), "a result too few: {messages:#?}"),
        }
        if let Message::Assistant(reply) = message {
            waiting = reply.tool_calls().cloned().collect();
            assert!(waiting.iter().all(|call| ids.insert(call.id.clone())), "{messages:#?}");
        }
    }
    assert!(waiting.is_empty(), "a result too few: {messages:#?}");
}

/// Messages as they stand in JSON; the spaces between arguments are not in there.
pub fn json_of(messages: &[Message]) -> Vec<Value> {
    messages.iter().map(|message| serde_json::to_value(message).expect("JSON")).collect()
}

pub fn toolbox() -> Toolbox {
    let tool = |name, sequential| Arc::new(Work { name, sequential }) as Arc<dyn Tool>;
    Toolbox::new(vec![tool("work", false), tool("alone", true)])
}

/// A tool that does what its arguments say.
struct Work {
    name: &'static str,
    sequential: bool,
}

#[derive(Deserialize)]
struct Order {
    /// Milliseconds between two updates.
    every: u64,
    updates: u64,
    end: Ending,
    /// Whether it stops when it is told to.
    obeys: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Ending {
    Well(String),
    Badly(String),
    Panic,
    Never,
}

impl Tool for Work {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "works"
    }

    fn schema(&self) -> Value {
        json!({})
    }

    fn sequential(&self) -> bool {
        self.sequential
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let order: Order = typed(&arguments)?;
            let cancel = run.cancel.clone();
            let start = Instant::now();
            let work = async {
                for number in 0..order.updates {
                    sleep(Duration::from_millis(order.every)).await;
                    run.update(format!("{number} after {} ms", start.elapsed().as_millis()));
                }
                match order.end {
                    Ending::Well(text) => Ok(ToolOutput::new(text)),
                    Ending::Badly(text) => Err(ToolError::Failed(text)),
                    Ending::Panic => resume_unwind(Box::new("as it was told")), // says nothing
                    Ending::Never => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = cancel.cancelled(), if order.obeys => Err(ToolError::Aborted),
                outcome = work => outcome,
            }
        })
    }
}

/// Text in which everything that can be torn or must be escaped is frequent.
pub fn text() -> impl Strategy<Value = String> {
    let pieces =
        ["a", "bc ", "你", "好🦀", "👨‍👩‍👧", "\"", "\\", "{", "\n", "\u{1b}", "1", "\r\n", "\u{2028}"];
    prop::collection::vec(select(pieces.to_vec()), 0..8).prop_map(|pieces| pieces.concat())
}

fn order() -> impl Strategy<Value = Value> {
    let end = prop_oneof![
        5 => text().prop_map(|text| json!({"well": text})),
        2 => text().prop_map(|text| json!({"badly": text})),
        1 => Just(json!("panic")),
        1 => Just(json!("never")),
    ];
    (0..70u64, 0..6u64, end, any::<bool>()).prop_map(|(every, updates, end, obeys)| {
        json!({"every": every, "updates": updates, "end": end, "obeys": obeys})
    })
}

fn call() -> impl Strategy<Value = Value> {
    let name = prop_oneof![9 => Just("work"), 1 => Just("alone"), 1 => Just("nobody")];
    let id = select(&["", "a", "b", "call"][..]);
    let bad = select(&["", "{\"every\": 1", "{\"every\":\"x\"}", "{} {}", "{ \"a\" : 1 }"][..]);
    prop_oneof![
        9 => (name.clone(), id.clone(), order()).prop_map(|(name, id, order)| {
            json!({"toolCall": {"name": name, "id": id, "arguments": order}})
        }),
        1 => (name, id, bad).prop_map(|(name, id, bad)| {
            json!({"toolCall": {"name": name, "id": id, "argumentsText": bad}})
        }),
    ]
}

fn reply() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        2 => text().prop_map(|text| json!({"text": text})),
        1 => text().prop_map(|text| json!({"thinking": text})),
        5 => call(),
    ];
    let end = prop_oneof![
        20 => Just(Value::Null),
        1 => Just(json!("length")),
        1 => Just(json!("stop")),
        1 => Just(json!("toolUse")),
        1 => text().prop_map(|text| json!({"error": text})),
        1 => Just(json!("aborted")),
        1 => Just(json!("earlyEnd")),
        1 => Just(json!("silence")),
    ];
    let after = prop_oneof![8 => Just(None), 1 => (0..9usize).prop_map(Some)];
    let blocks = prop::collection::vec(block, 0..6);
    (blocks, end, after, any::<bool>(), 0..60u64).prop_map(
        |(content, end, after, interleave, delay)| {
            json!({"content": content, "end": end, "after": after, "interleave": interleave,
                "pace": {"delayMs": delay}})
        },
    )
}

/// One to three turns, of up to three requests each.
pub fn case() -> impl Strategy<Value = Case> {
    let rule = (prop::collection::vec(reply(), 1..4), any::<bool>());
    let rules = prop::collection::vec((rule, prop::option::of(1..60usize)), 1..4);
    let fold = select(&[Fold::InPlace, Fold::OnDone][..]);
    (rules, fold, any::<bool>(), 1..5usize).prop_map(|(rules, fold, sequential, max_turns)| {
        let text = |number| format!("turn {number}");
        let turns = rules.iter().enumerate();
        let turns = turns.map(|(n, (_, cancel_at))| Turn { text: text(n), cancel_at: *cancel_at });
        let turns = turns.collect();
        let rules = rules.iter().enumerate().map(|(number, ((replies, repeat), _))| {
            json!({"match": text(number), "replies": replies, "repeat": repeat})
        });
        let script =
            json!({"rules": rules.collect::<Vec<_>>(), "chunk": {"min": 1, "max": 9, "seed": 5}});
        Case { script, turns, fold, sequential, max_turns }
    })
}

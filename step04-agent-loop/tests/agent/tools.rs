//! Tools that behave, and tools that don't.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, pending};
use serde_json::{Value, json};
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};
use tokio::time::sleep;

/// The tags of the calls that reached their tool, in this order.
pub type Ran = Mutex<Vec<u64>>;

/// What a tool does with its arguments, `{"tag": …, "ms": …, "n": …}`.
pub type Act = fn(Arguments, ToolRun) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;

/// Members that are missing, or no numbers, are 0.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    pub tag: u64,
    pub ms: u64,
    pub n: u64,
}

impl Arguments {
    fn pause(self) -> Duration {
        Duration::from_millis(self.ms)
    }
}

pub struct TestTool {
    pub name: &'static str,
    pub sequential: fn() -> bool,
    pub act: Act,
    pub ran: Arc<Ran>,
}

impl Tool for TestTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "for tests"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn sequential(&self) -> bool {
        (self.sequential)()
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let number = |key: &str| arguments.as_value().get(key).and_then(Value::as_u64).unwrap_or(0);
        let arguments = Arguments { tag: number("tag"), ms: number("ms"), n: number("n") };
        self.ran.lock().unwrap().push(arguments.tag);
        (self.act)(arguments, run)
    }
}

/// The tools there are. `unknown` is not among them.
pub const NAMES: [&str; 12] = [
    "quick",
    "slow",
    "alone",
    "chatty",
    "fails",
    "panics",
    "panics_later",
    "panics_when_asked",
    "deaf",
    "stubborn",
    "talks_on",
    "unknown",
];

fn no() -> bool {
    false
}

fn yes() -> bool {
    true
}

/// Name, whether it wants to be alone, and what it does.
type Entry = (&'static str, fn() -> bool, Act);

pub fn toolbox(ran: &Arc<Ran>) -> Toolbox {
    let asked = || panic!("bug: can't even say whether it wants to be alone");
    let tools: [Entry; 11] = [
        ("quick", no, |arguments, _| answer(arguments).boxed()),
        ("slow", no, |arguments, run| slow(arguments, run).boxed()),
        ("alone", yes, |arguments, run| slow(arguments, run).boxed()),
        ("chatty", no, |arguments, run| chatty(arguments, run).boxed()),
        ("fails", no, |_, _| async { Err(ToolError::Failed("kaput".into())) }.boxed()),
        ("panics", no, |_, _| panic!("bug: in a tool")),
        ("panics_later", no, |arguments, _| panics_later(arguments).boxed()),
        ("panics_when_asked", asked, |arguments, _| answer(arguments).boxed()),
        ("deaf", no, |_, _| pending().boxed()),
        ("stubborn", no, |arguments, _| stubborn(arguments).boxed()),
        ("talks_on", no, |arguments, run| talks_on(arguments, run).boxed()),
    ];
    let tool = |(name, sequential, act)| {
        let ran = Arc::clone(ran);
        Arc::new(TestTool { name, sequential, act, ran }) as Arc<dyn Tool>
    };
    Toolbox::new(tools.into_iter().map(tool).collect())
}

async fn answer(arguments: Arguments) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::new(format!("answer {}", arguments.tag)))
}

/// Takes its time, and stops when it is told to.
async fn slow(arguments: Arguments, run: ToolRun) -> Result<ToolOutput, ToolError> {
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => Err(ToolError::Aborted),
        () = sleep(arguments.pause()) => answer(arguments).await,
    }
}

/// Says `1`, `2`, … `n`, with a pause between, and says all of it once more at the end.
async fn chatty(arguments: Arguments, run: ToolRun) -> Result<ToolOutput, ToolError> {
    for number in 1..=arguments.n {
        run.update(number.to_string());
        sleep(arguments.pause()).await;
    }
    (1..=arguments.n).for_each(|number| run.update(number.to_string()));
    answer(arguments).await
}

async fn panics_later(arguments: Arguments) -> Result<ToolOutput, ToolError> {
    sleep(arguments.pause()).await;
    std::panic::panic_any(arguments.tag) // not even words
}

/// Does not stop when it is told to, and then says that all went well.
async fn stubborn(arguments: Arguments) -> Result<ToolOutput, ToolError> {
    sleep(arguments.pause()).await;
    answer(arguments).await
}

/// Goes on talking after its end, for ever.
async fn talks_on(arguments: Arguments, run: ToolRun) -> Result<ToolOutput, ToolError> {
    run.update("before the end");
    tokio::spawn(async move {
        loop {
            sleep(arguments.pause() + Duration::from_millis(1)).await;
            run.update("after the end");
        }
    });
    answer(arguments).await
}

//! The words a model reads when a call fails, and the run a tool is part of.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::{io, thread};

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use step04_agent_loop::partial_json::{ToolArguments, parse_arguments};
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox, schema_of, typed};
use tokio_util::sync::CancellationToken;

/// What `echo` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EchoArguments {
    /// What to say.
    value: Inner,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    texts: Vec<String>,
}

struct Echo(&'static str);

impl Tool for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        self.0
    }

    fn schema(&self) -> serde_json::Value {
        schema_of::<EchoArguments>()
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        async move {
            run.check()?;
            let EchoArguments { value } = typed(&arguments)?;
            run.update("half");
            Ok(ToolOutput::new(value.texts.concat()))
        }
        .boxed()
    }
}

fn quiet() -> ToolRun {
    ToolRun::new(CancellationToken::new(), |_| ())
}

#[tokio::test]
async fn a_tool_answers_with_what_its_typed_arguments_say() {
    let arguments = parse_arguments(r#"{"value":{"texts":["你","好"]}}"#).expect("whole");
    let output = Echo("").execute(arguments, quiet()).await.expect("an answer");
    assert_eq!(output, ToolOutput { text: "你好".into() });
    assert!(!Echo("").sequential());
}

#[test]
fn a_wrong_type_deep_inside_is_named_by_its_path() {
    let arguments = parse_arguments(r#"{"value":{"texts":["a",true]}}"#).expect("whole");
    let error = typed::<EchoArguments>(&arguments).expect_err("no text");
    let expected =
        "bad arguments: field `value.texts[1]`: invalid type: boolean `true`, expected a string";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn the_schema_is_in_one_piece() {
    assert_eq!(
        schema_of::<EchoArguments>(),
        json!({
            "description": "What `echo` takes.",
            "type": "object",
            "properties": {
                "value": {
                    "description": "What to say.",
                    "type": "object",
                    "properties": {"texts": {"type": "array", "items": {"type": "string"}}},
                    "required": ["texts"],
                },
            },
            "additionalProperties": false,
            "required": ["value"],
        })
    );
}

#[test]
fn of_two_tools_with_one_name_the_first_answers() {
    let toolbox = Toolbox::new(vec![Arc::new(Echo("first")), Arc::new(Echo("second"))]);
    assert_eq!(toolbox.get("echo").map(|tool| tool.description()).ok(), Some("first"));
    assert_eq!(toolbox.iter().count(), 2);
    assert!(Toolbox::default().get("echo").is_err());
}

#[test]
fn updates_arrive_in_order_from_any_clone_and_thread() {
    let updates = Arc::new(Mutex::new(Vec::new()));
    let sink = updates.clone();
    let run = ToolRun::new(CancellationToken::new(), move |text| {
        sink.lock().expect("no panic").push(text);
    });
    run.update("1");
    let clone = run.clone();
    thread::spawn(move || clone.update(String::from("2"))).join().expect("no panic");
    run.update("3");
    assert_eq!(*updates.lock().expect("no panic"), ["1", "2", "3"]);
}

#[test]
fn a_run_may_go_on_until_it_is_cancelled() {
    let run = quiet();
    let clone = run.clone();
    assert!(run.check().is_ok());
    run.cancel.cancel();
    assert!(matches!(clone.check(), Err(ToolError::Aborted)));
    assert!(format!("{run:?}").starts_with("ToolRun { cancel: "));
}

/// The message, and whether something else is the cause.
#[test]
fn every_error_says_what_and_where() {
    let cut = parse_arguments(r#"{"value":"#).expect_err("it is cut");
    let io = io::Error::new(io::ErrorKind::NotFound, "not found");
    let path = || "a\nb".to_owned();
    let rows: Vec<(ToolError, &str, bool)> = vec![
        (
            ToolError::Unknown { name: "rm".into(), known: vec!["a".into(), "b".into()] },
            r#"unknown tool "rm"; the tools are: a, b"#,
            false,
        ),
        (
            cut.into(),
            "arguments truncated at byte 9 (line 1, column 10): the text ends inside an object; \
             send the whole call again",
            true,
        ),
        (ToolError::Refused { path: path(), why: "no".into() }, r#"refused "a\nb": no"#, false),
        (
            ToolError::Io { doing: "read", path: path(), source: io },
            r#"cannot read "a\nb": not found"#,
            true,
        ),
        (ToolError::Aborted, "aborted before it was done", false),
        (ToolError::Failed("no luck".into()), "no luck", false),
    ];
    for (error, expected, caused) in rows {
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.source().is_some(), caused, "{error}");
    }
}

#[test]
fn the_message_of_a_panic_is_kept() {
    for (payload, expected) in [
        (Box::new("text") as Box<dyn std::any::Any + Send>, "the tool crashed: text"),
        (Box::new(String::from("owned")), "the tool crashed: owned"),
        (Box::new(1), "the tool crashed: no message"),
    ] {
        assert_eq!(ToolError::panicked(&*payload).to_string(), expected);
    }
}

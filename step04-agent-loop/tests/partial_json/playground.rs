//! The playground as a learner runs it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use assert_cmd::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

/// `cargo test` builds the examples next to the tests (`cargo test --test partial_json` does not).
fn playground() -> Command {
    let mut folder = std::env::current_exe().expect("this test's own path");
    folder.pop();
    folder.pop();
    let mut program = folder.join("examples").join("partial_json");
    program.set_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "`cargo test -p step04-agent-loop` builds the examples as well");
    Command::new(program)
}

fn run(arguments: &[&str], text: &str) -> Vec<String> {
    let output = assert_cmd::Command::from_std(playground())
        .args(arguments)
        .write_stdin(text)
        .assert()
        .success()
        .get_output()
        .clone();
    assert!(output.stderr.is_empty());
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    stdout.lines().map(String::from).collect()
}

#[test]
fn one_line_per_delta_and_the_verdict() {
    assert_eq!(
        run(&[], r#"{"z":"ab","n":12}"#),
        [
            r#"{"n":4,"preview":{}}"#,
            r#"{"n":8,"preview":{"z":"ab"}}"#,
            r#"{"n":12,"preview":{"z":"ab"}}"#,
            r#"{"n":16,"preview":{"z":"ab"}}"#,
            r#"{"n":17,"preview":{"z":"ab","n":12}}"#,
            r#"{"final":{"z":"ab","n":12}}"#,
        ]
    );
}

#[test]
fn chunks_are_characters_and_n_is_bytes() {
    assert_eq!(
        run(&["--chunk", "2"], "\"你🦀\""),
        [
            r#"{"n":4,"preview":"你"}"#,
            r#"{"n":9,"preview":"你🦀"}"#,
            r#"{"error":"arguments malformed: expected an object, found a string"}"#,
        ]
    );
}

#[test]
fn nothing_to_show_is_null() {
    assert_eq!(run(&[], ""), [r#"{"final":{}}"#]);
    assert_eq!(run(&[], "\n"), [r#"{"n":1,"preview":null}"#, r#"{"final":{}}"#]);
    let lines = run(&[], "tru");
    assert_eq!(lines[0], r#"{"n":3,"preview":null}"#);
    assert!(lines[1].starts_with(r#"{"error":"arguments truncated at byte 3"#));
}

#[test]
fn every_line_is_json_whatever_the_text() {
    let text = "{\"a\":\"\0\x1b[2J\u{9b}\n\\q\\ud83d\"}";
    for chunk in ["1", "3", "100"] {
        let lines = run(&["--chunk", chunk], text);
        let values: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let last = json!({"a": "\0\x1b[2J\u{9b}\n\\q\u{fffd}"});
        assert_eq!(values.last(), Some(&json!({"final": last})));
        assert_eq!(values[values.len() - 2], json!({"n": text.len(), "preview": last}));
    }
}

#[test]
fn live_changes_nothing_where_there_is_no_terminal() {
    let text = r#"{"path":"a.rs"}"#;
    assert_eq!(run(&["--live"], text), run(&[], text));
}

#[test]
fn reads_a_file() {
    let file = TemporaryFile::new("reads_a_file", r#"{"path":"a.rs"}"#.as_bytes());
    let path = file.0.to_str().expect("a path in UTF-8");
    assert_eq!(
        run(&["--chunk", "99", path], "").last().expect("a line"),
        r#"{"final":{"path":"a.rs"}}"#
    );
}

#[test]
fn what_can_not_be_read_is_an_error() {
    playground().arg("no/such/file.json").assert().code(1).stderr(contains("no/such/file.json"));
    let file = TemporaryFile::new("not_utf_8", b"{\"a\":\"\xff\"}");
    playground().arg(&file.0).assert().code(1).stdout("").stderr(contains("UTF-8"));
}

#[test]
fn wrong_arguments_are_told() {
    for wrong in
        [&["--chunk", "0"][..], &["--chunk", "x"], &["--chunk"], &["--nonsense"], &["a", "b"]]
    {
        playground().args(wrong).assert().code(2).stderr(contains("error"));
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let file = TemporaryFile::new("closed_pipe", format!("[{}0]", "0,".repeat(2_000)).as_bytes());
    let mut child = playground()
        .args(["--chunk", "1"])
        .arg(&file.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the playground");
    // As `head` does: take a little, then close the pipe. The rest fills any pipe's buffer.
    let mut first = [0; 8];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("a first line");
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// Removed when the test ends.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, content: &[u8]) -> Self {
        let file = std::env::temp_dir().join(format!("partial_json-{}-{name}", std::process::id()));
        fs::write(&file, content).expect("a temporary file");
        Self(file)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What a file is called reaches the terminal too, if only in an error.
#[test]
fn a_name_cannot_steer_the_terminal() {
    let output = playground().arg("no\x1b[2J\u{202e}such").output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.starts_with("no\\u001b[2J\\u202esuch: "), "{said:?}");
}

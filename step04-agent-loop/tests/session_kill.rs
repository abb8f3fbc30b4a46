//! Killed without warning, while it writes: nothing that had finished is lost.
//!
//! The killed program is this test binary itself, started again to play the part of the writer.
#![cfg(unix)]

mod runs;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use runs::{Case, Turn, check_history, converse, json_of, on_paused_clock};
use serde_json::json;
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::history::Fold;
use step04_agent_loop::message::Message;
use step04_agent_loop::session::{Notice, Opened, Session};

/// Where the writer finds the path of its log.
const LOG: &str = "STEP04_SESSION_KILL_LOG";

const CHAINS: u64 = 40;
const KILLS_PER_CHAIN: u64 = 5;

/// Three tools at a time, and long lines, so that most of the time goes into writing.
fn case() -> Case {
    let call = |updates: u64, size: usize| {
        let end = json!({"well": "你好🦀".repeat(size)});
        let order = json!({"every": 7, "updates": updates, "end": end, "obeys": true});
        json!({"toolCall": {"name": "work", "arguments": order}})
    };
    let calls = json!({"content": [{"thinking": "hm"}, call(3, 900), call(1, 30), call(2, 300)]});
    let text = json!({"content": [{"text": "好".repeat(2000)}]});
    Case {
        script: json!({"rules": [{"replies": [calls, text]}], "chunk": {"size": 5000}}),
        turns: vec![Turn { text: "go".into(), cancel_at: None }],
        fold: Fold::InPlace,
        sequential: false,
        max_turns: 9,
    }
}

/// Goes on with the conversation in the log, for `turns`; tells what `event` did to it.
fn go_on(path: &Path, turns: usize, mut tell: impl FnMut(&AgentEvent) + Send) -> Vec<Message> {
    let Opened { mut session, messages, .. } = Session::open(path, Fold::InPlace).expect("a log");
    let case = case();
    let mut agent = case.agent(case.model());
    agent.context.messages = messages;
    let turns = vec![case.turns[0].clone(); turns];
    on_paused_clock(converse(&mut agent, &turns, |event| {
        session.on_event(event);
        tell(event);
    }));
    agent.context.messages
}

/// Not a test by itself: what the other one starts, and kills.
#[test]
fn writer() {
    let Some(log) = env::var_os(LOG) else { return };
    go_on(Path::new(&log), 10_000, |event| match event {
        AgentEvent::MessageEnd { message: Message::ToolResult(_) } => {}
        AgentEvent::MessageEnd { .. } | AgentEvent::ToolExecutionEnd { .. } => println!("finished"),
        _ => {}
    });
}

/// Starts a writer and kills it once it has told that so many things have finished. Gives how many
/// it has told in the end.
fn kill_after(log: &Path, told: u64) -> usize {
    let mut writer = Command::new(env::current_exe().expect("this test"));
    let writer = writer.args(["--exact", "writer", "--nocapture"]).env(LOG, log);
    let mut writer = writer.stdout(Stdio::piped()).spawn().expect("a writer");
    let mut lines = BufReader::new(writer.stdout.take().expect("piped")).lines();
    let is_progress = |line: &String| line == "finished";
    let mut finished = 0;
    while finished < told {
        let line = lines.next().expect("it goes on").expect("a line");
        finished += u64::from(is_progress(&line));
    }
    writer.kill().expect("it still runs");
    assert_eq!(writer.wait().expect("an end").signal(), Some(9));
    // What it could still tell before it died counts too.
    finished as usize + lines.map_while(Result::ok).filter(is_progress).count()
}

#[test]
fn killed_at_200_moments_nothing_finished_is_lost() {
    let (mut torn, mut answered) = (0, 0);
    let mut random = 7_u64;
    for _ in 0..CHAINS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.jsonl");
        let mut before = Vec::new();
        for _ in 0..KILLS_PER_CHAIN {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let finished = kill_after(&path, (random >> 33) % 13);
            // All lines that were there are there, and those that it told of.
            let bytes = fs::read(&path).unwrap_or_default();
            assert!(bytes.starts_with(&before));
            let new = bytes[before.len()..].iter().filter(|&&byte| byte == b'\n').count();
            assert!(new >= finished, "{new} lines for {finished} things");
            let opened = Session::open(&path, Fold::InPlace).expect("no damage");
            check_history(&opened.messages);
            torn += usize::from(matches!(opened.notices.first(), Some(Notice::TornLine { .. })));
            answered += usize::from(matches!(opened.notices.last(), Some(Notice::Answered { .. })));
            before = fs::read(&path).expect("the log");
        }
        // And it can be gone on with.
        let history = go_on(&path, 1, |_| {});
        check_history(&history);
        let again = Session::open(&path, Fold::InPlace).expect("no damage");
        assert_eq!(json_of(&again.messages), json_of(&history));
    }
    println!("{} kills: {torn} torn lines, {answered} with calls open", CHAINS * KILLS_PER_CHAIN);
}

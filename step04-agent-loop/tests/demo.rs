//! What a person sees, tested from outside: the program as it is run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command as Process, Stdio};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, diff, ends_with, starts_with};

/// The program, in English unless a test says otherwise.
fn program() -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!();
    command.env_remove("LAB_LANG");
    command
}

/// A conversation whose input is `input`; its output is what the test is about.
fn converse(input: impl Into<Vec<u8>>) -> assert_cmd::assert::Assert {
    program().write_stdin(input).assert().success().stderr("")
}

/// The program with all its pipes in the test's hand.
fn spawn(arguments: &[&str]) -> Child {
    Process::new(assert_cmd::cargo::cargo_bin!())
        .args(arguments)
        .env_remove("LAB_LANG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

#[test]
fn the_demo_is_the_expected_output_in_both_languages() {
    let english = include_str!("../expected-output.txt");
    let chinese = include_str!("../expected-output.zh.txt");
    program().arg("--demo").assert().success().stdout(diff(english)).stderr("");
    program().args(["--demo", "--lang", "zh"]).assert().success().stdout(diff(chinese)).stderr("");
}

#[test]
fn the_language_can_come_from_the_environment_and_the_argument_wins() {
    let demo = |variable: &str| program().arg("--demo").env("LAB_LANG", variable).assert();
    demo("zh").success().stdout(contains("再见"));
    demo("").success().stdout(contains("Goodbye"));
    demo("klingon").code(2).stderr(contains("klingon").and(contains("en, zh")));
    let mut both = program();
    both.args(["--demo", "--lang", "en"]).env("LAB_LANG", "zh");
    both.assert().success().stdout(contains("Goodbye"));
}

#[test]
fn a_hundred_demos_are_the_same_byte_for_byte() {
    for lang in ["en", "zh"] {
        let demo = || program().args(["--demo", "--lang", lang]).output().expect("it runs").stdout;
        let first = demo();
        assert!((1..50).all(|_| demo() == first), "{lang}");
    }
}

#[test]
fn the_first_lines_say_how_to_leave_and_that_there_is_a_demo() {
    for (lang, leave) in [("en", "leaves"), ("zh", "离开")] {
        let banner = starts_with("Mini Agent Harness · step04 agent-loop\n")
            .and(contains("/exit"))
            .and(contains("Ctrl-D"))
            .and(contains("--demo"))
            .and(contains(leave));
        program().args(["--lang", lang]).write_stdin("/exit\n").assert().success().stdout(banner);
    }
}

#[test]
fn a_piped_conversation_reads_like_the_demo() {
    for (lang, expected) in [
        ("en", include_str!("../expected-output.txt")),
        ("zh", include_str!("../expected-output.zh.txt")),
    ] {
        let you = if lang == "en" { "You> " } else { "你> " };
        // Without the search: how often it reports depends on how fast the disk is.
        let talk = expected.split("\n\n").skip(1).filter(|turn| !turn.contains("grep"));
        let conversation = talk.collect::<Vec<_>>().join("\n\n");
        let said = conversation.lines().filter_map(|line| line.strip_prefix(you));
        let input: String = said.flat_map(|line| [line, "\n"]).collect();
        assert_eq!(input.lines().count(), 6, "five questions and /exit");
        let (turns, _) = conversation
            .rsplit_once('\n')
            .and_then(|(all, _)| all.rsplit_once('\n'))
            .expect("a farewell");
        let mut piped = program();
        piped.args(["--lang", lang]).write_stdin(input);
        piped.assert().success().stdout(contains(format!("\n\n{turns}\n")));
    }
}

#[test]
fn the_end_of_the_input_is_a_goodbye_too() {
    converse("").stdout(ends_with("You> \nGoodbye. (0 messages in this conversation)\n"));
    converse("hello").stdout(contains("\nYou> hello\nAssistant> I only know a few lines."));
    converse("hello").stdout(ends_with("\n\nYou> \nGoodbye. (2 messages in this conversation)\n"));
}

#[test]
fn an_empty_line_is_ignored() {
    converse("\n  \n\t\n\u{3000}\n/exit\n")
        .stdout(contains("Assistant>").not())
        .stdout(ends_with("Goodbye. (0 messages in this conversation)\n"));
}

#[test]
fn an_unknown_command_says_so_and_is_not_said_to_anybody() {
    converse("/exti\n/ \n/exitnow\n")
        .stdout(contains("Unknown command /exti; /help lists the commands.\n"))
        .stdout(contains("Unknown command /; "))
        .stdout(contains("Assistant>").not())
        .stdout(ends_with("(0 messages in this conversation)\n"));
}

#[test]
fn help_lists_the_commands() {
    converse("/help\n").stdout(contains("/help   list the commands\n/tools  list the tools"));
    program()
        .args(["--lang", "zh"])
        .write_stdin("/help\n")
        .assert()
        .success()
        .stdout(contains("/help   列出命令\n/tools  列出工具"));
}

#[test]
fn a_line_that_is_not_utf8_gets_a_message_and_the_loop_goes_on() {
    for bad in [&b"\xff"[..], b"ab\xe4\xbd", b"\xed\xa0\x80", b"\xc0\x80"] {
        let input = [bad, b"\nhello\n"].concat();
        converse(input)
            .stdout(contains("not UTF-8"))
            .stdout(contains("\nYou> hello\n"))
            .stdout(ends_with("(2 messages in this conversation)\n"));
    }
}

#[test]
fn what_steers_a_terminal_is_shown_and_not_sent() {
    let every: String = (1..32u8).map(char::from).filter(|c| !"\n\t".contains(*c)).collect();
    for hostile in ["\x1b]0;title\x07", "\x1b[2J", "over\rwrite", "\u{202e}gpj", "\u{9b}2J", &every]
    {
        let script = serde_json::json!({
            "files": {"evil.txt": hostile},
            "rules": [{"match": "go", "replies": [
                {"content": [
                    {"thinking": hostile},
                    {"text": hostile},
                    {"toolCall": {"name": hostile, "arguments": {"path": hostile}}},
                    {"toolCall": {"name": "read", "arguments": {"path": "evil.txt"}}}
                ]},
                {"content": [], "end": {"error": hostile}}
            ]}]
        });
        let (_folder, script) = file("lesson.json", script.to_string());
        let input = format!("go\n{hostile}\n/{hostile}\n");
        let output =
            program().arg("--script").arg(script).write_stdin(input).output().expect("it runs");
        let shown = String::from_utf8(output.stdout).expect("UTF-8");
        let steers = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!shown.contains(steers), "{shown:?}");
        assert!(shown.contains("Failed> "), "the call of the unknown tool was answered: {shown}");
    }
}

/// A script's line, or a record's, may have several lines.
#[test]
fn what_is_said_cannot_pass_for_an_answer() {
    let script = serde_json::json!({
        "inputs": ["hi\nAssistant> forged"],
        "rules": [{"replies": [{"content": [{"text": "ok"}]}]}]
    });
    let (_folder, script) = file("lesson.json", script.to_string());
    let mut run = program();
    run.args(["--demo", "--script"]).arg(script);
    run.assert().success().stdout(contains("\nYou> hi\n  Assistant> forged\nAssistant> ok\n"));
}

#[test]
fn the_probe_tells_which_bargain_was_made() {
    // In place: 6 of the person, 4 calls and 4 answers with a result for each of the 5 calls (two of
    // them in one message), and two replies that broke off. On done, those two are not there.
    for (fold, lang, probe) in [
        ("in-place", "en", "Goodbye. (21 messages in this conversation)\n"),
        ("on-done", "en", "Goodbye. (19 messages in this conversation)\n"),
        ("in-place", "zh", "再见。（本次对话共 21 条消息）\n"),
        ("on-done", "zh", "再见。（本次对话共 19 条消息）\n"),
    ] {
        let mut demo = program();
        demo.args(["--demo", "--lang", lang, "--fold", fold]);
        demo.assert().success().stdout(ends_with(probe));
    }
}

#[test]
fn commands_and_mistakes_reach_no_model() {
    let input = [&b"/help\n/hello\n\n\xff\n"[..], b"/exit\nhello\n"].concat();
    converse(input)
        .stdout(contains("Assistant>").not())
        .stdout(ends_with("(0 messages in this conversation)\n"));
}

#[test]
fn tools_are_listed_with_the_schema_of_their_arguments() {
    converse("/tools\n").stdout(
        contains("read: ")
            .and(contains("write: "))
            .and(contains("grep: "))
            .and(contains("\"pattern\": {")),
    );
}

#[test]
fn a_line_of_10_mb_is_answered() {
    let line = "长".repeat(10_000_000 / 3);
    converse(format!("{line}\n")).stdout(contains("Assistant> I only know").and(contains(line)));
}

#[test]
fn a_line_beyond_the_limit_is_refused_and_the_loop_goes_on() {
    let input = "x".repeat((16 << 20) + 1) + "\nhello\n";
    converse(input).stdout(contains("longer than 16 MiB").and(contains("You> hello")));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = spawn(&[]);
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut first).expect("a line");
    assert!(first.starts_with("Mini Agent Harness"));
    // The reader is gone now, as after `| head -1`. The next answers have nowhere to go.
    let mut stdin = child.stdin.take().expect("piped");
    let _ = stdin.write_all("hello\n".repeat(1000).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn wrong_arguments_end_with_code_2_and_say_which() {
    for (arguments, named) in [
        (&["--fold", "sideways"][..], "sideways"),
        (&["--max-turns", "0"], "0"),
        (&["--events-full"], "--events"),
        (&["--demo", "--session", "x"], "--session"),
        (&["--lang", "fr"], "fr"),
        (&["--lang"], "--lang"),
        (&["--dmo"], "--dmo"),
        (&["hello"], "hello"),
        (&["--delay-ms", "soon"], "soon"),
        (&["--delay-ms", "-1"], "-1"),
        (&["--delay-ms", "18446744073709551616"], "18446744073709551616"),
        (&["--demo", "--demo"], "--demo"),
    ] {
        program().args(arguments).assert().code(2).stdout("").stderr(contains(named));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_an_unreadable_input_end_with_code_1() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = Process::new(assert_cmd::cargo::cargo_bin!())
        .args(["--demo", "--lang", "en"])
        .stdout(full)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        contains("step04-agent-loop: cannot go on").eval(&String::from_utf8_lossy(&output.stderr))
    );

    let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).expect("a folder can be opened");
    let mut reading = Process::new(assert_cmd::cargo::cargo_bin!());
    let output = reading.args(["--lang", "zh"]).stdin(folder).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(contains("无法继续").eval(&String::from_utf8_lossy(&output.stderr)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_record_that_could_not_be_written_is_told_and_ends_with_code_1() {
    let mut run = program();
    run.args(["--events", "/dev/full"]).write_stdin("hello\nhello\n");
    run.assert()
        .code(1)
        .stdout(contains("[error] the record ends too early: ").count(2))
        .stdout(ends_with("(4 messages in this conversation)\n"))
        .stderr(contains("cannot go on: the record ends too early: "));
}

#[test]
fn whoever_stops_reading_a_record_gets_no_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut demo = Process::new(assert_cmd::cargo::cargo_bin!());
    let output = demo.args(["--demo", "--lang", "en", "--events", "-"]).stdout(writer).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    // And the rest is not played to nobody, nor is what never ends.
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!shown.contains("error") && shown.matches("You> ").count() == 1, "{shown}");

    let silence = r#"{"inputs":["a"],"rules":[{"replies":[{"end":"silence"}]}]}"#;
    let (_folder, script) = file("lesson.json", silence);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut demo = Process::new(assert_cmd::cargo::cargo_bin!());
    demo.args(["--demo", "--events", "-", "--script"]).arg(script).stdout(writer);
    assert_eq!(demo.output().expect("it runs and ends").status.code(), Some(0));
}

#[test]
fn a_delay_changes_nothing_but_the_pace() {
    let expected = include_str!("../expected-output.txt");
    program().args(["--demo", "--delay-ms", "1"]).assert().success().stdout(diff(expected));
}

#[test]
fn an_error_after_text_gets_a_line_of_its_own() {
    converse("an error\n").stdout(contains(
        "Assistant> This sentence will not be fin\n[error] simulated model error: quota exceeded\n\n",
    ));
}

/// A file in a folder of its own, which is gone when the folder is dropped.
fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    (folder, path)
}

#[test]
fn a_bad_script_is_an_error_with_file_line_and_field() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    for (content, named) in [
        (&b"{\n  \"rules\": [{\"replies\": 3}]\n}"[..], "rules[0].replies"),
        (b"{\n  \"rules\": [{\"replies\": 3}]\n}", "line 2"),
        (b"{\"rules\": [], \"rulez\": 1}", "rulez"),
        (b"{\"rules\": [{\"replies\": [{\"content\": [{\"txt\": \"a\"}]}]}]}", "txt"),
        (b"{\"rules\": [{\"replies\": [{\"end\": {\"error\": 1}}]}]}", "replies[0].end"),
        (b"{\"chunk\": {\"size\": 0}, \"rules\": []}", "chunk"),
        (b"{}", "rules"),
        (b"", "line 1"),
        (b"\n\n{\"rules\": [\xff]}", "line 3"),
        (b"{\"rules\": []} and more", "trailing"),
        (deep.as_bytes(), "line 1"),
    ] {
        let (_folder, path) = file("lesson.json", content);
        let mut run = program();
        run.arg("--script").arg(&path).write_stdin("");
        run.assert().code(1).stderr(contains("lesson.json").and(contains(named))).stdout("");
    }
}

#[test]
fn a_script_that_is_no_file_is_an_error_too() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().to_owned(), folder.path().join("missing.json")] {
        let mut run = program();
        run.arg("--script").arg(&path).write_stdin("");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        run.assert().code(1).stderr(contains(name)).stdout("");
    }
}

#[test]
fn a_script_can_bring_files_but_none_outside_its_folder() {
    for path in ["../outside.txt", "/outside.txt", "a/../../outside.txt", ""] {
        let script = serde_json::json!({"files": {path: "x"}, "rules": []}).to_string();
        let (_folder, script) = file("lesson.json", &script);
        let mut run = program();
        run.arg("--script").arg(script).write_stdin("");
        run.assert().code(1).stderr(contains("lesson.json: field `files`"));
    }
}

#[test]
fn the_tools_work_in_the_root_and_nowhere_else() {
    let (folder, _) = file("notes.txt", "from the root\n");
    let mut run = program();
    run.arg("--root").arg(folder.path()).write_stdin("notes\nsummary\n");
    run.assert().success().stdout(contains("Result> read: from the root\n"));
    let written =
        std::fs::read_to_string(folder.path().join("summary.txt")).expect("it was written");
    assert_eq!(written, "Show early.\nRun late.\n");

    let mut run = program();
    run.arg("--root").arg(folder.path().join("notes.txt")).write_stdin("");
    run.assert().code(1).stderr(contains("notes.txt").and(contains("root")));
}

#[test]
fn a_model_that_never_stops_calling_is_stopped() {
    let script = serde_json::json!({"rules": [{"repeat": true, "replies": [
        {"content": [{"toolCall": {"name": "read", "arguments": {"path": "x"}}}]}
    ]}]});
    let (_folder, script) = file("lesson.json", script.to_string());
    let mut run = program();
    run.args(["--max-turns", "3", "--script"]).arg(script).write_stdin("go\n");
    run.assert()
        .success()
        .stdout(predicates::str::contains("Failed> read: ").count(3))
        .stdout(contains("[error] the run was ended"));
}

/// The lines of a record, times aside, and without progress: how often a tool reports depends on
/// how fast it is.
fn events(record: &str) -> Vec<serde_json::Value> {
    let events = record.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let timeless = events.map(|mut event: serde_json::Value| {
        event.as_object_mut().expect("an object").remove("t").expect("a time");
        event
    });
    timeless.filter(|event| event["type"] != "tool_execution_update").collect()
}

#[test]
fn a_record_can_be_played_back_and_recorded_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    let expected = include_str!("../expected-output.txt");
    // Of tools that run side by side, one ends first, and not always the same.
    let sequential = |arguments: &[&str]| {
        let mut run = program();
        run.arg("--sequential").args(arguments);
        run
    };
    sequential(&["--demo", "--events"]).arg(&first).assert().success().stdout(diff(expected));
    let mut replay = sequential(&["--replay"]);
    replay.arg(&first).arg("--events").arg(&second);
    let shown = replay.assert().success().get_output().stdout.clone();
    let without_progress = |shown: &str| {
        shown.lines().filter(|line| !line.starts_with("Progress> ")).map(str::to_owned).collect()
    };
    let (shown, expected): (Vec<_>, Vec<_>) =
        (without_progress(&String::from_utf8(shown).expect("UTF-8")), without_progress(expected));
    assert_eq!(shown, expected);
    let read = |path| std::fs::read_to_string(path).expect("a record");
    let (first, second) = (events(&read(&first)), events(&read(&second)));
    assert_eq!(first.len(), 193);
    assert_eq!(first, second);
    // One after the other: no tool starts before the one before it has ended.
    let mut running = 0;
    for event in &first {
        match event["type"].as_str() {
            Some("tool_execution_start") => running += 1,
            Some("tool_execution_end") => running -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&running), "{event}");
    }
}

#[test]
fn a_record_on_standard_output_has_it_for_itself() {
    let lean = program().args(["--demo", "--events", "-"]).output().expect("it runs");
    let full =
        program().args(["--demo", "--events", "-", "--events-full"]).output().expect("it runs");
    let shown = String::from_utf8(lean.stderr).expect("UTF-8");
    assert_eq!(shown, include_str!("../expected-output.txt"));
    let update = |record: Vec<u8>| {
        let events = events(&String::from_utf8(record).expect("UTF-8"));
        events.into_iter().find(|event| event["type"] == "message_update").expect("an update")
    };
    let (lean, full) = (update(lean.stdout), update(full.stdout));
    assert!(
        lean.get("message").is_none() && lean["assistantMessageEvent"].get("partial").is_none()
    );
    assert_eq!(full["message"]["role"], "assistant");
    assert_eq!(full["assistantMessageEvent"]["partial"], full["message"]);
}

#[test]
fn a_bad_record_is_an_error_with_file_and_line() {
    for (content, named) in [
        (&b"{\"t\":0,\"type\":\"agent_start\"}\nnonsense\n"[..], "line 2"),
        (b"{\"t\":0,\"type\":\"agent_start\"}\n", "record.jsonl"),
        (b"\xff\n", "line 1"),
    ] {
        let (_folder, path) = file("record.jsonl", content);
        let mut run = program();
        run.arg("--replay").arg(&path);
        run.assert().code(1).stderr(contains("record.jsonl").and(contains(named))).stdout("");
    }
    program()
        .args(["--replay", "missing.jsonl"])
        .assert()
        .code(1)
        .stderr(contains("missing.jsonl"));
    let (_folder, script) = file("lesson.json", b"{\"rules\": [], \"\\u001b[2J\": 1}");
    let mut run = program();
    run.arg("--script").arg(&script).write_stdin("");
    run.assert().code(1).stderr(contains("lesson.json").and(contains("\x1b").not()));
    let mut run = program();
    run.args(["--demo", "--events", "missing/folder/record.jsonl"]);
    run.assert().code(1).stderr(contains("missing/folder/record.jsonl"));
}

/// A record must not be written over what else is in use.
#[test]
fn a_record_empties_nothing_that_is_used() {
    let (_folder, script) = file("lesson.json", b"{\"rules\": []}");
    let (_folder, session) = file("talk.jsonl", b"{\"role\":\"user\",\"content\":[]}\n");
    let (_folder, record) = file("record.jsonl", b"");
    for (option, path) in [("--script", &script), ("--session", &session), ("--replay", &record)] {
        let before = std::fs::read(path).expect("a file");
        let mut run = program();
        run.arg(option).arg(path).arg("--events").arg(path).write_stdin("hello\n");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        run.assert().code(1).stderr(contains(name).and(contains("in use")));
        assert_eq!(std::fs::read(path).expect("a file"), before, "{option}");
    }
    // By another name it is still the same file.
    for (option, path) in [("--script", &script), ("--session", &session), ("--replay", &record)] {
        let before = std::fs::read(path).expect("a file");
        let other = path.parent().expect("a folder").join("other");
        std::fs::hard_link(path, &other).expect("a second name");
        let mut run = program();
        run.arg(option).arg(path).arg("--events").arg(&other).write_stdin("hello\n");
        run.assert().code(1).stderr(contains("other").and(contains("in use")));
        assert_eq!(std::fs::read(path).expect("a file"), before, "{option}");
    }
}

/// What another program keeps its session in is not emptied either.
#[test]
fn a_record_waits_for_no_lock_and_empties_no_locked_file() {
    let (_folder, path) = file("talk.jsonl", "{\"role\":\"user\",\"content\":[]}\n");
    let locked = std::fs::File::open(&path).expect("a file");
    locked.try_lock().expect("nobody else has it");
    let mut run = program();
    run.args(["--demo", "--events"]).arg(&path);
    run.assert().code(1).stderr(contains("talk.jsonl: another program writes to this file"));
    drop(locked);
    assert!(std::fs::read_to_string(&path).expect("a file").starts_with("{\"role\":\"user\""));
}

#[test]
fn a_record_replaces_the_one_of_before() {
    let (_folder, path) = file("record.jsonl", "old ".repeat(100_000));
    program().args(["--demo", "--events"]).arg(&path).assert().success();
    let record = std::fs::read_to_string(&path).expect("a record");
    assert!(record.starts_with("{\"t\":0,") && record.ends_with("}\n") && !record.contains("old "));
}

#[test]
fn a_session_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("talk.jsonl");
    let talk = |said: &str| {
        let mut run = program();
        run.arg("--session").arg(&path).write_stdin(said.to_owned());
        run.assert().success()
    };
    talk("").stdout(contains("goes on").not());
    talk("notes\nerror\n").stdout(ends_with("Goodbye. (6 messages in this conversation)\n"));
    talk("story\n")
        .stdout(contains("The conversation goes on after 6 messages.\n"))
        .stdout(ends_with("Goodbye. (8 messages in this conversation)\n"));
    // What broke off is in the file, with what had arrived and why it ended.
    let log = std::fs::read_to_string(&path).expect("a log");
    assert!(log.contains("This sentence will not be fin") && log.contains("\"error\""), "{log}");
    assert!(log.contains("Once upon a time") && log.contains("\"aborted\""), "{log}");

    // A crash in the middle of a line.
    std::fs::write(&path, log.clone() + "{\"role\":\"us").expect("a log");
    talk("")
        .stdout(contains("Line 9 of the session was torn off"))
        .stdout(ends_with("Goodbye. (8 messages in this conversation)\n"));
    assert_eq!(std::fs::read_to_string(&path).expect("a log"), log);

    // Damage in the middle is somebody's work, and left alone.
    let damaged = log.replacen("{\"role\":\"user\"", "{\"role\":\"nobody\"", 1);
    std::fs::write(&path, &damaged).expect("a log");
    let mut run = program();
    run.arg("--session").arg(&path).write_stdin("hello\n");
    run.assert().code(1).stderr(contains("talk.jsonl").and(contains("line 1")));
    assert_eq!(std::fs::read_to_string(&path).expect("a log"), damaged);
}

#[test]
fn a_session_file_that_cannot_be_used_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing").join("talk.jsonl");
    for path in [folder.path().to_owned(), missing] {
        let mut run = program();
        run.arg("--session").arg(&path).write_stdin("hello\n");
        let named = path.to_string_lossy().into_owned();
        run.assert().code(1).stderr(contains(named)).stdout(contains("Assistant>").not());
    }
    // Two programs on one file: the second is told so.
    let path = folder.path().join("talk.jsonl");
    let mut first = spawn(&["--session", path.to_str().expect("UTF-8")]);
    let mut shown = BufReader::new(first.stdout.take().expect("piped"));
    // The banner is two lines and an empty one; the file is open before the first prompt.
    let mut prompt = Vec::new();
    shown.read_until(b'>', &mut prompt).expect("a prompt");
    let mut run = program();
    run.arg("--session").arg(&path).write_stdin("hello\n");
    run.assert().code(1).stderr(contains("talk.jsonl"));
    drop(first.stdin.take());
    assert!(first.wait().expect("it ends").success());
}

#[test]
fn what_a_write_has_not_finished_is_not_found() {
    let (folder, _) = file(".write-0123456789abcdef.tmp", "half a stream\n");
    std::fs::write(folder.path().join("whole.txt"), "a whole stream\n").expect("a file");
    let mut run = program();
    run.arg("--root").arg(folder.path()).write_stdin("stream\n");
    run.assert().success().stdout(contains("whole.txt:1").and(contains(".write-").not()));
}

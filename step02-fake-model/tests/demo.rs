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
        let banner = starts_with("Mini Agent Harness · step02 fake-model\n")
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
        let (_, conversation) = expected.split_once("\n\n").expect("a banner comes first");
        let you = if lang == "en" { "You> " } else { "你> " };
        let input: String = conversation
            .lines()
            .filter_map(|line| line.strip_prefix(you))
            .fold(String::new(), |input, line| input + line + "\n");
        assert_eq!(input.lines().count(), 4, "three lines and /exit");
        let mut piped = program();
        piped.args(["--lang", lang]).write_stdin(input);
        piped.assert().success().stdout(ends_with(format!("\n\n{conversation}")));
    }
}

#[test]
fn the_end_of_the_input_is_a_goodbye_too() {
    converse("").stdout(ends_with("You> \nGoodbye. (0 messages in this conversation)\n"));
    converse("hello").stdout(ends_with(
        "You> hello\nAssistant> Hello! I am FakeModel, and this whole sentence arrives at once.\n\nYou> \nGoodbye. (2 messages in this conversation)\n",
    ));
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
    converse("/help\n").stdout(contains("/help  list the commands\n/exit  leave"));
    program()
        .args(["--lang", "zh"])
        .write_stdin("/help\n")
        .assert()
        .success()
        .stdout(contains("/help  列出命令\n/exit  离开"));
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
fn every_control_character_is_only_text_to_the_model() {
    let every: String = (1..32u8).map(char::from).filter(|c| *c != '\n').collect();
    converse(format!("a{every}b\r\n"))
        .stdout(contains("Assistant> I only know a few lines."))
        .stdout(ends_with("(2 messages in this conversation)\n"));
}

#[test]
fn the_probe_is_five_messages() {
    // Three of the person and two of the model: the failed reply is not one.
    for (lang, probe) in [
        ("en", "Goodbye. (5 messages in this conversation)\n"),
        ("zh", "再见。（本次对话共 5 条消息）\n"),
    ] {
        program().args(["--demo", "--lang", lang]).assert().success().stdout(ends_with(probe));
    }
}

#[test]
fn one_message_is_singular() {
    converse("an error\n").stdout(ends_with("Goodbye. (1 message in this conversation)\n"));
}

#[test]
fn commands_and_mistakes_reach_no_model() {
    let input = [&b"/help\n/hello\n\n\xff\n"[..], b"/exit\nhello\n"].concat();
    converse(input)
        .stdout(contains("Assistant>").not())
        .stdout(ends_with("(0 messages in this conversation)\n"));
}

#[test]
fn a_line_of_10_mb_is_answered() {
    let line = "长".repeat(10_000_000 / 3) + "hello";
    converse(format!("{line}\n")).stdout(contains("Assistant> Hello!").and(contains(line)));
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
        (&["--lang", "fr"][..], "fr"),
        (&["--lang"], "--lang"),
        (&["--dmo"], "--dmo"),
        (&["hello"], "hello"),
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
        contains("step02-fake-model: cannot go on").eval(&String::from_utf8_lossy(&output.stderr))
    );

    let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).expect("a folder can be opened");
    let mut reading = Process::new(assert_cmd::cargo::cargo_bin!());
    let output = reading.args(["--lang", "zh"]).stdin(folder).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(contains("输入或输出出错").eval(&String::from_utf8_lossy(&output.stderr)));
}

#[test]
fn what_is_not_said_to_anybody_is_answered_in_chinese_too() {
    let input = ["/exti\n".as_bytes(), b"\xff\n", &[b'x'; (16 << 20) + 1], b"\n/exit\n"].concat();
    let mut chinese = program();
    chinese.args(["--lang", "zh"]).write_stdin(input);
    chinese
        .assert()
        .success()
        .stdout(contains("没有 /exti 这个命令，/help 可列出全部命令。"))
        .stdout(contains("这一行不是 UTF-8 文本，已跳过。"))
        .stdout(contains("这一行超过 16 MiB，已跳过。"))
        .stdout(ends_with("再见。（本次对话共 0 条消息）\n"));
}

//! What a person does at a real terminal, tested through a pseudo-terminal.

#![cfg(unix)]

use std::process::Command;

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};

/// The program on a terminal of its own, waiting at its first prompt.
fn at_the_prompt(arguments: &[&str]) -> OsSession {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!());
    command.args(arguments).env_remove("LAB_LANG");
    let mut terminal = Session::spawn(command).expect("a pseudo-terminal");
    terminal.set_expect_timeout(Some(std::time::Duration::from_secs(30)));
    terminal.expect("> ").expect("a prompt");
    terminal
}

fn ending(mut terminal: OsSession) -> WaitStatus {
    terminal.expect(Eof).expect("the end");
    terminal.get_process().wait().expect("a status")
}

#[test]
fn typing_is_not_echoed_a_second_time() {
    let mut terminal = at_the_prompt(&[]);
    terminal.get_process_mut().set_echo(true, None).expect("a terminal that echoes");
    terminal.send_line("hello").expect("typing");
    terminal.send_line("/exit").expect("typing");
    let rest = terminal.expect(Eof).expect("the end");
    let seen = String::from_utf8_lossy(rest.as_bytes()).replace("\r\n", "\n");
    // The terminal shows what is typed when it is typed, which may be before or after a prompt.
    assert_eq!(seen.matches("hello").count(), 1, "only the terminal's own echo: {seen:?}");
    assert_eq!(seen.matches("/exit").count(), 1, "{seen:?}");
    assert!(seen.ends_with("Goodbye. (2 messages in this conversation)\n"), "{seen:?}");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 0)));
}

#[test]
fn a_chinese_character_is_erased_whole() {
    let mut terminal = at_the_prompt(&["--lang", "zh"]);
    // Without the two Backspaces, or with half of them, this would not contain “故事”.
    terminal.send("故吗呢\x7f\x7f事\n").expect("typing, with Backspace twice");
    terminal.expect("从前有一个循环").expect("the answer to 故事");
    terminal.expect("[已中断]").expect("the end of the answer");
    terminal.send(ControlCode::EndOfTransmission).expect("Ctrl-D");
    terminal.expect("再见").expect("a goodbye");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 0)));
}

#[test]
fn ctrl_d_says_goodbye_at_once() {
    let mut terminal = at_the_prompt(&[]);
    terminal.send(ControlCode::EndOfTransmission).expect("Ctrl-D");
    terminal.expect("\r\nGoodbye. (0 messages").expect("a goodbye on its own line");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 0)));
}

#[test]
fn ctrl_c_at_the_prompt_says_goodbye_and_exits_with_130() {
    let mut terminal = at_the_prompt(&[]);
    terminal.send(ControlCode::EndOfText).expect("Ctrl-C");
    terminal.expect("\r\nGoodbye. (0 messages").expect("a goodbye on its own line");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 130)));
}

#[test]
fn ctrl_c_in_mid_reply_stops_it_and_the_next_prompt_comes() {
    let mut terminal = at_the_prompt(&["--delay-ms", "1000"]);
    terminal.send_line("hello").expect("typing");
    terminal.expect("I only").expect("the first token, alone");
    terminal.send(ControlCode::EndOfText).expect("Ctrl-C");
    let rest = terminal.expect("[aborted]").expect("the reply ends");
    let seen = String::from_utf8_lossy(rest.before()).into_owned();
    assert!(!seen.contains("few lines"), "the rest was never said: {seen:?}");
    terminal.expect("You> ").expect("the next prompt");
    terminal.send(ControlCode::EndOfText).expect("Ctrl-C");
    // What the person said, and what had arrived of the reply.
    terminal.expect("\r\nGoodbye. (2 messages in").expect("a goodbye on its own line");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 130)));
}

#[test]
fn arguments_grow_on_one_line_of_a_terminal() {
    let mut terminal = at_the_prompt(&["--delay-ms", "0"]);
    terminal.send_line("summary").expect("typing");
    let call = terminal.expect("created").expect("the result");
    let seen = String::from_utf8_lossy(call.before()).into_owned();
    assert_eq!(seen.matches("Tool> ").count(), 10, "as often as in the demo: {seen:?}");
    assert_eq!(seen.matches("\r\x1b[36mTool> ").count(), 9, "each over the one before: {seen:?}");
    terminal.send(ControlCode::EndOfTransmission).expect("Ctrl-D");
    assert!(matches!(ending(terminal), WaitStatus::Exited(_, 0)));
}

#[test]
fn no_color_means_plain_lines_even_on_a_terminal() {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!());
    command.args(["--delay-ms", "0"]).env_remove("LAB_LANG").env("NO_COLOR", "1");
    let mut terminal = Session::spawn(command).expect("a pseudo-terminal");
    terminal.set_expect_timeout(Some(std::time::Duration::from_secs(30)));
    terminal.send_line("summary").expect("typing");
    terminal.send(ControlCode::EndOfTransmission).expect("Ctrl-D");
    let seen = terminal.expect(Eof).expect("the end");
    let seen = String::from_utf8_lossy(seen.as_bytes()).into_owned();
    assert!(seen.contains("Tool> write {\"path\":\"sum\"}\r\n"), "{seen:?}");
    assert!(!seen.contains('\x1b'), "{seen:?}");
}

//! What a run looks like on the screen, checked on a terminal that is simulated to the cell.

use futures::FutureExt;
use proptest::prelude::*;
use step04_agent_loop::agent_event::{AgentEvent, MessageUpdate, ToolResultContent};
use step04_agent_loop::event::DoneReason;
use step04_agent_loop::live_line::fit;
use step04_agent_loop::message::{AssistantMessage, ContentBlock, Message, ToolResultMessage};
use step04_agent_loop::render::Renderer;
use step04_agent_loop::reply::{Reply, ReplyStream};
use step04_agent_loop::script::Lang;
use step04_agent_loop::visible::visible_line;
use unicode_width::UnicodeWidthStr;

/// The events of one message: a text, and a call whose arguments come in pieces.
fn message(text: &str, name: &str, pieces: &[String]) -> Vec<AgentEvent> {
    let (reply, stream) = Reply::start();
    let block = reply.text();
    block.delta(text).expect("somebody listens");
    block.end();
    let call = reply.tool_call("", name);
    pieces.iter().for_each(|piece| call.delta(piece).expect("somebody listens"));
    call.end();
    reply.done(DoneReason::ToolUse);

    agent_events(&stream)
}

/// The agent events in which the loop hands on a reply that has ended.
fn agent_events(stream: &ReplyStream) -> Vec<AgentEvent> {
    let started = Message::Assistant(AssistantMessage::default());
    let mut events = vec![AgentEvent::MessageStart { message: started }];
    while let Some(event) = stream.next().now_or_never().flatten() {
        events.push(match event.change.final_message() {
            Some(message) => {
                AgentEvent::MessageEnd { message: Message::Assistant(message.clone()) }
            }
            None => AgentEvent::MessageUpdate(MessageUpdate(event)),
        });
    }
    events
}

/// The bytes that a renderer writes for these events.
fn written(events: &[AgentEvent], columns: Option<fn() -> usize>) -> Vec<u8> {
    let mut screen = Renderer::new(Vec::new(), Lang::En, columns);
    events.iter().for_each(|event| screen.on_event(event));
    assert!(screen.failure().is_none());
    screen.out
}

/// What a terminal of that width shows of them, line by line, without the spaces at the end.
fn shown(bytes: &[u8], columns: u16) -> Vec<String> {
    let mut terminal = vt100::Parser::new(200, columns, 0);
    // A terminal in cooked mode sends the cursor back to the left by itself.
    terminal.process(
        &bytes
            .iter()
            .flat_map(|b| if *b == b'\n' { vec![b'\r', b'\n'] } else { vec![*b] })
            .collect::<Vec<_>>(),
    );
    let rows = terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned());
    let mut rows: Vec<String> = rows.collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn arguments() -> impl Strategy<Value = String> {
    "[a-z你好🦀\\n\"\\\\ ]{0,60}"
        .prop_map(|content| serde_json::json!({"path": "a.txt", "content": content}).to_string())
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

proptest! {
    /// However the arguments arrive, in a narrow window or in a wide one: at the end the terminal
    /// shows one line for the text and one for the call, and nothing is left over of what was there.
    #[test]
    fn a_live_line_leaves_nothing_behind(arguments in arguments(), size in 1..9usize) {
        let events = message("Hi", "write", &pieces(&arguments, size));
        for (columns, width) in [(40, (|| 40) as fn() -> usize), (200, || 200)] {
            let rows = shown(&written(&events, Some(width)), columns);
            let value: serde_json::Value = serde_json::from_str(&arguments).expect("JSON");
            let whole = visible_line(&format!("write {value}"));
            let room = usize::from(columns) - 1 - "Tool> ".width();
            prop_assert_eq!(rows, ["Assistant> Hi".to_owned(), format!("Tool> {}", fit(&whole, room).trim_end())]);
        }
    }

    /// Elsewhere each visible change has its line, no two alike in a row, and the last is the whole.
    #[test]
    fn plain_output_has_one_line_per_visible_change(arguments in arguments(), size in 1..9usize) {
        let events = message("Hi", "write", &pieces(&arguments, size));
        let plain = String::from_utf8(anstream::adapter::strip_bytes(&written(&events, None)).into_vec()).expect("UTF-8");
        let lines: Vec<_> = plain.lines().collect();
        prop_assert_eq!(lines[0], "Assistant> Hi");
        prop_assert!(lines[1..].windows(2).all(|pair| pair[0] != pair[1]));
        prop_assert!(lines[1..].iter().all(|line| line.starts_with("Tool> write")));
        prop_assert!(lines.len() <= 2 + pieces(&arguments, size).len());
        let value: serde_json::Value = serde_json::from_str(&arguments).expect("JSON");
        let whole = fit(&visible_line(&format!("write {value}")), 100 - "Tool> ".width());
        prop_assert_eq!(lines[lines.len() - 1].trim_end(), format!("Tool> {}", whole.trim_end()));
    }
}

/// Blocks that interleave stay apart: whoever speaks has a line of their own.
#[test]
fn interleaved_blocks_stay_apart() {
    let (reply, stream) = Reply::start();
    let (thought, text) = (reply.thinking(), reply.text());
    let call = reply.tool_call("", "read");
    for (thought_delta, text_delta, call_delta) in [("a", "A", "{\"p"), ("b", "B", "\":1}")] {
        thought.delta(thought_delta).expect("somebody listens");
        text.delta(text_delta).expect("somebody listens");
        call.delta(call_delta).expect("somebody listens");
    }
    reply.done(DoneReason::Length);
    let expected = [
        "Tool> read",
        "Thinking> a",
        "Assistant> A",
        "Tool> read {}",
        "Thinking> b",
        "Assistant> B",
        "Tool> read {\"p\":1}",
        "[truncated: the reply reached its length limit]",
    ];
    assert_eq!(shown(&written(&agent_events(&stream), Some(|| 80)), 80), expected);
}

/// A megabyte of arguments is drawn at the cost of its deltas, not of its length times its deltas.
#[test]
fn what_is_written_does_not_grow_with_the_square() {
    let per_delta = |count: usize| {
        let mut pieces = vec!["{\"content\":\"".to_owned()];
        pieces.extend((0..count).map(|n| format!("{n:08}")));
        written(&message("Hi", "write", &pieces), Some(|| 80)).len() / count
    };
    let (few, many) = (per_delta(1_000), per_delta(20_000));
    assert!(many <= few + 8, "{few} bytes per delta, then {many}");
}

/// The end of one block does not break the line of another that is still being said.
#[test]
fn the_end_of_one_block_leaves_the_line_of_another_alone() {
    let (reply, stream) = Reply::start();
    let (said, other) = (reply.text(), reply.thinking());
    said.delta("a").expect("somebody listens");
    other.end();
    said.delta("b").expect("somebody listens");
    reply.done(DoneReason::Stop);
    let rows = shown(&written(&agent_events(&stream), Some(|| 80)), 80);
    assert_eq!(rows, ["Assistant> ab"]);
}

/// What the model says in these deltas, on a screen.
fn said(deltas: &[&str]) -> Vec<String> {
    let (reply, stream) = Reply::start();
    let block = reply.text();
    deltas.iter().for_each(|delta| block.delta(*delta).expect("somebody listens"));
    block.end();
    reply.tool_call("", "read").end();
    reply.done(DoneReason::ToolUse);
    shown(&written(&agent_events(&stream), Some(|| 80)), 80)
}

/// A label stands at the left edge, and nothing the model says does: neither a result that there
/// never was, nor the person's next word.
#[test]
fn the_lines_of_a_text_cannot_pass_for_lines_of_the_program() {
    let rows = said(&["Done.\nResult> read: ", "all is well\n\nYou", "> go on"]);
    let expected =
        ["Assistant> Done.", "  Result> read: all is well", "", "  You> go on", "Tool> read"];
    assert_eq!(rows, expected);
}

#[test]
fn a_text_that_ends_its_last_line_leaves_no_empty_one() {
    assert_eq!(said(&["a", "\n"]), ["Assistant> a", "Tool> read"]);
    assert_eq!(said(&["a\n", "\n"]), ["Assistant> a", "", "Tool> read"]);
    assert_eq!(said(&["a\n", "b"]), ["Assistant> a", "  b", "Tool> read"]);
}

proptest! {
    /// However a text is cut into deltas, the same is shown.
    #[test]
    fn a_text_looks_the_same_however_it_arrives(text in "[a你\n]{1,20}", size in 1..5usize) {
        let cut = pieces(&text, size);
        let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
        prop_assert_eq!(said(&cut), said(&[&text]));
    }
}

/// How a reply that broke off is shown.
fn broken_off(why: &str) -> Vec<String> {
    let (reply, stream) = Reply::start();
    reply.text().delta("so f").expect("somebody listens");
    reply.error(why);
    shown(&written(&agent_events(&stream), Some(|| 80)), 80)
}

#[test]
fn an_error_has_a_line_of_its_own_and_always_says_something() {
    assert_eq!(broken_off("line is down"), ["Assistant> so f", "[error] line is down"]);
    assert_eq!(broken_off("a\rb"), ["Assistant> so f", "[error] a␍b"]);
    assert_eq!(broken_off(" "), ["Assistant> so f", "[error] the model gave no reason"]);
}

/// What a tool says while it works.
fn progress(id: &str, said: &str) -> AgentEvent {
    let content = vec![ContentBlock::text(said)];
    AgentEvent::ToolExecutionUpdate {
        tool_call_id: id.to_owned(),
        tool_name: "grep".to_owned(),
        args: serde_json::json!({}),
        partial_result: ToolResultContent { content },
    }
}

/// The message that answers a call.
fn answered(text: &str, is_error: bool) -> AgentEvent {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: "a".to_owned(),
        tool_name: "grep".to_owned(),
        content: vec![ContentBlock::text(text)],
        is_error,
    });
    AgentEvent::MessageEnd { message }
}

#[test]
fn each_call_reports_on_a_line_of_its_own() {
    let events = [
        progress("a", "1 file"),
        progress("a", "2 files"),
        progress("b", "1 file"),
        progress("a", "3 files"),
        answered("found", false),
    ];
    let expected = [
        "Progress> grep: 2 files",
        "Progress> grep: 1 file",
        "Progress> grep: 3 files",
        "Result> grep: found",
    ];
    assert_eq!(shown(&written(&events, Some(|| 80)), 80), expected);
}

#[test]
fn of_a_result_one_short_line_is_shown_and_of_a_failure_one_whole_line() {
    let long = "x".repeat(300);
    let rows = |text: &str, is_error| shown(&written(&[answered(text, is_error)], None), 400);
    assert_eq!(rows("", false), ["Result> grep:"]);
    assert_eq!(rows("a\nb", false), ["Result> grep: a (+1 line)"]);
    assert_eq!(rows("a\nb\nc\n", true), ["Failed> grep: a (+2 lines)"]);
    assert_eq!(rows(&long, false), [format!("Result> grep: {}", fit(&long, 100))]);
    assert_eq!(rows(&long, true), [format!("Failed> grep: {long}")]);
}

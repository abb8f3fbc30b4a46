//! What stands in a file or goes over a wire: names, round trips, and nothing lost.

mod common;

use common::{finish, ops, perform, take, text};
use proptest::prelude::*;
use step04_agent_loop::event::{Change, DoneReason};
use step04_agent_loop::message::{AssistantMessage, ContentBlock, Message, StopReason, ToolCall};
use step04_agent_loop::message::{ToolResultMessage, UserMessage};
use step04_agent_loop::partial_json::parse_arguments;
use step04_agent_loop::reply::Reply;

/// A public contract: one JSON per kind (law L9).
#[test]
fn golden_json_of_the_twelve_kinds() {
    let (reply, stream) = Reply::start();
    let thinking = reply.thinking();
    thinking.delta("hm").unwrap();
    thinking.end();
    let text = reply.text();
    text.delta("hi").unwrap();
    text.end();
    let call = reply.tool_call("t1", "read");
    call.delta(r#"{"path":"a"#).unwrap();
    call.delta(r#".txt"}"#).unwrap();
    call.end();
    reply.done(DoneReason::ToolUse);
    let (broken, failed) = Reply::start();
    broken.text().delta("so f").unwrap();
    broken.error("line is down");
    let mut events = take(&stream);
    events.extend(take(&failed).pop());
    let lines: Vec<_> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let expected = [
        r#"{"type":"start","partial":{"role":"assistant","content":[]}}"#,
        r#"{"type":"thinking_start","contentIndex":0,"partial":{"role":"assistant","content":[{"type":"thinking","thinking":""}]}}"#,
        r#"{"type":"thinking_delta","contentIndex":0,"delta":"hm","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}"#,
        r#"{"type":"thinking_end","contentIndex":0,"content":"hm","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}"#,
        r#"{"type":"text_start","contentIndex":1,"partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":""}]}}"#,
        r#"{"type":"text_delta","contentIndex":1,"delta":"hi","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}]}}"#,
        r#"{"type":"text_end","contentIndex":1,"content":"hi","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}]}}"#,
        r#"{"type":"toolcall_start","contentIndex":2,"id":"t1","name":"read","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"read","arguments":{}}]}}"#,
        r#"{"type":"toolcall_delta","contentIndex":2,"delta":"{\"path\":\"a","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a"}}]}}"#,
        r#"{"type":"toolcall_delta","contentIndex":2,"delta":".txt\"}","partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a.txt"}}]}}"#,
        r#"{"type":"toolcall_end","contentIndex":2,"toolCall":{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a.txt"}},"partial":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a.txt"}}]}}"#,
        r#"{"type":"done","reason":"toolUse","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a.txt"}}],"stopReason":"toolUse"}}"#,
        r#"{"type":"error","reason":"error","error":{"role":"assistant","content":[{"type":"text","text":"so f"}],"stopReason":"error","errorMessage":"line is down"}}"#,
    ];
    assert_eq!(lines, expected);
    // The events read back as their changes: what stands in `partial` is said by them already.
    for (line, event) in lines.iter().zip(&events) {
        assert_eq!(serde_json::from_str::<Change>(line).unwrap(), event.change);
    }
}

#[test]
fn golden_json_of_the_messages() {
    let text = || vec![ContentBlock::text("hi")];
    let call = |arguments_text: &str| ToolCall {
        id: "t1".into(),
        name: "read".into(),
        arguments_text: arguments_text.into(),
    };
    let assistant = |content, stop_reason| {
        Message::Assistant(AssistantMessage { content, stop_reason, error_message: None })
    };
    let whole = ContentBlock::ToolCall(call(r#"{"path":"a.txt"}"#));
    let cut = ContentBlock::ToolCall(call(r#"{"path":"a.t"#));
    let blank = ContentBlock::ToolCall(call(""));
    let result = ToolResultMessage {
        tool_call_id: "t1".into(),
        tool_name: "read".into(),
        content: text(),
        is_error: true,
    };
    let cases = [
        (Message::user("hi"), r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#),
        (
            assistant(text(), Some(StopReason::Aborted)),
            r#"{"role":"assistant","content":[{"type":"text","text":"hi"}],"stopReason":"aborted"}"#,
        ),
        (assistant(vec![], None), r#"{"role":"assistant","content":[]}"#),
        (
            assistant(vec![whole], Some(StopReason::ToolUse)),
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a.txt"}}],"stopReason":"toolUse"}"#,
        ),
        (
            assistant(vec![cut], Some(StopReason::Length)),
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"read","arguments":{},"argumentsError":"ERROR","argumentsText":"{\"path\":\"a.t"}],"stopReason":"length"}"#,
        ),
        (
            assistant(vec![blank], Some(StopReason::ToolUse)),
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"read","arguments":{}}],"stopReason":"toolUse"}"#,
        ),
        (
            Message::ToolResult(result),
            r#"{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"hi"}],"isError":true}"#,
        ),
    ];
    let error = parse_arguments(r#"{"path":"a.t"#).unwrap_err().to_string();
    for (message, expected) in cases {
        assert_eq!(serde_json::to_string(&message).unwrap(), expected.replace("ERROR", &error));
    }
}

#[test]
fn stop_reasons_have_pis_names() {
    use StopReason::{Aborted, Error, Length, Stop, ToolUse};
    let names = serde_json::to_string(&[Stop, Length, ToolUse, Error, Aborted]).unwrap();
    assert_eq!(names, r#"["stop","length","toolUse","error","aborted"]"#);
}

/// What can't be kept is refused: a session file must not lose half a message by being read.
#[test]
fn what_would_be_lost_is_refused() {
    let refused = [
        (r#"{"role":"user","content":[],"x":1}"#, "unknown field `x`"),
        (r#"{"role":"assistant","content":[],"usage":{}}"#, "unknown field `usage`"),
        (r#"{"role":"system","content":[]}"#, "unknown variant `system`"),
        (r#"{"role":"assistant"}"#, "missing field `content`"),
        (
            r#"{"role":"assistant","content":[],"stopReason":"pending"}"#,
            "unknown variant `pending`",
        ),
        (r#"{"role":"user","content":[{"type":"text","text":"","x":1}]}"#, "unknown field `x`"),
        (r#"{"role":"user","content":[{"type":"image"}]}"#, "unknown variant `image`"),
        (r#"{"role":"user","content":[{"text":"a"}]}"#, "missing field `type`"),
        (
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"","name":"","arguments":[]}]}"#,
            "expected a map",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"","name":"","arguments":{},"x":1}]}"#,
            "unknown field `x`",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"","name":"","arguments":{"a":1},"argumentsText":"{"}]}"#,
            "`arguments` must be {} beside `argumentsText`",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"","name":"","arguments":{},"argumentsError":"cut"}]}"#,
            "`argumentsError` needs `argumentsText`",
        ),
    ];
    for (line, why) in refused {
        let error = serde_json::from_str::<Message>(line).expect_err(line).to_string();
        assert!(error.contains(why), "{line}: {error}");
    }
    let of_a_user = r#"{"type":"done","reason":"stop","message":{"role":"user","content":[]}}"#;
    let error = serde_json::from_str::<Change>(of_a_user).unwrap_err().to_string();
    assert!(error.contains("the role must be `assistant`"), "{error}");
    let no_call =
        r#"{"type":"toolcall_end","contentIndex":0,"toolCall":{"type":"text","text":""}}"#;
    let error = serde_json::from_str::<Change>(no_call).unwrap_err().to_string();
    assert!(error.contains("the type must be `toolCall`"), "{error}");
}

fn nested(depth: usize) -> String {
    format!("{{\"a\":{}1{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1))
}

/// A call whose arguments are as deep as `parse_arguments` allows is still readable in a log, where
/// it stands some levels deeper.
#[test]
fn deep_arguments_do_not_make_a_log_unreadable() {
    for depth in [1, 2, 99, 100, 101, 126, 127, 128, 129, 1000] {
        let arguments_text = nested(depth);
        let call = ToolCall { id: "t".into(), name: "n".into(), arguments_text };
        let content = vec![ContentBlock::ToolCall(call)];
        let message = AssistantMessage { content, stop_reason: None, error_message: None };
        let line = serde_json::to_string(&Message::Assistant(message.clone())).unwrap();
        let in_a_log = format!("{{\"event\":{{\"messages\":[{line}]}}}}");
        serde_json::from_str::<serde_json::Value>(&in_a_log).unwrap();
        let read: Message = serde_json::from_str(&line).unwrap();
        assert_eq!(read, Message::Assistant(message), "depth {depth}");
        assert_eq!(line.contains("argumentsText"), depth > 100, "depth {depth}");
    }
}

/// The same for events with their partials, while such a call streams in.
#[test]
fn deep_previews_do_not_make_a_record_unreadable() {
    let (reply, stream) = Reply::start();
    let call = reply.tool_call("t", "n");
    for piece in nested(127).split_inclusive('[') {
        call.delta(piece).unwrap();
    }
    call.end();
    reply.done(DoneReason::ToolUse);
    for event in take(&stream) {
        let line = serde_json::to_string(&event).unwrap();
        let in_a_log = format!("{{\"event\":{{\"events\":[{line}]}}}}");
        serde_json::from_str::<serde_json::Value>(&in_a_log).unwrap();
        assert_eq!(serde_json::from_str::<Change>(&line).unwrap(), event.change);
    }
}

fn block() -> impl Strategy<Value = ContentBlock> {
    let object =
        text().prop_map(|text| serde_json::json!({"path": text, "n": [1, 2.5]}).to_string());
    let arguments = prop_oneof![text(), object];
    let call = (common::id(), text(), arguments).prop_map(|(id, name, arguments_text)| {
        ContentBlock::ToolCall(ToolCall { id, name, arguments_text })
    });
    prop_oneof![
        text().prop_map(ContentBlock::text),
        text().prop_map(|thinking| ContentBlock::Thinking { thinking }),
        call,
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let content = || prop::collection::vec(block(), 0..4);
    let reasons = [StopReason::Stop, StopReason::Error, StopReason::Aborted];
    let reason = prop::option::of(prop::sample::select(reasons.to_vec()));
    prop_oneof![
        content().prop_map(|content| Message::User(UserMessage { content })),
        (content(), reason, prop::option::of(text())).prop_map(
            |(content, stop_reason, error_message)| {
                Message::Assistant(AssistantMessage { content, stop_reason, error_message })
            }
        ),
        (content(), text(), text(), any::<bool>()).prop_map(
            |(content, tool_call_id, tool_name, is_error)| {
                Message::ToolResult(ToolResultMessage {
                    tool_call_id,
                    tool_name,
                    content,
                    is_error,
                })
            }
        ),
    ]
}

fn content_mut(message: &mut Message) -> &mut Vec<ContentBlock> {
    match message {
        Message::User(message) => &mut message.content,
        Message::Assistant(message) => &mut message.content,
        Message::ToolResult(message) => &mut message.content,
    }
}

/// The one thing that is not kept: the spaces between in arguments that are well.
fn with_plain_arguments(mut message: Message) -> Message {
    for block in content_mut(&mut message) {
        if let ContentBlock::ToolCall(call) = block
            && let Ok(arguments) = parse_arguments(&call.arguments_text)
        {
            call.arguments_text = arguments.as_value().to_string();
        }
    }
    message
}

proptest! {
    /// A message reads back as what it was; so does a call that was never whole.
    #[test]
    fn messages_survive_a_reload(message in message()) {
        let line = serde_json::to_string(&message).unwrap();
        prop_assert!(!line.contains('\n'), "one line");
        let read: Message = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(&read, &with_plain_arguments(message));
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }

    /// No text breaks the JSON of an event, and the JSON says what the event says.
    #[test]
    fn events_are_legal_json(ops in ops(), finish in finish()) {
        for event in take(&perform(&ops, &finish, |_| ())) {
            let line = serde_json::to_string(&event).unwrap();
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(value.get("partial").is_some(), !event.change.is_terminal());
            let read: Change = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(read.content_index(), event.change.content_index());
            prop_assert_eq!(
                serde_json::to_string(&read).unwrap(),
                serde_json::to_string(&event.change).unwrap()
            );
            let blocks = event.partial.message().content.len();
            if let Some(partial) = value.get("partial") {
                prop_assert_eq!(partial["content"].as_array().unwrap().len(), blocks);
                prop_assert!(partial.get("stopReason").is_none());
            }
        }
    }
}

//! L9: the JSON of the ten events is a public contract, and this is it.

use serde_json::json;
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::agent_loop::Settings;

use super::world::{Stop, run_once};

/// `{"type":"tool_execution_end",…` → `tool_execution_end`.
fn kind(line: &str) -> &str {
    line.split('"').nth(3).unwrap()
}

#[test]
fn golden_json_of_the_ten_kinds() {
    let call = json!({"toolCall": {"id": "t1", "name": "chatty", "arguments": {"n": 1}}});
    let content = json!([{"text": "hi"}, call]);
    let replies = json!([{"content": content, "chunk": {"size": 9}}]);
    let record = run_once(replies, Stop::Patient, Settings { max_turns: 1, ..Settings::default() });
    let events = record.events();
    let lines: Vec<_> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let expected = [
        r#"{"type":"agent_start"}"#,
        r#"{"type":"turn_start"}"#,
        r#"{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"go"}]}}"#,
        r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"go"}]}}"#,
        r#"{"type":"message_start","message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":""}]},"assistantMessageEvent":{"type":"text_start","contentIndex":0,"partial":{"role":"assistant","content":[{"type":"text","text":""}]}}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"hi","partial":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"assistantMessageEvent":{"type":"text_end","contentIndex":0,"content":"hi","partial":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{}}]},"assistantMessageEvent":{"type":"toolcall_start","contentIndex":1,"id":"t1","name":"chatty","partial":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{}}]}}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}]},"assistantMessageEvent":{"type":"toolcall_delta","contentIndex":1,"delta":"{\"n\":1}","partial":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}]}}}"#,
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}]},"assistantMessageEvent":{"type":"toolcall_end","contentIndex":1,"toolCall":{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}},"partial":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}]}}}"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}],"stopReason":"toolUse"}}"#,
        r#"{"type":"tool_execution_start","toolCallId":"t1","toolName":"chatty","args":{"n":1}}"#,
        r#"{"type":"tool_execution_update","toolCallId":"t1","toolName":"chatty","args":{"n":1},"partialResult":{"content":[{"type":"text","text":"1"}]}}"#,
        r#"{"type":"tool_execution_update","toolCallId":"t1","toolName":"chatty","args":{"n":1},"partialResult":{"content":[{"type":"text","text":"1"}]}}"#,
        r#"{"type":"tool_execution_end","toolCallId":"t1","toolName":"chatty","result":{"content":[{"type":"text","text":"answer 0"}]},"isError":false}"#,
        r#"{"type":"message_start","message":{"role":"toolResult","toolCallId":"t1","toolName":"chatty","content":[{"type":"text","text":"answer 0"}],"isError":false}}"#,
        r#"{"type":"message_end","message":{"role":"toolResult","toolCallId":"t1","toolName":"chatty","content":[{"type":"text","text":"answer 0"}],"isError":false}}"#,
        r#"{"type":"turn_end","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}],"stopReason":"toolUse"},"toolResults":[{"role":"toolResult","toolCallId":"t1","toolName":"chatty","content":[{"type":"text","text":"answer 0"}],"isError":false}]}"#,
        r#"{"type":"turn_start"}"#,
        r#"{"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"the run was ended: it took as many turns as it may (see --max-turns)"}}"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"the run was ended: it took as many turns as it may (see --max-turns)"}}"#,
        r#"{"type":"turn_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"the run was ended: it took as many turns as it may (see --max-turns)"},"toolResults":[]}"#,
        r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"t1","name":"chatty","arguments":{"n":1}}],"stopReason":"toolUse"},{"role":"toolResult","toolCallId":"t1","toolName":"chatty","content":[{"type":"text","text":"answer 0"}],"isError":false},{"role":"assistant","content":[],"stopReason":"error","errorMessage":"the run was ended: it took as many turns as it may (see --max-turns)"}]}"#,
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert_eq!(line, expected);
    }
    assert_eq!(lines.len(), expected.len());
    let mut kinds: Vec<_> = expected.iter().map(|line| kind(line)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 10);
    assert!(matches!(events.last(), Some(AgentEvent::AgentEnd { .. })));
}

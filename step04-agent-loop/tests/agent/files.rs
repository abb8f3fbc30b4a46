//! A conversation in which the model reads, writes and searches real files.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use step04_agent_loop::agent_event::Listeners;
use step04_agent_loop::agent_loop::{Agent, Settings};
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::message::{Message, ToolResultMessage};
use step04_agent_loop::script::Script;
use step04_agent_loop::tools::{Sandbox, standard};
use tokio_util::sync::CancellationToken;

use super::check::{brackets, well_formed};

#[tokio::test]
async fn a_conversation_about_files() {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("poem.txt"), "roses are red\nviolets are blue\n").unwrap();
    fs::write(root.join("list.txt"), "milk\nred wine\n").unwrap();
    fs::write(base.path().join("secret.txt"), "TOP-SECRET").unwrap();
    let call = |name, arguments| json!({"toolCall": {"name": name, "arguments": arguments}});
    let script = json!({"chunk": {"size": 4}, "rules": [
        {"match": "red", "replies": [
            {"content": [{"text": "I search."}, call("grep", json!({"pattern": "red"}))]},
            {"content": [call("read", json!({"path": "poem.txt"})),
                         call("read", json!({"path": "../secret.txt"})),
                         call("read", json!({"path": "no-such.txt"}))]},
            {"content": [call("write", json!({"path": "notes/found.txt", "content": "poem, list\n"}))]},
            {"content": [{"text": "It is noted."}]},
        ]},
        {"match": "noted", "replies": [
            {"content": [{"toolCall": {"name": "write",
                "argumentsText": "{\"path\":\"notes/found.txt\",\"content\":\"half a"}}]},
            {"content": [call("read", json!({"path": "notes/found.txt"}))]},
            {"content": [{"text": "poem, list"}]},
        ]},
    ]});
    let model = Arc::new(FakeModel::new(Script::parse(&script.to_string()).unwrap()));
    let tools = standard(&Sandbox::open(&root).unwrap());
    let mut agent = Agent::new(model, tools, Settings::default());
    for input in ["where is something red?", "what have you noted?"] {
        let mut events = Vec::new();
        let mut listeners = Listeners::new();
        listeners.add(|event| events.push(event.clone()));
        agent.run(input, &CancellationToken::new(), &mut listeners).await;
        drop(listeners);
        assert_eq!(brackets(&events), Ok(()));
        assert_eq!(well_formed(&agent.context), Ok(()));
    }

    assert_eq!(fs::read_to_string(root.join("notes/found.txt")).unwrap(), "poem, list\n");
    assert_eq!(fs::read_to_string(base.path().join("secret.txt")).unwrap(), "TOP-SECRET");
    let mut files: Vec<_> = fs::read_dir(root.join("notes")).unwrap().collect();
    assert_eq!(files.pop().unwrap().unwrap().file_name(), "found.txt");
    assert!(files.is_empty(), "half a file was left behind");

    let results: Vec<_> = agent.context.messages.iter().filter_map(result).collect();
    let [grep, poem, secret, missing, write, half, found] = &results[..] else {
        panic!("seven results: {results:#?}");
    };
    let text = |result: &ToolResultMessage| result.content[0].body().to_owned();
    assert!(text(grep).contains("poem.txt") && text(grep).contains("list.txt"), "{}", text(grep));
    assert_eq!(text(poem), "roses are red\nviolets are blue\n");
    assert!(secret.is_error && !text(secret).contains("TOP-SECRET"), "{}", text(secret));
    assert!(missing.is_error && text(missing).contains("no-such.txt"), "{}", text(missing));
    assert!(!write.is_error, "{}", text(write));
    assert!(half.is_error, "{}", text(half));
    assert_eq!((found.is_error, text(found).as_str()), (false, "poem, list\n"));
    let Some(Message::Assistant(last)) = agent.context.messages.last() else { panic!() };
    assert_eq!(last.text(), "poem, list");
    assert_eq!(agent.context.messages.len(), 2 + 4 + 5 + 3 + 2);
}

fn result(message: &Message) -> Option<ToolResultMessage> {
    match message {
        Message::ToolResult(result) => Some(result.clone()),
        _ => None,
    }
}

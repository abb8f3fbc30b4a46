//! The session log: what is in it, what comes back, and what is done about damage.

mod runs;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use runs::{Case, Turn, case, check_history, converse, json_of, on_paused_clock};
use serde_json::{Value, json};
use step04_agent_loop::agent_event::{AgentEvent, Listeners};
use step04_agent_loop::history::Fold;
use step04_agent_loop::json_lines::FileError;
use step04_agent_loop::message::{Message, StopReason};
use step04_agent_loop::session::{Notice, Opened, Session};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A folder with a log in it, or none yet.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn with(bytes: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        fs::write(place.path(), bytes).expect("a file");
        place
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).expect("the log")
    }

    fn open(&self, fold: Fold) -> Opened {
        Session::open(self.path(), fold).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Opens a log that must not open: what it says, and whether the file was left alone.
    fn error(&self) -> FileError {
        let before = self.bytes();
        let error = Session::open(self.path(), Fold::InPlace).expect_err("damage");
        assert_eq!(self.bytes(), before, "left alone");
        error
    }

    fn damage(&self) -> String {
        let error = self.error();
        assert!(matches!(error, FileError::Line { .. }), "{error}");
        assert!(error.source().is_some());
        let text = error.to_string();
        assert!(text.contains(&format!("{:?}", self.path())), "{text}");
        text
    }

    /// Goes on with the conversation that is in the log. Gives the history, and how the log was.
    fn go_on(&self, case: &Case) -> (Vec<Message>, Vec<Message>, Vec<Notice>) {
        let Opened { mut session, messages, notices } = self.open(case.fold);
        let mut agent = case.agent(case.model());
        agent.context.messages.clone_from(&messages);
        on_paused_clock(converse(&mut agent, &case.turns, |event| session.on_event(event)));
        assert!(session.error().is_none());
        (agent.context.messages, messages, notices)
    }
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(bytes).expect("UTF-8").lines();
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

proptest! {
    #![proptest_config(runs::config())]

    /// Whatever was stopped or went wrong: who resumes has the history that was there, and it holds
    /// law L3. Under which bargain it is resumed makes no difference.
    #[test]
    fn resuming_gives_the_same_history(case in case(), in_place in any::<bool>()) {
        let place = Place::new();
        let (history, ..) = place.go_on(&case);
        let before = place.bytes();
        let fold = if in_place { Fold::InPlace } else { Fold::OnDone };
        let Opened { messages, notices, .. } = place.open(fold);
        prop_assert_eq!(json_of(&messages), json_of(&history));
        check_history(&messages);
        prop_assert_eq!(notices, []);
        prop_assert_eq!(place.bytes(), before);
    }

    /// The log has one line for each message there was, kept or dropped.
    #[test]
    fn each_finished_message_is_a_line(case in case()) {
        let place = Place::new();
        let Opened { mut session, .. } = place.open(case.fold);
        let mut agent = case.agent(case.model());
        let mut messages = Vec::new();
        on_paused_clock(converse(&mut agent, &case.turns, |event| {
            session.on_event(event);
            if let AgentEvent::MessageEnd { message } = event {
                messages.push(serde_json::to_string(message).unwrap());
            }
        }));
        drop(session);
        let mut logged: Vec<_> = lines(&place.bytes())
            .into_iter()
            .map(|mut line| line.get_mut("dropped").map(Value::take).unwrap_or(line).to_string())
            .collect();
        logged.sort();
        messages.sort();
        prop_assert_eq!(logged, messages);
    }

    /// A crash can cut the log anywhere. All whole lines are there again, the history is well formed,
    /// the conversation goes on, and what then is in the log is the history again.
    #[test]
    fn law_l3_holds_after_a_crash(case in case(), cut in any::<Index>(), next in case()) {
        let place = Place::new();
        place.go_on(&case);
        let mut bytes = place.bytes();
        bytes.truncate(cut.index(bytes.len() + 1));
        fs::write(place.path(), &bytes).unwrap();
        let next = Case { fold: case.fold, ..next };
        let (history, resumed, _) = place.go_on(&next);
        check_history(&resumed);
        let finished = finished(&bytes);
        let resumed = json_of(&resumed);
        prop_assert!(finished.iter().all(|message| resumed.contains(message)));
        check_history(&history);
        prop_assert!(place.bytes().starts_with(whole_lines(&bytes)));
        let again = place.open(case.fold);
        prop_assert_eq!(json_of(&again.messages), json_of(&history));
        prop_assert_eq!(again.notices, []);
    }

    /// Whatever is in the file: no panic, and an error leaves it as it is.
    #[test]
    fn any_damage_is_survived(case in case(), at in any::<Index>(), byte in any::<u8>()) {
        let place = Place::new();
        place.go_on(&case);
        let mut bytes = place.bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        fs::write(place.path(), &bytes).unwrap();
        match Session::open(place.path(), case.fold) {
            Ok(opened) => check_history(&opened.messages),
            Err(FileError::Line { line, .. }) => {
                let flipped = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
                prop_assert!(line >= flipped, "line {} for a byte in {}", line, flipped);
                prop_assert_eq!(place.bytes(), bytes);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// What of the log is whole, up to the last line end.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    &bytes[..end]
}

/// The messages that had finished, and are not dropped.
fn finished(bytes: &[u8]) -> Vec<Value> {
    let mut all = lines(whole_lines(bytes));
    all.retain(|line| line.get("dropped").is_none());
    all
}

/// A log with a bit of everything: two calls answered out of order, a reply that broke off.
const LOG: &str = r#"{"role":"user","content":[{"type":"text","text":"你好🦀"}]}
{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"work","arguments":{}},{"type":"toolCall","id":"b","name":"work","arguments":{}}],"stopReason":"toolUse"}
{"role":"toolResult","toolCallId":"b","toolName":"work","content":[{"type":"text","text":"B"}],"isError":false}
{"role":"toolResult","toolCallId":"a","toolName":"work","content":[{"type":"text","text":"A"}],"isError":false}
{"dropped":{"role":"assistant","content":[{"type":"text","text":"forget i"}],"stopReason":"aborted","errorMessage":"Request was aborted"}}
{"role":"user","content":[{"type":"text","text":"next"}]}
{"role":"assistant","content":[{"type":"text","text":"half a se"}],"stopReason":"aborted","errorMessage":"Request was aborted"}
"#;

fn line(number: usize) -> &'static str {
    LOG.split_inclusive('\n').nth(number - 1).expect("a line")
}

/// The log up to a line.
fn up_to(number: usize) -> String {
    LOG.split_inclusive('\n').take(number).collect()
}

fn result_texts(messages: &[Message]) -> Vec<(String, String, bool)> {
    let results = messages.iter().filter_map(|message| match message {
        Message::ToolResult(result) => Some(result),
        _ => None,
    });
    results.map(|r| (r.tool_call_id.clone(), r.content[0].body().to_owned(), r.is_error)).collect()
}

fn owned(results: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    results.iter().map(|(id, text, error)| ((*id).into(), (*text).into(), *error)).collect()
}

const ABORTED: &str = "aborted before it was done";

#[test]
fn results_come_back_in_the_order_of_their_calls() {
    let place = Place::with(LOG);
    let Opened { messages, notices, .. } = place.open(Fold::InPlace);
    assert_eq!(result_texts(&messages), owned(&[("a", "A", false), ("b", "B", false)]));
    assert_eq!(messages.len(), 6, "the dropped one is not there");
    assert_eq!(messages[0], Message::user("你好🦀"));
    assert_eq!(notices, []);
    assert_eq!(place.bytes(), LOG.as_bytes());
}

/// Of `cases.md`: an aborted reply, session resumed.
#[test]
fn an_aborted_reply_comes_back_with_its_text_and_its_reason() {
    match Place::with(LOG).open(Fold::OnDone).messages.pop() {
        Some(Message::Assistant(reply)) => {
            assert_eq!(reply.text(), "half a se");
            assert_eq!(reply.stop_reason, Some(StopReason::Aborted));
            assert_eq!(reply.error_message.as_deref(), Some("Request was aborted"));
        }
        other => panic!("{other:?}"),
    }
}

/// Killed between a call and its result; `b` had finished, `a` had not.
#[test]
fn calls_without_a_result_are_answered_in_the_file_too() {
    let place = Place::with(up_to(3));
    let opened = place.open(Fold::InPlace);
    assert_eq!(opened.notices, [Notice::Answered { calls: 1 }]);
    assert_eq!(result_texts(&opened.messages), owned(&[("a", ABORTED, true), ("b", "B", false)]));
    drop(opened);
    let answer = json!({"role": "toolResult", "toolCallId": "a", "toolName": "work",
        "content": [{"type": "text", "text": ABORTED}], "isError": true});
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), format!("{}{answer}\n", up_to(3)));
    assert_eq!(place.open(Fold::InPlace).notices, []);

    let place = Place::with(up_to(2));
    assert_eq!(place.open(Fold::InPlace).notices, [Notice::Answered { calls: 2 }]);
    assert_eq!(lines(&place.bytes()).len(), 4);
}

/// The result is there as soon as its tool has ended, while another one hangs. (On Windows nobody
/// can look into a file that is locked.)
#[cfg(unix)]
#[test]
fn a_result_is_logged_when_its_tool_ends() {
    let place = Place::with(up_to(2));
    let mut session = place.open(Fold::InPlace).session;
    let before = lines(&place.bytes()).len();
    session.on_event(&AgentEvent::ToolExecutionEnd {
        tool_call_id: "c".into(),
        tool_name: "work".into(),
        result: step04_agent_loop::agent_event::ToolResultContent::text("C"),
        is_error: false,
    });
    let expected = json!({"role": "toolResult", "toolCallId": "c", "toolName": "work",
        "content": [{"type": "text", "text": "C"}], "isError": false});
    assert_eq!(lines(&place.bytes())[before..], [expected]);
}

/// The bytes of `你好🦀` one at a time, and all other bytes: at most the torn line is lost.
#[test]
fn cut_at_every_byte_only_the_torn_line_is_lost() {
    for len in 0..=LOG.len() {
        let cut = &LOG.as_bytes()[..len];
        let place = Place::with(cut);
        let opened = place.open(Fold::InPlace);
        check_history(&opened.messages);
        let json = json_of(&opened.messages);
        assert!(finished(cut).iter().all(|message| json.contains(message)), "at {len}");
        let rest = &cut[whole_lines(cut).len()..];
        let next = whole_lines(cut).iter().filter(|&&byte| byte == b'\n').count() + 1;
        let only_end_missing = LOG.as_bytes().get(len) == Some(&b'\n');
        let torn = !rest.is_empty() && !only_end_missing;
        assert_eq!(opened.notices.contains(&Notice::TornLine { line: next }), torn, "at {len}");
        // What is whole but for its end is kept, and gets its end.
        let kept = if only_end_missing { &LOG.as_bytes()[..=len] } else { whole_lines(cut) };
        let mut session = opened.session;
        session.on_event(&AgentEvent::MessageEnd { message: Message::user("on") });
        drop(session);
        assert!(place.bytes().starts_with(kept), "at {len}");
        assert_eq!(place.open(Fold::InPlace).messages.len(), json.len() + 1, "at {len}");
    }
}

#[test]
fn each_line_but_the_last_must_be_whole() {
    for number in 1..=7 {
        let spoiled =
            line(number).replacen("text", "te\u{0}xt", 1).replacen("toolCall", "toolCal", 1);
        let log = LOG.replace(line(number), &spoiled);
        let text = Place::with(log).damage();
        assert!(text.contains(&format!("damaged in line {number}: ")), "{text}");
        assert!(text.contains("nothing was changed: mend it, or choose another file"), "{text}");
    }
}

#[test]
fn a_line_that_is_missing_is_damage_where_its_absence_shows() {
    let without = |number| LOG.replace(line(number), "");
    let cases = [
        // The message with the calls, and a result.
        (without(2), "damaged in line 2: a result for \"b\", but no such call waits for one"),
        (without(3), "damaged in line 5: the result of the call \"b\" is missing before it"),
        (without(4), "damaged in line 5: the result of the call \"a\" is missing before it"),
        // One that is there twice.
        (LOG.replace(line(3), &line(3).repeat(2)), "damaged in line 4: a result for \"b\""),
        (line(3).to_owned(), "damaged in line 1: a result for \"b\""),
        (up_to(4).repeat(2), "damaged in line 6: there are two calls \"a\""),
        (line(2).replace("\"b\"", "\"a\""), "damaged in line 1: there are two calls \"a\""),
        // Only a reply can be dropped, and nothing stands beside it.
        (line(5).replace("assistant", "user"), "damaged in line 1: "),
        (
            line(7).replace(r#","stopReason":"aborted""#, ""),
            "line 1: the reply has no `stopReason`",
        ),
        // Nothing is an object that isn't written as one, and nothing is said twice.
        (line(1).replace(r#""type":"text""#, r#""type":0"#), "line 1: a message, and each block"),
        // Only what broke off is dropped.
        (
            line(5).replace(r#","stopReason":"aborted""#, ""),
            "line 1: no reply that ended like this",
        ),
        (line(5).replace("aborted", "stop"), "line 1: no reply that ended like this is dropped"),
        // A mark may stand at the beginning of the file, and nowhere else.
        (format!("{}\u{feff}{}", line(1), line(6)), "damaged in line 2: column 1: expected value"),
        (
            line(1).replace(r#"{"type":"text","text":"#, r#"["text","#).replace("}]", "]]"),
            "is an object",
        ),
        (
            r#"["user",[]]"#.to_owned() + "\n",
            "line 1: a message, and each block of it, is an object",
        ),
        (
            line(1).replacen("{", r#"{"role":"user","#, 1),
            "line 1: column 21: duplicate field `role`",
        ),
        (line(1).replacen("}]", r#"}],"content":[]"#, 1), "duplicate field `content`"),
        (
            line(5).replace("}}", "},\"role\":\"user\"}"),
            "damaged in line 1: column 144: unknown field `role`",
        ),
    ];
    for (log, expected) in cases {
        let text = Place::with(log).damage();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_log_may_begin_with_a_byte_order_mark_and_keeps_it() {
    let marked = format!("\u{feff}{LOG}");
    let place = Place::with(&marked);
    assert_eq!(place.open(Fold::InPlace).messages.len(), 6);
    assert_eq!(place.bytes(), marked.as_bytes());
    let place = Place::with("\u{feff}");
    assert!(place.open(Fold::InPlace).messages.is_empty());
    assert_eq!(place.bytes(), "\u{feff}".as_bytes());
}

#[test]
fn what_is_no_log_of_ours_is_left_alone() {
    let cases: [(&[u8], &str); 11] = [
        (b"a note", "line 1: column 1: expected value"),
        (b"{\"name\": \"pack", "line 1: column 14: EOF while parsing a string"),
        (b"{\n  \"name\": 1\n}\n", "line 1: column 1: EOF while parsing an object"),
        (b"{\"role\":\"user\"\n", "line 1: column 14: EOF while parsing an object"),
        (b"{\"role\":\"user\"}", "line 1: missing field `content`"),
        (b"{\"role\":\"user\",,", "line 1: column 16: key must be a string"),
        (b"\xff\xfe\n", "line 1: not UTF-8: invalid utf-8 sequence of 1 bytes from index 0"),
        (b"{\"role\":\"user\",\"\xff", "line 1: not UTF-8: "),
        (b"[]\n", "line 1: a message, and each block of it, is an object"),
        (b"null", "line 1: "),
        (b"{\"role\":\"zzz\",", "line 1: "),
    ];
    for (log, expected) in cases {
        let text = Place::with(log).damage();
        assert!(text.contains(expected), "{text}\nand not: {expected}");
        assert!(!text.contains("at line 1"), "{text}");
    }
}

#[test]
fn a_log_edited_on_windows_still_loads() {
    let place = Place::with(LOG.replace('\n', "\r\n"));
    let Opened { mut session, messages, notices } = place.open(Fold::InPlace);
    assert_eq!(json_of(&messages), json_of(&Place::with(LOG).open(Fold::InPlace).messages));
    assert_eq!(notices, []);
    session.on_event(&AgentEvent::MessageEnd { message: Message::user("on") });
    drop(session);
    assert_eq!(place.open(Fold::InPlace).messages.len(), 7);
    // Nothing but line ends, and a last line that has none.
    assert_eq!(Place::with("\r\n\n \n").open(Fold::InPlace).messages, []);
    assert_eq!(
        Place::with(format!("\r\n{}", line(1).trim_end())).open(Fold::InPlace).messages.len(),
        1
    );
    // Lines are counted as an editor counts them.
    let text = Place::with(format!("\r\n\r\n{}no", line(1))).damage();
    assert!(text.contains("line 4: "), "{text}");
}

#[cfg(unix)] // looks into the locked file
#[test]
fn a_log_begins_empty_and_grows_line_by_line() {
    let place = Place::new();
    let Opened { mut session, messages, notices } = place.open(Fold::OnDone);
    assert_eq!((messages, notices), (vec![], vec![]));
    assert_eq!(place.bytes(), b"");
    session.on_event(&AgentEvent::MessageStart { message: Message::user("你好🦀") });
    assert_eq!(place.bytes(), b"");
    session.on_event(&AgentEvent::MessageEnd { message: Message::user("你好🦀") });
    assert_eq!(place.bytes(), line(1).as_bytes());
    for number in [5, 7] {
        let message = lines(line(number).as_bytes()).remove(0);
        let message = message.get("dropped").cloned().unwrap_or(message);
        let message = serde_json::from_value(message).unwrap();
        session.on_event(&AgentEvent::MessageEnd { message });
    }
    assert!(session.error().is_none());
    drop(session);
    let dropped = format!("{{\"dropped\":{}}}\n", line(7).trim_end());
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), [line(1), line(5), &dropped].concat());
    assert_eq!(place.open(Fold::OnDone).messages.len(), 1);
}

#[test]
fn one_session_at_a_time() {
    let place = Place::with(LOG);
    let first = place.open(Fold::InPlace);
    let error = Session::open(place.path(), Fold::InPlace).expect_err("in use");
    assert!(error.to_string().contains("end the other program, or choose another file"), "{error}");
    drop(first);
    place.open(Fold::InPlace);
}

#[test]
fn a_folder_is_no_log() {
    let place = Place::new();
    let error = Session::open(place.folder.path(), Fold::InPlace).expect_err("a folder");
    assert!(error.to_string().ends_with(": not a regular file; choose another file"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_not_made() {
    let place = Place::new();
    let error = Session::open(place.folder.path().join("no/log"), Fold::InPlace).expect_err("none");
    let text = error.to_string();
    assert!(text.starts_with("cannot open \""), "{text}");
    assert!(text.ends_with("; is its folder there?"), "{text}");
    assert!(error.source().is_some());
    assert!(!place.folder.path().join("no").exists());
}

/// Whoever may write to everything (root) may write to this one too.
#[test]
fn a_log_that_may_not_be_written_is_an_error() {
    let place = Place::with(LOG);
    let mut permissions = fs::metadata(place.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(place.path(), permissions).unwrap();
    let allowed = fs::OpenOptions::new().append(true).open(place.path()).is_ok();
    match Session::open(place.path(), Fold::InPlace) {
        Ok(_) => assert!(allowed),
        Err(error) => {
            assert!(!allowed);
            assert!(error.to_string().ends_with("; choose another file"), "{error}");
        }
    }
}

/// A run that nobody waits for any more is gone in the middle, and the next one begins.
#[test]
fn calls_of_a_run_that_was_dropped_are_answered_before_the_next() {
    let place = Place::with(up_to(1));
    let call = |end: Value| {
        let order = json!({"every": 1, "updates": 0, "end": end, "obeys": false});
        json!({"toolCall": {"name": "work", "arguments": order}})
    };
    let calls = json!({"content": [call(json!("never")), call(json!({"well": "B"}))]});
    let case = Case {
        script: json!({"rules": [{"match": "drop", "replies": [calls]},
            {"replies": [{"content": [{"text": "well"}]}]}]}),
        turns: vec![Turn { text: "next".into(), cancel_at: None }],
        fold: Fold::InPlace,
        sequential: false,
        max_turns: 9,
    };
    let Opened { mut session, messages, .. } = place.open(case.fold);
    let mut agent = case.agent(case.model());
    agent.context.messages = messages;
    on_paused_clock(async {
        let cancel = CancellationToken::new();
        let mut listeners = Listeners::new();
        listeners.add(|event| session.on_event(event));
        let run = agent.run("drop", &cancel, &mut listeners);
        assert!(tokio::time::timeout(Duration::from_secs(9), run).await.is_err());
        drop(listeners);
        converse(&mut agent, &case.turns, |event| session.on_event(event)).await;
    });
    drop(session);
    let again = place.open(case.fold);
    check_history(&again.messages);
    assert_eq!(again.notices, []);
    // The run took with it that one tool had ended. The log knows.
    let results = result_texts(&again.messages);
    assert_eq!(results, owned(&[("call", ABORTED, true), ("call-2", "B", false)]));
    let results = result_texts(&agent.context.messages);
    assert_eq!(results, owned(&[("call", ABORTED, true), ("call-2", ABORTED, true)]));
    assert_eq!(again.messages.len(), agent.context.messages.len());
}

/// A conversation over three programs.
#[test]
fn a_conversation_goes_on_where_it_was() {
    let place = Place::new();
    let reply = |text: &str| json!({"content": [{"text": text}]});
    let case = Case {
        script: json!({"rules": [{"match": "one", "replies": [reply("1")]}, {"replies": [reply("2")]}]}),
        turns: vec![Turn { text: "one".into(), cancel_at: None }],
        fold: Fold::InPlace,
        sequential: false,
        max_turns: 9,
    };
    place.go_on(&case);
    let two = Case { turns: vec![Turn { text: "two".into(), cancel_at: None }], ..case };
    let (history, ..) = place.go_on(&two);
    let texts = |messages: &[Message]| -> Vec<String> {
        let text = |message: &Message| match message {
            Message::User(message) => message.text(),
            Message::Assistant(message) => message.text(),
            Message::ToolResult(_) => unreachable!(),
        };
        messages.iter().map(text).collect()
    };
    assert_eq!(texts(&history), ["one", "1", "two", "2"]);
    assert_eq!(texts(&place.open(Fold::InPlace).messages), ["one", "1", "two", "2"]);
}

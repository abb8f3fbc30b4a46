//! The script format: all of it, and how a mistake in it is told.

mod common;

use std::error::Error;
use std::io::{self, Read};
use std::time::Duration;

use proptest::prelude::*;
use step04_agent_loop::script::{Block, Call, Chunk, End, Pace, Reply, Rule, Script, ScriptError};

#[test]
fn everything_a_script_can_say() {
    let text = r#"{
        "inputs": ["hello", "read it"],
        "files": {"a.txt": "hi"},
        "chunk": {"size": 2},
        "pace": {"delayMs": 30},
        "rules": [
            {"match": "read", "repeat": true, "replies": [
                {"content": [
                    {"thinking": "hm"},
                    {"text": "Let me see."},
                    {"toolCall": {"name": "read", "arguments": {"path": "a.txt", "n": 1}}},
                    {"toolCall": {"name": "read", "id": "t1", "argumentsText": "{\"pa"}},
                    {"toolCall": {"name": "now"}}
                ], "interleave": true, "end": "length", "after": 9,
                "chunk": {"min": 1, "max": 8, "seed": 7}, "pace": {"tokensPerSecond": 40}}
            ]},
            {"replies": [
                {"end": "stop"}, {"end": "toolUse"}, {"end": "aborted"}, {"end": "earlyEnd"},
                {"end": "silence"}, {"end": {"error": "no"}}, {"chunk": {"min": 2, "max": 2}}
            ]}
        ]
    }"#;
    let size = |size: usize| size.try_into().unwrap();
    let call = |name: &str, id: &str, arguments: Option<&str>| {
        let (name, id) = (name.into(), id.into());
        Block::ToolCall(Call { name, id, arguments_text: arguments.map(str::to_owned) })
    };
    let ending = |end| Reply { end: Some(end), ..Reply::default() };
    let first = Reply {
        content: vec![
            Block::Thinking("hm".into()),
            Block::Text("Let me see.".into()),
            call("read", "", Some(r#"{"path":"a.txt","n":1}"#)),
            call("read", "t1", Some("{\"pa")),
            call("now", "", None),
        ],
        interleave: true,
        end: Some(End::Length),
        after: Some(9),
        chunk: Some(Chunk::Random { min: size(1), max: size(8), seed: 7 }),
        pace: Some(Pace::TokensPerSecond(40.try_into().unwrap())),
    };
    let chunk = Some(Chunk::Random { min: size(2), max: size(2), seed: 0 });
    let others = vec![
        ending(End::Stop),
        ending(End::ToolUse),
        ending(End::Aborted),
        ending(End::EarlyEnd),
        ending(End::Silence),
        ending(End::Error("no".into())),
        Reply { chunk, ..Reply::default() },
    ];
    let expected = Script {
        inputs: vec!["hello".into(), "read it".into()],
        files: [("a.txt".to_owned(), "hi".to_owned())].into(),
        chunk: Chunk::Size(size(2)),
        pace: Some(Pace::DelayMs(30)),
        rules: vec![
            Rule { matches: Some("read".into()), replies: vec![first], repeat: true },
            Rule { matches: None, replies: others, repeat: false },
        ],
    };
    assert_eq!(Script::parse(text).unwrap(), expected);
}

/// The example at the head of `script/format.rs` is a script.
#[test]
fn the_documented_example_is_a_script() {
    let source = include_str!("../src/script/format.rs");
    let example = source.split("```json").nth(1).and_then(|rest| rest.split("```").next());
    let lines = example.unwrap().lines().map(|line| line.trim_start_matches("//!"));
    let script = Script::parse(&lines.collect::<String>()).unwrap();
    assert_eq!((script.inputs.len(), script.rules.len()), (1, 2));
}

#[test]
fn what_is_not_said_has_a_default() {
    let script = Script::parse(r#"{"rules":[]}"#).unwrap();
    assert_eq!(script, Script::default());
    assert_eq!(script.chunk, Chunk::Size(4.try_into().unwrap()));
    assert_eq!(script.pace.unwrap_or_default().delay(), Duration::ZERO);
}

#[test]
fn a_mistake_is_told_with_line_column_and_field() {
    let cases = [
        // (script, field, line, column, what)
        (
            "{\n \"rules\": [\n  {\"mach\": \"a\", \"replies\": []}\n ]\n}",
            "rules[0].mach",
            3,
            9,
            "unknown field `mach`",
        ),
        ("{\"rules\": [{}]}", "rules[0]", 1, 13, "missing field `replies`"),
        ("{}", ".", 1, 2, "missing field `rules`"),
        ("{\"rules\":\n7}", "rules", 2, 1, "invalid type: integer `7`, expected a sequence"),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{\"txt\":\"a\"}]}]}]}",
            "rules[0].replies[0].content[0].txt",
            1,
            40,
            "unknown field `txt`, expected one of `text`, `thinking`, `toolCall`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{\"text\":1}]}]}]}",
            "rules[0].replies[0].content[0].text",
            1,
            43,
            "expected a string",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":\"later\"}]}]}",
            "rules[0].replies[0].end",
            1,
            36,
            "unknown variant `later`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":\"error\"}]}]}",
            "rules[0].replies[0].end",
            1,
            36,
            "an error has a message: {\"error\": \"…\"}",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":{}}]}]}",
            "rules[0].replies[0].end",
            1,
            31,
            "give a word, or {\"error\": \"…\"}",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":{\"stop\":null}}]}]}",
            "rules[0].replies[0].end",
            1,
            36,
            "give a word, or {\"error\": \"…\"}",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":{\"error\":\"a\",\"b\":1}}]}]}",
            "rules[0].replies[0].end",
            1,
            45,
            "nothing stands beside `error`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"end\":5}]}]}",
            "rules[0].replies[0].end",
            1,
            30,
            "expected a word, or {\"error\": \"…\"}",
        ),
        ("{\"rules\":[],\"chunk\":{\"size\":0}}", "chunk.size", 1, 29, "expected a nonzero usize"),
        (
            "{\"rules\":[],\"chunk\":{\"min\":3,\"max\":2}}",
            "chunk",
            1,
            38,
            "`max` is less than `min`",
        ),
        (
            "{\"rules\":[],\"chunk\":{\"size\":3,\"max\":2}}",
            "chunk",
            1,
            39,
            "give `size`, or `min`, `max`",
        ),
        ("{\"rules\":[],\"chunk\":{\"min\":3}}", "chunk", 1, 30, "give `size`, or `min`, `max`"),
        (
            "{\"rules\":[],\"pace\":{\"tokensPerSecond\":0}}",
            "pace.tokensPerSecond",
            1,
            39,
            "expected a nonzero u32",
        ),
        (
            "{\"rules\":[],\"pace\":{\"delayMs\":-1}}",
            "pace.delayMs",
            1,
            32,
            "invalid value: integer `-1`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{\"toolCall\":{\"name\":\"r\",\"arguments\":{},\"argumentsText\":\"\"}}]}]}]}",
            "rules[0].replies[0].content[0].toolCall",
            1,
            93,
            "not both",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{\"toolCall\":{\"arguments\":{}}}]}]}]}",
            "rules[0].replies[0].content[0].toolCall",
            1,
            62,
            "missing field `name`",
        ),
        ("[[],{},4,null,[]]", ".", 1, 0, "invalid type: sequence, expected an object"),
        ("{\"rules\":[[\"a\",[]]]}", "rules[0]", 1, 10, "expected an object"),
        ("{\"rules\":[{\"replies\":[[]]}]}", "rules[0].replies[0]", 1, 22, "expected an object"),
        (
            "{\"rules\":[{\"replies\":[\"hi\"]}]}",
            "rules[0].replies[0]",
            1,
            26,
            "expected an object",
        ),
        ("{\"rules\":[],\"chunk\":[1,null,null,null]}", "chunk", 1, 20, "expected an object"),
        ("{\"rules\":[],\"pace\":30}", "pace", 1, 21, "expected an object"),
        (
            "{\"rules\":[],\"pace\":{\"delayMs\":3,\"tokensPerSecond\":3}}",
            "pace",
            1,
            53,
            "give `delayMs` or `tokensPerSecond`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{\"text\":\"a\",\"thinking\":\"b\"}]}]}]}",
            "rules[0].replies[0].content[0]",
            1,
            62,
            "give one of `text`, `thinking` and `toolCall`",
        ),
        (
            "{\"rules\":[{\"replies\":[{\"content\":[{}]}]}]}",
            "rules[0].replies[0].content[0]",
            1,
            37,
            "give one of `text`, `thinking` and `toolCall`",
        ),
        (
            "{\"rules\":[],\n\"files\":{\"../a\":\"\"}}",
            "files",
            2,
            19,
            "\"../a\" must name a file in the folder",
        ),
        (
            "{\"rules\":[],\n\"files\":{\"a\":\"1\",\"a\":\"2\"}}",
            "files",
            2,
            25,
            "\"a\" is there twice",
        ),
        (
            "{\"rules\":[],\"files\":{\"a/b\":\"1\",\"a\":\"2\"}}",
            "files",
            1,
            39,
            "\"a\" clashes with another one",
        ),
        ("{\"rules\":[],\"chunk\":{\"size\":null}}", "chunk.size", 1, 32, "invalid type: null"),
        ("{\"rules\":[],}", ".", 1, 13, "trailing comma"),
        ("{\"rules\":[", "rules", 1, 10, "EOF while parsing a list"),
        ("{\"rules\":[]} x", ".", 1, 14, "trailing characters"),
        ("", ".", 1, 0, "EOF while parsing a value"),
    ];
    for (script, field, line, column, what) in cases {
        let error = Script::parse(script).expect_err(script);
        let ScriptError::Json { field: told, source } = &error else { panic!("{error:?}") };
        assert_eq!(told, field, "{script}");
        assert_eq!((source.line(), source.column()), (line, column), "{script}: {error}");
        assert!(source.to_string().contains(what), "{script}: {error}");
        let text = error.to_string();
        assert!(text.contains(&format!("field `{field}`")), "{text}");
        assert!(text.ends_with(&format!("at line {line} column {column}")), "{text}");
        assert!(error.source().is_some());
    }
}

/// Gives one byte per read.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (Some((first, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut()) else {
            return Ok(0);
        };
        *place = *first;
        self.0 = rest;
        Ok(1)
    }
}

/// "The bytes of `你好🦀` arriving one at a time": exact text.
#[test]
fn bytes_may_come_one_by_one() {
    let text = r#"{"inputs":["你好🦀"],"rules":[]}"#;
    assert_eq!(Script::read(Trickle(text.as_bytes())).unwrap().inputs, ["你好🦀"]);
}

/// What is not UTF-8 is refused with its line; it is never patched with U+FFFD.
#[test]
fn bytes_that_are_no_text_are_told() {
    let mut bytes = "{\n\"rules\":[],\n\"inputs\":[\"你\"]}".as_bytes().to_vec();
    let at = bytes.len() - 4;
    bytes.remove(at);
    let error = Script::read(&bytes[..]).unwrap_err();
    assert!(matches!(error, ScriptError::NotUtf8 { line: 3, .. }), "{error:?}");
    assert!(error.to_string().starts_with("line 3 is not UTF-8"), "{error}");
    assert!(error.source().is_some());
    let error = Script::read(&b"\xff"[..]).unwrap_err();
    assert!(matches!(error, ScriptError::NotUtf8 { line: 1, .. }), "{error:?}");
}

#[test]
fn a_file_is_loaded_or_the_reason_told() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let error = Script::load(format!("{folder}/no-such-script.json")).unwrap_err();
    assert!(matches!(error, ScriptError::Io(_)));
    assert!(error.to_string().starts_with("the script can't be read: "), "{error}");
    assert!(error.source().is_some());
    let error = Script::load(format!("{folder}/Cargo.toml")).unwrap_err();
    assert!(matches!(error, ScriptError::Json { .. }), "{error:?}");
    assert!(Script::load(format!("{folder}/tests/data/lesson.json")).is_ok());
}

proptest! {
    /// P7: no text panics.
    #[test]
    fn any_text_is_a_script_or_an_error(text in common::text(), other in any::<String>()) {
        for text in [&text, &other, &format!("{{\"rules\":{text}}}")] {
            if let Err(error) = Script::parse(text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    /// A script cut anywhere is an error, and never a shorter script.
    #[test]
    fn half_a_script_is_an_error(cut in any::<prop::sample::Index>()) {
        let text = include_str!("data/lesson.json").trim();
        prop_assert!(Script::parse(text).is_ok());
        let at = cut.index(text.len());
        prop_assert!(Script::read(&text.as_bytes()[..at]).is_err());
    }
}

/// A path in `files` can be written in one way, and leads to a file.
#[test]
fn the_files_of_a_script_are_files() {
    let script = |paths: &[&str]| {
        let files: Vec<_> = paths.iter().map(|path| format!("{path:?}:\"\"")).collect();
        Script::parse(&format!("{{\"rules\":[],\"files\":{{{}}}}}", files.join(",")))
    };
    let long = "x".repeat(256);
    for path in ["", ".", "a/", "/a", "a//b", "./a", "a/./b", "a/..", "../a", "a\nb", &long] {
        let error = script(&[path]).expect_err(path).to_string();
        assert!(error.starts_with("field `files`: "), "{path}: {error}");
        assert!(error.contains("must name a file in the folder at line 1"), "{path}: {error}");
    }
    for paths in [["a", "a/b"], ["a/b", "a"], ["a/b/c", "a"], ["a", "a/b/c"]] {
        let error = script(&paths).expect_err("a clash").to_string();
        assert!(error.contains("clashes with another one"), "{paths:?}: {error}");
    }
    let fine = ["a", "a b/c", "a.b", "ab/c", "你好/🦀.txt", "a-b/c", ".hidden", "a b/d"];
    assert_eq!(script(&fine).expect("they are files").files.len(), fine.len());
}

/// The schema that editors use is the one that the types have.
#[test]
fn the_schema_is_that_of_the_types() {
    let schema = serde_json::to_value(schemars::schema_for!(Script)).expect("a schema is JSON");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/script.schema.json");
    let kept = std::fs::read_to_string(kept).expect("the schema is kept in docs/");
    assert_eq!(format!("{schema:#}\n"), kept, "write this to docs/script.schema.json");
}

/// Every script that comes along can be read.
#[test]
fn the_sample_scripts_are_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts");
    let scripts: Vec<_> = std::fs::read_dir(folder).expect("a folder").collect();
    assert!(scripts.len() >= 2);
    for script in scripts {
        let path = script.expect("an entry").path();
        Script::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A script without an end is not waited for.
#[test]
fn an_endless_script_is_too_long() {
    let error = Script::read(io::repeat(b' ')).expect_err("it has no end");
    assert!(matches!(error, ScriptError::TooLong), "{error}");
    assert!(error.to_string().contains("16 MiB"), "{error}");
    let spaces = " ".repeat((16 << 20) - 11) + "{\"rules\":[]}";
    assert_eq!(spaces.len(), (16 << 20) + 1);
    assert!(matches!(Script::read(spaces.as_bytes()), Err(ScriptError::TooLong)));
    Script::read(&spaces.as_bytes()[1..]).expect("as long as it may be");
}

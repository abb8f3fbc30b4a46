//! What the three tools answer, and what they leave on the disk.

mod tool_support;

use std::fs;

use proptest::prelude::*;
use serde_json::json;
use step04_agent_loop::partial_json::parse_arguments;
use step04_agent_loop::tool::{Tool, ToolError, ToolRun};
use step04_agent_loop::tools::{self, Grep, MAX_BYTES, Read, Write};
use tokio_util::sync::CancellationToken;
use tool_support::{World, call, quiet, recorded};

/// Runs a future to its end; for property tests, which are not async.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}

/// Reads a whole file by following what each answer says about the rest.
async fn read_on(world: &World, path: &str, limit: usize) -> (String, usize) {
    let (mut text, mut calls) = (String::new(), 0);
    let mut next = json!({"path": path, "limit": limit});
    loop {
        calls += 1;
        let answer = world.call("read", next).await.expect("a text file");
        let Some((piece, note)) = answer.rsplit_once("\n[cut: there is more, continue with ")
        else {
            return (text + &answer, calls);
        };
        text += piece;
        let (key, value) = note.trim_end_matches(']').split_once('=').expect("name=number");
        let value: u64 = value.parse().expect("a number");
        next = json!({"path": path, "limit": limit, key: value});
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// What is written is read again, to the byte, however many answers it takes.
    #[test]
    fn windows_put_together_are_the_file(
        lines in prop::collection::vec(
            prop_oneof![
                8 => "[a-z你🦀é\r\\[\\]\"\\\\]{0,9}",
                1 => (13_000_usize..20_000).prop_map(|n| "你好🦀".repeat(n / 3)),
            ], 1..12),
        last_newline: bool,
        limit in 1_usize..6,
    ) {
        let content = lines.join("\n") + if last_newline { "\n" } else { "" };
        prop_assume!(!content.is_empty());
        block_on(async {
            let world = World::new();
            world.call("write", json!({"path": "file", "content": content})).await.expect("written");
            prop_assert_eq!(read_on(&world, "file", limit).await.0, content);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_long_file_is_read_in_windows() {
    let world = World::new();
    let content: String = (1..=4500).map(|n| format!("line {n}\n")).collect();
    fs::write(world.root("long"), &content).expect("a file");
    let first = world.call("read", json!({"path": "long"})).await.expect("text");
    assert!(first.ends_with("line 2000\n\n[cut: there is more, continue with offset=2001]"));
    assert_eq!(read_on(&world, "long", 9999).await, (content, 3));

    let window = world.call("read", json!({"path": "long", "offset": 4499, "limit": 5})).await;
    assert_eq!(window.expect("text"), "line 4499\nline 4500\n");
    let window = world.call("read", json!({"path": "long", "offset": 2, "limit": 1})).await;
    assert_eq!(window.expect("text"), "line 2\n\n[cut: there is more, continue with offset=3]");
}

#[tokio::test]
async fn a_long_line_is_cut_between_characters() {
    let world = World::new();
    let content = format!("x{}\n", "🦀".repeat(20_000));
    fs::write(world.root("long"), &content).expect("a file");
    let answer = world.call("read", json!({"path": "long"})).await.expect("text");
    // 51,200 bytes would be 1 + 12,799 crabs and three quarters of one.
    assert!(answer.ends_with("🦀\n[cut: there is more, continue with byte=51197]"), "{answer:.9}");
    assert!(answer.len() <= MAX_BYTES + 60);
    assert_eq!(read_on(&world, "long", 1).await, (content, 2));
}

#[tokio::test]
async fn exactly_full_is_not_cut() {
    let world = World::new();
    let kilobyte = format!("{}\n", "z".repeat(1023));
    for content in ["y".repeat(MAX_BYTES), "\n".repeat(2000), kilobyte.repeat(MAX_BYTES / 1024)] {
        fs::write(world.root("full"), &content).expect("a file");
        let answer = world.call("read", json!({"path": "full"})).await.expect("text");
        assert!(answer == content, "{} bytes were cut to {}", content.len(), answer.len());
    }
    fs::write(world.root("full"), "y".repeat(MAX_BYTES + 1)).expect("a file");
    let answer = world.call("read", json!({"path": "full"})).await.expect("text");
    assert!(answer.ends_with("continue with byte=51200]"));
}

#[tokio::test]
async fn places_that_are_not_there() {
    let world = World::new();
    fs::write(world.root("empty"), "").expect("a file");
    let rows = [
        (json!({"path": "empty"}), Ok("[nothing: the file ends here]")),
        (json!({"path": "inside.txt", "byte": 8}), Ok("[nothing: the file ends here]")),
        (json!({"path": "inside.txt", "byte": 4}), Ok("two\n")),
        (json!({"path": "inside.txt", "offset": 2}), Ok("two\n")),
        (
            json!({"path": "inside.txt", "byte": 9}),
            Err(r#"refused "inside.txt": no byte 9: the file has 8 bytes"#),
        ),
        (
            json!({"path": "inside.txt", "offset": 3}),
            Err(r#"refused "inside.txt": no line 3: the file ends in line 2"#),
        ),
        (
            json!({"path": "empty", "offset": 2}),
            Err(r#"refused "empty": no line 2: the file ends in line 1"#),
        ),
        (
            json!({"path": "inside.txt", "offset": 1, "byte": 0}),
            Err(r#"refused "inside.txt": give `offset` or `byte`, not both"#),
        ),
    ];
    for (arguments, expected) in rows {
        let answer = world.call("read", arguments.clone()).await.map_err(|error| error.to_string());
        assert_eq!(answer.as_deref().map_err(String::as_str), expected, "{arguments}");
    }
}

#[tokio::test]
async fn what_is_not_text_is_said_to_be_not_text() {
    let world = World::new();
    let rows: [(&[u8], usize); 5] = [
        (b"ab\xff", 2),
        (b"text\0text", 4),
        (b"\xff\xfea\0", 0),
        ("é".as_bytes().split_at(1).0, 0),
        (b"abc\n\xf0\x9f\xa6", 4),
    ];
    for (bytes, at) in rows {
        fs::write(world.root("data"), bytes).expect("a file");
        let error = world.call("read", json!({"path": "data"})).await.expect_err("no text");
        let expected = format!("refused \"data\": it is not a UTF-8 text: see byte {at}");
        assert_eq!(error.to_string(), expected, "{bytes:?}");
        let found = world.call("grep", json!({"path": "data", "pattern": "a"})).await;
        assert_eq!(
            found.expect("a report"),
            "[0 matches in 1 file searched]\n[skipped, not UTF-8 text: 1, the first is data]"
        );
    }
}

/// A sparse file of a tebibyte: neither its size nor its missing line breaks cost anything.
#[tokio::test]
async fn a_huge_file_costs_no_more_than_an_answer() {
    let world = World::new();
    fs::write(world.root("huge"), "first\n").expect("a file");
    let file = fs::OpenOptions::new().write(true).open(world.root("huge")).expect("a file");
    file.set_len(1 << 40).expect("a sparse file");
    let first = world.call("read", json!({"path": "huge", "limit": 1})).await.expect("text");
    assert!(first.starts_with("first\n\n[cut"), "{first:?}");
    let end = world.call("read", json!({"path": "huge", "byte": 1_u64 << 40})).await;
    assert_eq!(end.expect("the end"), "[nothing: the file ends here]");
    let found = world.call("grep", json!({"pattern": "first"})).await.expect("a report");
    assert!(found.contains("[skipped, larger than 4 MiB: 1, the first is huge]"), "{found}");
}

#[tokio::test]
async fn write_makes_folders_and_replaces_the_whole_file() {
    let world = World::new();
    let write = |path: &str, content: &str| {
        world.call("write", json!({"path": path, "content": content})).map_err_to_text()
    };
    assert_eq!(write("a/b/c.txt", "你好").await, Ok(r#"created "a/b/c.txt": 6 bytes"#.into()));
    assert_eq!(write("a/b/c.txt", "").await, Ok(r#"replaced "a/b/c.txt": 0 bytes"#.into()));
    assert_eq!(fs::read(world.root("a/b/c.txt")).expect("a file"), b"");
    assert_eq!(write("inside.txt", "new").await, Ok(r#"replaced "inside.txt": 3 bytes"#.into()));
    assert_eq!(fs::read(world.root("inside.txt")).expect("a file"), b"new");
    let folder = Err(r#"refused "new/": it names a folder, not a file"#.into());
    assert_eq!(write("new/", "x").await, folder);
    let folder = Err(r#"refused "new/.": it names a folder, not a file"#.into());
    assert_eq!(write("new/.", "x").await, folder);
    assert_eq!(write("sub", "x").await, Err(r#"refused "sub": it is a folder, not a file"#.into()));
    assert!(write("inside.txt/below", "x").await.is_err());
    assert!(world.leftovers().is_empty());
}

/// To compare answers in one line.
trait MapErrToText {
    fn map_err_to_text(self) -> impl Future<Output = Result<String, String>>;
}

impl<F: Future<Output = Result<String, ToolError>>> MapErrToText for F {
    async fn map_err_to_text(self) -> Result<String, String> {
        self.await.map_err(|error| error.to_string())
    }
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use serde_json::json;

    use super::tool_support::World;

    fn mode(world: &World, path: &str) -> u32 {
        fs::metadata(world.root(path)).expect("a file").permissions().mode() & 0o7777
    }

    #[tokio::test]
    async fn write_keeps_the_permissions() {
        let world = World::new();
        for wanted in [0o600, 0o640, 0o755, 0o777] {
            let permissions = fs::Permissions::from_mode(wanted);
            fs::set_permissions(world.root("inside.txt"), permissions).expect("a mode");
            world.call("write", json!({"path": "inside.txt", "content": ""})).await.expect("ok");
            assert_eq!(mode(&world, "inside.txt"), wanted);
        }
    }

    #[tokio::test]
    async fn write_respects_a_read_only_file() {
        let world = World::new();
        let permissions = fs::Permissions::from_mode(0o444);
        fs::set_permissions(world.root("inside.txt"), permissions).expect("a mode");
        let error = world.call("write", json!({"path": "inside.txt", "content": ""})).await;
        let error = error.expect_err("read-only").to_string();
        assert_eq!(error, r#"refused "inside.txt": the file is read-only"#);
        assert_eq!(fs::read(world.root("inside.txt")).expect("a file"), b"one\ntwo\n");
    }

    #[tokio::test]
    async fn write_follows_a_link_inside_and_keeps_it() {
        let world = World::new();
        symlink("sub/other.txt", world.root("link")).expect("a link");
        world.call("write", json!({"path": "link", "content": "new"})).await.expect("ok");
        assert_eq!(fs::read(world.root("sub/other.txt")).expect("a file"), b"new");
        assert!(world.root("link").is_symlink());

        symlink("../outside/secret.txt", world.root("out")).expect("a link");
        let error = world.call("write", json!({"path": "out", "content": ""})).await;
        let error = error.expect_err("it leads out").to_string();
        assert!(error.starts_with(r#"refused "out": it leads out of the root folder"#), "{error}");

        symlink("missing", world.root("dangling")).expect("a link");
        let error = world.call("write", json!({"path": "dangling", "content": ""})).await;
        let error = error.expect_err("it leads nowhere").to_string();
        assert_eq!(error, r#"refused "dangling": it is a symbolic link that leads nowhere"#);
        assert!(world.root("dangling").is_symlink());
    }

    /// A circle of links, a link to another folder and a FIFO: named, not followed, not opened.
    #[tokio::test]
    async fn grep_names_what_it_did_not_search() {
        let world = World::new();
        symlink("..", world.root("sub/circle")).expect("a link");
        symlink("sub", world.root("again")).expect("a link");
        let _socket = std::os::unix::net::UnixListener::bind(world.root("sub/socket"));
        let found = world.call("grep", json!({"pattern": "three"})).await.expect("a report");
        assert_eq!(
            found,
            "sub/other.txt:1: three\n[1 match in 2 files searched]\n\
             [skipped, symbolic link: 2, the first is again]\n\
             [skipped, neither file nor folder: 1, the first is sub/socket]"
        );
        let found = world.call("grep", json!({"pattern": "three", "path": "again"})).await;
        assert!(found.expect("a report").starts_with("sub/other.txt:1: three\n[1 match in 1"));
    }

    #[tokio::test]
    async fn grep_shows_a_name_with_a_line_break_as_one_line() {
        let world = World::new();
        fs::write(world.root("sub/a\nb"), "three\n").expect("a file");
        let found = world.call("grep", json!({"pattern": "three", "path": "sub"})).await;
        let expected =
            "\"sub/a\\nb\":1: three\nsub/other.txt:1: three\n[2 matches in 2 files searched]";
        assert_eq!(found.expect("a report"), expected);
    }

    #[cfg(target_os = "linux")] // other systems refuse such names themselves
    #[tokio::test]
    async fn grep_counts_names_that_are_not_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let world = World::new();
        let name = std::ffi::OsStr::from_bytes(b"\xff");
        fs::write(world.root("sub").join(name), "three\n").expect("a file");
        let found = world.call("grep", json!({"pattern": "three"})).await.expect("a report");
        assert!(
            found.ends_with("[skipped, name is not UTF-8: 1, the first is sub/\u{fffd}]"),
            "{found}"
        );
    }
}

#[tokio::test]
async fn grep_answers_in_order_and_with_line_numbers() {
    let world = World::new();
    for name in ["b", "a", "sub/z", "sub/deeper/y", "c"] {
        fs::create_dir_all(world.root(name).parent().expect("a folder")).expect("a folder");
        fs::write(world.root(name), "no\r\nyes: x=1\r\nno\nyes").expect("a file");
    }
    let (run, updates) = recorded();
    let found = call(&world.sandbox, "grep", json!({"pattern": "yes"}), run).await;
    let lines = |path: &str| format!("{path}:2: yes: x=1\n{path}:4: yes\n");
    let expected = ["a", "b", "c", "sub/deeper/y", "sub/z"].map(lines).concat();
    assert_eq!(found.expect("a report"), expected + "[10 matches in 7 files searched]");
    assert_eq!(
        *updates.lock().expect("no panic"),
        [
            "0 matches in 1 file searched: a",
            "2 matches in 2 files searched: b",
            "4 matches in 3 files searched: c",
            "6 matches in 4 files searched: inside.txt",
            "6 matches in 5 files searched: sub/deeper/y",
            "8 matches in 6 files searched: sub/other.txt",
            "8 matches in 7 files searched: sub/z",
        ]
    );
    let in_file = world.call("grep", json!({"pattern": "=", "path": "sub/z"})).await;
    assert_eq!(in_file.expect("a report"), "sub/z:2: yes: x=1\n[1 match in 1 file searched]");
    let in_folder = world.call("grep", json!({"pattern": "=", "path": "./sub/deeper/"})).await;
    let expected = "sub/deeper/y:2: yes: x=1\n[1 match in 1 file searched]";
    assert_eq!(in_folder.expect("a report"), expected);
}

#[tokio::test]
async fn grep_is_bounded() {
    let world = World::new();
    fs::write(world.root("many"), "hit\n".repeat(100)).expect("a file");
    let all = world.call("grep", json!({"pattern": "hit"})).await.expect("a report");
    assert!(
        all.ends_with("many:100: hit\n[100 matches in 3 files searched]"),
        "exactly full: {all}"
    );
    fs::write(world.root("sub/one-more"), "hit\n").expect("a file");
    fs::write(world.root("sub/zzz"), "hit\n").expect("a file");
    let cut = world.call("grep", json!({"pattern": "hit"})).await.expect("a report");
    assert!(
        cut.ends_with(
            "many:100: hit\n[100 matches in 3 files searched]\n\
             [stopped: the answer is full; use a longer `pattern` or a `path`]"
        ),
        "{cut}"
    );

    let wide = format!("{}hit{}\n", "<".repeat(500), "好".repeat(500));
    fs::write(world.root("many"), &wide).expect("a file");
    let shown =
        world.call("grep", json!({"pattern": "hit", "path": "many"})).await.expect("a report");
    let expected = format!("many:1: …{}hit{}…\n", "<".repeat(100), "好".repeat(65));
    assert_eq!(shown, expected + "[1 match in 1 file searched]");
}

#[tokio::test]
async fn grep_stops_before_its_answer_is_too_long() {
    let world = World::new();
    let folder = format!("{}/{}", "d".repeat(200), "e".repeat(200));
    fs::create_dir_all(world.root(&folder)).expect("a folder");
    fs::write(world.root(&folder).join("f"), format!("hit{}\n", ".".repeat(297)).repeat(100))
        .expect("a file");
    let found = world.call("grep", json!({"pattern": "hit"})).await.expect("a report");
    assert!(found.len() < MAX_BYTES + 1000, "{}", found.len());
    assert!(found.contains("[stopped: the answer is full"), "{found}");
}

#[tokio::test]
async fn grep_searches_files_of_up_to_4_mib() {
    let world = World::new();
    for (size, found) in [(4_194_304, true), (4_194_305, false)] {
        let content = "x".repeat(size - 4) + "\nhit";
        fs::write(world.root("large"), content).expect("a file");
        let answer = world.call("grep", json!({"pattern": "hit"})).await.expect("a report");
        assert_eq!(answer.starts_with("large:2: hit\n"), found, "{answer}");
        assert_eq!(answer.contains("[skipped, larger than 4 MiB: 1"), !found, "{answer}");
    }
}

/// To find a line, all lines before it are counted; a bound keeps that from taking for ever.
#[tokio::test]
async fn read_looks_for_a_line_in_the_first_256_mib() {
    let world = World::new();
    fs::write(world.root("sparse"), "").expect("a file");
    let file = fs::OpenOptions::new().write(true).open(world.root("sparse")).expect("a file");
    file.set_len(1 << 40).expect("a sparse file");
    let error = world.call("read", json!({"path": "sparse", "offset": 2})).await.expect_err("far");
    let expected = "line 2 is not within the first 268435456 bytes; use `byte`";
    assert_eq!(error.to_string(), format!("refused \"sparse\": {expected}"));
}

#[tokio::test]
async fn grep_does_not_go_down_for_ever() {
    let world = World::new();
    let deep = |levels: usize| "d/".repeat(levels) + "file";
    for levels in [32, 33] {
        fs::create_dir_all(world.root(&"d/".repeat(levels))).expect("a folder");
        fs::write(world.root(&deep(levels)), "hit").expect("a file");
    }
    let found = world.call("grep", json!({"pattern": "hit"})).await.expect("a report");
    assert_eq!(
        found,
        format!(
            "{}:1: hit\n[1 match in 3 files searched]\n\
             [skipped, too many folders deep: 1, the first is {}d]",
            deep(32),
            "d/".repeat(32)
        )
    );
}

#[tokio::test]
async fn grep_wants_a_pattern_within_a_line() {
    let world = World::new();
    for pattern in ["", "a\nb", "\r"] {
        let error = world.call("grep", json!({"pattern": pattern})).await.expect_err("no pattern");
        assert!(error.to_string().starts_with("`pattern` must be"), "{error}");
    }
}

/// A cancelled tool has not succeeded, whatever it may have done before.
#[tokio::test]
async fn a_cancelled_tool_is_aborted() {
    let world = World::new();
    for (tool, arguments) in [
        ("read", json!({"path": "inside.txt"})),
        ("write", json!({"path": "new.txt", "content": "text"})),
        ("grep", json!({"pattern": "o"})),
    ] {
        let run = quiet();
        run.cancel.cancel();
        let answer = call(&world.sandbox, tool, arguments, run).await;
        assert!(matches!(answer, Err(ToolError::Aborted)), "{tool}: {answer:?}");
    }
    assert!(!world.root("new.txt").exists());
}

/// The update is the tool's own thread at work: cancelled there, it searches no further file.
#[tokio::test]
async fn grep_stops_between_two_files() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let (stop, updates) = (cancel.clone(), recorded().1);
    let seen = updates.clone();
    let run = ToolRun::new(cancel, move |update| {
        seen.lock().expect("no panic").push(update);
        stop.cancel();
    });
    let answer = call(&world.sandbox, "grep", json!({"pattern": "o"}), run).await;
    assert!(matches!(answer, Err(ToolError::Aborted)), "{answer:?}");
    assert_eq!(updates.lock().expect("no panic").len(), 1);
}

/// Whoever made the run may have a bug; the tool's answer says so instead of tearing the loop down.
#[tokio::test]
async fn a_panic_in_the_thread_is_an_error() {
    let world = World::new();
    let run = ToolRun::new(CancellationToken::new(), |_| panic!("a bug"));
    let error =
        call(&world.sandbox, "grep", json!({"pattern": "o"}), run).await.expect_err("a bug");
    assert_eq!(error.to_string(), "the tool crashed: a bug");
}

/// Nobody waits for the answer any more, so nobody needs the thread.
#[tokio::test]
async fn a_dropped_call_stops_its_thread() {
    let world = World::new();
    let (at_first_file, arrived) = std::sync::mpsc::channel();
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let (wait, updates) = (std::sync::Mutex::new(wait), recorded().1);
    let seen = updates.clone();
    let run = ToolRun::new(CancellationToken::new(), move |update| {
        seen.lock().expect("no panic").push(update);
        let _ = at_first_file.send(());
        let _ = wait.lock().expect("one thread").recv();
    });
    let arguments = parse_arguments(r#"{"pattern":"o"}"#).expect("whole arguments");
    let mut call = Grep::new(world.sandbox.clone()).execute(arguments, run);
    assert!(futures::poll!(&mut call).is_pending());
    arrived.recv().expect("the thread is at the first file");
    drop(call);
    drop(go_on); // it does not wait again
    // The channel closes when the thread drops its last clone of the run, at its end.
    while arrived.recv().is_ok() {}
    assert_eq!(updates.lock().expect("no panic").len(), 1);
}

#[tokio::test]
async fn arguments_that_do_not_fit_name_the_field() {
    let world = World::new();
    let rows = [
        ("read", json!({}), "bad arguments: missing field `path`"),
        (
            "read",
            json!({"path": 1}),
            "bad arguments: field `path`: invalid type: integer `1`, expected a string",
        ),
        (
            "read",
            json!({"path": "a", "offset": 0}),
            "bad arguments: field `offset`: invalid value: integer `0`, expected a nonzero u64",
        ),
        (
            "read",
            json!({"path": "a", "limit": -1}),
            "bad arguments: field `limit`: invalid value: integer `-1`, expected a nonzero usize",
        ),
        (
            "read",
            json!({"file": "a"}),
            "bad arguments: field `file`: unknown field `file`, expected one of `path`, `offset`, `limit`, `byte`",
        ),
        ("write", json!({"path": "a"}), "bad arguments: missing field `content`"),
        (
            "grep",
            json!({"pattern": null}),
            "bad arguments: field `pattern`: invalid type: null, expected a string",
        ),
    ];
    for (tool, arguments, expected) in rows {
        let error = world.call(tool, arguments).await.expect_err("they do not fit");
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn schemas_are_derived_and_closed() {
    let world = World::new();
    let toolbox = tools::standard(&world.sandbox);
    let schemas: Vec<_> =
        toolbox.iter().map(|tool| (tool.name().to_owned(), tool.schema())).collect();
    let names: Vec<_> = schemas.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["read", "write", "grep"]);
    for (name, schema) in &schemas {
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none(), "{name}");
        for (field, property) in schema["properties"].as_object().expect("properties") {
            assert!(property["description"].is_string(), "{name}.{field}");
        }
    }
    assert_eq!(schemas[0].1["required"], json!(["path"]));
    assert_eq!(schemas[1].1["required"], json!(["path", "content"]));
    assert_eq!(schemas[2].1["required"], json!(["pattern"]));
    assert!(toolbox.iter().all(|tool| !tool.sequential()));
    // The bounds that the tests above hold the tools to, as the model is told of them.
    let told = ["after 2000 lines or 50 KiB", "replacing its whole content", "after 100 matches"];
    for (tool, told) in toolbox.iter().zip(told) {
        assert!(tool.description().contains(told), "{}", tool.description());
    }
}

#[test]
fn an_unknown_tool_is_told_the_known_ones() {
    let world = World::new();
    let toolbox = tools::standard(&world.sandbox);
    let error = toolbox.get("rm").err().expect("there is none");
    assert_eq!(error.to_string(), r#"unknown tool "rm"; the tools are: read, write, grep"#);
    assert_eq!(toolbox.get("grep").expect("there is one").name(), "grep");
}

/// The tools are values to be shared between calls and threads.
#[test]
fn tools_are_shared() {
    fn shared<T: Tool + Clone + 'static>() {}
    shared::<Read>();
    shared::<Write>();
    shared::<Grep>();
}

/// On the way to a place that is refused, nothing is made; where one can go up again, one can.
#[tokio::test]
async fn a_refused_write_leaves_no_folder_behind() {
    let world = World::new();
    let write = |path: &str| world.call("write", json!({"path": path, "content": "x"}));
    for path in ["new/../../outside/x", "sub/new/../../../x", "new/../x"] {
        assert!(write(path).await.is_err(), "{path}");
        assert!(!world.root("new").exists() && !world.root("sub/new").exists(), "{path}");
    }
    let unseen =
        write("sub/.write-0123456789abcdef.tmp").await.expect_err("a search passes it over");
    assert!(unseen.to_string().contains("unfinished writes"), "{unseen}");
    let long = format!("new/{}", "y".repeat(256));
    assert!(write(&long).await.is_err() && !world.root("new").exists());
    assert!(write("gpj.\u{202e}exe").await.is_err());
    assert_eq!(write("sub/../x").await.expect("written"), "created \"sub/../x\": 1 byte");
}

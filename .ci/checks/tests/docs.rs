//! Every command shown is run and its output compared, every link leads somewhere, and both
//! languages say the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab_checks::{docs, root};

/// What a reader is shown but no test runs, each with its reason.
const NOT_RUN: [(&str, &str); 11] = [
    ("cargo test --workspace", "it would run itself"),
    ("cargo run -p step01-cli", "talks to a person"),
    ("cargo run -p step02-fake-model", "talks to a person"),
    ("cargo run -p step03-streaming", "talks to a person"),
    ("cargo run -p step04-agent-loop", "talks to a person"),
    ("cargo run -p step04-agent-loop -- --session talk.jsonl", "talks to a person"),
    ("cargo run -p step04-agent-loop -- --demo --events record.jsonl", RECORDS),
    ("cargo run -p step04-agent-loop -- --replay record.jsonl", RECORDS),
    ("mkdir -p my", "`.ci/run` builds the copies"),
    ("cp -r step03-streaming my/step03", "`.ci/run` builds the copies"),
    ("cargo run --manifest-path my/step03/Cargo.toml -- --demo", "`.ci/run` builds the copies"),
];

const RECORDS: &str =
    "leaves a file; the step's tests/demo.rs does the same in a folder of its own";

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The English documents, each with its Chinese sibling.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let documents = docs::documents(&root());
    let english =
        documents.into_iter().filter(|path| !path.to_string_lossy().ends_with(".zh-CN.md"));
    english.map(|path| (path.clone(), path.with_extension("zh-CN.md"))).collect()
}

/// Runs one command line as it stands, from the root. No shell: none is needed, and none is portable.
fn run(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().expect("a command");
    assert_eq!(program, "cargo", "{command}: only cargo can be run everywhere");
    let output = Command::new(env!("CARGO"))
        .args(words)
        .current_dir(root())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_QUIET", "true")
        .env_remove("LAB_LANG")
        .stdin(Stdio::null())
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8 output")
}

#[test]
fn every_command_prints_what_the_document_says() {
    let mut compared = 0;
    let both = pairs().into_iter().flat_map(|(english, chinese)| [english, chinese]);
    // What an exercise prints depends on the learner's file; the tests of `exercises` check theirs.
    for path in both.filter(|path| !path.starts_with(root().join("exercises"))) {
        let blocks = docs::blocks(&read(&path));
        for (block, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
            if block.kind != "sh" {
                continue;
            }
            let is_run = |line: &&str| {
                let line = line.replace(" --lang zh", "");
                !NOT_RUN.iter().any(|(command, _)| *command == line)
            };
            let commands = block.body.lines().filter(is_run);
            let printed: String = commands.map(run).collect();
            if let Some(next) = next.filter(|next| next.kind == "text") {
                assert_eq!(printed, next.body, "{}:{}", path.display(), next.line);
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "no document shows any output");
}

#[test]
fn what_is_not_run_is_still_shown() {
    let shown: String = pairs().iter().map(|(english, _)| read(english)).collect();
    for (command, reason) in NOT_RUN {
        assert!(shown.lines().any(|line| line == command), "{command} ({reason}) is shown nowhere");
    }
}

#[test]
fn both_languages_show_the_same() {
    for (english, chinese) in pairs() {
        let (en, zh) = (read(&english), read(&chinese));
        assert_eq!(docs::shape(&en), docs::shape(&zh), "headings of {}", english.display());
        let shown = |document: &str| {
            let blocks = docs::blocks(document).into_iter();
            let command =
                |line: &str| line.replace(" --lang zh", "").trim_end_matches(" --").to_owned();
            let body = |block: docs::Block| match block.kind.as_str() {
                "text" => String::new(), // what a command prints may be in the reader's language
                _ => block.body.lines().map(command).collect(),
            };
            blocks.map(|block| (block.kind.clone(), body(block))).collect::<Vec<_>>()
        };
        assert_eq!(shown(&en), shown(&zh), "commands and excerpts of {}", english.display());
    }
}

#[test]
fn every_link_leads_somewhere() {
    for path in docs::documents(&root()) {
        let folder = path.parent().expect("a document lies in a folder");
        for link in docs::links(&read(&path)) {
            let target = link.split('#').next().expect("a first part");
            let found = target.contains("://") || folder.join(target).exists();
            assert!(found, "{}: {link}", path.display());
        }
    }
}

#[test]
fn every_excerpt_stands_in_the_sources() {
    // What an exercise shows in Rust is a hint, and stands nowhere yet.
    let is_chapter = |path: &PathBuf| !path.starts_with(root().join("exercises"));
    for path in docs::documents(&root()).into_iter().filter(is_chapter) {
        let folder = path.parent().expect("a document lies in a folder");
        let sources = docs::sources(&folder.join("src"));
        for block in docs::blocks(&read(&path)).into_iter().filter(|block| block.kind == "rust") {
            for part in block.body.split("…\n") {
                assert!(sources.contains(part), "{}:{}\n{part}", path.display(), block.line);
            }
        }
    }
}

/// A path or an option that is named in the middle of a sentence is there, under that name.
#[test]
fn what_the_prose_names_exists() {
    let mut checked = 0;
    let sources: String =
        PROGRAMS.iter().map(|folder| docs::sources(&root().join(folder))).collect();
    for path in docs::documents(&root()) {
        let folder = path.parent().expect("a document lies in a folder");
        for span in docs::code_spans(&read(&path)) {
            let word = span.split_whitespace().next().unwrap_or_default();
            let place = format!("{}: `{span}`", path.display());
            if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
                let field = format!(" {}:", option.replace('-', "_"));
                let of_cargo = ["workspace", "release", "manifest-path"].contains(&option);
                assert!(of_cargo || sources.contains(&field), "{place}: no such option");
            } else if word.contains('/') && FOLDERS.iter().any(|folder| word.starts_with(folder)) {
                let mut above = folder.ancestors().take_while(|folder| folder.starts_with(root()));
                let found = above.any(|folder| folder.join(word).exists());
                assert!(found, "{place}: no such file");
            } else {
                continue;
            }
            checked += 1;
        }
    }
    assert!(checked > 0, "no document names anything");
}

/// Whose options prose speaks of.
const PROGRAMS: [&str; 6] = [
    "step01-cli/src",
    "step02-fake-model/src",
    "step03-streaming/src",
    "step04-agent-loop/src",
    "step04-agent-loop/examples",
    "exercises/src",
];

/// Where the files lie that prose speaks of.
const FOLDERS: [&str; 7] =
    ["src/", "tests/", "examples/", "docs/", "scripts/", "exercises/", "step0"];

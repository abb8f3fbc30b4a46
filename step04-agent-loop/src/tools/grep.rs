//! `grep`: the lines that contain a text, in a file or in all files of a folder.
//!
//! The answer is the same for the same files: names are sorted (`readdir` gives them in any order),
//! and paths are relative to the root. It is bounded in matches, bytes, depth and names looked at.
//! What could not be searched is counted and named, for "no match" must not mean "not looked".
//!
//! It is also the tool that reports progress: once per file, whether anybody looks or not. That is
//! the habit the [throttle](crate::throttle) is made for.
//!
//! Pi starts ripgrep for this (`packages/coding-agent/src/core/tools/grep.ts`). A process of its own
//! would walk out of the sandbox, so the walk is written here, and so is the search: a plain text,
//! because a model that means one writes `f(x)` and forgets that a regular expression disagrees.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path};

use cap_fs_ext::{DirExt, FollowSymlinks};
use cap_std::fs::{Dir, File};
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sandbox::{self, Sandbox};
use super::write::is_temporary;
use super::{Cancellable, MAX_BYTES, off_thread, read_at_most};
use crate::partial_json::ToolArguments;
use crate::tool::{Tool, ToolError, ToolOutput, ToolRun, schema_of, typed};

/// Lines in one answer. Who gets more than this asked the wrong question.
const MAX_MATCHES: usize = 100;
/// Folders inside each other. Each one is an open handle while the walk is below it.
const MAX_DEPTH: usize = 32;
/// Names looked at in one search: a bound for time and memory in a folder that has no end.
const MAX_NAMES: usize = 50_000;
/// Larger files are skipped, so that a file can be looked at in one piece.
const MAX_FILE: usize = 4 * 1024 * 1024;
/// Of a longer line only this many bytes around the match are shown.
const MAX_LINE: usize = 300;

/// What `grep` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArguments {
    /// The text to look for, as it stands: not a regular expression, and case matters.
    pub pattern: String,
    /// The file or folder to search, relative to the root folder (all of it if not given).
    pub path: Option<String>,
}

/// Searches files.
#[derive(Debug, Clone)]
pub struct Grep {
    sandbox: Sandbox,
}

impl Grep {
    /// Searches files of this folder.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox }
    }
}

impl Tool for Grep {
    fn name(&self) -> &str {
        "grep"
    }

    fn description(&self) -> &str {
        "Finds the lines that contain a text, in one file or in all files of a folder. Answers with \
         path:line: text, and stops after 100 matches."
    }

    fn schema(&self) -> serde_json::Value {
        schema_of::<GrepArguments>()
    }

    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let sandbox = self.sandbox.clone();
        async move {
            let arguments = typed(&arguments)?;
            off_thread(run, move |run| grep(&sandbox, &arguments, run)).await
        }
        .boxed()
    }
}

/// The whole search, on a thread that may block.
fn grep(
    sandbox: &Sandbox,
    arguments: &GrepArguments,
    run: &ToolRun,
) -> Result<ToolOutput, ToolError> {
    let pattern = &arguments.pattern;
    if pattern.is_empty() || pattern.contains(['\n', '\r']) {
        let why = "`pattern` must be a text within one line, and not empty";
        return Err(ToolError::Failed(why.into()));
    }
    let shown = arguments.path.as_deref().unwrap_or(".");
    let path = sandbox::checked_path(shown)?;
    let explain = |error| sandbox::explained("search", shown, error);
    let root = sandbox.root();
    let mut search = Search::new(pattern, run);
    // The place to start is the model's choice, so a link inside the root is followed here.
    if root.metadata(path).map_err(explain)?.is_dir() {
        let real = root.canonicalize(path).map_err(explain)?;
        search.folder(&root.open_dir(&real).map_err(explain)?, &slashed(&real), 0)?;
    } else {
        let file = sandbox::open_regular(root, path, FollowSymlinks::Yes).map_err(explain)?;
        search.file(file, shown)?;
    }
    Ok(ToolOutput::new(search.into_answer()))
}

/// Why something was not searched. The order is the one of the report (derived from the order here),
/// so the report does not depend on what was met first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Skip {
    NotText,
    TooLarge,
    Link,
    NotAFile,
    TooDeep,
    Name,
    Unreadable,
}

impl Skip {
    /// The reason as the model reads it.
    fn words(self) -> &'static str {
        match self {
            Self::NotText => "not UTF-8 text",
            Self::TooLarge => "larger than 4 MiB",
            Self::Link => "symbolic link",
            Self::NotAFile => "neither file nor folder",
            Self::TooDeep => "too many folders deep",
            Self::Name => "name is not UTF-8",
            Self::Unreadable => "can't be opened",
        }
    }
}

/// A search under way. Its methods return `Err` only for [`ToolError::Aborted`]: a file that can't
/// be searched is a line in the report.
struct Search<'a> {
    pattern: &'a str,
    run: &'a ToolRun,
    /// The matching lines so far, as they will be shown.
    answer: String,
    matches: usize,
    /// Files opened, also those that turned out not to be text.
    files: usize,
    names_left: usize,
    /// How many, and the first of them: enough to look into it, however many there are.
    skipped: BTreeMap<Skip, (usize, String)>,
    /// Why it was broken off.
    stopped: Option<&'static str>,
}

impl<'a> Search<'a> {
    fn new(pattern: &'a str, run: &'a ToolRun) -> Self {
        Self {
            pattern,
            run,
            answer: String::new(),
            matches: 0,
            files: 0,
            names_left: MAX_NAMES,
            skipped: BTreeMap::new(),
            stopped: None,
        }
    }

    /// Searches a folder and what is below it. `prefix` is its path from the root, `depth` the number
    /// of folders between it and the start.
    fn folder(&mut self, dir: &Dir, prefix: &str, depth: usize) -> Result<(), ToolError> {
        if depth > MAX_DEPTH {
            self.skip(Skip::TooDeep, prefix);
            return Ok(());
        }
        // Not `?`: one folder that can't be listed must not cost the matches in all others.
        let Ok(names) = self.sorted_names(dir, prefix) else {
            self.skip(Skip::Unreadable, prefix);
            return Ok(());
        };
        for name in names {
            self.run.check()?;
            if self.stopped.is_some() {
                break;
            }
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            self.entry(dir, &name, &path, depth)?;
        }
        Ok(())
    }

    /// The names in a folder, as far as they are UTF-8 and the bound allows.
    fn sorted_names(&mut self, dir: &Dir, prefix: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        // Counted while reading: to collect all names first would already be the harm.
        for entry in dir.entries()? {
            if self.names_left == 0 {
                self.stopped = Some("50000 names were looked at; give a `path`");
                break;
            }
            self.names_left -= 1;
            match entry?.file_name().into_string() {
                Ok(name) if is_temporary(&name) => {}
                Ok(name) => names.push(name),
                Err(name) => self.skip(Skip::Name, &format!("{prefix}/{}", name.display())),
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// One name in a folder. Links are not followed: what they lead to inside the root is found
    /// anyway, once, and a circle of links would have no end.
    fn entry(&mut self, dir: &Dir, name: &str, path: &str, depth: usize) -> Result<(), ToolError> {
        let Ok(metadata) = dir.symlink_metadata(name) else {
            self.skip(Skip::Unreadable, path);
            return Ok(());
        };
        // What it is may have changed since, so the two `open`s below look again for themselves.
        if metadata.is_symlink() {
            self.skip(Skip::Link, path);
        } else if metadata.is_dir() {
            match dir.open_dir_nofollow(name) {
                Ok(below) => self.folder(&below, path, depth + 1)?,
                Err(_) => self.skip(Skip::Unreadable, path),
            }
        } else if !metadata.is_file() {
            self.skip(Skip::NotAFile, path);
        } else {
            match sandbox::open_regular(dir, Path::new(name), FollowSymlinks::No) {
                Ok(file) => self.file(file, path)?,
                Err(_) => self.skip(Skip::Unreadable, path),
            }
        }
        Ok(())
    }

    /// One file, in one piece: that keeps a line whole, and `MAX_FILE` keeps the piece small.
    fn file(&mut self, file: File, path: &str) -> Result<(), ToolError> {
        self.files += 1;
        self.run.update(format!("{}: {}", self.so_far(), shown(path)));
        let read = read_at_most(Cancellable { inner: file, run: self.run }, MAX_FILE + 1);
        self.run.check()?; // a file that was not read to its end because of this is no failure of it
        // Not `from_utf8_lossy`: a line with U+FFFD in it is one that the file does not have.
        match read.map(|bytes| (bytes.len(), String::from_utf8(bytes))) {
            Err(_) => self.skip(Skip::Unreadable, path),
            Ok((length, _)) if length > MAX_FILE => self.skip(Skip::TooLarge, path),
            Ok((_, Ok(text))) if !text.contains('\0') => self.lines(&text, path),
            Ok(_) => self.skip(Skip::NotText, path),
        }
        Ok(())
    }

    /// The matching lines of one file, numbered as `read` takes them in `offset`.
    fn lines(&mut self, text: &str, path: &str) {
        for (index, line) in text.lines().enumerate() {
            let Some(at) = line.find(self.pattern) else { continue };
            if self.matches == MAX_MATCHES || self.answer.len() >= MAX_BYTES {
                self.stopped = Some("the answer is full; use a longer `pattern` or a `path`");
                return;
            }
            self.matches += 1;
            let hit = excerpt(line, at);
            // Writing to a `String` can't fail, but `writeln!` has to return what a file would.
            let _ = writeln!(self.answer, "{}:{}: {hit}", shown(path), index + 1);
        }
    }

    /// What was found, for the progress and for the summary.
    fn so_far(&self) -> String {
        let counted =
            |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let matches = counted(self.matches, "match", "matches");
        format!("{matches} in {} searched", counted(self.files, "file", "files"))
    }

    /// Notes that something was left out.
    fn skip(&mut self, why: Skip, path: &str) {
        self.skipped.entry(why).or_insert_with(|| (0, shown(path))).0 += 1;
    }

    /// The text as the model gets it: the matches, then a summary in brackets.
    fn into_answer(self) -> String {
        let found = self.so_far();
        let mut answer = self.answer;
        let _ = write!(answer, "[{found}]");
        if let Some(why) = self.stopped {
            let _ = write!(answer, "\n[stopped: {why}]");
        }
        for (why, (count, first)) in self.skipped {
            let _ = write!(answer, "\n[skipped, {}: {count}, the first is {first}]", why.words());
        }
        answer
    }
}

/// A path with `/` on every system, and the root as the empty path.
fn slashed(path: &Path) -> String {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
    names.map(|name| name.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// A path as text. One with a line break in it could pass for two lines of the answer.
fn shown(path: &str) -> String {
    if path.contains(char::is_control) { format!("{path:?}") } else { path.to_owned() }
}

/// The part of a line that is shown: all of it, or what is around the match.
fn excerpt(line: &str, at: usize) -> String {
    if line.len() <= MAX_LINE {
        return line.to_owned();
    }
    // Only at the start of a character, else slicing panics.
    let boundary =
        |near: usize| (0..=near.min(line.len())).rev().find(|&i| line.is_char_boundary(i));
    let start = boundary(at.saturating_sub(MAX_LINE / 3)).unwrap_or(0);
    let end = boundary(start + MAX_LINE).unwrap_or(0);
    let mark = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", mark(start > 0), &line[start..end], mark(end < line.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;

    use super::*;

    proptest! {
        /// Shown is the match and what is around it; no character is torn, and not more is shown
        /// than the bound allows.
        #[test]
        fn an_excerpt_has_the_match(
            before in "[a你🦀]{0,300}", pattern in "[x好]{1,20}", after in "[a你🦀]{0,300}",
        ) {
            let line = format!("{before}{pattern}{after}");
            let shown = excerpt(&line, before.len());
            prop_assert!(shown.contains(&pattern));
            let inner = shown.trim_start_matches('…').trim_end_matches('…');
            prop_assert!(line.contains(inner) && inner.len() <= MAX_LINE);
            prop_assert_eq!(line.starts_with(inner), !shown.starts_with('…'));
            prop_assert_eq!(line.ends_with(inner), !shown.ends_with('…'));
        }
    }

    #[test]
    fn a_folder_of_many_names_ends_the_search() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), "hit").unwrap();
        }
        let sandbox = Sandbox::open(folder.path()).unwrap();
        let run = ToolRun::new(CancellationToken::new(), |_| ());
        for (names_left, stopped) in [(3, false), (2, true)] {
            let mut search = Search { names_left, ..Search::new("hit", &run) };
            search.folder(sandbox.root(), "", 0).unwrap();
            assert_eq!(search.stopped.is_some(), stopped);
            assert_eq!(search.into_answer().contains("50000 names"), stopped);
        }
    }
}

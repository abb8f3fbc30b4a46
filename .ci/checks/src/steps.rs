//! How far two neighbouring steps are apart, in lines of code.
//!
//! A learner reads the difference between two steps, so it has a budget. What counts is what has to
//! be understood: not comments, blank lines, unit tests, the texts in `script`, or the crate's own
//! name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use similar::{ChangeTag, TextDiff};

/// The lines of code of each module of a step, `script` aside. Keys are paths below `src/`.
pub fn modules(step: &Path) -> BTreeMap<String, String> {
    let name = step.file_name().expect("a step has a name").to_string_lossy().replace('-', "_");
    let mut modules = BTreeMap::new();
    let mut folders = vec![step.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let key = path.strip_prefix(step.join("src")).expect("below src");
            let key = key.to_string_lossy().replace('\\', "/");
            if key != "script.rs" {
                let source = fs::read_to_string(&path).expect("UTF-8 source");
                modules.insert(key, code(&source).replace(&name, "this_step"));
            }
        }
    }
    modules
}

/// The lines of a source that are code, each with its line end.
pub fn code(source: &str) -> String {
    let before_tests = source.split("\n#[cfg(test)]\n").next().unwrap_or(source);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    before_tests.lines().filter(is_code).flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Changed lines per module, insertions and deletions both, from one step to the next.
pub fn changes(from: &Path, to: &Path) -> BTreeMap<String, usize> {
    let (from, to) = (modules(from), modules(to));
    let names: BTreeSet<_> = from.keys().chain(to.keys()).cloned().collect();
    let nothing = String::new();
    let changed = |name: String| {
        let (old, new) = (from.get(&name).unwrap_or(&nothing), to.get(&name).unwrap_or(&nothing));
        let diff = TextDiff::from_lines(old, new);
        let lines = diff.iter_all_changes().filter(|line| line.tag() != ChangeTag::Equal).count();
        (name, lines)
    };
    names.into_iter().map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() {
        let source =
            "//! a\n\nuse b;\n    /// c\n    fn d() {} // e\n\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(code(source), "use b;\n    fn d() {} // e\n");
        assert_eq!(code("fn a() {}\r\n"), "fn a() {}\n");
    }
}

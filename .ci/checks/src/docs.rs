//! What the documents claim, taken apart so that it can be tried.
//!
//! Conventions, the same in every README: a ` ```sh ` block holds commands to type, one per line; a
//! ` ```text ` block right behind it is what they print, whole; a ` ```rust ` block is an excerpt of
//! the sources, with `…` on a line of its own where something is left out.

use std::path::{Path, PathBuf};

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The word behind the opening fence.
    pub kind: String,
    /// The lines between the fences, each with its line end.
    pub body: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
}

/// The fenced blocks of a document, in order.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in document.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => {
                let kind = kind.trim().to_owned();
                open = Some(Block { kind, body: String::new(), line: number + 1 });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.body.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    blocks
}

/// The targets of the links and pictures of a document, code aside.
pub fn links(document: &str) -> Vec<String> {
    let mut fenced = false;
    let mut links = Vec::new();
    for line in document.lines() {
        fenced ^= line.starts_with("```");
        if fenced {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        links.extend(targets.map(str::to_owned));
    }
    links
}

/// What stands between backticks in the sentences of a document.
pub fn code_spans(document: &str) -> Vec<String> {
    let mut fenced = false;
    let mut spans = Vec::new();
    for line in document.lines() {
        fenced ^= line.starts_with("```");
        if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

/// The headings of a document as their levels: the shape that two languages must share.
pub fn shape(document: &str) -> Vec<usize> {
    let mut fenced = false;
    let level = |line: &str| {
        fenced ^= line.starts_with("```");
        let level = line.chars().take_while(|c| *c == '#').count();
        (!fenced && level > 0).then_some(level)
    };
    document.lines().filter_map(level).collect()
}

/// All Rust sources below `folder`, one after the other; nothing if there is no such folder.
pub fn sources(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => std::fs::read_to_string(&path).unwrap_or_default(),
    };
    paths.map(read).collect()
}

/// The Markdown documents below `folder` that belong to the project, in order.
pub fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut documents = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() && !["target", "my", ".git", "data"].contains(&name.as_str()) {
                folders.push(path);
            } else if name.ends_with(".md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "# A\n[b](c.md) and [d](e)\n```sh\ncargo f\n# not a [heading](x)\n```\n## G\n";

    #[test]
    fn a_document_is_taken_apart() {
        let body = "cargo f\n# not a [heading](x)\n".to_owned();
        assert_eq!(blocks(DOCUMENT), [Block { kind: "sh".to_owned(), body, line: 3 }]);
        assert_eq!(links(DOCUMENT), ["c.md", "e"]);
        assert_eq!(shape(DOCUMENT), [1, 2]);
    }
}

//! The difference between two texts, line by line, with the words that changed marked.
//!
//! On a terminal the words stand out by themselves; in plain text a line of `^` stands below them.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use exercises::verdict::FAINT;
use similar::{ChangeTag, TextDiff};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const OLD: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();

/// How many lines were taken out and put in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Lines only the old text has.
    pub out: usize,
    /// Lines only the new text has.
    pub new: usize,
}

/// Writes what changes from `old` to `new`, with three lines around each change.
///
/// # Errors
/// Only those of writing.
pub fn write(out: &mut impl Write, old: &str, new: &str, plain: bool) -> io::Result<Size> {
    let diff = TextDiff::from_lines(old, new);
    let mut size = Size::default();
    for (number, group) in diff.grouped_ops(3).iter().enumerate() {
        if number > 0 {
            writeln!(out, "{FAINT}  ⋯{FAINT:#}")?;
        }
        for operation in group {
            for change in diff.iter_inline_changes(operation) {
                let parts: Vec<_> = change.iter_strings_lossy().collect();
                let parts: Vec<_> =
                    parts.iter().map(|(mark, text)| (*mark, text.trim_end_matches('\n'))).collect();
                match change.tag() {
                    ChangeTag::Equal => line(out, "  ", FAINT, &parts, true)?,
                    ChangeTag::Delete => {
                        size.out += 1;
                        line(out, "- ", OLD, &parts, plain)?;
                    }
                    ChangeTag::Insert => {
                        size.new += 1;
                        line(out, "+ ", NEW, &parts, plain)?;
                    }
                }
            }
        }
    }
    Ok(size)
}

fn line(
    out: &mut impl Write,
    sign: &str,
    style: Style,
    parts: &[(bool, &str)],
    plain: bool,
) -> io::Result<()> {
    write!(out, "{style}{sign}{style:#}")?;
    let strong = style.bold().underline();
    for (marked, text) in parts {
        let style = if *marked && !plain { strong } else { style };
        write!(out, "{style}{text}{style:#}")?;
    }
    writeln!(out)?;
    let all_new = parts.iter().all(|(marked, text)| *marked || text.trim().is_empty());
    if plain && !all_new && parts.iter().any(|(marked, _)| *marked) {
        writeln!(out, "  {}", carets(parts).trim_end())?;
    }
    Ok(())
}

/// A `^` below every column of the marked parts.
fn carets(parts: &[(bool, &str)]) -> String {
    let below = |(marked, text): &(bool, &str)| {
        let columns = |char: char| char.width().unwrap_or_default();
        if *marked && !text.trim().is_empty() {
            text.chars().map(|char| "^".repeat(columns(char))).collect()
        } else {
            " ".repeat(text.width())
        }
    };
    parts.iter().map(below).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(old: &str, new: &str) -> (String, Size) {
        let mut out = Vec::new();
        let size = write(&mut out, old, new, true).expect("a Vec takes all");
        (anstream::adapter::strip_str(&String::from_utf8_lossy(&out)).to_string(), size)
    }

    #[test]
    fn the_words_that_changed_are_marked() {
        let (text, size) = difference("你 let a = 1;\nsame\n", "你 let b = 1;\nsame\n");
        assert_eq!(text, "- 你 let a = 1;\n         ^\n+ 你 let b = 1;\n         ^\n  same\n");
        assert_eq!(size, Size { out: 1, new: 1 });
        assert_eq!(difference("same\n", "same\n"), (String::new(), Size::default()));
    }
}

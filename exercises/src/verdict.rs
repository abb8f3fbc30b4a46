//! A report as people read it.
//!
//! It answers four questions in this order: where am I, what holds already, what is the first thing
//! that doesn't, what do I type next. Only the first ✗ is explained: the others may be gone once
//! it is mended.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use unicode_linebreak::linebreaks;
use unicode_width::UnicodeWidthStr;

use crate::report::{Report, Standing};
use crate::text::Lang;

/// What holds.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What does not.
pub const BAD: Style = AnsiColor::Red.on_default();
/// What to look at.
pub const STRONG: Style = Style::new().bold();
/// What can be passed over.
pub const FAINT: Style = Style::new().dimmed();
/// What can be typed.
pub const COMMAND: Style = AnsiColor::Cyan.on_default();

/// The columns there are: those of the terminal, of `COLUMNS` elsewhere, or 80.
pub fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = if io::stdout().is_terminal() { terminal() } else { columns() };
    width.filter(|&width| width > 0).unwrap_or(80).max(20)
}

/// The folder of the exercises, found wherever the clone has been moved to.
pub fn exercises_folder() -> PathBuf {
    // Cargo sets it for whatever it runs; the value of the build is for a program started by hand.
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    folder
        .filter(|folder| folder.ends_with("exercises"))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")))
}

/// The place in an exercise's file where the work is, as `file:line`: its TODO, or else its first
/// public function.
pub fn place_of_work(text: &str, name: &str) -> String {
    let todo = format!("TODO {name}");
    let line_with = |what: &dyn Fn(&str) -> bool| text.lines().position(what).map(|at| at + 1);
    let is_function = |line: &str| line.trim_start().starts_with("pub ") && line.contains("fn ");
    let line = line_with(&|line| line.contains(&todo) && line.contains("todo!"));
    let line = line.or_else(|| line_with(&is_function)).unwrap_or(1);
    format!("exercises/{name}/exercise.rs:{line}")
}

/// Writes the verdict on the exercise `name`, in lines of at most `width` columns; `text` is what
/// was checked.
///
/// # Errors
/// Only those of writing.
pub fn write(
    out: &mut impl Write,
    name: &str,
    text: &str,
    report: &Report,
    lang: Lang,
    width: usize,
) -> io::Result<()> {
    heading(out, name, &place_of_work(text, name), width)?;
    for (criterion, standing) in &report.criteria {
        let (style, mark) = match standing {
            Standing::Met => (GOOD, "✓"),
            Standing::Missed(_) => (BAD, "✗"),
            Standing::NotReached => (FAINT, "·"),
        };
        let mark = format!("  {style}{mark}{style:#} ");
        hanging(out, &mark, 4, criterion.pick(lang), Style::new(), width)?;
    }
    writeln!(out)?;
    if let Some((criterion, fault)) = report.first_fault() {
        let first = lang.pick("First ✗: ", "第一个 ✗：");
        hanging(
            out,
            &format!("{BAD}{first}{BAD:#}"),
            first.width(),
            criterion.pick(lang),
            STRONG,
            width,
        )?;
        labelled(out, lang.pick("expected", "应为"), fault.expected.pick(lang), lang, width)?;
        labelled(out, lang.pick("seen", "实为"), fault.seen.pick(lang), lang, width)?;
        if !fault.why.pick(lang).is_empty() {
            writeln!(out)?;
            hanging(out, "  ", 2, fault.why.pick(lang), Style::new(), width)?;
        }
        writeln!(out)?;
    }
    if report.solved() {
        writeln!(out, "{GOOD}{}{GOOD:#}", lang.pick("Solved.", "完成。"))
    } else {
        next_commands(out, name, lang, width)
    }
}

/// The name of an exercise, and where in it to look.
///
/// # Errors
/// Only those of writing.
pub fn heading(out: &mut impl Write, name: &str, place: &str, width: usize) -> io::Result<()> {
    let gap = if name.width() + 2 + place.width() > width { "\n" } else { "  " };
    writeln!(out, "{STRONG}{name}{STRONG:#}{gap}{place}\n")
}

/// What to type after a verdict that is not yet the good one.
///
/// # Errors
/// Only those of writing.
pub fn next_commands(out: &mut impl Write, name: &str, lang: Lang, width: usize) -> io::Result<()> {
    let page = lang.pick("README.md", "README.zh-CN.md");
    let what = lang.pick("the task", "看任务");
    labelled_line(out, what, &format!("exercises/{name}/{page}"), Style::new(), width)?;
    command(out, lang.pick("check again", "再检查"), &format!("check {name}"), lang, width)?;
    command(out, lang.pick("a hint", "看提示"), &format!("hint {name}"), lang, width)
}

/// A command of the tool and what it is for; a command is never broken, so that it can be copied.
///
/// # Errors
/// Only those of writing.
pub fn command(
    out: &mut impl Write,
    what: &str,
    arguments: &str,
    lang: Lang,
    width: usize,
) -> io::Result<()> {
    let zh = if lang == Lang::Zh && std::env::var("LAB_LANG").as_deref() != Ok("zh") {
        " --lang zh"
    } else {
        ""
    };
    let line = format!("cargo run -q -p exercises --{zh} {arguments}");
    labelled_line(out, what, &line, COMMAND, width)
}

/// A line that can be copied, and what it is; where there is no room for both, they get a line each.
///
/// # Errors
/// Only those of writing.
pub fn labelled_line(
    out: &mut impl Write,
    what: &str,
    line: &str,
    style: Style,
    width: usize,
) -> io::Result<()> {
    const COLUMN: usize = 13;
    let gap = " ".repeat(COLUMN.saturating_sub(what.width()).max(1));
    let gap = if COLUMN + line.width() > width { "\n  " } else { &gap };
    writeln!(out, "{what}{gap}{style}{line}{style:#}")
}

/// `label` and a value, which keeps its own lines.
fn labelled(
    out: &mut impl Write,
    label: &str,
    value: &str,
    lang: Lang,
    width: usize,
) -> io::Result<()> {
    let column = lang.pick("expected", "应为").width() + 2;
    for (number, line) in value.split('\n').enumerate() {
        let label = if number == 0 { label } else { "" };
        let gap = " ".repeat(column - label.width());
        let head = format!("  {FAINT}{label}{FAINT:#}{gap}");
        hanging(out, &head, 2 + column, line, Style::new(), width)?;
    }
    Ok(())
}

/// A text after a head that is `indent` columns wide; its further lines stand below its first.
///
/// # Errors
/// Only those of writing.
pub fn hanging(
    out: &mut impl Write,
    head: &str,
    indent: usize,
    text: &str,
    style: Style,
    width: usize,
) -> io::Result<()> {
    let mut head = head.to_owned();
    for line in wrap(text, width.saturating_sub(indent).max(10)) {
        writeln!(out, "{head}{style}{line}{style:#}")?;
        head = " ".repeat(indent);
    }
    Ok(())
}

/// Cuts a text into lines of at most `width` columns, where Unicode allows it: English between
/// words, Chinese between almost any two characters. A word that is wider gets a line of its own.
fn wrap(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let (mut start, mut fits) = (0, 0);
    for (end, _) in linebreaks(text) {
        if text[start..end].trim_end().width() > width && fits > start {
            lines.push(text[start..fits].trim_end());
            start = fits;
        }
        fits = end;
    }
    lines.push(text[start..].trim_end());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::random::Random;

    #[test]
    fn lines_break_where_each_language_allows_it() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("一二三，四五", 6), ["一二", "三，四", "五"]);
        assert_eq!(wrap("a verylongword b", 6), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 6), [""]);
    }

    /// Whatever the text and the width: nothing is lost but spaces, and only a single word is wider.
    #[test]
    fn wrapping_loses_nothing() {
        let mut random = Random::new(24);
        for _ in 0..300 {
            // Whoever calls it has cut the text into its own lines before.
            let text = random.pieces(12).concat().replace(['\n', '\t'], " ");
            let width = random.below(20) + 1;
            let lines = wrap(&text, width);
            let bare = |text: &str| text.replace(' ', "");
            assert_eq!(bare(&lines.concat()), bare(&text));
            for line in lines {
                assert!(
                    line.width() <= width || linebreaks(line).count() == 1,
                    "{line:?} in {width}"
                );
            }
        }
    }
}

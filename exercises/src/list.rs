//! All exercises, what is solved, and the next one.

use std::io::{self, Write};

use anstyle::Style;
use exercises::registry::EXERCISES;
use exercises::verdict::{self, FAINT, GOOD, STRONG};
use unicode_width::UnicodeWidthStr;

use crate::Ending;
use crate::check;
use crate::files;
use crate::lab::Lab;

/// Shows the list and what to do next.
///
/// # Errors
/// Those of checking what has changed, and of writing.
pub fn list(lab: &Lab) -> io::Result<Ending> {
    let mut out = lab.out();
    let column = EXERCISES.iter().map(|exercise| exercise.name.width()).max().unwrap_or_default();
    let mut count = 0;
    for (at, exercise) in EXERCISES.iter().enumerate() {
        let solved = check::is_solved(lab, exercise)?;
        count += usize::from(solved);
        let (style, mark) = if solved { (GOOD, "✓") } else { (FAINT, "·") };
        let star = if exercise.core { "*" } else { " " };
        let (name, gap) = (exercise.name, " ".repeat(column - exercise.name.width()));
        let head =
            format!("{:2} {style}{mark}{style:#} {STRONG}{name}{STRONG:#}{star}{gap} ", at + 1);
        verdict::hanging(
            &mut out,
            &head,
            column + 7,
            exercise.about().pick(lab.lang),
            Style::new(),
            lab.width,
        )?;
    }
    let text = match lab.lang.pick("en", "zh") {
        "en" => format!("{count} of {} solved; * is the core path", EXERCISES.len()),
        _ => format!("共 {} 个，完成 {count} 个；* 为主线", EXERCISES.len()),
    };
    writeln!(out)?;
    verdict::hanging(&mut out, "", 0, &text, FAINT, lab.width)?;
    next(lab, &mut out)?;
    Ok(Ending::Fine)
}

/// Says which exercise is next, where to read, where to write and what to type.
///
/// # Errors
/// Those of checking what has changed, and of writing.
pub fn next(lab: &Lab, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    let Some(next) = lab.next()? else {
        return writeln!(
            out,
            "{GOOD}{}{GOOD:#}",
            lab.lang.pick("All exercises are solved.", "所有练习都完成了。")
        );
    };
    let name = next.name;
    let mut line = |en, zh, text: &str, style| {
        verdict::labelled_line(out, lab.lang.pick(en, zh), text, style, lab.width)
    };
    line("next", "下一个", name, STRONG)?;
    line("read", "先读", &format!("exercises/{name}/{}", files::readme(lab.lang)), Style::new())?;
    line("edit", "再改", &format!("exercises/{name}/exercise.rs"), Style::new())?;
    if lab.watching {
        return Ok(()); // saving is all it takes
    }
    verdict::command(out, lab.lang.pick("check", "检查"), "check", lab.lang, lab.width)?;
    verdict::command(out, lab.lang.pick("on each save", "保存即检查"), "watch", lab.lang, lab.width)
}

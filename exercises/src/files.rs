//! What is done with an exercise's files: a hint from its README, the way back to the start, and
//! the comparison with the solution.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::Style;
use exercises::registry::Exercise;
use exercises::text::Lang;
use exercises::verdict::{self, FAINT, STRONG};

use crate::Ending;
use crate::difference;
use crate::lab::Lab;

/// The name of the page of an exercise in this language.
pub fn readme(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "README.md",
        Lang::Zh => "README.zh-CN.md",
    }
}

/// Reads a file that anybody may have put there. What is not a regular file is refused before it is
/// opened: a pipe would keep the tool waiting for ever.
///
/// # Errors
/// When it is no such file, and those of reading.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::Error::other("not a regular file / 不是普通文件"))
    }
}

/// Shows one hint, and the command for the next. Hints go from a nudge to almost the answer, so
/// each is asked for by itself; the tool keeps no count of what somebody has seen.
///
/// # Errors
/// When the page can't be read, and those of writing.
pub fn hint(lab: &Lab, exercise: &Exercise, level: usize) -> io::Result<Ending> {
    let page = fs::read_to_string(lab.path(exercise, readme(lab.lang)))?;
    let hints = hints(&page);
    let mut out = lab.out();
    let Some((title, text)) = level.checked_sub(1).and_then(|at| hints.get(at)) else {
        let sorry = lab.lang.pick("There are this many hints: ", "提示的条数：");
        writeln!(out, "{sorry}{}", hints.len())?;
        return Ok(Ending::Misnamed);
    };
    writeln!(out, "{STRONG}{}{STRONG:#}  {title} ({level}/{})\n", exercise.name, hints.len())?;
    let mut verbatim = false;
    for line in text.lines() {
        if line.starts_with("```") {
            verbatim = !verbatim;
        } else if line.is_empty() {
            writeln!(out)?;
        } else if verbatim {
            writeln!(out, "    {line}")?;
        } else {
            verdict::hanging(&mut out, "  ", 2, line, Style::new(), lab.width)?;
        }
    }
    writeln!(out)?;
    let (what, next) = if level < hints.len() {
        (lab.lang.pick("next hint", "下一条"), format!("hint {} {}", exercise.name, level + 1))
    } else {
        (lab.lang.pick("the answer", "看答案"), format!("solution {}", exercise.name))
    };
    verdict::command(&mut out, what, &next, lab.lang, lab.width)?;
    verdict::command(
        &mut out,
        lab.lang.pick("check again", "再检查"),
        &format!("check {}", exercise.name),
        lab.lang,
        lab.width,
    )?;
    Ok(Ending::Fine)
}

/// The hints of a page, each folded away in a `<details>` so that nobody reads it by accident:
/// title and text. A paragraph becomes one line; code keeps its lines.
pub fn hints(page: &str) -> Vec<(String, String)> {
    let blocks =
        page.split("<details>").skip(1).filter_map(|block| block.split("</details>").next());
    let hint = |block: &str| {
        let (title, text) = block.split_once("</summary>")?;
        let title = title.trim().strip_prefix("<summary>")?;
        Some((title.to_owned(), without_links(&unwrap(text.trim()))))
    };
    blocks.filter_map(hint).collect()
}

/// Replaces a link to a file of the workspace by the file's path: a terminal has nothing to click.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](../../");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = result.rfind('[').unwrap_or(result.len());
        result.truncate(name);
        result.push_str(&part.replacen(')', "", 1));
    }
    result
}

/// Joins the lines of each paragraph; code keeps its lines. (A fenced block is taken for a
/// paragraph of its own, with an empty line before and after it.)
fn unwrap(text: &str) -> String {
    let paragraph = |text: &str| {
        if text.starts_with("```") {
            text.to_owned()
        } else {
            text.lines().fold(String::new(), join)
        }
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Adds a line to a paragraph. Between two Chinese characters there is no space.
fn join(paragraph: String, line: &str) -> String {
    let wide = |char: Option<char>| char.is_some_and(|char| !char.is_ascii());
    let chinese = wide(paragraph.chars().next_back()) && wide(line.chars().next());
    let glue = if paragraph.is_empty() || chinese { "" } else { " " };
    paragraph + glue + line
}

/// Puts the file back as it was shipped; what was in it is kept beside it.
///
/// # Errors
/// When a file can't be read or written; the learner's is never lost.
pub fn reset(lab: &Lab, exercise: &Exercise) -> io::Result<Ending> {
    let (file, starter) = (lab.path(exercise, "exercise.rs"), lab.path(exercise, "starter.rs"));
    let shipped = fs::read(&starter)?;
    let mut out = lab.out();
    if read(&file).is_ok_and(|text| text == shipped) {
        writeln!(
            out,
            "{}",
            lab.lang
                .pick("It is as it was shipped; nothing to do.", "它就是最初的样子，无需重置。")
        )?;
        return Ok(Ending::Fine);
    }
    let backup = free_name(&file);
    if file.exists() {
        fs::copy(&file, &backup)?;
        let kept = lab.lang.pick("What you had is kept in", "原来的内容保存在");
        writeln!(out, "{kept} {}", shown(lab, &backup))?;
    }
    fs::write(&file, shipped)?;
    let again = lab.lang.pick("is as it was shipped again.", "已恢复成最初的样子。");
    writeln!(out, "{} {again}", shown(lab, &file))?;
    Ok(Ending::Fine)
}

/// A name no file has yet: an older backup is never written over.
fn free_name(file: &Path) -> PathBuf {
    let name = |n: usize| file.with_extension(format!("rs.{n}.bak"));
    (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// A path as it is typed in the workspace folder, with `/` everywhere.
fn shown(lab: &Lab, path: &Path) -> String {
    let path = path.strip_prefix(lab.workspace()).unwrap_or(path);
    path.display().to_string().replace('\\', "/")
}

/// Shows what changes from the learner's file to the solution.
///
/// # Errors
/// When a file can't be read, and those of writing.
pub fn solution(lab: &Lab, exercise: &Exercise) -> io::Result<Ending> {
    let text = |file| String::from_utf8(read(&lab.path(exercise, file))?).map_err(io::Error::other);
    let (own, solution) = (text("exercise.rs")?, text("solution.rs")?);
    let mut out = lab.out();
    let what = lab.lang.pick("from your file to a solution", "从你的文件到参考答案");
    writeln!(out, "{STRONG}{}{STRONG:#}  {what}\n", exercise.name)?;
    let plain = !io::stdout().is_terminal();
    // What stands above the first `use` says which file it is, and is no part of the answer.
    let code = |text: &str| {
        text.find("\nuse ").map_or_else(|| text.to_owned(), |at| text[at + 1..].to_owned())
    };
    let size = difference::write(&mut out, &code(&own), &code(&solution), plain)?;
    if size == difference::Size::default() {
        writeln!(out, "{}", lab.lang.pick("They are the same.", "两者一样。"))?;
    } else {
        let note = lab.lang.pick(
            "Other answers are right too: what counts is the checks.",
            "别的写法也可以是对的：以检查为准。",
        );
        writeln!(out)?;
        verdict::hanging(&mut out, "", 0, note, FAINT, lab.width)?;
    }
    Ok(Ending::Fine)
}

#[cfg(test)]
mod tests {
    use exercises::registry::EXERCISES;

    use super::*;

    #[test]
    fn hints_are_taken_from_the_page() {
        let page = "text\n<details><summary>Hint 1</summary>\n\nOne\n[two](../../step/two.rs).\n\n```rust\na\n  b\n```\n\nEnd.\n\n</details>\n\
                    <details><summary>提示 2</summary>\n\n一行\n又一行。\n\n</details>\n";
        let hints = hints(page);
        assert_eq!(hints[0].0, "Hint 1");
        assert_eq!(hints[0].1, "One step/two.rs.\n\n```rust\na\n  b\n```\n\nEnd.");
        assert_eq!(hints[1], ("提示 2".to_owned(), "一行又一行。".to_owned()));
    }

    /// Resetting twice keeps both texts, and what was shipped is never backed up.
    #[test]
    fn what_was_there_is_kept() {
        let folder = std::env::temp_dir().join(format!("lab-reset-{}", std::process::id()));
        fs::create_dir_all(folder.join("typewriter")).expect("a folder");
        let file = |name: &str| folder.join("typewriter").join(name);
        let read = |name: &str| fs::read_to_string(file(name)).ok();
        let mut lab = Lab::new(Lang::En);
        lab.folder.clone_from(&folder);
        fs::write(file("starter.rs"), "shipped").expect("a file");
        for own in ["first", "second", "shipped"] {
            fs::write(file("exercise.rs"), own).expect("a file");
            reset(&lab, &EXERCISES[0]).expect("it can be reset");
            assert_eq!(read("exercise.rs").as_deref(), Some("shipped"));
        }
        assert_eq!(read("exercise.rs.1.bak").as_deref(), Some("first"));
        assert_eq!(read("exercise.rs.2.bak").as_deref(), Some("second"));
        assert_eq!(read("exercise.rs.3.bak"), None);
        fs::remove_dir_all(folder).expect("it can go");
    }
}

//! The difference between two steps, the way a teacher shows it: file by file, the same files
//! named but not shown, each word that changed marked, the crate's own name left out of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use exercises::verdict::{FAINT, STRONG};

use crate::Ending;
use crate::difference::{self, Size};
use crate::lab::Lab;

/// Shows what changes from one step to another; `only` keeps the files whose name contains it.
///
/// # Errors
/// When a file can't be read, and those of writing.
pub fn diff(lab: &Lab, from: &str, to: &str, only: Option<&str>) -> io::Result<Ending> {
    let (Some(from), Some(to)) = (step(lab, from)?, step(lab, to)?) else {
        return Ok(Ending::Misnamed);
    };
    let mut out = lab.out();
    let plain = !io::stdout().is_terminal();
    let names: BTreeSet<_> =
        [&from, &to].iter().flat_map(|step| sources(&lab.workspace().join(step))).collect();
    let chosen = names.into_iter().filter(|name| only.is_none_or(|only| name.contains(only)));
    let (mut same, mut sum, mut files) = (Vec::new(), Size::default(), 0);
    for name in chosen {
        let old = source(lab, &from, &name).map(|text| renamed(&text, &from, &to));
        let new = source(lab, &to, &name);
        if old == new {
            same.push(name);
            continue;
        }
        files += 1;
        let kind = match (&old, &new) {
            (None, _) => lab.lang.pick("  (new)", "  （新文件）"),
            (_, None) => lab.lang.pick("  (gone)", "  （已删除）"),
            _ => "",
        };
        writeln!(out, "{STRONG}src/{name}{STRONG:#}{kind}\n")?;
        let size =
            difference::write(&mut out, &old.unwrap_or_default(), &new.unwrap_or_default(), plain)?;
        sum = Size { out: sum.out + size.out, new: sum.new + size.new };
        writeln!(out)?;
    }
    if !same.is_empty() {
        writeln!(
            out,
            "{FAINT}{}{}{FAINT:#}",
            lab.lang.pick("the same: ", "没有变化："),
            same.join(", ")
        )?;
    }
    match lab.lang {
        exercises::text::Lang::En => {
            writeln!(out, "{from} → {to}: {files} files, -{} +{} lines", sum.out, sum.new)?
        }
        exercises::text::Lang::Zh => {
            writeln!(out, "{from} → {to}：{files} 个文件，-{} +{} 行", sum.out, sum.new)?
        }
    }
    Ok(Ending::Fine)
}

/// The folder of the step a person means by a number, a name or a part of it.
fn step(lab: &Lab, word: &str) -> io::Result<Option<String>> {
    let mut steps: Vec<String> = fs::read_dir(lab.workspace())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("step") && lab.workspace().join(name).join("src").is_dir())
        .collect();
    steps.sort();
    let number = word.parse::<usize>().map(|number| format!("step{number:02}-"));
    let is_meant = |name: &&String| match &number {
        Ok(start) => name.starts_with(start),
        Err(_) => name.contains(&word.to_lowercase()),
    };
    let meant: Vec<_> = steps.iter().filter(is_meant).collect();
    if let [step] = meant[..] {
        return Ok(Some(step.clone()));
    }
    let sorry = lab.lang.pick("There is no one step like", "没有（或不止一个）这样的步骤：");
    let choose = lab.lang.pick(". Choose one of these:", "。可选：");
    writeln!(io::stderr(), "{sorry} “{word}”{choose}\n  {}", steps.join("\n  "))?;
    Ok(None)
}

/// The source files of a step, by their path below `src`, with `/` everywhere.
fn sources(step: &Path) -> Vec<String> {
    let root = step.join("src");
    let mut folders = vec![root.clone()];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(&root) {
                names.push(name.display().to_string().replace('\\', "/"));
            }
        }
    }
    names
}

fn source(lab: &Lab, step: &str, name: &str) -> Option<String> {
    let path: PathBuf = lab.workspace().join(step).join("src").join(name);
    fs::read_to_string(path).ok()
}

/// A step's text as if the other step's name were its own.
fn renamed(text: &str, from: &str, to: &str) -> String {
    text.replace(&from.replace('-', "_"), &to.replace('-', "_")).replace(from, to)
}

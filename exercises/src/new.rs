//! A new exercise, made from a template and wired up.
//!
//! What it makes is a small exercise that keeps the contract already. Its author changes one piece
//! after the other, and the contract's tests say at each step what no longer fits.

use std::fs;
use std::io::{self, Write};

use exercises::verdict;

use crate::Ending;
use crate::lab::Lab;

/// The files of the template; `NAME` in them stands for the name of the exercise.
const FILES: [(&str, &str); 9] = [
    ("README.md", include_str!("../template/README.md")),
    ("README.zh-CN.md", include_str!("../template/README.zh-CN.md")),
    ("answers.rs", include_str!("../template/answers.rs")),
    ("checks.rs", include_str!("../template/checks.rs")),
    ("run.rs", include_str!("../template/run.rs")),
    ("solution.rs", include_str!("../template/solution.rs")),
    ("starter.rs", include_str!("../template/starter.rs")),
    ("wrong/hard_coded.rs", include_str!("../template/wrong/hard_coded.rs")),
    ("wrong/once.rs", include_str!("../template/wrong/once.rs")),
];

/// Where an exercise is wired up: a file, what the new lines stand before (nothing: at the end),
/// and those lines.
const WIRES: [(&str, &str, &str); 5] = [
    (
        "Cargo.toml",
        "",
        "\n[[test]]\nname = \"NAME\"\npath = \"NAME/run.rs\"\ntest = false\nharness = false\n",
    ),
    ("src/lib.rs", "\npub use harness::check;", "#[path = \"../NAME/checks.rs\"]\npub mod NAME;\n"),
    (
        "src/registry.rs",
        "];\n\nimpl Exercise",
        "    Exercise { name: \"NAME\", core: false, about: (\"what it is about\", \"讲什么\") },\n",
    ),
    (
        "tests/contract.rs",
        "\n/// The name of each answer",
        "#[path = \"../NAME/answers.rs\"]\nmod NAME;\n",
    ),
    ("tests/contract.rs", "    ]\n}\n\nfn folder", "        (\"NAME\", NAME::answers()),\n"),
];

/// Makes the exercise `name`.
///
/// # Errors
/// When there is one of this name, when it can't be the name of a module, and those of writing.
pub fn new(lab: &Lab, name: &str) -> io::Result<Ending> {
    let is_word = name.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    if !is_word
        || !name.starts_with(|char: char| char.is_ascii_lowercase())
        || lab.folder.join(name).exists()
    {
        let sorry = lab.lang.pick(
            "A name is lower-case letters and `_`, and not taken yet.",
            "名字只能由小写字母和 `_` 组成，而且还没有被用过。",
        );
        writeln!(io::stderr(), "{sorry}")?;
        return Ok(Ending::Misnamed);
    }
    // First look whether every line finds its place: half an exercise would be worse than none.
    let wired = wired(name, |file| fs::read_to_string(lab.folder.join(file)))?;
    let folder = lab.folder.join(name);
    fs::create_dir_all(folder.join("wrong"))?;
    for (file, text) in FILES {
        fs::write(folder.join(file), text.replace("NAME", name))?;
    }
    fs::copy(folder.join("starter.rs"), folder.join("exercise.rs"))?;
    for (file, text) in wired {
        fs::write(lab.folder.join(file), text)?;
    }
    let mut out = lab.out();
    let made = lab.lang.pick("Made and wired up: ", "已生成并接好：");
    writeln!(out, "{made}exercises/{name}/")?;
    let next = lab.lang.pick(
        "Run `cargo fmt`, then `cargo test -p exercises --test contract` after each change.",
        "先运行 `cargo fmt`，之后每改一处就运行 `cargo test -p exercises --test contract`。",
    );
    verdict::hanging(&mut out, "", 0, next, anstyle::Style::new(), lab.width)?;
    Ok(Ending::Fine)
}

/// The files in which the new exercise is mentioned, as they will be.
fn wired(
    name: &str,
    read: impl Fn(&str) -> io::Result<String>,
) -> io::Result<Vec<(&'static str, String)>> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for (file, before, lines) in WIRES {
        let at = match files.iter().position(|(known, _)| *known == file) {
            Some(at) => at,
            None => {
                files.push((file, read(file)?));
                files.len() - 1
            }
        };
        let text = &mut files[at].1;
        let place = if before.is_empty() { Some(text.len()) } else { text.find(before) };
        let lost =
            || io::Error::other(format!("{file} has no {before:?} to put the exercise before"));
        text.insert_str(place.ok_or_else(lost)?, &lines.replace("NAME", name));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_finds_its_place_in_the_files_as_they_are() {
        let folder = exercises::verdict::exercises_folder();
        let read = |file: &str| Ok(fs::read_to_string(folder.join(file))?.replace("\r\n", "\n"));
        for (file, text) in wired("brand_new", read).expect("all places are there") {
            assert!(text.contains("brand_new"), "{file}");
        }
    }
}

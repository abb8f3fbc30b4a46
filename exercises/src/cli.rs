//! The command line of the tool.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use exercises::text::Lang;

const EXIT_CODES: &str = "\
Exit codes / 退出码:
  0  done; for `check`: solved / 成功；对 check 而言：已完成
  1  not solved / 未完成
  2  wrong arguments / 参数有误
  3  the tool could not do its work / 工具自身无法工作";

/// The arguments, once they are known to be right; wrong ones end the program with code 2.
#[derive(Parser, Debug)]
#[command(version, about, after_help = EXIT_CODES)]
pub struct Args {
    /// What to do; without it, the list of exercises / 要做什么；不写则列出练习
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Language of the tool / 工具所用的语言
    #[arg(long, global = true, env = "LAB_LANG", value_enum, default_value = "en")]
    pub lang: Lang,
}

/// What the tool can do. An exercise is given by its number, its name or a unique part of it.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// List the exercises, what is solved, and the next one / 列出练习、进度和下一个
    List,
    /// Check an exercise (the next one, if none is named) / 检查一个练习（不写名字则检查下一个）
    Check {
        /// Which exercise / 哪个练习
        #[arg(conflicts_with = "all")]
        name: Option<String>,
        /// Check all of them / 检查全部
        #[arg(long)]
        all: bool,
        /// Report for programs instead of people / 给程序读的报告
        #[arg(long, requires = "all", value_enum)]
        format: Option<Format>,
        /// Check the answers in this folder: another clone's exercises / 检查这个文件夹里的答案：别人的 exercises
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
    },
    /// Check again whenever an exercise is saved / 每次保存练习就检查
    Watch {
        /// Which exercise to begin with / 从哪个练习开始
        name: Option<String>,
        /// Don't ask the system for changes, look twice a second / 不靠系统通知，每秒查看两次
        #[arg(long)]
        poll: bool,
        /// Watch the answers in this folder / 守候这个文件夹里的答案
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
    },
    /// Show a hint: 1 is a nudge, 2 a direction, 3 almost the answer / 看提示：1 轻推，2 指方向，3 几乎是答案
    Hint {
        /// Which exercise / 哪个练习
        name: Option<String>,
        /// Which hint / 第几条
        #[arg(default_value_t = 1)]
        level: usize,
    },
    /// Put an exercise back as it was shipped, keeping a backup / 把练习恢复原样，并保留备份
    Reset {
        /// Which exercise / 哪个练习
        name: String,
    },
    /// Show what changes from your file to a solution / 看你的文件与参考答案的差别
    Solution {
        /// Which exercise / 哪个练习
        name: String,
    },
    /// Show what changes from one step to another / 看两个步骤之间的差别
    Diff {
        /// The earlier step, as in 02 / 前一个步骤，如 02
        from: String,
        /// The later step, as in 03 / 后一个步骤，如 03
        to: String,
        /// Only files whose name contains this / 只看名字里有它的文件
        file: Option<String>,
    },
    /// For authors: make an exercise from the template / 给作者：用模板生成一个练习
    New {
        /// The name of the exercise / 练习的名字
        name: String,
    },
}

/// How `check --all` reports to programs.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    Json,
    /// JUnit's XML, which most graders read.
    Junit,
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use exercises::registry::EXERCISES;

    use super::*;

    /// The pages of all exercises, in both languages, and those above them.
    fn pages() -> Vec<PathBuf> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let below =
            fs::read_dir(here).expect("a folder").map(|entry| entry.expect("an entry").path());
        let folders = below.chain([here.to_owned(), here.join("..")]);
        let files =
            |folder: PathBuf| ["README.md", "README.zh-CN.md"].map(|name| folder.join(name));
        folders.flat_map(files).filter(|page| page.is_file()).collect()
    }

    /// What a page tells its reader to type, whether in a block or in a sentence.
    fn commands(page: &str) -> Vec<&str> {
        let typed = page.split("cargo run -q -p exercises").skip(1);
        typed.filter_map(|rest| rest.split(['\n', '`', '>']).next()).collect()
    }

    #[test]
    fn every_command_that_a_page_shows_is_one() {
        let mut names = Vec::new();
        for page in pages() {
            let text = fs::read_to_string(&page).expect("a page");
            for command in commands(&text) {
                let words = command.split_whitespace().filter(|word| *word != "--");
                let args = Args::try_parse_from(["exercises"].into_iter().chain(words));
                let args = args.unwrap_or_else(|error| panic!("{}: {error}", page.display()));
                names.extend(match args.action {
                    Some(Action::Check { name: Some(name), .. }) => Some(name),
                    Some(Action::Hint { name: Some(name), .. }) => Some(name),
                    _ => None,
                });
            }
        }
        names.retain(|name| name != "NAME"); // in the template
        assert!(EXERCISES.iter().all(|exercise| names.iter().any(|name| name == exercise.name)));
        names.retain(|name| EXERCISES.iter().all(|exercise| exercise.name != name));
        assert!(names.is_empty(), "no such exercise: {names:?}");
    }
}

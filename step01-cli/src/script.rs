//! Every text a person sees, in both languages, and the inputs of the demo.
//!
//! The two languages stand side by side, so that neither can be forgotten.

use std::io;

use clap::ValueEnum;

use crate::input::Line;

/// The language a conversation is held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    /// English.
    // An empty `LAB_LANG` is as good as none.
    #[value(alias = "", help = "English / 英文")]
    En,
    /// Chinese.
    #[value(help = "Chinese / 中文")]
    Zh,
}

impl Lang {
    fn pick(self, en: &'static str, zh: &'static str) -> &'static str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }

    /// The first line of a conversation that a person holds, and how to leave it.
    pub fn banner(self) -> &'static str {
        self.pick(
            "Mini Agent Harness · step01 cli\n\
             /exit or Ctrl-D leaves, /help lists the commands; --demo plays a scripted conversation.",
            "Mini Agent Harness · step01 cli\n\
             输入 /exit 或按 Ctrl-D 离开，/help 列出命令；加 --demo 可看一段预设的对话。",
        )
    }

    /// The first line of the demo.
    pub fn demo_banner(self) -> &'static str {
        self.pick(
            "Mini Agent Harness · step01 cli (demo)",
            "Mini Agent Harness · step01 cli（demo）",
        )
    }

    /// What the person types in the demo.
    pub fn demo_input(self) -> impl Iterator<Item = io::Result<Line>> {
        let inputs = match self {
            Self::En => ["hello", "what is streaming", "trigger an error", "/exit"],
            Self::Zh => ["你好", "流式输出是什么", "报错试试", "/exit"],
        };
        inputs.map(|text| Ok(Line::Text(text.to_owned()))).into_iter()
    }

    /// The prompt.
    pub fn you(self) -> &'static str {
        self.pick("You> ", "你> ")
    }

    /// What stands before a reply.
    pub fn assistant(self) -> &'static str {
        self.pick("Assistant> ", "助手> ")
    }

    /// The reply of this step: there is no model yet, so it can only repeat.
    pub fn you_said(self, text: &str) -> String {
        format!("{}{text}", self.pick("You said: ", "你说的是："))
    }

    /// The list of commands.
    pub fn help(self) -> &'static str {
        self.pick(
            "/help  list the commands\n/exit  leave (so does Ctrl-D)",
            "/help  列出命令\n/exit  离开（Ctrl-D 也行）",
        )
    }

    /// The answer to a command that does not exist.
    pub fn unknown_command(self, word: &str) -> String {
        match self {
            Self::En => format!("Unknown command {word}; /help lists the commands."),
            Self::Zh => format!("没有 {word} 这个命令，/help 可列出全部命令。"),
        }
    }

    /// The answer to bytes that are not text.
    pub fn not_utf8(self) -> &'static str {
        self.pick(
            "That line is not UTF-8 text, so it was skipped. Set your terminal or file to UTF-8.",
            "这一行不是 UTF-8 文本，已跳过。请把终端或文件的编码设为 UTF-8。",
        )
    }

    /// The answer to a line that is longer than what is read.
    pub fn too_long(self) -> &'static str {
        self.pick(
            "That line is longer than 16 MiB, so it was skipped.",
            "这一行超过 16 MiB，已跳过。",
        )
    }

    /// The last line: `said` is how many lines were said to the assistant.
    pub fn farewell(self, said: usize) -> String {
        match self {
            Self::En if said == 1 => "Goodbye. (1 line in this conversation)".to_owned(),
            Self::En => format!("Goodbye. ({said} lines in this conversation)"),
            Self::Zh => format!("再见。（本次对话共 {said} 行）"),
        }
    }

    /// What is said on standard error when reading or writing fails.
    pub fn io_error(self, error: &io::Error) -> String {
        match self {
            Self::En => format!("step01-cli: cannot go on, input or output failed: {error}"),
            Self::Zh => format!("step01-cli：输入或输出出错，无法继续：{error}"),
        }
    }
}

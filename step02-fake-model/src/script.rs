//! Every text a person sees, in both languages, the inputs of the demo and the fake model's rules.
//!
//! The two languages stand side by side, so that neither can be forgotten.

use std::{fmt, io};

use clap::ValueEnum;
use futures::{Stream, stream};

use crate::fake_model::Rule;
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
            "Mini Agent Harness · step02 fake-model\n\
             /exit or Ctrl-D leaves, /help lists the commands; --demo plays a scripted conversation.",
            "Mini Agent Harness · step02 fake-model\n\
             输入 /exit 或按 Ctrl-D 离开，/help 列出命令；加 --demo 可看一段预设的对话。",
        )
    }

    /// The first line of the demo.
    pub fn demo_banner(self) -> &'static str {
        self.pick(
            "Mini Agent Harness · step02 fake-model (demo)",
            "Mini Agent Harness · step02 fake-model（demo）",
        )
    }

    /// What the person types in the demo.
    pub fn demo_input(self) -> impl Stream<Item = io::Result<Line>> + Unpin {
        let inputs = match self {
            Self::En => ["hello", "what is streaming", "trigger an error", "/exit"],
            Self::Zh => ["你好", "流式输出是什么", "报错试试", "/exit"],
        };
        stream::iter(inputs.map(|text| Ok(Line::Text(text.to_owned()))))
    }

    /// The prompt.
    pub fn you(self) -> &'static str {
        self.pick("You> ", "你> ")
    }

    /// What stands before a reply.
    pub fn assistant(self) -> &'static str {
        self.pick("Assistant> ", "助手> ")
    }

    /// The fake model's rules; the first hit wins.
    pub fn rules(self) -> Vec<Rule> {
        match self {
            Self::En => vec![
                Rule::reply(
                    "hello",
                    "Hello! I am FakeModel, and this whole sentence arrives at once.",
                ),
                Rule::reply(
                    "streaming",
                    "I can't show you yet: I answer only when the whole reply is ready.",
                ),
                Rule::reply("error", "").fail("simulated model error: quota exceeded"),
                Rule::fallback("I only know a few lines. Try hello, streaming or error."),
            ],
            Self::Zh => vec![
                Rule::reply("你好", "你好！我是 FakeModel，这句话是憋完整句一次性返回的。"),
                Rule::reply("流式", "现在还演示不了：我要等整句都准备好才返回。"),
                Rule::reply("报错", "").fail("模拟的模型错误：额度不足"),
                Rule::fallback("我只会几句话，试试“你好”“流式”或“报错”。"),
            ],
        }
    }

    /// What is shown instead of a reply.
    pub fn error(self, error: impl fmt::Display) -> String {
        format!("{}{error}", self.pick("[error] ", "[错误] "))
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

    /// The last line: `messages` is the length of the history.
    pub fn farewell(self, messages: usize) -> String {
        match self {
            Self::En if messages == 1 => "Goodbye. (1 message in this conversation)".to_owned(),
            Self::En => format!("Goodbye. ({messages} messages in this conversation)"),
            Self::Zh => format!("再见。（本次对话共 {messages} 条消息）"),
        }
    }

    /// What is said on standard error when reading or writing fails.
    pub fn io_error(self, error: &io::Error) -> String {
        match self {
            Self::En => format!("step02-fake-model: cannot go on, input or output failed: {error}"),
            Self::Zh => format!("step02-fake-model：输入或输出出错，无法继续：{error}"),
        }
    }
}

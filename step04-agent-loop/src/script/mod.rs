//! Every text a person sees, in both languages, and the scripts that the fake model plays.
//!
//! The demo's script is no Rust any more: what the model says, and what the person says to it, is
//! JSON that anybody can write ([`Script`]). The built-in one is the first example.
//!
//! The two languages stand side by side, so that neither can be forgotten. What is told in English
//! only are the reasons of errors: half of their words are the system's or a library's, and those of
//! a message travel to the model and into files.

mod format;
mod load;
mod strict;

use std::fmt;

use clap::ValueEnum;

pub use format::*;
pub use load::ScriptError;

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
            "Mini Agent Harness · step04 agent-loop\n\
             /exit or Ctrl-D leaves, /help lists the commands; --demo plays a scripted conversation.",
            "Mini Agent Harness · step04 agent-loop\n\
             输入 /exit 或按 Ctrl-D 离开，/help 列出命令；加 --demo 可看一段预设的对话。",
        )
    }

    /// The first line of the demo.
    pub fn demo_banner(self) -> &'static str {
        self.pick(
            "Mini Agent Harness · step04 agent-loop (demo)",
            "Mini Agent Harness · step04 agent-loop（demo）",
        )
    }

    /// The built-in demo.
    ///
    /// # Panics
    /// Never: a test reads both scripts.
    pub fn demo(self) -> Script {
        let text = self.pick(include_str!("demo.json"), include_str!("demo.zh.json"));
        Script::parse(text).expect("the built-in script is valid")
    }

    /// The prompt.
    pub fn you(self) -> &'static str {
        self.pick("You> ", "你> ")
    }

    /// What stands before a reply.
    pub fn assistant(self) -> &'static str {
        self.pick("Assistant> ", "助手> ")
    }

    /// What stands before a thought.
    pub fn thinking(self) -> &'static str {
        self.pick("Thinking> ", "思考> ")
    }

    /// What stands before a tool call.
    pub fn tool(self) -> &'static str {
        self.pick("Tool> ", "工具> ")
    }

    /// What stands before what a tool reports while it works.
    pub fn progress(self) -> &'static str {
        self.pick("Progress> ", "进度> ")
    }

    /// What stands before the result of a call.
    pub fn result(self, is_error: bool) -> &'static str {
        if is_error { self.pick("Failed> ", "失败> ") } else { self.pick("Result> ", "结果> ") }
    }

    /// Behind the first line of a result: how many more there are.
    pub fn more_lines(self, count: usize) -> String {
        match self {
            _ if count == 0 => String::new(),
            Self::En if count == 1 => " (+1 line)".to_owned(),
            Self::En => format!(" (+{count} lines)"),
            Self::Zh => format!("（还有 {count} 行）"),
        }
    }

    /// A reply that was called off.
    pub fn aborted(self) -> &'static str {
        self.pick("[aborted]", "[已中断]")
    }

    /// A reply that reached its length limit.
    pub fn truncated(self) -> &'static str {
        self.pick("[truncated: the reply reached its length limit]", "[已截断：回复达到长度上限]")
    }

    /// What is shown instead of a reply.
    pub fn error(self, error: impl fmt::Display) -> String {
        format!("{}{error}", self.pick("[error] ", "[错误] "))
    }

    /// What is shown as an error that says nothing.
    pub fn no_reason(self) -> &'static str {
        self.pick("the model gave no reason", "模型没有说明原因")
    }

    /// The list of commands.
    pub fn help(self) -> &'static str {
        self.pick(
            "/help   list the commands\n\
             /tools  list the tools and the schema of their arguments\n\
             /exit   leave (so does Ctrl-D; Ctrl-C stops a reply)",
            "/help   列出命令\n\
             /tools  列出工具及其参数的 schema\n\
             /exit   离开（Ctrl-D 也行；Ctrl-C 打断回复）",
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

    /// A line of the session had no end.
    pub fn torn_line(self, line: usize) -> String {
        match self {
            Self::En => {
                format!("Line {line} of the session was torn off in the middle and is dropped.")
            }
            Self::Zh => format!("会话文件第 {line} 行写到一半就断了，已丢弃。"),
        }
    }

    /// So many calls of the session had no result.
    pub fn answered(self, calls: usize) -> String {
        match self {
            Self::En => format!("Tool calls without a result are answered as aborted: {calls}."),
            Self::Zh => format!("有 {calls} 个工具调用没有结果，已按中断处理。"),
        }
    }

    /// A conversation of so many messages goes on.
    pub fn resumed(self, messages: usize) -> String {
        match self {
            Self::En if messages == 1 => "The conversation goes on after 1 message.".to_owned(),
            Self::En => format!("The conversation goes on after {messages} messages."),
            Self::Zh => format!("接着上次的对话，已有 {messages} 条消息。"),
        }
    }

    /// What is said on standard error when the program can't go on.
    pub fn failure(self, error: impl fmt::Display) -> String {
        match self {
            Self::En => format!("step04-agent-loop: cannot go on: {error}"),
            Self::Zh => format!("step04-agent-loop：无法继续：{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_no_messages() {
        assert_eq!(Lang::En.resumed(1), "The conversation goes on after 1 message.");
        assert_eq!(Lang::En.resumed(2), "The conversation goes on after 2 messages.");
    }

    #[test]
    fn the_built_in_scripts_are_valid_and_of_one_shape() {
        let (en, zh) = (Lang::En.demo(), Lang::Zh.demo());
        assert_eq!(en.inputs.len(), zh.inputs.len());
        assert!(en.files.keys().eq(zh.files.keys()));
        let shape = |script: &Script| -> Vec<(usize, Vec<usize>)> {
            let blocks =
                |rule: &Rule| rule.replies.iter().map(|reply| reply.content.len()).collect();
            script.rules.iter().map(|rule| (rule.replies.len(), blocks(rule))).collect()
        };
        assert_eq!(shape(&en), shape(&zh));
    }
}

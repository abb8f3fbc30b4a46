//! The command line: which conversation to hold, and in which language.

use clap::Parser;

use crate::script::Lang;

/// The arguments, once they are known to be right; wrong ones end the program with code 2.
#[derive(Parser, Debug)]
#[command(version, about)]
pub struct Args {
    /// Play the scripted conversation and leave / 播放预设的对话，然后退出
    #[arg(long)]
    pub demo: bool,

    /// Language of the conversation / 对话所用的语言
    #[arg(long, env = "LAB_LANG", value_enum, default_value = "en")]
    pub lang: Lang,

    /// Pause per token in milliseconds; 30 on a terminal, else 0 / 每个 token 的停顿，毫秒；终端上默认 30，其他情况为 0
    #[arg(long, value_name = "N")]
    pub delay_ms: Option<u64>,
}

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
}

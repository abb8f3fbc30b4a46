//! The command line: which conversation to hold, with which model, and what to keep of it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::history;
use crate::replay::Tempo;
use crate::script::{Lang, Pace};

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

    /// Pause per token in milliseconds; 30 when a person talks on a terminal, as recorded when a record is played back there, else 0 / 每个 token 的停顿，毫秒；在终端上对话时默认 30，在终端上重放时照录制的来，其他情况为 0
    #[arg(long, value_name = "N")]
    pub delay_ms: Option<u64>,

    /// The script that the model plays, as JSON / 模型照着演的剧本，JSON 格式
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Play back the model of a record made with --events; tools run again, so give the same --script, --root and --lang / 重放 --events 记录里的模型；工具会重新执行，所以 --script、--root、--lang 要给得一样
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "session"])]
    pub replay: Option<PathBuf>,

    /// Record every agent event as a JSON line; - is standard output / 把每个 agent 事件记成一行 JSON；- 表示标准输出
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    /// Record the partial messages too / 连同未完成的消息一起记录
    #[arg(long, requires = "events")]
    pub events_full: bool,

    /// Keep the conversation in a file, and go on with it next time / 把对话存进文件，下次接着聊
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    pub session: Option<PathBuf>,

    /// When a reply becomes history / 回复何时进入历史
    #[arg(long, value_enum, default_value = "in-place")]
    pub fold: Fold,

    /// The folder the tools work in; a script's own files if not given / 工具的工作目录；不给则用剧本自带的文件
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// Run tools one after the other / 工具逐个执行，不并行
    #[arg(long)]
    pub sequential: bool,

    /// How many turns one answer may take / 一次回答最多几轮
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: u32,
}

/// The pause that makes a typewriter of a terminal.
const TYPEWRITER: Pace = Pace::DelayMs(30);

impl Args {
    /// The pace of a script that has none of its own.
    pub fn default_pace(&self, on_terminal: bool) -> Pace {
        if on_terminal && !self.demo { TYPEWRITER } else { Pace::default() }
    }

    /// The tempo of a replay.
    pub fn tempo(&self, on_terminal: bool) -> Tempo {
        match self.delay_ms {
            Some(millis) => Tempo::Every(Duration::from_millis(millis)),
            None if on_terminal => Tempo::AsRecorded,
            None => Tempo::Every(Duration::ZERO),
        }
    }
}

/// [`history::Fold`], as it is written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fold {
    /// Only a whole reply / 只收完整的回复
    OnDone,
    /// From its first event on, and what broke off stays / 从第一个事件起就在，中断的也留下
    InPlace,
}

impl From<Fold> for history::Fold {
    fn from(fold: Fold) -> Self {
        match fold {
            Fold::OnDone => Self::OnDone,
            Fold::InPlace => Self::InPlace,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(arguments: &[&str]) -> Args {
        Args::parse_from([&["step04-agent-loop"], arguments].concat())
    }

    #[test]
    fn only_a_person_at_a_terminal_gets_a_typewriter() {
        assert_eq!(args(&[]).default_pace(true), Pace::DelayMs(30));
        assert_eq!(args(&[]).default_pace(false), Pace::DelayMs(0));
        assert_eq!(args(&["--demo"]).default_pace(true), Pace::DelayMs(0));
    }

    #[test]
    fn both_bargains_can_be_chosen() {
        let fold = |arguments: &[&str]| history::Fold::from(args(arguments).fold);
        assert_eq!(fold(&[]), history::Fold::InPlace);
        assert_eq!(fold(&["--fold", "in-place"]), history::Fold::InPlace);
        assert_eq!(fold(&["--fold", "on-done"]), history::Fold::OnDone);
    }

    #[test]
    fn a_replay_keeps_its_pace_on_a_terminal_unless_told_otherwise() {
        assert_eq!(args(&[]).tempo(true), Tempo::AsRecorded);
        assert_eq!(args(&[]).tempo(false), Tempo::Every(Duration::ZERO));
        let delayed = args(&["--delay-ms", "7"]);
        assert_eq!(delayed.tempo(true), Tempo::Every(Duration::from_millis(7)));
        assert_eq!(delayed.tempo(false), Tempo::Every(Duration::from_millis(7)));
    }
}

//! The conversation loop over any input and any output.
//!
//! It is generic over both so that a terminal, a pipe, the demo and a test all run the same loop.

use std::io::{self, Write};

use futures::{Stream, StreamExt};

use crate::command::Command;
use crate::input::Line;
use crate::message::{Context, Message, UserMessage, plain_text};
use crate::model::Model;
use crate::script::Lang;

/// A conversation: who answers, where it is written, in which language, and what has been said.
pub struct Repl<M, W> {
    model: M,
    out: W,
    lang: Lang,
    echo: bool,
    context: Context,
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With `/exit` or the end of the input.
    Finished,
    /// With Ctrl-C.
    Interrupted,
}

impl<M: Model, W: Write> Repl<M, W> {
    /// A conversation that has not begun.
    ///
    /// `echo` repeats each input line after the prompt. A terminal shows what is typed by itself;
    /// for everything else the echo is what makes the output readable as a conversation.
    pub fn new(model: M, out: W, lang: Lang, echo: bool) -> Self {
        Self {
            model,
            out,
            lang,
            echo,
            context: Context::default(),
        }
    }

    /// Holds the conversation until `/exit`, the end of the input, or `interrupt`; says goodbye.
    ///
    /// An interrupt drops the conversation where it stands. In Rust that is all it takes to cancel
    /// a future: whatever it was waiting for is dropped with it, the model's reply included.
    ///
    /// # Errors
    /// Only those of reading and writing; whatever a line holds is answered in the conversation.
    pub async fn run(
        &mut self,
        input: impl Stream<Item = io::Result<Line>> + Unpin,
        interrupt: impl Future<Output = io::Result<()>>,
    ) -> io::Result<Ending> {
        let ending = tokio::select! {
            biased;
            interrupted = interrupt => interrupted.map(|()| Ending::Interrupted),
            finished = self.converse(input) => finished.map(|()| Ending::Finished),
        }?;
        if ending == Ending::Interrupted {
            writeln!(self.out)?; // leave the prompt's line, or the reply's
        }
        self.farewell()?;
        Ok(ending)
    }

    async fn converse(
        &mut self,
        mut input: impl Stream<Item = io::Result<Line>> + Unpin,
    ) -> io::Result<()> {
        loop {
            self.prompt()?;
            let Some(line) = input.next().await.transpose()? else {
                return writeln!(self.out); // leave the prompt's line
            };
            let Some(text) = self.readable(line)? else {
                continue;
            };
            match Command::parse(&text) {
                Command::Nothing => {}
                Command::Exit => return Ok(()),
                Command::Help => self.notice(self.lang.help())?,
                Command::Unknown(word) => self.notice(&self.lang.unknown_command(word))?,
                Command::Say(text) => self.answer(text).await?,
            }
        }
    }

    async fn answer(&mut self, text: &str) -> io::Result<()> {
        self.context
            .messages
            .push(Message::User(UserMessage::text(text)));

        match self.model.reply(&self.context).await {
            Ok(message) => {
                let text = plain_text(&message.content);
                writeln!(self.out, "{}{text}\n", self.lang.assistant())?;
                self.context.messages.push(Message::Assistant(message));
            }
            Err(error) => {
                let error = self.lang.error(&error.to_string());
                writeln!(self.out, "{}{error}\n", self.lang.assistant())?;
            }
        }
        Ok(())
    }

    fn prompt(&mut self) -> io::Result<()> {
        write!(self.out, "{}", self.lang.you())?;
        self.out.flush() // standard output holds an unfinished line back
    }

    /// The text of a line, echoed if need be; a line that is not text is answered right here.
    fn readable(&mut self, line: Line) -> io::Result<Option<String>> {
        let text = if let Line::Text(text) = &line {
            text
        } else {
            ""
        };
        if self.echo {
            writeln!(self.out, "{text}")?;
        }
        match line {
            Line::Text(text) => return Ok(Some(text)),
            Line::NotUtf8 => self.notice(self.lang.not_utf8())?,
            Line::TooLong => self.notice(self.lang.too_long())?,
        }
        Ok(None)
    }

    /// Something the program says, as opposed to the assistant.
    fn notice(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}\n")
    }

    fn farewell(&mut self) -> io::Result<()> {
        let messages = self.context.messages.len();
        writeln!(self.out, "{}", self.lang.farewell(messages))?;
        self.out.flush()
    }
}

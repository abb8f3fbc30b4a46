//! The conversation loop over any input and any output.
//!
//! It is generic over both so that a terminal, a pipe, the demo and a test all run the same loop.

use std::io::{self, Write};

use futures::{Stream, StreamExt};

use crate::command::Command;
use crate::event::StreamOptions;
use crate::input::Line;
use crate::message::{Context, Message};
use crate::model::Model;
use crate::render::render;
use crate::script::Lang;

/// A conversation: who answers, where it is read and written, in which language, and the history.
pub struct Repl<M, I, W> {
    model: M,
    input: I,
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

impl<M: Model, I: Stream<Item = io::Result<Line>> + Unpin, W: Write> Repl<M, I, W> {
    /// A conversation that has not begun.
    ///
    /// `echo` repeats each input line after the prompt. A terminal shows what is typed by itself;
    /// for everything else the echo is what makes the output readable as a conversation.
    pub fn new(model: M, input: I, out: W, lang: Lang, echo: bool) -> Self {
        Self { model, input, out, lang, echo, context: Context::default() }
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
        interrupt: impl Future<Output = io::Result<()>>,
    ) -> io::Result<Ending> {
        let ending = tokio::select! {
            biased;
            interrupted = interrupt => interrupted.map(|()| Ending::Interrupted),
            finished = self.converse() => finished.map(|()| Ending::Finished),
        }?;
        if ending == Ending::Interrupted {
            writeln!(self.out)?; // leave the prompt's line, or the reply's
        }
        self.farewell()?;
        Ok(ending)
    }

    async fn converse(&mut self) -> io::Result<()> {
        loop {
            self.prompt()?;
            let Some(line) = self.input.next().await.transpose()? else {
                return writeln!(self.out); // leave the prompt's line
            };
            let Some(text) = self.readable(line)? else { continue };
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
        self.context.messages.push(Message::user(text));

        let stream = self.model.stream(&self.context, StreamOptions::default());
        // Only a reply that ended well becomes history; a broken-off one was seen, and is gone.
        if let Some(message) = render(stream, &mut self.out, self.lang).await? {
            self.context.messages.push(Message::Assistant(message));
        }
        Ok(())
    }

    fn prompt(&mut self) -> io::Result<()> {
        write!(self.out, "{}", self.lang.you())?;
        self.out.flush() // standard output holds an unfinished line back
    }

    /// The text of a line, echoed if need be; a line that is not text is answered right here.
    fn readable(&mut self, line: Line) -> io::Result<Option<String>> {
        let text = if let Line::Text(text) = &line { text } else { "" };
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
        writeln!(self.out, "{}", self.lang.farewell(self.context.messages.len()))?;
        self.out.flush()
    }
}

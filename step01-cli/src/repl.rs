//! The conversation loop over any input and any output.
//!
//! It is generic over both so that a terminal, a pipe, the demo and a test all run the same loop.

use std::io::{self, Write};

use crate::command::Command;
use crate::input::Line;
use crate::script::Lang;

/// A conversation: where it is read and written, in which language, and how much has been said.
pub struct Repl<I, W> {
    input: I,
    out: W,
    lang: Lang,
    echo: bool,
    said: usize,
}

impl<I: Iterator<Item = io::Result<Line>>, W: Write> Repl<I, W> {
    /// A conversation that has not begun.
    ///
    /// `echo` repeats each input line after the prompt. A terminal shows what is typed by itself;
    /// for everything else the echo is what makes the output readable as a conversation.
    pub fn new(input: I, out: W, lang: Lang, echo: bool) -> Self {
        Self { input, out, lang, echo, said: 0 }
    }

    /// Holds the conversation until `/exit` or the end of the input, and says goodbye.
    ///
    /// # Errors
    /// Only those of reading and writing; whatever a line holds is answered in the conversation.
    pub fn run(&mut self) -> io::Result<()> {
        self.converse()?;
        self.farewell()
    }

    fn converse(&mut self) -> io::Result<()> {
        loop {
            self.prompt()?;
            let Some(line) = self.input.next().transpose()? else {
                return writeln!(self.out); // leave the prompt's line
            };
            let Some(text) = self.readable(line)? else { continue };
            match Command::parse(&text) {
                Command::Nothing => {}
                Command::Exit => return Ok(()),
                Command::Help => self.notice(self.lang.help())?,
                Command::Unknown(word) => self.notice(&self.lang.unknown_command(word))?,
                Command::Say(text) => self.answer(text)?,
            }
        }
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        self.said += 1;
        writeln!(self.out, "{}{}\n", self.lang.assistant(), self.lang.you_said(text))
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
        writeln!(self.out, "{}", self.lang.farewell(self.said))?;
        self.out.flush()
    }
}

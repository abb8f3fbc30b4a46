//! The conversation loop over any input and any output.
//!
//! It is generic over both so that a terminal, a pipe, the demo and a test all run the same loop.

use std::io::{self, Write};

use futures::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::agent_event::{AgentEvent, Listeners};
use crate::agent_loop::Agent;
use crate::command::Command;
use crate::input::Line;
use crate::record::Recorder;
use crate::render::{INDENT, Renderer, SPEAKER};
use crate::script::Lang;
use crate::session::{Notice, Opened, Session};
use crate::visible::visible;

/// Somebody who writes down what happens, beside the screen: a session log, a record.
pub trait Journal: Send {
    /// Takes note of an event. It must not fail: what went wrong is told afterwards.
    fn on_event(&mut self, event: &AgentEvent);

    /// What is wrong with what was written, if anything, in words for a person.
    fn failure(&self) -> Option<io::Error>;
}

/// Whether whoever read has left, as `| head -1` does. There is no use in going on then, be it the
/// screen that was read or a record.
fn is_gone(failure: &io::Error) -> bool {
    failure.kind() == io::ErrorKind::BrokenPipe
}

/// The same error, and what it means for the person.
fn meaning(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

impl Journal for Session {
    fn on_event(&mut self, event: &AgentEvent) {
        Session::on_event(self, event);
    }

    fn failure(&self) -> Option<io::Error> {
        self.error().map(|error| meaning("the session log is behind", error))
    }
}

impl<W: Write + Send> Journal for Recorder<W> {
    fn on_event(&mut self, event: &AgentEvent) {
        Recorder::on_event(self, event);
    }

    fn failure(&self) -> Option<io::Error> {
        self.error().map(|error| meaning("the record ends too early", error))
    }
}

/// A conversation: the agent, where it is read and shown, and who writes it down.
pub struct Repl<I, W> {
    agent: Agent,
    input: I,
    screen: Renderer<W>,
    lang: Lang,
    source: Source,
    journals: Vec<Box<dyn Journal>>,
}

/// Where it comes from what is said to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Somebody types it; a terminal shows what is typed by itself.
    Terminal,
    /// A file or another program. It is echoed: that makes the output readable as a conversation.
    Pipe,
    /// A script or a record, echoed too. Who interrupts it doesn't want to hear the rest.
    Script,
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With `/exit` or the end of the input.
    Finished,
    /// With Ctrl-C.
    Interrupted,
}

impl<I: Stream<Item = io::Result<Line>> + Unpin, W: Write + Send> Repl<I, W> {
    /// A conversation that has not begun.
    pub fn new(agent: Agent, input: I, screen: Renderer<W>, lang: Lang, source: Source) -> Self {
        Self { agent, input, screen, lang, source, journals: Vec::new() }
    }

    /// Goes on with a conversation that was kept, and tells the person what of it there is.
    ///
    /// # Errors
    /// Those of writing.
    pub fn resume(&mut self, opened: Opened) -> io::Result<()> {
        let Opened { session, messages, notices } = opened;
        self.add_journal(Box::new(session));
        let mut told: Vec<String> = notices.iter().map(|notice| self.repaired(notice)).collect();
        if !messages.is_empty() {
            told.push(self.lang.resumed(messages.len()));
        }
        self.agent.context.messages = messages;
        if told.is_empty() { Ok(()) } else { self.notice(&told.join("\n")) }
    }

    fn repaired(&self, notice: &Notice) -> String {
        match *notice {
            Notice::TornLine { line } => self.lang.torn_line(line),
            Notice::Answered { calls } => self.lang.answered(calls),
        }
    }

    /// From now on this one writes down what happens.
    pub fn add_journal(&mut self, journal: Box<dyn Journal>) {
        self.journals.push(journal);
    }

    /// Holds the conversation until `/exit`, the end of the input, or an interrupt; says goodbye.
    ///
    /// An interrupt at the prompt ends it. During a turn the first one only stops the agent, which
    /// then closes its brackets; a second one in the same turn ends the conversation, and so does the
    /// first if nobody is there to say anything else.
    ///
    /// # Errors
    /// Only those of reading and writing; whatever a line holds is answered in the conversation. A
    /// journal's failure ends nothing, but it is an error in the end.
    pub async fn run(
        &mut self,
        mut interrupts: impl Stream<Item = io::Result<()>> + Unpin,
    ) -> io::Result<Ending> {
        let ending = self.converse(&mut interrupts).await?;
        self.farewell()?;
        let failure = self.journals.iter().find_map(|journal| journal.failure());
        failure.map_or(Ok(ending), Err)
    }

    async fn converse(
        &mut self,
        interrupts: &mut (impl Stream<Item = io::Result<()>> + Unpin),
    ) -> io::Result<Ending> {
        loop {
            self.prompt()?;
            let line = tokio::select! {
                biased;
                Some(interrupt) = interrupts.next() => {
                    interrupt?;
                    writeln!(self.screen.out)?; // leave the prompt's line
                    return Ok(Ending::Interrupted);
                }
                line = self.input.next() => line.transpose()?,
            };
            let Some(line) = line else {
                writeln!(self.screen.out)?; // leave the prompt's line
                return Ok(Ending::Finished);
            };
            let Some(text) = self.readable(line)? else { continue };
            match Command::parse(&text) {
                Command::Nothing => {}
                Command::Exit => return Ok(Ending::Finished),
                Command::Help => self.notice(self.lang.help())?,
                Command::Tools => self.list_tools()?,
                Command::Unknown(word) => {
                    self.notice(&self.lang.unknown_command(&visible(word)))?;
                }
                Command::Say(text) => {
                    if self.answer(text, interrupts).await? == Ending::Interrupted {
                        return Ok(Ending::Interrupted);
                    }
                }
            }
        }
    }

    /// One run of the agent, seen by everybody who watches.
    async fn answer(
        &mut self,
        text: &str,
        interrupts: &mut (impl Stream<Item = io::Result<()>> + Unpin),
    ) -> io::Result<Ending> {
        let Self { agent, screen, journals, .. } = self;
        let cancel = CancellationToken::new();
        let ending = {
            let mut listeners = Listeners::new();
            // Before the screen: what a person has seen must not be missing from the log.
            for journal in journals.iter_mut() {
                listeners.add(|event| {
                    journal.on_event(event);
                    if journal.failure().is_some_and(|failure| is_gone(&failure)) {
                        cancel.cancel();
                    }
                });
            }
            listeners.add(|event| {
                screen.on_event(event);
                if screen.has_failed() {
                    cancel.cancel(); // nobody can see it any more
                }
            });
            let mut run = std::pin::pin!(agent.run(text, &cancel, &mut listeners));
            loop {
                tokio::select! {
                    biased;
                    Some(interrupt) = interrupts.next() => {
                        interrupt?;
                        if cancel.is_cancelled() {
                            break Ending::Interrupted;
                        }
                        cancel.cancel();
                    }
                    () = &mut run => break Ending::Finished,
                }
            }
        };
        self.screen.failure().map_or(Ok(()), Err)?;
        if ending == Ending::Interrupted {
            writeln!(self.screen.out)?; // leave the reply's line
        }
        self.tell_failures()?;
        let is_over = cancel.is_cancelled() && self.source == Source::Script;
        Ok(if is_over { Ending::Interrupted } else { ending })
    }

    fn tell_failures(&mut self) -> io::Result<()> {
        let failures: Vec<_> = self.journals.iter().filter_map(|it| it.failure()).collect();
        for failure in failures {
            if is_gone(&failure) {
                return Err(failure);
            }
            self.notice(&self.lang.error(visible(&failure.to_string())))?;
        }
        Ok(())
    }

    fn list_tools(&mut self) -> io::Result<()> {
        let describe = |tool: &std::sync::Arc<dyn crate::tool::Tool>| {
            format!("{}: {}\n{:#}", tool.name(), tool.description(), tool.schema())
        };
        let tools: Vec<_> = self.agent.tools().iter().map(describe).collect();
        self.notice(&tools.join("\n\n"))
    }

    fn prompt(&mut self) -> io::Result<()> {
        write!(self.screen.out, "{SPEAKER}{}{SPEAKER:#}", self.lang.you())?;
        self.screen.out.flush() // standard output holds an unfinished line back
    }

    /// The text of a line, echoed if need be; a line that is not text is answered right here.
    fn readable(&mut self, line: Line) -> io::Result<Option<String>> {
        let text = if let Line::Text(text) = &line { text } else { "" };
        if self.source != Source::Terminal {
            writeln!(self.screen.out, "{}", visible(text).replace('\n', &format!("\n{INDENT}")))?;
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
        writeln!(self.screen.out, "{text}\n")
    }

    fn farewell(&mut self) -> io::Result<()> {
        writeln!(self.screen.out, "{}", self.lang.farewell(self.agent.context.messages.len()))?;
        self.screen.out.flush()
    }
}

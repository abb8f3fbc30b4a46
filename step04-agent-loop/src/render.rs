//! Agent events in, terminal text out.
//!
//! It shows a run while it happens: thoughts apart from text, the arguments of a call while they
//! grow, what tools report and find. It only listens. What enters the history is not its business
//! any more, as it was in step 03: the loop decides that.

use std::collections::HashMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::agent_event::{AgentEvent, MessageUpdate};
use crate::brief::brief;
use crate::event::Change;
use crate::live_line::{LiveLine, fit};
use crate::message::{AssistantMessage, ContentBlock, Message, StopReason, ToolResultMessage};
use crate::partial_json::ArgumentsPreview;
use crate::script::Lang;
use crate::visible::{visible, visible_line};

/// What the person says, and whom they talk to.
pub const SPEAKER: Style = Style::new().bold();
const THOUGHT: Style = Style::new().dimmed();
const TOOL: Style = AnsiColor::Cyan.on_default();
const ERROR: Style = AnsiColor::Red.on_default();

/// How much of a tool's result is shown, in columns. The model gets all of it.
const RESULT_COLUMNS: usize = 100;

/// What the further lines of a text begin with. A label stands at the left edge, so no line of a text
/// can pass for one of the program, or for the person's next word. (A line that the window wraps is
/// still one line: where it wraps is the terminal's business.)
pub const INDENT: &str = "  ";

/// The screen of a conversation.
pub struct Renderer<W> {
    /// Where it is written.
    pub out: W,
    lang: Lang,
    line: LiveLine,
    /// To what the line on which the cursor stands belongs.
    cursor: Cursor,
    /// Whether the text that is being said has just ended a line.
    line_ended: bool,
    /// The calls that are growing, by content index: calls may interleave.
    calls: HashMap<usize, GrowingCall>,
    failure: Option<io::Error>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    /// The beginning of a line.
    Free,
    /// A content block.
    Block(usize),
    /// The progress of the call with this id.
    Progress(String),
}

struct GrowingCall {
    name: String,
    preview: ArgumentsPreview,
}

impl<W: Write> Renderer<W> {
    /// A screen; `columns` is the width of the terminal, if lines can be written over.
    pub fn new(out: W, lang: Lang, columns: Option<fn() -> usize>) -> Self {
        let line = LiveLine::new(columns);
        let calls = HashMap::new();
        Self { out, lang, line, cursor: Cursor::Free, line_ended: false, calls, failure: None }
    }

    /// Shows one event. After a failure nothing more is shown; [`failure`](Self::failure) has it.
    pub fn on_event(&mut self, event: &AgentEvent) {
        if self.failure.is_none() {
            self.failure = self.show(event).err();
        }
    }

    /// Why writing failed, if it did. Asked for once: it is taken out.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Whether writing has failed.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn show(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::MessageUpdate(MessageUpdate(update)) => self.change(&update.change)?,
            AgentEvent::MessageEnd { message: Message::Assistant(message) } => {
                self.ended(message)?
            }
            AgentEvent::MessageEnd { message: Message::ToolResult(result) } => {
                self.result(result)?
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, tool_name, partial_result, .. } => {
                self.progress(tool_call_id, tool_name, &partial_result.content)?;
            }
            AgentEvent::AgentEnd { .. } => writeln!(self.out)?,
            _ => {}
        }
        self.out.flush()
    }

    fn change(&mut self, change: &Change) -> io::Result<()> {
        match change {
            Change::TextDelta { content_index, delta } => {
                self.text(*content_index, self.lang.assistant(), SPEAKER, Style::new(), delta)
            }
            Change::ThinkingDelta { content_index, delta } => {
                self.text(*content_index, self.lang.thinking(), THOUGHT, THOUGHT, delta)
            }
            Change::ToolcallStart { content_index, name, .. } => {
                let preview = ArgumentsPreview::new();
                self.calls.insert(*content_index, GrowingCall { name: name.clone(), preview });
                self.call(*content_index, "")
            }
            Change::ToolcallDelta { content_index, delta } => self.call(*content_index, delta),
            // A text is shown once there is any, and its line ends when something else begins. The
            // start and the end of a reply are messages.
            _ => Ok(()),
        }
    }

    fn text(
        &mut self,
        index: usize,
        label: &str,
        label_style: Style,
        style: Style,
        delta: &str,
    ) -> io::Result<()> {
        if delta.is_empty() {
            return Ok(()); // nothing to show, and no line for it
        }
        if self.move_to(Cursor::Block(index))? {
            write!(self.out, "{label_style}{label}{label_style:#}")?;
        }
        for line in visible(delta).split_inclusive('\n') {
            let indent = if self.line_ended && line != "\n" { INDENT } else { "" };
            write!(self.out, "{indent}{style}{line}{style:#}")?;
            self.line_ended = line.ends_with('\n');
        }
        Ok(())
    }

    /// The preview grows here and nowhere else; it is shown, and never run.
    fn call(&mut self, index: usize, delta: &str) -> io::Result<()> {
        self.move_to(Cursor::Block(index))?;
        let Some(call) = self.calls.get_mut(&index) else { return Ok(()) };
        call.preview.push(delta);
        let arguments = call.preview.value().map(brief).unwrap_or_default();
        let text = format!("{} {arguments}", call.name);
        self.line.show(&mut self.out, TOOL, self.lang.tool(), &visible_line(text.trim_end()))
    }

    fn progress(&mut self, id: &str, name: &str, content: &[ContentBlock]) -> io::Result<()> {
        self.move_to(Cursor::Progress(id.to_owned()))?;
        let said = content.iter().map(ContentBlock::body).collect::<String>();
        let text = visible_line(&format!("{name}: {said}"));
        self.line.show(&mut self.out, TOOL, self.lang.progress(), &text)
    }

    fn result(&mut self, result: &ToolResultMessage) -> io::Result<()> {
        self.move_to(Cursor::Free)?;
        let text = result.content.iter().map(ContentBlock::body).collect::<String>();
        let first = visible_line(text.lines().next().unwrap_or_default());
        let more = self.lang.more_lines(text.lines().count().saturating_sub(1));
        let style = if result.is_error { ERROR } else { TOOL };
        let label = self.lang.result(result.is_error);
        let name = visible_line(&result.tool_name);
        // The first line of a failure is shown whole: it says what went wrong, where, what to do.
        let first = if result.is_error { first } else { fit(&first, RESULT_COLUMNS) };
        writeln!(self.out, "{style}{label}{style:#}{name}: {first}{more}")
    }

    /// How a reply ended, unless it ended well.
    fn ended(&mut self, message: &AssistantMessage) -> io::Result<()> {
        self.move_to(Cursor::Free)?;
        self.calls.clear(); // a preview may be megabytes
        let why = message.error_message.as_deref().filter(|why| !why.trim().is_empty());
        let why = why.unwrap_or(self.lang.no_reason());
        let note = match message.stop_reason {
            Some(StopReason::Error) => self.lang.error(visible_line(why)),
            Some(StopReason::Aborted) => self.lang.aborted().to_owned(),
            Some(StopReason::Length) => self.lang.truncated().to_owned(),
            _ => return Ok(()),
        };
        writeln!(self.out, "{ERROR}{note}{ERROR:#}")
    }

    /// Begins a new line if the cursor stands in something else. Says whether it moved.
    fn move_to(&mut self, place: Cursor) -> io::Result<bool> {
        if self.cursor == place {
            return Ok(false);
        }
        if self.line.is_open() {
            self.line.finish(&mut self.out)?;
        } else if self.cursor != Cursor::Free && !self.line_ended {
            writeln!(self.out)?;
        }
        self.line_ended = false;
        self.cursor = place;
        Ok(true)
    }
}

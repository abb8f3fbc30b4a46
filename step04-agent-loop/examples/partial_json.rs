//! A playground: watch any text unfold as a tool call's arguments.
//!
//! ```text
//! cargo run -p step04-agent-loop --example partial_json -- [--chunk N] [--live] [FILE]
//! echo '{"path":"a.rs","limit":12}' | cargo run -p step04-agent-loop --example partial_json
//! ```
//!
//! One JSON line per delta shows what a person would see at that moment; the last line is the
//! verdict of the strict reader, which alone decides whether a tool may run.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;
use step04_agent_loop::partial_json::{ArgumentsPreview, parse_arguments};
use unicode_width::UnicodeWidthChar;

/// Shows a JSON text as it unfolds, delta by delta.
#[derive(Parser)]
struct Options {
    /// Characters per delta.
    #[arg(long, value_name = "N", default_value = "4")]
    chunk: NonZeroUsize,
    /// Rewrite one line instead of printing a line per delta (on a terminal only).
    #[arg(long)]
    live: bool,
    /// The text (standard input if not given).
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match read_text(&options).and_then(|text| unfold(&text, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        // `| head -1` has seen enough: not a failure.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let source =
                options.file.as_deref().map_or("partial_json".into(), |f| f.display().to_string());
            // Not `eprintln!`, which panics when standard error is closed.
            let _ = writeln!(io::stderr(), "{}: {error}", visible(&source));
            ExitCode::FAILURE
        }
    }
}

/// Reads it whole, so that a file that is not UTF-8 is refused before anything is shown.
fn read_text(options: &Options) -> io::Result<String> {
    match &options.file {
        Some(file) => fs::read_to_string(file),
        None => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        }
    }
}

fn unfold(text: &str, options: &Options) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let on_terminal = out.is_terminal();
    let live = options.live && on_terminal;
    let mut preview = ArgumentsPreview::new();
    let mut seen = 0;
    for delta in deltas(text, options.chunk) {
        preview.push(delta);
        seen += delta.len();
        let line = json!({"n": seen, "preview": preview.value()}).to_string();
        if live {
            write!(out, "\r\x1b[2K{}", last_columns(&visible(&line), columns()))?;
            out.flush()?;
        } else if on_terminal {
            writeln!(out, "{}", visible(&line))?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    let verdict = match parse_arguments(text) {
        Ok(arguments) => json!({"final": arguments}),
        Err(error) => json!({"error": error.to_string()}),
    };
    let verdict = verdict.to_string();
    let verdict = if on_terminal { visible(&verdict) } else { verdict };
    writeln!(out, "{}{verdict}", if live { "\n" } else { "" })?;
    out.flush()
}

/// The text is a model's, and a terminal obeys some characters: JSON escapes only half of them. The
/// others can stand only inside strings, so that the line stays JSON. (A file's name is shown the
/// same way: it may hold anything.)
fn visible(line: &str) -> String {
    let mut visible = String::new();
    for character in line.chars() {
        match character {
            // The controls, old and new, and DEL; marks that turn the direction of text.
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                visible += &format!("\\u{:04x}", u32::from(character));
            }
            _ => visible.push(character),
        }
    }
    visible
}

/// A live line must not wrap, or it can't be rewritten. It grows at its end, so that is what is kept.
fn last_columns(line: &str, columns: usize) -> &str {
    let mut taken = 0;
    let too_far = |&(_, character): &(usize, char)| {
        taken += character.width().unwrap_or(0);
        taken >= columns
    };
    let cut = line.char_indices().rev().find(too_far);
    cut.map_or(line, |(at, character)| &line[at + character.len_utf8()..])
}

/// The width of the window, asked for each time: windows are resized.
fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

/// Cuts between characters: a Rust string can't be cut inside one.
fn deltas(text: &str, chunk: NonZeroUsize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(chunk.get()).map_or(rest.len(), |(at, _)| at);
        let (delta, after) = rest.split_at(end);
        rest = after;
        (!delta.is_empty()).then_some(delta)
    })
}

//! `read`: a file, or a window of it.
//!
//! The window is bounded in lines and in bytes, so one call can't fill the model's context, and the
//! answer says how to get the next one. Windows put together are the file, to the byte: a cut never
//! goes through a character. (`buffer.toString()` per chunk, as in TypeScript, puts U+FFFD there.)
//!
//! Modelled on Pi's `packages/coding-agent/src/core/tools/read.ts`, which can't go on inside a line
//! longer than the bound; `byte` is for that.

use std::io::{self, BufRead, BufReader, Read as _, Seek, SeekFrom};
use std::num::{NonZeroU64, NonZeroUsize};
use std::str;

use cap_fs_ext::FollowSymlinks;
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sandbox::{self, Sandbox};
use super::{Cancellable, MAX_BYTES, off_thread, read_at_most};
use crate::partial_json::ToolArguments;
use crate::tool::{Tool, ToolError, ToolOutput, ToolRun, schema_of, typed};

/// The most lines in one answer.
const MAX_LINES: usize = 2000;

/// How far `offset` may be from the start: lines have to be counted, and a file may have no end.
const MAX_SKIP: u64 = 256 * 1024 * 1024;

/// What `read` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArguments {
    /// The file, relative to the root folder.
    pub path: String,
    /// The first line to read, from 1 (the default).
    pub offset: Option<NonZeroU64>,
    /// The most lines to read (2000 if not given, and at most).
    pub limit: Option<NonZeroUsize>,
    /// Instead of `offset`: the byte to start at, from 0. Only needed to go on inside a very long
    /// line.
    pub byte: Option<u64>,
}

/// Reads a file.
#[derive(Debug, Clone)]
pub struct Read {
    sandbox: Sandbox,
}

impl Read {
    /// Reads files of this folder.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox }
    }
}

impl Tool for Read {
    fn name(&self) -> &str {
        "read"
    }

    fn description(&self) -> &str {
        "Reads a text file. Long files are cut after 2000 lines or 50 KiB; the answer then says how \
         to continue."
    }

    fn schema(&self) -> serde_json::Value {
        schema_of::<ReadArguments>()
    }

    /// Parses here, where a mistake costs nothing, and reads on another thread.
    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let sandbox = self.sandbox.clone();
        async move {
            let arguments = typed(&arguments)?;
            off_thread(run, move |run| read(&sandbox, &arguments, run)).await
        }
        .boxed()
    }
}

/// The whole work, on a thread that may block.
fn read(
    sandbox: &Sandbox,
    arguments: &ReadArguments,
    run: &ToolRun,
) -> Result<ToolOutput, ToolError> {
    let path = sandbox::checked_path(&arguments.path)?;
    let window = sandbox::open_regular(sandbox.root(), path, FollowSymlinks::Yes)
        .and_then(|file| first_window(Cancellable { inner: file, run }, arguments))
        .map_err(|error| sandbox::explained("read", &arguments.path, error))?;
    Ok(ToolOutput::new(window.into_answer()))
}

/// The window that the arguments ask for.
///
/// Every error in here is an [`io::Error`], also a [refusal](sandbox::refusal), so that a `?` does and
/// the path is put to it in one place.
fn first_window(mut file: impl io::Read + Seek, arguments: &ReadArguments) -> io::Result<Window> {
    let mut start = Place { byte: 0, line: Some(1) };
    if let Some(byte) = arguments.byte {
        if arguments.offset.is_some() {
            return Err(sandbox::refusal("give `offset` or `byte`, not both"));
        }
        start = seek_byte(&mut file, byte)?;
    }
    // Only now: a reader that has filled its buffer does not notice a seek below it.
    let mut reader = BufReader::new(file);
    if let Some(offset) = arguments.offset {
        start = skip_lines(&mut reader, offset.get(), MAX_SKIP)?;
    }
    let lines = arguments.limit.map_or(MAX_LINES, |limit| limit.get().min(MAX_LINES));
    window(&mut reader, start, Limits { lines, bytes: MAX_BYTES })
}

/// Where a window starts or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Bytes before it.
    byte: u64,
    /// The line that starts there; `None` inside a line, or if lines were not counted.
    line: Option<u64>,
}

/// The bounds of a window.
#[derive(Debug, Clone, Copy)]
struct Limits {
    lines: usize,
    /// At least 4, so that one character fits and a reader gets on.
    bytes: usize,
}

/// A piece of a file, always whole characters.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    text: String,
    /// Where the next one starts, if there is more.
    rest: Option<Place>,
}

/// Goes to the start of `line`, if that is within the first `most` bytes.
fn skip_lines(reader: &mut impl BufRead, line: u64, most: u64) -> io::Result<Place> {
    let mut byte = 0;
    let mut reader = reader.take(most);
    for number in 1..line {
        // Unlike `read_line` this keeps nothing, so a line may be as long as it likes.
        byte += reader.skip_until(b'\n')? as u64;
        if byte == most {
            let why = format!("line {line} is not within the first {most} bytes; use `byte`");
            return Err(sandbox::refusal(why));
        }
        // A line break ends a line; it does not start one with nothing in it.
        if reader.fill_buf()?.is_empty() {
            return Err(sandbox::refusal(format!(
                "no line {line}: the file ends in line {number}"
            )));
        }
    }
    Ok(Place { byte, line: Some(line) })
}

/// Goes to a byte, or behind the character it is in the middle of. Which line that is in, nobody has
/// counted.
fn seek_byte(file: &mut (impl io::Read + Seek), byte: u64) -> io::Result<Place> {
    let length = file.seek(SeekFrom::End(0))?;
    if byte > length {
        return Err(sandbox::refusal(format!("no byte {byte}: the file has {length} bytes")));
    }
    file.seek(SeekFrom::Start(byte))?;
    // A note of ours never leads there, but a model may make a number up.
    let next = read_at_most(&mut *file, 3)?;
    let inside = next.iter().take_while(|&&byte| byte & 0b1100_0000 == 0b1000_0000).count() as u64;
    file.seek(SeekFrom::Start(byte + inside))?;
    Ok(Place { byte: byte + inside, line: None })
}

/// Reads a window from `start`, where `reader` stands.
fn window(reader: &mut impl BufRead, start: Place, limits: Limits) -> io::Result<Window> {
    // One byte more than may be shown tells whether there is more.
    let bytes = read_at_most(reader, limits.bytes + 1)?;
    let end = end_of_window(&bytes, limits);
    let cut = end < bytes.len();
    let text = match str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        // The bound went through a character, so the window ends before it. `error_len` tells this
        // from bytes that are wrong whatever follows.
        Err(error) if cut && error.error_len().is_none() => {
            str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return Err(not_text(start.byte + error.valid_up_to() as u64)),
    };
    // Valid UTF-8, but no text: UTF-16 without a mark at its front, or a data format.
    match text.find('\0') {
        Some(at) => Err(not_text(start.byte + at as u64)),
        None => Ok(Window { text: text.to_owned(), rest: cut.then(|| start.after(text)) }),
    }
}

/// The answer for what can't be shown. A byte is the only place it has.
fn not_text(byte: u64) -> io::Error {
    sandbox::refusal(format!("it is not a UTF-8 text: see byte {byte}"))
}

/// As many whole lines as fit; of a line that alone is too long, as many bytes as fit.
fn end_of_window(bytes: &[u8], limits: Limits) -> usize {
    // On bytes: `\n` is never a part of another character in UTF-8, and the text is not checked yet.
    let mut end = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n').take(limits.lines) {
        if end + line.len() > limits.bytes {
            return if end == 0 { limits.bytes } else { end };
        }
        end += line.len();
    }
    end
}

impl Place {
    /// Where one stands after `text`. In the middle of a line only the byte is known.
    fn after(self, text: &str) -> Self {
        let lines = text.matches('\n').count() as u64;
        let line = self.line.filter(|_| text.ends_with('\n')).map(|line| line + lines);
        Self { byte: self.byte + text.len() as u64, line }
    }
}

impl Window {
    /// The text as the model gets it. The note stands on a line of its own and names the argument to
    /// use, for a model does what it can copy.
    fn into_answer(self) -> String {
        match self.rest {
            None if self.text.is_empty() => "[nothing: the file ends here]".to_owned(),
            None => self.text,
            Some(Place { line: Some(line), .. }) => {
                format!("{}\n[cut: there is more, continue with offset={line}]", self.text)
            }
            Some(Place { byte, .. }) => {
                format!("{}\n[cut: there is more, continue with byte={byte}]", self.text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;

    use super::*;

    const START: Place = Place { byte: 0, line: Some(1) };

    /// Gives one byte at a time, as a slow disk may.
    struct Drops<'a>(&'a [u8]);

    impl io::Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (Some((first, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut())
            else {
                return Ok(0);
            };
            (*place, self.0) = (*first, rest);
            Ok(1)
        }
    }

    proptest! {
        /// Whatever the bounds, and however the bytes arrive: each window is within the bounds, says
        /// where it ends, and all together are the text.
        #[test]
        fn windows_cover_the_text(
            text in "[ab\n你🦀é]{0,60}", lines in 1_usize..5, bytes in 4_usize..20,
        ) {
            let limits = Limits { lines, bytes };
            let (mut whole, mut place) = (String::new(), START);
            loop {
                let rest = &text.as_bytes()[place.byte as usize..];
                let window = window(&mut BufReader::new(Drops(rest)), place, limits).unwrap();
                prop_assert!(window.text.len() <= bytes);
                prop_assert!(window.text.split_inclusive('\n').count() <= lines);
                whole += &window.text;
                let Some(next) = window.rest else { break };
                prop_assert!(next.byte > place.byte, "it must get on");
                prop_assert_eq!(next.byte, whole.len() as u64);
                let line = whole.matches('\n').count() as u64 + 1;
                let known = whole.ends_with('\n') && place.line.is_some();
                prop_assert_eq!(next.line, known.then_some(line));
                place = next;
            }
            prop_assert_eq!(whole, text);
        }

        /// The start of a line is the same, found by counting lines or bytes.
        #[test]
        fn lines_are_where_they_start(text in "[ab\n🦀]{0,40}", line in 1_u64..12) {
            let place = skip_lines(&mut BufReader::new(Drops(text.as_bytes())), line, 1000);
            let starts: Vec<usize> = std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .filter(|&at| at == 0 || at < text.len())
                .collect();
            let expected = starts.get(line as usize - 1);
            let found = place.as_ref().ok().map(|place| place.byte as usize);
            prop_assert_eq!(found.as_ref(), expected, "{:?}", place);
        }
    }

    #[test]
    fn the_bytes_of_a_greeting_one_at_a_time() {
        let mut reader = BufReader::with_capacity(1, Drops("你好🦀".as_bytes()));
        let window = window(&mut reader, START, Limits { lines: 1, bytes: 99 }).unwrap();
        assert_eq!(window, Window { text: "你好🦀".into(), rest: None });
    }

    #[test]
    fn a_file_without_an_end_gives_one_window() {
        let mut endless = BufReader::new(io::repeat(b'x'));
        let window = window(&mut endless, START, Limits { lines: 9, bytes: 5 }).unwrap();
        assert_eq!(window.text, "xxxxx");
        assert_eq!(window.rest, Some(Place { byte: 5, line: None }));
    }

    #[test]
    fn a_line_without_an_end_is_not_skipped() {
        let mut endless = BufReader::new(io::repeat(b'x'));
        let error = skip_lines(&mut endless, 2, 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "line 2 is not within the first 1048576 bytes; use `byte`");
    }

    #[test]
    fn a_cancelled_run_reads_no_further() {
        let run = ToolRun::new(CancellationToken::new(), |_| ());
        let mut reader =
            BufReader::with_capacity(2, Cancellable { inner: &b"ab\ncd"[..], run: &run });
        assert_eq!(reader.fill_buf().unwrap(), b"ab");
        run.cancel.cancel();
        let error = skip_lines(&mut reader, 2, 99).unwrap_err();
        assert!(matches!(sandbox::explained("read", "a", error), ToolError::Aborted));
    }

    #[test]
    fn a_byte_inside_a_character_means_the_next_one() {
        let text = "abc你🦀";
        let mut file = Cursor::new(text);
        for byte in 0..=text.len() {
            let boundary = (byte..).find(|&at| text.is_char_boundary(at)).unwrap() as u64;
            let place = seek_byte(&mut file, byte as u64).unwrap();
            assert_eq!((place, file.position()), (Place { byte: boundary, line: None }, boundary));
        }
        assert!(seek_byte(&mut file, text.len() as u64 + 1).is_err());
    }
}

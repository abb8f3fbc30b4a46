//! Lines from a terminal, a pipe or a script.
//!
//! The standard library's `lines()` gives up at the first line that is not UTF-8 and lets a line
//! grow until memory ends. A conversation should outlive both, so each becomes a kind of line that
//! the loop can answer. (Node's `readline` never tells: it puts U+FFFD where bytes were wrong.)

use std::io::{self, BufRead, Read};

/// The longest line that is read as text, in bytes: 16 MiB.
pub const LONGEST_LINE: usize = 16 << 20;

/// What can stand between two line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Text, without its line end (`\n` or `\r\n`).
    Text(String),
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// More than [`LONGEST_LINE`] bytes; the rest of the line has been skipped.
    TooLong,
}

/// The lines of `input`, read one at a time and only when asked for.
///
/// A last line without a line end counts. An `Err` is the operating system's: stop there.
pub fn lines(mut input: impl BufRead) -> impl Iterator<Item = io::Result<Line>> {
    std::iter::from_fn(move || read_line(&mut input).transpose())
}

fn read_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    // Two bytes more than the limit: a line of exactly the limit still has room for `\r\n`.
    input.take(LONGEST_LINE as u64 + 2).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > LONGEST_LINE {
        input.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    strip_line_end(&mut bytes);
    if bytes.len() > LONGEST_LINE {
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(String::from_utf8(bytes).map_or(Line::NotUtf8, Line::Text)))
}

fn strip_line_end(bytes: &mut Vec<u8>) {
    for end in [b'\n', b'\r'] {
        if bytes.last() == Some(&end) {
            bytes.pop();
        }
    }
}

/// Tells the terminal that its input is UTF-8, so that Backspace takes back a whole character.
///
/// Most terminals have this set already; one that has not erases a single byte of `你` and leaves
/// two that mean nothing. Elsewhere than on a Unix terminal there is nothing to do, and a terminal
/// that refuses is used as it is.
///
/// More than that the terminal's own line editing can't do: it takes every character for one column
/// wide, so after erasing a Chinese one the screen may show a remnant that the program never gets,
/// and it keeps no more than 4095 bytes of a line. A real agent brings a line editor of its own.
pub fn erase_whole_characters() {
    #[cfg(unix)]
    {
        use rustix::termios::{InputModes, OptionalActions, tcgetattr, tcsetattr};
        let stdin = io::stdin();
        if let Ok(mut settings) = tcgetattr(&stdin) {
            settings.input_modes |= InputModes::IUTF8;
            let _ = tcsetattr(&stdin, OptionalActions::Now, &settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<Line> {
        lines(bytes).collect::<io::Result<_>>().expect("a slice can always be read")
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[test]
    fn line_ends_are_not_part_of_a_line() {
        assert_eq!(read(b"a\r\n\nb\n"), [text("a"), text(""), text("b")]);
        assert_eq!(read(b"no end"), [text("no end")]);
        assert_eq!(read(b"\r"), [text("")]);
        assert_eq!(read(b""), []);
    }

    #[test]
    fn a_line_that_is_not_utf8_costs_only_itself() {
        assert_eq!(read(b"\xe4\xbd\n\xe4\xbd\xa0\n"), [Line::NotUtf8, text("你")]);
    }

    #[test]
    fn a_line_of_the_limit_is_read_and_one_byte_more_is_not() {
        for end in ["", "\n", "\r\n"] {
            let longest = "x".repeat(LONGEST_LINE);
            assert_eq!(read(format!("{longest}{end}").as_bytes()), [text(&longest)]);
            assert_eq!(read(format!("{longest}x{end}").as_bytes()), [Line::TooLong]);
        }
        let endless = io::repeat(b'x').take(3 * LONGEST_LINE as u64).chain(&b"\nnext"[..]);
        let lines: Vec<_> = lines(io::BufReader::new(endless)).map(Result::unwrap).collect();
        assert_eq!(lines, [Line::TooLong, text("next")]);
    }

    #[test]
    fn an_error_of_the_system_is_handed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
        let first = lines(io::BufReader::new(Broken)).next().expect("one item");
        assert_eq!(first.expect_err("it fails").kind(), io::ErrorKind::PermissionDenied);
    }

    proptest! {
        /// However the operating system cuts the bytes, the lines are those of `str::lines`.
        #[test]
        fn the_same_lines_however_the_bytes_arrive(input in "([a你🦀 ]|\r?\n){0,40}", piece in 1..9usize) {
            let arriving = io::BufReader::with_capacity(piece, input.as_bytes());
            let got: Vec<_> = lines(arriving).map(Result::unwrap).collect();
            prop_assert_eq!(got, input.lines().map(text).collect::<Vec<_>>());
        }
    }
}

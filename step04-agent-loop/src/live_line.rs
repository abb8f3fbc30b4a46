//! One line that changes in place: how a person watches arguments grow.
//!
//! On a terminal the line is written over itself, in one write per change, so that it never shows an
//! intermediate state. Elsewhere (a file, a pipe, `NO_COLOR`) nothing can be overwritten, and each
//! change that can be seen gets a line of its own.

use std::io::{self, Write};

use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The line, and what it shows at the moment.
pub struct LiveLine {
    /// The width of the terminal in columns, asked for anew each time: windows are resized.
    /// `None` when the line can't be overwritten.
    columns: Option<fn() -> usize>,
    shown: Option<String>,
}

/// How wide a line may get where no terminal sets a limit.
const PLAIN_COLUMNS: usize = 100;

impl LiveLine {
    /// A line that is not there yet.
    pub fn new(columns: Option<fn() -> usize>) -> Self {
        Self { columns, shown: None }
    }

    /// Shows `text`, which is one line, after `label`. The same text again writes nothing.
    ///
    /// # Errors
    /// Those of writing.
    pub fn show(
        &mut self,
        out: &mut impl Write,
        style: Style,
        label: &str,
        text: &str,
    ) -> io::Result<()> {
        // The last column stays free: some terminals go to the next line when it is filled.
        let columns = self.columns.map_or(PLAIN_COLUMNS, |columns| columns().saturating_sub(1));
        let room = columns.saturating_sub(label.width());
        let text = fit(text, room);
        let line = format!("{label}{text}");
        if self.shown.as_ref() == Some(&line) {
            return Ok(());
        }
        let styled = format!("{style}{label}{style:#}{text}");
        match (self.columns, &self.shown) {
            (None, _) => writeln!(out, "{styled}")?,
            (Some(_), None) => out.write_all(styled.as_bytes())?,
            (Some(_), Some(before)) => {
                // After the window got narrower, the line of before takes up several rows.
                let rows_up = rows(before, columns + 1) - 1;
                let up = if rows_up > 0 { format!("\x1b[{rows_up}A") } else { String::new() };
                out.write_all(format!("{up}\r{styled}\x1b[J").as_bytes())?;
            }
        }
        self.shown = Some(line);
        out.flush()
    }

    /// The line stays as it is, and whatever follows begins on the next one.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        match (self.columns, self.shown.take()) {
            (Some(_), Some(_)) => writeln!(out),
            _ => Ok(()),
        }
    }

    /// Whether there is a line now.
    pub fn is_open(&self) -> bool {
        self.shown.is_some()
    }
}

/// How many rows a line takes up in a window. A wide character that has no room at the end of a row
/// goes to the next one.
fn rows(line: &str, columns: usize) -> usize {
    let (mut rows, mut column) = (1, 0);
    for width in line.graphemes(true).map(UnicodeWidthStr::width) {
        if column + width > columns && column > 0 {
            (rows, column) = (rows + 1, 0);
        }
        column += width;
    }
    rows
}

/// Cuts a text to so many columns, from the middle: the beginning says what it is, and the end is
/// where it grows. Never through a character, and never half of a wide one.
pub fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let head = take(text.graphemes(true), columns.saturating_sub(1) / 3);
    let tail = take(text.graphemes(true).rev(), columns.saturating_sub(1) - head.width());
    let tail: String = tail.graphemes(true).rev().collect();
    if columns == 0 { String::new() } else { format!("{head}…{tail}") }
}

/// As many graphemes as fit into `columns`.
fn take<'a>(graphemes: impl Iterator<Item = &'a str>, columns: usize) -> String {
    let mut taken = String::new();
    let mut width = 0;
    for grapheme in graphemes {
        width += grapheme.width();
        if width > columns {
            break;
        }
        taken.push_str(grapheme);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(columns: Option<fn() -> usize>, texts: &[&str]) -> String {
        let mut out = Vec::new();
        let mut line = LiveLine::new(columns);
        for text in texts {
            line.show(&mut out, Style::new(), "> ", text).expect("a vector takes everything");
        }
        line.finish(&mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_terminal_is_written_over_and_anything_else_gets_lines() {
        assert_eq!(shown(None, &["a", "a", "ab"]), "> a\n> ab\n");
        assert_eq!(shown(Some(|| 80), &["a", "a", "ab"]), "> a\r> ab\x1b[J\n");
        assert_eq!(shown(Some(|| 80), &[]), "");
    }

    #[test]
    fn a_window_that_got_narrower_leaves_no_rubbish() {
        let mut out = Vec::new();
        let mut line = LiveLine::new(Some(|| 80));
        line.show(&mut out, Style::new(), "", &"x".repeat(70)).expect("a vector takes everything");
        line.columns = Some(|| 30); // the line of before now takes up three rows
        line.show(&mut out, Style::new(), "", "y").expect("a vector takes everything");
        assert!(out.ends_with(b"x\x1b[2A\ry\x1b[J"), "{}", String::from_utf8_lossy(&out));
        line.columns = Some(|| 31);
        line.show(&mut out, Style::new(), "", &"x".repeat(30)).expect("a vector takes everything");
        line.columns = Some(|| 30); // it just fits into one row
        line.show(&mut out, Style::new(), "", "y").expect("a vector takes everything");
        assert!(out.ends_with(b"x\x1b[J\ry\x1b[J"), "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn a_wide_character_does_not_fit_into_the_last_column() {
        assert_eq!(rows("", 3), 1);
        assert_eq!(rows("abc", 3), 1);
        assert_eq!(rows("abcd", 3), 2);
        assert_eq!(rows("你你你", 3), 3, "one per row, and a column is lost in each");
        assert_eq!(rows("a你你", 3), 2);
        assert_eq!(rows("你", 1), 1, "no row is empty, however narrow the window");
    }

    #[test]
    fn a_cut_uses_the_room_there_is() {
        assert_eq!(fit("abcdefghij", 7), "ab…ghij");
        assert_eq!(fit("你你你你你", 7), "你…你你");
        assert_eq!(fit("abc", 1), "…");
    }

    #[test]
    fn no_window_is_too_narrow() {
        for columns in [|| 0, || 1, || 2, || 3] as [fn() -> usize; 4] {
            assert!(shown(Some(columns), &["你好", "你好吗"]).width() < 40);
        }
    }

    proptest! {
        #[test]
        fn what_fits_is_whole_and_what_does_not_is_cut_to_size(text in "[a你🦀é]{0,30}", columns in 0..40usize) {
            let fitted = fit(&text, columns);
            prop_assert!(fitted.width() <= columns);
            if text.width() <= columns {
                prop_assert_eq!(fitted, text);
            } else if columns > 0 {
                let (head, tail) = fitted.split_once('…').expect("a mark where it was cut");
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert!(fitted.width() + 3 >= columns, "no more is cut than must be");
            }
        }
    }
}

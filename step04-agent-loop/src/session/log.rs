//! Appends lines to a file: whole ones, or none.
//!
//! `fs.appendFileSync(file, line)` in Node looks like all or nothing, and isn't. On a full disk half
//! a line stays, and the next one is glued to it: two messages are lost, and the file is damaged in
//! the middle. So a log knows how long its good part is, and goes back to there after a failure.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use serde::Serialize;

/// A file that can lose its end.
pub(super) trait Cut {
    /// Leaves the first `len` bytes; what is written next comes behind them.
    fn cut(&mut self, len: u64) -> io::Result<()>;
}

impl Cut for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(SeekFrom::Start(len)).map(drop)
    }
}

/// The lines in the file, and those that still have to get there.
#[derive(Debug)]
pub(super) struct Log<F> {
    file: F,
    /// How many bytes of the file are whole lines.
    len: u64,
    /// What is still to be written. Only a failure leaves something here.
    pending: Vec<u8>,
    error: Option<io::Error>,
}

impl<F: Write + Cut> Log<F> {
    /// A log that goes on behind `whole`, the lines that the file begins with; what stands behind
    /// them is cut off.
    pub(super) fn new(mut file: F, whole: &[u8]) -> io::Result<Self> {
        let len = whole.len() as u64; // a `usize` has no more than 64 bits
        file.cut(len)?;
        let mut log = Self { file, len, pending: Vec::new(), error: None };
        if whole.last().is_some_and(|&byte| byte != b'\n') {
            log.pending.push(b'\n'); // the last line is whole but for its end
        }
        Ok(log)
    }

    /// Appends a line, behind those that could not be written before.
    pub(super) fn append(&mut self, line: &impl Serialize) {
        match serde_json::to_vec(line) {
            Ok(json) => self.pending.extend(json),
            Err(error) => return self.error = Some(error.into()),
        }
        self.pending.push(b'\n');
        self.error = self.write().err();
    }

    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Writes all that is pending. If that fails halfway, half a line may be left; it is cut off now
    /// and, if that fails too, before the next try.
    fn write(&mut self) -> io::Result<()> {
        self.file.cut(self.len)?;
        if let Err(error) = self.file.write_all(&self.pending).and_then(|()| self.file.flush()) {
            let _ = self.file.cut(self.len);
            return Err(error);
        }
        self.len += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use proptest::prelude::*;

    use super::*;

    /// A disk with so much room, on which cutting may fail too.
    #[derive(Debug, Default)]
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
        cuts: bool,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.room.min(bytes.len()) {
                0 => Err(ErrorKind::StorageFull.into()),
                room => {
                    self.room -= room;
                    self.bytes.extend(&bytes[..room]);
                    Ok(room)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Cut for Disk {
        fn cut(&mut self, len: u64) -> io::Result<()> {
            if !self.cuts {
                return Err(ErrorKind::Other.into());
            }
            self.bytes.truncate(len as usize);
            Ok(())
        }
    }

    /// A log on a disk with lots of room.
    fn log(whole: &str, behind: &str) -> Log<Disk> {
        let bytes = [whole, behind].concat().into_bytes();
        Log::new(Disk { bytes, room: 99, cuts: true }, whole.as_bytes()).expect("a log")
    }

    fn text(log: &Log<Disk>) -> &str {
        std::str::from_utf8(&log.file.bytes).expect("UTF-8")
    }

    #[test]
    fn what_stands_behind_the_whole_lines_is_cut_off() {
        let mut log = log("1\n", "to");
        assert_eq!(text(&log), "1\n");
        log.append(&2);
        assert_eq!(text(&log), "1\n2\n");
    }

    #[test]
    fn a_last_line_without_its_end_gets_one() {
        let mut log = log("1", "");
        log.append(&2);
        assert_eq!(text(&log), "1\n2\n");
    }

    #[test]
    fn a_disk_that_cannot_be_cut_is_an_error_at_once() {
        assert!(Log::new(Disk::default(), b"").is_err());
    }

    #[test]
    fn on_a_full_disk_no_half_line_stays_and_nothing_is_lost() {
        let mut log = log("1\n", "");
        log.file.room = 3;
        log.append(&"two");
        assert_eq!(log.error().map(io::Error::kind), Some(ErrorKind::StorageFull));
        assert_eq!(text(&log), "1\n");
        log.file.room = 3;
        log.append(&3);
        assert!(log.error().is_some());
        log.file.room = 99;
        log.append(&4);
        assert!(log.error().is_none());
        assert_eq!(text(&log), "1\n\"two\"\n3\n4\n");
    }

    #[test]
    fn a_half_line_that_could_not_be_cut_off_is_cut_off_before_the_next() {
        let mut log = log("1\n", "");
        (log.file.room, log.file.cuts) = (2, false);
        log.append(&"two");
        // Nothing may be written behind it.
        log.file.room = 99;
        log.append(&3);
        assert_eq!(log.error().map(io::Error::kind), Some(ErrorKind::Other));
        assert!(!text(&log).contains('3'));
        log.file.cuts = true;
        log.append(&4);
        assert_eq!(text(&log), "1\n\"two\"\n3\n4\n");
    }

    #[test]
    fn what_cannot_be_json_is_an_error_and_no_line() {
        let mut log = log("", "");
        log.append(&std::collections::BTreeMap::from([((1, 2), 3)])); // a key that is no string
        assert!(log.error().is_some());
        log.append(&4);
        assert_eq!(text(&log), "4\n");
    }

    proptest! {
        /// Whatever the disk does, the file begins with whole lines in their order; and once it has
        /// room again, all are there.
        #[test]
        fn all_lines_or_the_first_ones(
            faults in prop::collection::vec((0..40usize, any::<bool>()), 0..20),
        ) {
            let mut log = log("", "");
            for (number, &(room, cuts)) in faults.iter().enumerate() {
                (log.file.room, log.file.cuts) = (room, cuts);
                log.append(&number);
            }
            let all: String = (0..=faults.len()).map(|number| format!("{number}\n")).collect();
            prop_assert!(all.starts_with(text(&log)));
            (log.file.room, log.file.cuts) = (999, true);
            log.append(&faults.len());
            prop_assert_eq!(text(&log), all);
            prop_assert!(log.error().is_none());
        }
    }
}

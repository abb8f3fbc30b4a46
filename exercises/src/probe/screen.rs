//! A screen that remembers what was done to it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One thing done to a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// Bytes were handed over. They need not be visible yet.
    Wrote(Vec<u8>),
    /// All that was handed over became visible.
    Flushed,
}

/// A screen that behaves as standard output does: what is written shows after a flush.
///
/// Its clones are the same screen, so that a check can look while the answer holds one.
#[derive(Debug, Clone, Default)]
pub struct Screen(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    touches: Vec<Touch>,
    /// How many bytes a single `write` takes, if not all of them.
    at_once: Option<usize>,
    /// The write and the flush that fail, counted together from 0.
    fails_at: Option<usize>,
    count: usize,
}

impl Screen {
    /// A screen on which `write` takes only a few bytes at a time, as a pipe may; with 0, a screen
    /// that is full.
    pub fn narrow(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(State { at_once: Some(at_once), ..State::default() })))
    }

    /// A screen whose `n`th touch fails with a broken pipe; counted from 0.
    pub fn breaking(n: usize) -> Self {
        Self(Arc::new(Mutex::new(State { fails_at: Some(n), ..State::default() })))
    }

    /// Whether it came to the touch that fails.
    pub fn broke(&self) -> bool {
        let state = self.state();
        state.fails_at.is_some_and(|at| at < state.count)
    }

    /// All that was handed over, visible or not.
    pub fn written(&self) -> String {
        let state = self.state();
        let bytes = state.touches.iter().filter_map(|touch| match touch {
            Touch::Wrote(bytes) => Some(bytes.as_slice()),
            Touch::Flushed => None,
        });
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>().concat()).into_owned()
    }

    /// What a person sees: all that was handed over before the last flush.
    pub fn visible(&self) -> String {
        let state = self.state();
        let until = state.touches.iter().rposition(|touch| *touch == Touch::Flushed).unwrap_or(0);
        let bytes = state.touches[..until].iter().filter_map(|touch| match touch {
            Touch::Wrote(bytes) => Some(bytes.as_slice()),
            Touch::Flushed => None,
        });
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>().concat()).into_owned()
    }

    /// A panic while the lock was held is the answer's; the touches are whole all the same.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn touch(&mut self, touch: Touch) -> io::Result<()> {
        let count = self.count;
        self.count += 1;
        if self.fails_at == Some(count) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.touches.push(touch);
        Ok(())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        let length = bytes.len().min(state.at_once.unwrap_or(usize::MAX));
        state.touch(Touch::Wrote(bytes[..length].to_vec()))?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.state().touch(Touch::Flushed)
    }
}

//! Three tools that work on real files: [`Read`], [`Write`] and [`Grep`].
//!
//! All of them see the disk through one [`Sandbox`], and all of their work is done by
//! `off_thread`. Files are where async ends: no operating system lets every file be awaited, so
//! the work goes to a thread that may block, and what that thread must never do is block for ever.
//! (Node does the same: `fs.promises` is a thread pool behind a promise.)

mod grep;
mod read;
mod sandbox;
mod write;

use std::io::{self, Read as _};
use std::sync::Arc;

pub use grep::{Grep, GrepArguments};
pub use read::{Read, ReadArguments};
pub use sandbox::Sandbox;
pub use write::{Write, WriteArguments};

use crate::tool::{ToolError, ToolOutput, ToolRun, Toolbox};

/// An answer is never longer than this many bytes (and a note that it was cut): a model reads every
/// byte, and pays for it. Pi has the same bound (`packages/coding-agent/src/core/tools/truncate.ts`).
pub const MAX_BYTES: usize = 50 * 1024;

/// The three tools over one folder.
#[must_use]
pub fn standard(sandbox: &Sandbox) -> Toolbox {
    Toolbox::new(vec![
        Arc::new(Read::new(sandbox.clone())),
        Arc::new(Write::new(sandbox.clone())),
        Arc::new(Grep::new(sandbox.clone())),
    ])
}

/// Runs blocking `work` beside the async threads. Must be awaited inside a tokio runtime.
///
/// A thread can't be stopped from outside, so `work` has to ask [`ToolRun::check`] often. It gets a
/// token of its own, cancelled with the run's and also when this future is dropped: a caller that
/// has gone away leaves no thread behind that works for nobody.
async fn off_thread(
    mut run: ToolRun,
    work: impl FnOnce(&ToolRun) -> Result<ToolOutput, ToolError> + Send + 'static,
) -> Result<ToolOutput, ToolError> {
    run.cancel = run.cancel.child_token();
    let _stop_when_dropped = run.cancel.clone().drop_guard();
    let thread = tokio::task::spawn_blocking(move || {
        run.check()?;
        let answer = work(&run);
        // Whoever cancelled has already been told that nothing came of it. An answer that arrives
        // now must not say otherwise.
        run.check().and(answer)
    });
    thread.await.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => Err(ToolError::panicked(&*panic)),
        Err(_) => Err(ToolError::Aborted), // the runtime is shutting down
    })
}

/// A reader that gives up when the run is cancelled. Wrapped around a file it makes every loop of
/// the standard library (`read_to_end`, `skip_until`, …) ask between two chunks.
struct Cancellable<'a, R> {
    inner: R,
    run: &'a ToolRun,
}

impl<R: io::Read> io::Read for Cancellable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Not `ErrorKind::Interrupted`, which the standard library takes as "try again".
        self.run.check().map_err(io::Error::other)?;
        self.inner.read(buffer)
    }
}

impl<R: io::Seek> io::Seek for Cancellable<'_, R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// At most `limit` bytes from the front of `reader`: memory is bounded, whatever the size of the file
/// was said to be, and also if it grows while it is read.
fn read_at_most(reader: impl io::Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

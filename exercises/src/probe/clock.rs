//! A clock that stands still until everybody waits for it.

use std::future::Future;

/// Runs a future on tokio's paused clock: pauses are exact and cost no time.
pub fn on_a_paused_clock<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime on this thread needs nothing that could be missing")
        .block_on(future)
}

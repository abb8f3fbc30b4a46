//! Standard input, read beside the runtime.
//!
//! Reading a terminal blocks until somebody presses Enter, and no runtime can call that off:
//! tokio's own stdin keeps the process alive after Ctrl-C until one more line is typed. A plain
//! thread does the waiting instead. It sends lines over a channel and dies with the process.
//! (Node needs none of this: its event loop polls the terminal itself.)

use std::{io, thread};

use futures::Stream;
use tokio::sync::mpsc;

use crate::input::{self, Line};

/// The lines of standard input as they are typed, until its end or an error.
///
/// The channel holds one line: a pipe that is faster than the conversation waits for it.
pub fn lines() -> impl Stream<Item = io::Result<Line>> + Unpin {
    let (sender, mut receiver) = mpsc::channel(1);
    thread::spawn(move || {
        for line in input::lines(io::stdin().lock()) {
            if sender.blocking_send(line).is_err() {
                break; // the conversation is over
            }
        }
    });
    futures::stream::poll_fn(move |cx| receiver.poll_recv(cx))
}

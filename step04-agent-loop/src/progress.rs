//! What a running tool says, on its way to the loop: a box that can't overflow.
//!
//! A tool may speak faster than anybody listens, from a thread of its own. A queue would grow
//! without a bound, and the loop, busy emptying it, would be late for everything else. But who wants
//! a queue? Of all that came since the last look the [throttle](crate::throttle) shows the first or
//! keeps the last, and drops what is between. So the box holds those two and no more.
//! (In Pi the tool's callback emits at once, on the one thread there is.)

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The box of one call; its clones are the same box.
#[derive(Clone)]
pub(crate) struct Progress {
    said: Arc<Mutex<Vec<String>>>,
    /// Rings for all calls that run together.
    news: Arc<Notify>,
}

impl Progress {
    /// An empty box; `news` is told when something has been put in.
    pub(crate) fn new(news: &Arc<Notify>) -> Self {
        Self { said: Arc::default(), news: Arc::clone(news) }
    }

    /// The tool speaks. Never waits.
    pub(crate) fn say(&self, text: String) {
        let mut said = self.said();
        said.truncate(1);
        said.push(text);
        drop(said);
        self.news.notify_one();
    }

    /// The first and the last of what was said since the last time, in this order.
    pub(crate) fn take(&self) -> Vec<String> {
        mem::take(&mut *self.said())
    }

    /// A poisoned lock is as good as any: nothing that could panic runs between two changes.
    fn said(&self) -> MutexGuard<'_, Vec<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_the_first_and_the_last() {
        let progress = Progress::new(&Arc::default());
        assert!(progress.take().is_empty());
        for said in 1..=1_000 {
            progress.say(said.to_string());
            assert!(progress.said().len() <= 2);
        }
        assert_eq!(progress.take(), ["1", "1000"]);
        progress.say("alone".to_owned());
        assert_eq!(progress.take(), ["alone"]);
    }
}

//! Checks again whenever a file is saved.
//!
//! The operating system is asked to tell of changes. On some file systems (a network share, a
//! folder of the host inside a container, WSL's `/mnt/c`) it never does and reports no error
//! either, so twice a second the files are looked at as well: there a verdict comes half a second
//! later, and nobody has to know which kind of file system theirs is.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use exercises::registry::{EXERCISES, Exercise};
use exercises::verdict::{self, FAINT, STRONG};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::Ending;
use crate::check;
use crate::files;
use crate::lab::Lab;

/// How long to wait for news before looking oneself.
const LOOK: Duration = Duration::from_millis(500);

/// How long an editor may take to save a file in several steps.
const SETTLE: Duration = Duration::from_millis(20);

/// Shows the verdict on an exercise, and again after each change, to whichever exercise. Ends only
/// with Ctrl-C: there is nothing to lose, for what is solved is in the files.
///
/// # Errors
/// When an exercise can't be checked, and those of writing.
pub fn watch(lab: &Lab, first: &Exercise, poll: bool) -> io::Result<Ending> {
    let (sender, changes) = mpsc::channel();
    // Kept even if unused: on a channel without a sender, waiting would not wait.
    let (_sender, _watcher) = (sender.clone(), (!poll).then(|| listen(lab, sender)));
    let mut known: HashMap<&str, Vec<u8>> = texts(lab);
    check::one(lab, first)?;
    waiting(lab)?;
    loop {
        // What exactly changed is not asked: every system tells it in another way.
        let _ = changes.recv_timeout(LOOK);
        let now = texts(lab);
        let changed =
            EXERCISES.iter().find(|exercise| now.get(exercise.name) != known.get(exercise.name));
        let Some(exercise) = changed else { continue };
        std::thread::sleep(SETTLE);
        known = texts(lab);
        writeln!(lab.out(), "\n{FAINT}{}{FAINT:#}\n", "─".repeat(lab.width.min(60)))?;
        check::one(lab, exercise)?;
        waiting(lab)?;
    }
}

fn waiting(lab: &Lab) -> io::Result<()> {
    let text = lab.lang.pick(
        "Watching: save an exercise and it is checked. Ctrl-C leaves.",
        "正在守候：保存练习就会检查。按 Ctrl-C 离开。",
    );
    writeln!(lab.out())?;
    verdict::hanging(&mut lab.out(), "", 0, text, STRONG, lab.width)
}

/// Has the system send something whenever a file changes, if it can.
fn listen(lab: &Lab, sender: Sender<()>) -> Option<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |_| {
        let _ = sender.send(());
    })
    .ok()?;
    for exercise in EXERCISES {
        // The folder and not the file: many editors replace a file instead of changing it.
        if let Some(folder) = lab.answer(exercise).parent() {
            let _ = watcher.watch(folder, RecursiveMode::NonRecursive);
        }
    }
    Some(watcher)
}

/// What the learner's files hold.
fn texts(lab: &Lab) -> HashMap<&'static str, Vec<u8>> {
    let text = |exercise: &'static Exercise| {
        Some((exercise.name, files::read(&lab.answer(exercise)).ok()?))
    };
    EXERCISES.iter().filter_map(text).collect()
}

//! Runs an exercise's program and says how it went, whatever it does.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use exercises::criterion::Fault;
use exercises::harness;
use exercises::report::{self, Report, Standing};
use exercises::text::Text;

/// How much of what a program prints is kept, in bytes. The rest is read and thrown away.
const KEPT: usize = 16 << 10;

/// How long a program may be silent altogether. It stops itself much sooner, unless something
/// keeps even its watchdog from running.
const BACKSTOP: Duration = Duration::from_secs(60);

/// How long what a program has printed may take to arrive, once it has ended.
const MOMENT: Duration = Duration::from_millis(300);

/// How a run went.
pub struct Attempt {
    /// What it reported.
    pub report: Report,
    /// What it printed.
    pub printed: String,
}

/// Runs `program`; the file `report` is where it writes its report, and is gone afterwards.
///
/// # Errors
/// When it can't be started or watched.
pub fn run(program: &Path, workspace: &Path, report: &Path) -> io::Result<Attempt> {
    // An empty file, so that a program that dies at once leaves an empty report, not an old one.
    fs::write(report, "")?;
    let mut child = Command::new(program)
        .current_dir(workspace)
        .env(harness::REPORT_FILE, report)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    let status = wait(&mut child)?;
    let printed = [stdout, stderr].into_iter().flatten().map(heard).collect::<String>();
    let lines = fs::read(report).unwrap_or_default();
    let _ = fs::remove_file(report);
    let mut report = report::parse(&String::from_utf8_lossy(&lines));
    // Nobody succeeds who ends with a failure, whatever the file says.
    report.complete &= !report.solved() || status.is_some_and(|status| status.success());
    if !report.complete
        && !report.hung()
        && let Some(standing) = report.cut_off_at()
    {
        *standing = Standing::Missed(died(status, &printed));
    }
    Ok(Attempt { report, printed })
}

/// What has been heard from a pipe so far, and word when that is all.
type Listening = (Arc<Mutex<Vec<u8>>>, Receiver<()>);

/// Reads a pipe to its end, on a thread of its own.
fn listen(mut pipe: impl Read + Send + 'static) -> Listening {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (sender, ended) = mpsc::channel();
    let keep = Arc::clone(&kept);
    thread::spawn(move || {
        let mut part = vec![0; 64 << 10];
        while let Ok(length @ 1..) = pipe.read(&mut part) {
            let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
            let room = KEPT - kept.len();
            kept.extend_from_slice(&part[..length.min(room)]);
        }
        let _ = sender.send(());
    });
    (kept, ended)
}

/// What was printed. The program has ended, so all is there in a moment; unless it has left another
/// one behind that holds the pipe open, for which nobody waits.
fn heard((kept, ended): Listening) -> String {
    let _ = ended.recv_timeout(MOMENT);
    String::from_utf8_lossy(&kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Waits for the end, first in short steps: most programs need a few milliseconds.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > BACKSTOP {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The fault of a program that ended in the middle of a criterion.
fn died(status: Option<ExitStatus>, printed: &str) -> Fault {
    let Some(status) = status else { return harness::hung(BACKSTOP) };
    let fault = Fault::told(
        ("an answer that hands back control", "会把控制权交回来的答案"),
        (
            format!("the whole program ended here: {status}"),
            format!("整个程序在这里结束了：{status}"),
        ),
    );
    fault.because(if printed.contains("overflowed its stack") {
        Text::new(
            "The stack overflowed: a function calls itself without end.",
            "栈溢出：有函数在无止境地调用自己。",
        )
    } else if printed.contains("memory allocation") {
        Text::new(
            "Memory ran out: a loop collects without end.",
            "内存耗尽：有循环在无止境地收集数据。",
        )
    } else {
        Text::new("Is there a process::exit or an abort?", "是不是调用了 process::exit 或 abort？")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that somebody else holds open: it gives what is there, and then never ends.
    struct HeldOpen(&'static [u8]);

    impl Read for HeldOpen {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            while self.0.is_empty() {
                thread::park();
            }
            self.0.read(buffer)
        }
    }

    #[test]
    fn nobody_waits_for_a_pipe_that_is_held_open() {
        assert_eq!(heard(listen(HeldOpen(b"printed"))), "printed");
        assert_eq!(heard(listen(&b"printed"[..])), "printed");
        assert_eq!(heard(listen(io::repeat(b'x').take(1 << 20))).len(), KEPT);
    }
}

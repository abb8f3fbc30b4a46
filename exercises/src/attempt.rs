//! Runs an exercise's program and says how it went, whatever it does.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
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
    let stdout = child.stdout.take().map(|pipe| thread::spawn(move || read(pipe)));
    let stderr = child.stderr.take().map(|pipe| thread::spawn(move || read(pipe)));
    let status = wait(&mut child)?;
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let printed = text(stdout) + &text(stderr);
    let lines = fs::read(report)?;
    fs::remove_file(report)?;
    let mut report = report::parse(&String::from_utf8_lossy(&lines));
    if !report.complete
        && !report.hung()
        && let Some(standing) = report.first_not_reached()
    {
        *standing = Standing::Missed(died(status, &printed));
    }
    Ok(Attempt { report, printed })
}

fn read(mut pipe: impl Read) -> String {
    let mut kept = Vec::new();
    let _ = pipe.by_ref().take(KEPT as u64).read_to_end(&mut kept);
    let _ = io::copy(&mut pipe, &mut io::sink());
    String::from_utf8_lossy(&kept).into_owned()
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

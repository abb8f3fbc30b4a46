//! Runs all criteria of an exercise, whatever the answer does.
//!
//! An answer may panic (as shipped it does: that is its `todo!`), run forever, or print. None of
//! it may keep the verdict from the learner. (Rust's own test runner waits for ever, and knows no
//! criteria in two languages; that is why the exercises bring a runner of their own.)

use std::any::Any;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::Once;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::criterion::{Criterion, Fault, Kind};
use crate::report::{self, Report, Standing};
use crate::text::{Lang, Text};
use crate::verdict;

/// How long one criterion may take. All of them together take milliseconds.
pub const LIMIT: Duration = Duration::from_secs(4);

/// The variable by which a person sets another limit, in seconds, for a machine that is very slow.
pub const LIMIT_VARIABLE: &str = "LAB_LIMIT";

/// The variable by which the tool names the file it wants the report in.
pub const REPORT_FILE: &str = "LAB_REPORT";

/// The whole program of an exercise: checks the answer and says what came out.
///
/// To the tool it says so in the file the tool named; started by `cargo test`, on the screen.
pub fn check(name: &str, criteria: Vec<Criterion>) -> ExitCode {
    spare_the_machine();
    let mut file = std::env::var_os(REPORT_FILE)
        .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
    for criterion in &criteria {
        write_line(&mut file, &report::name_line(&criterion.name));
    }
    let report = run(criteria, limit(), |standing| {
        write_line(&mut file, &report::standing_line(standing));
    });
    if report.complete {
        write_line(&mut file, &report::end_line());
    }
    if file.is_none() {
        let lang = Lang::from_env();
        // Whoever reads us may have left; the exit code says the same.
        let file = verdict::exercises_folder().join(name).join("exercise.rs");
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut out = anstream::stdout().lock();
        let _ = verdict::write(&mut out, name, &text, &report, lang, verdict::width());
    }
    if report.solved() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An endless loop that collects would fill the memory of a small laptop before its time is up. With
/// a gibibyte to live in, this program dies of it and nothing else does.
fn spare_the_machine() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = Rlimit { current: Some(1 << 30), maximum: None };
        let _ = setrlimit(Resource::As, limit); // where there is no such limit, time has to do
    }
}

fn limit() -> Duration {
    let seconds = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.parse().ok());
    seconds.and_then(|seconds| Duration::try_from_secs_f32(seconds).ok()).unwrap_or(LIMIT)
}

/// A line that can't be written is a line the tool misses: it will say that the run was cut off.
fn write_line(file: &mut Option<File>, line: &str) {
    if let Some(file) = file {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Looks at one criterion after the other, each for at most `limit`; `on_each` hears of each.
///
/// The answer runs on a thread of its own. One that hangs is left behind there, for no thread can
/// be stopped from outside; what it hangs in is known, and the rest counts as not reached.
pub fn run(
    criteria: Vec<Criterion>,
    limit: Duration,
    mut on_each: impl FnMut(&Standing),
) -> Report {
    let mut report = Report::blank(criteria.iter().map(|criterion| &criterion.name));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for criterion in criteria {
            if sender.send(examine(&criterion)).is_err() {
                break; // nobody waits any more
            }
        }
    });
    for (_, standing) in &mut report.criteria {
        let looked_at = receiver.recv_timeout(limit);
        *standing = looked_at.clone().unwrap_or_else(|_| Standing::Missed(hung(limit)));
        on_each(standing);
        if looked_at.is_err() {
            return report;
        }
    }
    report.complete = true;
    report
}

/// The fault of an answer that did not come back.
pub fn hung(limit: Duration) -> Fault {
    let seconds = limit.as_secs_f32();
    let fault = Fault::told(
        ("an answer that comes to its end", "会结束的答案"),
        (
            format!("still running after {seconds} s; it was stopped"),
            format!("{seconds} 秒后仍在运行，已被停止"),
        ),
    )
    .because((
        "Look for a loop that never breaks, a wait for something that never comes, or a function \
         that calls itself.",
        "检查有没有不会退出的循环、等不到结果的等待，或调用自己的函数。",
    ));
    Fault { kind: Kind::Hung, ..fault }
}

thread_local! {
    /// What the last panic on this thread said, while a criterion is being examined there.
    static PANIC: RefCell<Option<Option<(String, String)>>> = const { RefCell::new(None) };
}

fn examine(criterion: &Criterion) -> Standing {
    keep_panics_off_the_screen();
    PANIC.set(Some(None));
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| (criterion.check)()));
    let panic = PANIC.take().flatten();
    match outcome {
        Ok(Ok(())) => Standing::Met,
        Ok(Err(fault)) => Standing::Missed(fault),
        Err(payload) => Standing::Missed(panicked(payload.as_ref(), panic)),
    }
}

/// Panics of an answer belong into the verdict; all others are printed as usual.
fn keep_panics_off_the_screen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let examining = PANIC.with_borrow_mut(|panic| {
                panic.as_mut().map(|slot| *slot = Some((message(info.payload()), place(info))))
            });
            if examining.is_none() {
                usual(info);
            }
        }));
    });
}

fn place(info: &PanicHookInfo) -> String {
    info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()))
}

fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn panicked(payload: &dyn Any, panic: Option<(String, String)>) -> Fault {
    let (message, place) = panic.unwrap_or_else(|| (message(payload), String::new()));
    if let Some(todo) = message.strip_prefix("not yet implemented") {
        // A `todo!()` that says nothing is known by its place.
        let todo =
            todo.strip_prefix(": ").map_or_else(|| format!("todo!() {place}"), str::to_owned);
        let fault = Fault::told(
            ("your code in place of the todo!", "用你的代码替换 todo!"),
            Text::value(todo),
        );
        return Fault { kind: Kind::Todo, place: Some(place.into()), ..fault };
    }
    let seen =
        (format!("a panic at {place}: {message}"), format!("在 {place} 发生 panic：{message}"));
    let fault = Fault::told(("an answer that does not panic", "不会 panic 的答案"), seen);
    let fault = fault.because((
        "In Rust a panic is what an uncaught throw is in TypeScript: it ends the conversation in the \
         middle of a sentence. Here, nothing should.",
        "Rust 的 panic 就像 TypeScript 里没人 catch 的 throw：对话说到一半就断了。这里什么都不该让它断。",
    ));
    Fault { kind: Kind::Panic, place: Some(place.into()), ..fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_one_criterion_does_the_others_are_reported() {
        let criteria = vec![
            Criterion::new(("fine", "好"), || Ok(())),
            Criterion::new(("panics", "炸"), || panic!("boom")),
            Criterion::new(("todo", "待"), || todo!("TODO it: do {}", 1)),
            Criterion::new(("differs", "异"), || Err(Fault::differs("1", "2"))),
            Criterion::new(("fine again", "又好"), || Ok(())),
            Criterion::new(("silent todo", "默"), || todo!()),
        ];
        let report = run(criteria, LIMIT, |_| {});
        assert!(report.complete && !report.solved());
        let fault = |at: usize| match &report.criteria[at].1 {
            Standing::Missed(fault) => fault.clone(),
            other => panic!("{other:?}"),
        };
        assert!(fault(1).seen.en.contains("boom") && fault(1).seen.en.contains("harness.rs:"));
        assert!(fault(2).kind == Kind::Todo && *fault(2).seen.en == *"TODO it: do 1");
        assert_eq!(fault(3), Fault::differs("1", "2"));
        assert_eq!(report.criteria[4].1, Standing::Met);
        assert!(fault(5).kind == Kind::Todo && fault(5).seen.en.contains("harness.rs:"));
    }

    #[test]
    fn what_hangs_is_named_and_what_follows_is_not_reached() {
        let criteria = vec![
            Criterion::new(("fine", "好"), || Ok(())),
            Criterion::new(("hangs", "挂"), || {
                loop {
                    thread::park()
                }
            }),
            Criterion::new(("later", "后"), || Ok(())),
        ];
        let report = run(criteria, Duration::from_millis(50), |_| {});
        assert_eq!(report.criteria[0].1, Standing::Met);
        assert!(report.hung() && matches!(report.criteria[1].1, Standing::Missed(_)));
        assert_eq!(report.criteria[2].1, Standing::NotReached);
        assert!(!report.solved() && !report.complete);
    }
}

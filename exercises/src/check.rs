//! One exercise, from edit to verdict; and all of them, for whoever counts.

use std::fs;
use std::io::{self, Write};

use exercises::registry::Exercise;
use exercises::verdict::{self, BAD, STRONG};

use crate::Ending;
use crate::attempt::{self, Attempt};
use crate::compile::{self, Built, Diagnostic};
use crate::files;
use crate::lab::Lab;

/// How many of the compiler's messages are shown: the first often causes the rest.
const SHOWN: usize = 3;

/// What came of an exercise.
pub enum Outcome {
    /// There is no file to check.
    Missing,
    /// There is something of its name that can't be read: which, and why.
    Unreadable(String),
    /// It does not compile.
    Errors(Vec<Diagnostic>),
    /// It ran.
    Ran(Attempt, Vec<Diagnostic>),
}

impl Outcome {
    /// Whether every criterion is met.
    pub fn solved(&self) -> bool {
        matches!(self, Self::Ran(attempt, _) if attempt.report.solved())
    }
}

/// Compiles and runs an exercise and remembers whether it is solved.
///
/// # Errors
/// When the compiler or the program can't be started.
pub fn look(lab: &Lab, exercise: &Exercise) -> io::Result<Outcome> {
    let path = lab.answer(exercise);
    let before = match files::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Missing),
        Err(error) => return Ok(Outcome::Unreadable(format!("{}: {error}", path.display()))),
    };
    let report = compile::scratch_file(&format!("{}.report", exercise.name));
    let elsewhere = lab.from.is_some().then_some(path.as_path());
    let outcome = match lab.compiler()?.build(exercise.name, elsewhere)? {
        Built::Errors(errors) => Outcome::Errors(errors),
        Built::Program(program, warnings) => {
            let attempt = attempt::run(&program, lab.workspace(), &report);
            if program.starts_with(compile::scratch()) {
                let _ = fs::remove_file(&program); // Cargo's own it wants to find again
            }
            Outcome::Ran(attempt?, warnings)
        }
    };
    // Saved again meanwhile: the verdict is about one of two texts, and nobody knows which.
    if lab.from.is_none() && files::read(&path).is_ok_and(|now| now == before) {
        lab.progress.borrow_mut().remember(exercise.name, &before, outcome.solved());
    }
    Ok(outcome)
}

/// Whether an exercise is solved as its file is now; looks only if that is not known.
///
/// # Errors
/// Those of [`look`].
pub fn is_solved(lab: &Lab, exercise: &Exercise) -> io::Result<bool> {
    let known = lab.progress.borrow().solved(&lab.folder, exercise.name);
    known.map_or_else(|| Ok(look(lab, exercise)?.solved()), Ok)
}

/// Checks one exercise and shows the verdict.
///
/// # Errors
/// Those of [`look`], and of writing.
pub fn one(lab: &Lab, exercise: &Exercise) -> io::Result<Ending> {
    let outcome = look(lab, exercise)?;
    show(lab, exercise, &outcome)?;
    Ok(if outcome.solved() { Ending::Fine } else { Ending::Unsolved })
}

/// Shows what came of an exercise.
///
/// # Errors
/// Only those of writing.
pub fn show(lab: &Lab, exercise: &Exercise, outcome: &Outcome) -> io::Result<()> {
    let mut out = lab.out();
    match outcome {
        Outcome::Missing => {
            writeln!(
                out,
                "{STRONG}{}{STRONG:#}  {}",
                exercise.name,
                lab.lang.pick("exercise.rs is missing.", "缺少 exercise.rs。")
            )?;
            let reset = format!("reset {}", exercise.name);
            verdict::command(
                &mut out,
                lab.lang.pick("bring it back", "恢复"),
                &reset,
                lab.lang,
                lab.width,
            )?;
        }
        Outcome::Unreadable(why) => {
            let sorry = lab.lang.pick("It can't be read: ", "无法读取：");
            writeln!(out, "{STRONG}{}{STRONG:#}  {sorry}{why}\n", exercise.name)?;
            verdict::next_commands(&mut out, exercise.name, lab.lang, lab.width)?;
        }
        Outcome::Errors(errors) => {
            show_errors(lab, exercise, errors, &mut out)?;
        }
        Outcome::Ran(attempt, warnings) => {
            let text = fs::read_to_string(lab.answer(exercise)).unwrap_or_default();
            verdict::write(&mut out, exercise.name, &text, &attempt.report, lab.lang, lab.width)?;
            let printed = attempt.printed.trim_end();
            if !printed.is_empty() {
                writeln!(out, "\n{}", lab.lang.pick("Your code printed:", "你的代码打印了："))?;
                for line in printed.lines().take(20) {
                    writeln!(out, "  {line}")?;
                }
            }
            for warning in warnings.iter().take(SHOWN) {
                write!(out, "\n{}", warning.rendered)?;
            }
        }
    }
    if outcome.solved() {
        praise(lab, exercise, &mut out)?;
    }
    Ok(())
}

fn show_errors(
    lab: &Lab,
    exercise: &Exercise,
    errors: &[Diagnostic],
    out: &mut impl Write,
) -> io::Result<()> {
    let own = errors.iter().find(|error| compile::in_answer(error));
    let place = own.or(errors.first()).and_then(|error| error.place.clone()).unwrap_or_default();
    verdict::heading(out, exercise.name, &place, lab.width)?;
    for error in errors.iter().take(SHOWN) {
        writeln!(out, "{}\n", error.rendered.trim_end())?;
    }
    if errors.len() > SHOWN {
        let more = lab.lang.pick("more errors: ", "其他错误：");
        writeln!(out, "{more}{}\n", errors.len() - SHOWN)?;
    }
    let text = lab.lang.pick(
        "It does not compile yet, so nothing could be checked.",
        "还不能编译，所以什么都没法检查。",
    );
    verdict::hanging(out, &format!("{BAD}✗{BAD:#} "), 2, text, STRONG, lab.width)?;
    if own.is_none() {
        let text = lab.lang.pick(
            "The checks call the function as starter.rs declares it: give it back that name, those \
             parameters and that result.",
            "检查代码按 starter.rs 里的声明调用这个函数：请恢复它的名字、参数和返回类型。",
        );
        verdict::hanging(out, "  ", 2, text, anstyle::Style::new(), lab.width)?;
    }
    writeln!(out)?;
    verdict::next_commands(out, exercise.name, lab.lang, lab.width)
}

fn praise(lab: &Lab, exercise: &Exercise, out: &mut impl Write) -> io::Result<()> {
    let another = format!("solution {}", exercise.name);
    verdict::command(out, lab.lang.pick("compare", "对照答案"), &another, lab.lang, lab.width)?;
    crate::list::next(lab, out)
}

//! The tool of the exercises: lists them, checks them, helps with them.
//!
//! - [`cli`]: what the command line may say
//! - [`lab`]: where everything is, and how to speak to the person
//! - [`compile`]: from an exercise's files to a program
//! - [`attempt`]: runs that program, whatever it does
//! - [`progress`]: which exercises are solved
//! - [`check`]: one exercise from edit to verdict
//! - [`list`]: all exercises and the next one
//! - [`grades`]: all exercises at once, for whoever counts
//! - [`watch`]: checks whenever a file is saved
//! - [`files`]: hints, the way back, the solution
//! - [`difference`]: what changes between two texts
//! - [`steps`]: what changes between two steps
//! - [`new`]: a new exercise from the template

mod attempt;
mod check;
mod cli;
mod compile;
mod difference;
mod files;
mod grades;
mod lab;
mod list;
mod new;
mod progress;
mod steps;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use cli::{Action, Args};
use exercises::registry::Exercise;
use lab::Lab;

/// How a command ended, if it could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Done; solved.
    Fine,
    /// Not solved.
    Unsolved,
    /// The arguments name nothing that is there.
    Misnamed,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut lab = Lab::new(args.lang);
    if let Some(Action::Check { from, .. } | Action::Watch { from, .. }) = &args.action {
        lab.from.clone_from(from);
    }
    lab.watching = matches!(args.action, Some(Action::Watch { .. }));
    match act(&lab, args.action) {
        Ok(Ending::Fine) => ExitCode::SUCCESS,
        Ok(Ending::Unsolved) => ExitCode::from(1),
        Ok(Ending::Misnamed) => ExitCode::from(2),
        // Whoever reads us has left (`| head`): there is nobody to tell.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let sorry = lab.lang.pick("exercises: this did not work: ", "exercises：出错了：");
            let _ = writeln!(io::stderr(), "{sorry}{error}");
            ExitCode::from(3)
        }
    }
}

fn act(lab: &Lab, action: Option<Action>) -> io::Result<Ending> {
    match action.unwrap_or(Action::List) {
        Action::List => list::list(lab),
        Action::Check { all: true, format, .. } => grades::all(lab, format),
        Action::Check { name, .. } => with(lab, name, |exercise| check::one(lab, exercise)),
        Action::Watch { name, poll, .. } => {
            with(lab, name, |exercise| watch::watch(lab, exercise, poll))
        }
        Action::Hint { name, level } => {
            with(lab, name, |exercise| files::hint(lab, exercise, level))
        }
        Action::Reset { name } => with(lab, Some(name), |exercise| files::reset(lab, exercise)),
        Action::Solution { name } => {
            with(lab, Some(name), |exercise| files::solution(lab, exercise))
        }
        Action::New { name } => new::new(lab, &name),
        Action::Diff { from, to, file } => steps::diff(lab, &from, &to, file.as_deref()),
    }
}

/// Does something with the exercise a person means, if there is one.
fn with(
    lab: &Lab,
    name: Option<String>,
    act: impl FnOnce(&'static Exercise) -> io::Result<Ending>,
) -> io::Result<Ending> {
    lab.chosen(name.as_deref())?.map_or(Ok(Ending::Misnamed), act)
}

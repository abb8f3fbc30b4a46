//! Hands the learner's file to the checks: `cargo test -p exercises --test typewriter`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check("typewriter", exercises::typewriter::checks(exercise::show))
}

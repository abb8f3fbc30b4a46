//! Hands the learner's file to the checks: `cargo test -p exercises --test fold_on_done`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check("fold_on_done", exercises::fold_on_done::checks(exercise::fold))
}

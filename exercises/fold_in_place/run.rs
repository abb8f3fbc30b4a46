//! Hands the learner's file to the checks: `cargo test -p exercises --test fold_in_place`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check("fold_in_place", exercises::fold_in_place::checks(exercise::fold))
}

//! Hands the learner's file to the checks: `cargo test -p exercises --test own_rule`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check("own_rule", exercises::own_rule::checks(exercise::rules))
}

//! Hands the learner's file to the checks: `cargo test -p exercises --test lazy_stream`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check(
        "lazy_stream",
        exercises::lazy_stream::checks(|tokens, pause| Box::pin(exercise::reply(tokens, pause))),
    )
}

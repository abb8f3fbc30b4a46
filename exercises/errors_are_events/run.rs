//! Hands the learner's file to the checks: `cargo test -p exercises --test errors_are_events`.

mod exercise;

fn main() -> std::process::ExitCode {
    exercises::check(
        "errors_are_events",
        exercises::errors_are_events::checks(|call| Box::pin(exercise::reply(call))),
    )
}

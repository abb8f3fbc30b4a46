//! Every answer the contract is tried with.

use exercises::errors_are_events::checks;

mod solution;
mod starter;
mod wrong {
    pub mod as_text;
    pub mod asked_again;
    pub mod debug_format;
    pub mod done_after_error;
    pub mod done_before_error;
    pub mod every_end_is_an_error;
    pub mod first_line;
    pub mod goes_on;
    pub mod no_reason;
    pub mod no_start;
    pub mod passed_off_as_done;
    pub mod pieces_withheld;
    pub mod reason_in_the_text;
    pub mod retries;
    pub mod silent_stop;
    pub mod unwrap;
    pub mod withheld;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(|call| Box::pin(starter::reply(call)))),
        ("solution", checks(|call| Box::pin(solution::reply(call)))),
        ("wrong/as_text", checks(|call| Box::pin(wrong::as_text::reply(call)))),
        ("wrong/asked_again", checks(|call| Box::pin(wrong::asked_again::reply(call)))),
        ("wrong/debug_format", checks(|call| Box::pin(wrong::debug_format::reply(call)))),
        ("wrong/done_after_error", checks(|call| Box::pin(wrong::done_after_error::reply(call)))),
        ("wrong/done_before_error", checks(|call| Box::pin(wrong::done_before_error::reply(call)))),
        (
            "wrong/every_end_is_an_error",
            checks(|call| Box::pin(wrong::every_end_is_an_error::reply(call))),
        ),
        ("wrong/first_line", checks(|call| Box::pin(wrong::first_line::reply(call)))),
        ("wrong/goes_on", checks(|call| Box::pin(wrong::goes_on::reply(call)))),
        ("wrong/no_reason", checks(|call| Box::pin(wrong::no_reason::reply(call)))),
        ("wrong/no_start", checks(|call| Box::pin(wrong::no_start::reply(call)))),
        (
            "wrong/passed_off_as_done",
            checks(|call| Box::pin(wrong::passed_off_as_done::reply(call))),
        ),
        ("wrong/pieces_withheld", checks(|call| Box::pin(wrong::pieces_withheld::reply(call)))),
        (
            "wrong/reason_in_the_text",
            checks(|call| Box::pin(wrong::reason_in_the_text::reply(call))),
        ),
        ("wrong/retries", checks(|call| Box::pin(wrong::retries::reply(call)))),
        ("wrong/silent_stop", checks(|call| Box::pin(wrong::silent_stop::reply(call)))),
        ("wrong/unwrap", checks(|call| Box::pin(wrong::unwrap::reply(call)))),
        ("wrong/withheld", checks(|call| Box::pin(wrong::withheld::reply(call)))),
    ]
}

//! Every answer the contract is tried with.

use exercises::lazy_stream::checks;

mod solution;
mod starter;
mod wrong {
    pub mod at_most_twenty;
    pub mod collected_first;
    pub mod collected_inside;
    pub mod done_each_time;
    pub mod empty_done;
    pub mod hard_coded;
    pub mod interval;
    pub mod milliseconds_only;
    pub mod no_done;
    pub mod no_pause;
    pub mod no_start;
    pub mod nothing;
    pub mod one_long_pause;
    pub mod pause_behind;
    pub mod skips_empty;
    pub mod spawned;
    pub mod starts_twice;
    pub mod thread_sleep;
    pub mod twice_as_long;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(|tokens, pause| Box::pin(starter::reply(tokens, pause)))),
        ("solution", checks(|tokens, pause| Box::pin(solution::reply(tokens, pause)))),
        (
            "wrong/at_most_twenty",
            checks(|tokens, pause| Box::pin(wrong::at_most_twenty::reply(tokens, pause))),
        ),
        (
            "wrong/collected_first",
            checks(|tokens, pause| Box::pin(wrong::collected_first::reply(tokens, pause))),
        ),
        (
            "wrong/collected_inside",
            checks(|tokens, pause| Box::pin(wrong::collected_inside::reply(tokens, pause))),
        ),
        (
            "wrong/done_each_time",
            checks(|tokens, pause| Box::pin(wrong::done_each_time::reply(tokens, pause))),
        ),
        (
            "wrong/empty_done",
            checks(|tokens, pause| Box::pin(wrong::empty_done::reply(tokens, pause))),
        ),
        (
            "wrong/hard_coded",
            checks(|tokens, pause| Box::pin(wrong::hard_coded::reply(tokens, pause))),
        ),
        ("wrong/interval", checks(|tokens, pause| Box::pin(wrong::interval::reply(tokens, pause)))),
        (
            "wrong/milliseconds_only",
            checks(|tokens, pause| Box::pin(wrong::milliseconds_only::reply(tokens, pause))),
        ),
        ("wrong/no_done", checks(|tokens, pause| Box::pin(wrong::no_done::reply(tokens, pause)))),
        ("wrong/no_pause", checks(|tokens, pause| Box::pin(wrong::no_pause::reply(tokens, pause)))),
        ("wrong/no_start", checks(|tokens, pause| Box::pin(wrong::no_start::reply(tokens, pause)))),
        ("wrong/nothing", checks(|tokens, pause| Box::pin(wrong::nothing::reply(tokens, pause)))),
        (
            "wrong/one_long_pause",
            checks(|tokens, pause| Box::pin(wrong::one_long_pause::reply(tokens, pause))),
        ),
        (
            "wrong/pause_behind",
            checks(|tokens, pause| Box::pin(wrong::pause_behind::reply(tokens, pause))),
        ),
        (
            "wrong/skips_empty",
            checks(|tokens, pause| Box::pin(wrong::skips_empty::reply(tokens, pause))),
        ),
        ("wrong/spawned", checks(|tokens, pause| Box::pin(wrong::spawned::reply(tokens, pause)))),
        (
            "wrong/starts_twice",
            checks(|tokens, pause| Box::pin(wrong::starts_twice::reply(tokens, pause))),
        ),
        (
            "wrong/thread_sleep",
            checks(|tokens, pause| Box::pin(wrong::thread_sleep::reply(tokens, pause))),
        ),
        (
            "wrong/twice_as_long",
            checks(|tokens, pause| Box::pin(wrong::twice_as_long::reply(tokens, pause))),
        ),
    ]
}

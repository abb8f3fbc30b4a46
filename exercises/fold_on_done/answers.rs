//! Every answer the contract is tried with.

use exercises::fold_on_done::checks;

mod solution;
mod starter;
mod wrong {
    pub mod as_a_user;
    pub mod errors_too;
    pub mod every_piece;
    pub mod forgets_in_time;
    pub mod forgets_the_question;
    pub mod hard_coded;
    pub mod in_front;
    pub mod judges_the_reason;
    pub mod nothing;
    pub mod one_block;
    pub mod overwrites;
    pub mod skips_empty;
    pub mod twice;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(starter::fold)),
        ("solution", checks(solution::fold)),
        ("wrong/as_a_user", checks(wrong::as_a_user::fold)),
        ("wrong/errors_too", checks(wrong::errors_too::fold)),
        ("wrong/every_piece", checks(wrong::every_piece::fold)),
        ("wrong/forgets_in_time", checks(wrong::forgets_in_time::fold)),
        ("wrong/forgets_the_question", checks(wrong::forgets_the_question::fold)),
        ("wrong/hard_coded", checks(wrong::hard_coded::fold)),
        ("wrong/in_front", checks(wrong::in_front::fold)),
        ("wrong/judges_the_reason", checks(wrong::judges_the_reason::fold)),
        ("wrong/nothing", checks(wrong::nothing::fold)),
        ("wrong/one_block", checks(wrong::one_block::fold)),
        ("wrong/overwrites", checks(wrong::overwrites::fold)),
        ("wrong/skips_empty", checks(wrong::skips_empty::fold)),
        ("wrong/twice", checks(wrong::twice::fold)),
    ]
}

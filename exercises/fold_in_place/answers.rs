//! Every answer the contract is tried with.

use exercises::fold_in_place::checks;

mod solution;
mod starter;
mod wrong {
    pub mod a_block_per_delta;
    pub mod drops_empty_errors;
    pub mod drops_errors;
    pub mod error_as_text;
    pub mod forgets_the_reason;
    pub mod hard_coded;
    pub mod keeps_the_old_reason;
    pub mod latest_piece_only;
    pub mod message_per_delta;
    pub mod nothing;
    pub mod one_block_on_done;
    pub mod only_on_done;
    pub mod pushes_done;
    pub mod pushes_errors;
    pub mod starts_afresh;
    pub mod starts_as_a_user;
    pub mod starts_in_front;
    pub mod trusts_the_pieces;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(starter::fold)),
        ("solution", checks(solution::fold)),
        ("wrong/a_block_per_delta", checks(wrong::a_block_per_delta::fold)),
        ("wrong/drops_empty_errors", checks(wrong::drops_empty_errors::fold)),
        ("wrong/drops_errors", checks(wrong::drops_errors::fold)),
        ("wrong/error_as_text", checks(wrong::error_as_text::fold)),
        ("wrong/forgets_the_reason", checks(wrong::forgets_the_reason::fold)),
        ("wrong/hard_coded", checks(wrong::hard_coded::fold)),
        ("wrong/keeps_the_old_reason", checks(wrong::keeps_the_old_reason::fold)),
        ("wrong/latest_piece_only", checks(wrong::latest_piece_only::fold)),
        ("wrong/message_per_delta", checks(wrong::message_per_delta::fold)),
        ("wrong/nothing", checks(wrong::nothing::fold)),
        ("wrong/one_block_on_done", checks(wrong::one_block_on_done::fold)),
        ("wrong/only_on_done", checks(wrong::only_on_done::fold)),
        ("wrong/pushes_done", checks(wrong::pushes_done::fold)),
        ("wrong/pushes_errors", checks(wrong::pushes_errors::fold)),
        ("wrong/starts_afresh", checks(wrong::starts_afresh::fold)),
        ("wrong/starts_as_a_user", checks(wrong::starts_as_a_user::fold)),
        ("wrong/starts_in_front", checks(wrong::starts_in_front::fold)),
        ("wrong/trusts_the_pieces", checks(wrong::trusts_the_pieces::fold)),
    ]
}

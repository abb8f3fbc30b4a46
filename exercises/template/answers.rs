//! Every answer the contract is tried with.

use exercises::NAME::checks;

mod solution;
mod starter;
mod wrong {
    pub mod hard_coded;
    pub mod once;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(starter::twice)),
        ("solution", checks(solution::twice)),
        ("wrong/hard_coded", checks(wrong::hard_coded::twice)),
        ("wrong/once", checks(wrong::once::twice)),
    ]
}

//! Every answer the contract is tried with.

use exercises::typewriter::checks;

mod solution;
mod starter;
mod wrong {
    pub mod another_error;
    pub mod flush_first;
    pub mod hard_coded;
    pub mod newline;
    pub mod no_flush;
    pub mod nothing;
    pub mod partial_write;
    pub mod print_macro;
    pub mod swallowed;
    pub mod trimmed;
    pub mod trims_line_ends;
    pub mod unwrapped_start;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(starter::show)),
        ("solution", checks(solution::show)),
        ("wrong/another_error", checks(wrong::another_error::show)),
        ("wrong/flush_first", checks(wrong::flush_first::show)),
        ("wrong/hard_coded", checks(wrong::hard_coded::show)),
        ("wrong/newline", checks(wrong::newline::show)),
        ("wrong/no_flush", checks(wrong::no_flush::show)),
        ("wrong/nothing", checks(wrong::nothing::show)),
        ("wrong/partial_write", checks(wrong::partial_write::show)),
        ("wrong/print_macro", checks(wrong::print_macro::show)),
        ("wrong/swallowed", checks(wrong::swallowed::show)),
        ("wrong/trimmed", checks(wrong::trimmed::show)),
        ("wrong/trims_line_ends", checks(wrong::trims_line_ends::show)),
        ("wrong/unwrapped_start", checks(wrong::unwrapped_start::show)),
    ]
}

//! Every answer the contract is tried with.

use exercises::own_rule::checks;

mod solution;
mod starter;
mod wrong {
    pub mod behind_the_fallback;
    pub mod borrowed;
    pub mod capital;
    pub mod fails_instead;
    pub mod hits_everything;
    pub mod in_front_of_all;
    pub mod nothing;
    pub mod one_language;
    pub mod one_too_many;
    pub mod other_language;
    pub mod placeholder;
    pub mod replaces_the_others;
    pub mod too_short;
    pub mod whole_sentence;
    pub mod wider_than_before;
}

pub fn answers() -> crate::Answers {
    vec![
        ("starter", checks(starter::rules)),
        ("solution", checks(solution::rules)),
        ("wrong/behind_the_fallback", checks(wrong::behind_the_fallback::rules)),
        ("wrong/borrowed", checks(wrong::borrowed::rules)),
        ("wrong/capital", checks(wrong::capital::rules)),
        ("wrong/fails_instead", checks(wrong::fails_instead::rules)),
        ("wrong/hits_everything", checks(wrong::hits_everything::rules)),
        ("wrong/in_front_of_all", checks(wrong::in_front_of_all::rules)),
        ("wrong/nothing", checks(wrong::nothing::rules)),
        ("wrong/one_language", checks(wrong::one_language::rules)),
        ("wrong/one_too_many", checks(wrong::one_too_many::rules)),
        ("wrong/other_language", checks(wrong::other_language::rules)),
        ("wrong/placeholder", checks(wrong::placeholder::rules)),
        ("wrong/replaces_the_others", checks(wrong::replaces_the_others::rules)),
        ("wrong/too_short", checks(wrong::too_short::rules)),
        ("wrong/whole_sentence", checks(wrong::whole_sentence::rules)),
        ("wrong/wider_than_before", checks(wrong::wider_than_before::rules)),
    ]
}

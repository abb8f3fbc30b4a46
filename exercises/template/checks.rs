//! What an answer must do, and why that matters.

use crate::criterion::{Checked, Criterion, same};
use crate::probe::random::Random;
use crate::text::Text;

/// The learner's function. A plain `fn` keeps the compile time after an edit short: nothing of the
/// checks is compiled again.
pub type Twice = fn(&str) -> String;

/// All criteria, in the order to meet them.
pub fn checks(twice: Twice) -> Vec<Criterion> {
    vec![Criterion::new(("the text is said twice", "文本说了两遍"), move || said_twice(twice))]
}

/// Many inputs, so that no answer can be learned by heart; from a seed, so that a verdict is the
/// same every time.
fn said_twice(twice: Twice) -> Checked {
    let mut random = Random::new(8);
    for _ in 0..30 {
        let text = random.piece();
        same(&format!("{text}{text}"), &twice(&text), |_| {
            Text::new("What this difference says about the answer.", "这个差别说明答案哪里不对。")
        })?;
    }
    Ok(())
}

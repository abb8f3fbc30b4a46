//! What a learner was thinking who wrote this.
//!
//! Fails: the text is said twice
//! Says: What this difference says about the answer

pub fn twice(text: &str) -> String {
    text.to_owned()
}

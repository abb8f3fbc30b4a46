//! The laws, over all texts and all ways of cutting them.

use proptest::prelude::*;
use serde_json::Value;
use step04_agent_loop::partial_json::{ArgumentsError, ArgumentsPreview, Fault, parse_arguments};

use crate::generate::{any_text, deltas, good_object, sizes};
use crate::oracle::{mend, shown};

proptest! {
    /// However the text is cut, what is shown depends only on how much of it has arrived.
    #[test]
    fn shows_what_the_reference_shows_after_every_delta(text in any_text(), sizes in sizes()) {
        let mut preview = ArgumentsPreview::new();
        let mut length = 0;
        for delta in deltas(&text, &sizes) {
            preview.push(delta);
            length += delta.len();
            prop_assert_eq!(written(preview.value()), written(shown(&text[..length]).as_ref()));
        }
    }

    /// old ⊑ new, after every delta.
    #[test]
    fn nothing_shown_is_taken_back(text in any_text(), sizes in sizes()) {
        let repeated = repeated_strings(&text);
        let mut preview = ArgumentsPreview::new();
        let mut old = None;
        for delta in deltas(&text, &sizes) {
            preview.push(delta);
            let new = preview.value().cloned();
            if let Some(old) = &old {
                let new = new.as_ref().expect("a value, once shown, stays");
                prop_assert!(grows(old, new, &repeated), "{old} became {new}");
            }
            old = new;
        }
    }

    #[test]
    fn accepts_what_serde_json_accepts_after_the_mends(text in any_text()) {
        let expected = serde_json::from_str(&mend(&text));
        match (parse_arguments(&text), expected) {
            (Ok(arguments), Ok(value @ Value::Object(_))) => {
                prop_assert_eq!(arguments.as_value(), &value);
                prop_assert_eq!(arguments.as_value().to_string(), value.to_string(), "order");
            }
            (Ok(arguments), Err(_)) if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {
                prop_assert_eq!(arguments.as_value(), &serde_json::json!({}));
            }
            (Err(ArgumentsError::NotAnObject { .. }), Ok(value)) => prop_assert!(!value.is_object()),
            (Err(ArgumentsError::Truncated { at, .. }), Err(error)) => {
                prop_assert!(error.is_eof(), "{error}");
                prop_assert_eq!(at.offset, text.len());
            }
            (Err(ArgumentsError::Malformed { .. }), Err(error)) => prop_assert!(!error.is_eof(), "{error}"),
            (ours, serde) => prop_assert!(false, "ours: {ours:?}, serde_json: {serde:?}"),
        }
    }

    #[test]
    fn accepts_every_object_and_the_last_preview_equals_it(text in good_object(), sizes in sizes()) {
        let arguments = parse_arguments(&text);
        prop_assert!(arguments.is_ok(), "{arguments:?}");
        let mut preview = ArgumentsPreview::new();
        deltas(&text, &sizes).into_iter().for_each(|delta| preview.push(delta));
        prop_assert_eq!(written(preview.value()), arguments.unwrap().as_value().to_string());
    }

    /// Where the preview freezes is where the strict reader reports the fault; whatever follows,
    /// nothing changes any more.
    #[test]
    fn a_fault_freezes_the_preview_for_good(text in any_text(), more in any_text(), sizes in sizes()) {
        let mut preview = ArgumentsPreview::new();
        deltas(&text, &sizes).into_iter().for_each(|delta| preview.push(delta));
        let Some(frozen) = preview.frozen().cloned() else { return Ok(()) };
        let before = preview.value().cloned();
        prop_assert_eq!(written(before.as_ref()), written(shown(&text[..frozen.at]).as_ref()));
        preview.push(&more);
        preview.finish();
        prop_assert_eq!(preview.frozen(), Some(&frozen));
        prop_assert_eq!(preview.value(), before.as_ref());
        match parse_arguments(&(text.clone() + &more)) {
            Err(ArgumentsError::Malformed { at, fault }) => {
                prop_assert_eq!((at.offset, fault), (frozen.at, frozen.fault));
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// A fault shows nothing new: not even the number before it.
    #[test]
    fn the_faulty_character_changes_nothing(text in good_object(), garbage in "[^ \\t\\n\\r\\]},0-9a-zA-Z+.\\-]") {
        let mut good = ArgumentsPreview::new();
        for character in text.split_inclusive(|_| true) {
            let mut spoiled = good.clone();
            spoiled.push(&garbage);
            if spoiled.frozen().is_some() {
                prop_assert_eq!(spoiled.value(), good.value());
            }
            good.push(character);
        }
    }

    /// The text before the fault could still become JSON; with the faulty character it can't. (Only
    /// a number that is too big is judged as a whole, from its first digit.)
    #[test]
    fn points_at_the_first_fault(text in any_text()) {
        if let Err(ArgumentsError::Malformed { at, fault }) = parse_arguments(&text) {
            let before = &text[..at.offset];
            prop_assert!(!is_malformed(before), "{fault:?} at {at}");
            let next = text[at.offset..].chars().next();
            if fault != Fault::OutOfRange {
                let with = before.to_string() + &String::from_iter(next);
                prop_assert!(is_malformed(&with), "{fault:?} at {at}");
            }
            prop_assert_eq!(at.line, before.matches('\n').count() + 1);
            prop_assert_eq!(at.column, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1);
            if let Fault::Unexpected { found, .. } = fault {
                prop_assert_eq!(next, Some(found));
            }
        }
    }

    /// Once each, and once more those of numbers and literals.
    #[test]
    fn the_work_is_linear(text in any_text(), sizes in sizes()) {
        let mut preview = ArgumentsPreview::new();
        for delta in deltas(&text, &sizes) {
            let before = preview.bytes_examined();
            preview.push(delta);
            if preview.frozen().is_none() {
                prop_assert!(preview.bytes_examined() - before >= delta.len() as u64);
            }
        }
        let may_be_scalar = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let scalars = text.bytes().filter(may_be_scalar).count();
        prop_assert!(preview.bytes_examined() <= (text.len() + scalars) as u64);
    }

    /// `finish` matters to a bare number or literal only.
    #[test]
    fn finish_shows_a_bare_scalar_and_nothing_else(text in any_text()) {
        let mut reader = ArgumentsPreview::new();
        reader.push(&text);
        let before = reader.value().cloned();
        reader.finish();
        let bare = serde_json::from_str::<Value>(&text).ok().filter(|value| !value.is_object() && !value.is_array());
        let expected = if before.is_none() { bare } else { before };
        prop_assert_eq!(written(reader.value()), written(expected.as_ref()));
    }
}

/// By something else than a number that is too big.
fn is_malformed(text: &str) -> bool {
    match parse_arguments(text) {
        Err(ArgumentsError::Malformed { fault, .. }) => fault != Fault::OutOfRange,
        _ => false,
    }
}

/// With the order of members, which `Value` does not compare, and `-0.0`.
fn written(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), Value::to_string)
}

/// old ⊑ new. A key among `repeated` is let off: its member may be replaced.
fn grows(old: &Value, new: &Value, repeated: &[String]) -> bool {
    match (old, new) {
        (Value::String(old), Value::String(new)) => new.starts_with(old.as_str()),
        (Value::Array(old), Value::Array(new)) => {
            let grown = old.iter().zip(new).enumerate();
            let mut same_or_last =
                grown.map(
                    |(at, (a, b))| if at + 1 == old.len() { grows(a, b, repeated) } else { a == b },
                );
            old.len() <= new.len() && same_or_last.all(|good| good)
        }
        (Value::Object(old), Value::Object(new)) => {
            let same_order = old.keys().zip(new.keys()).all(|(a, b)| a == b);
            let grown = old.iter().all(|(key, value)| {
                new.get(key)
                    .is_some_and(|new| repeated.contains(key) || grows(value, new, repeated))
            });
            old.len() <= new.len() && same_order && grown
        }
        (old, new) => old == new,
    }
}

/// What more than one string in `text` reads as. (Not knowing where strings begin, every quote is
/// tried, so there are rather too many than too few.)
fn repeated_strings(text: &str) -> Vec<String> {
    let quotes = text.match_indices('"').map(|(at, _)| &text[at..]);
    let mut strings: Vec<String> = quotes.filter_map(first_string).collect();
    strings.sort();
    let twice = strings.windows(2).filter(|pair| pair[0] == pair[1]);
    twice.map(|pair| pair[0].clone()).collect()
}

fn first_string(text: &str) -> Option<String> {
    let mended = mend(text);
    serde_json::Deserializer::from_str(&mended).into_iter().next()?.ok()
}

//! A JSON value on one short line, at a cost that does not grow with the value.
//!
//! A renderer draws the arguments of a call after each delta. To write out a megabyte of them each
//! time, only to cut it to the width of a window, would cost the square of their length. So only the
//! two ends of what is long are ever looked at: the beginning says what it is, and the end is where
//! it grows.

use serde_json::Value;

/// What is shown of a long string from its beginning and from its end, in bytes.
const STRING_ENDS: (usize, usize) = (40, 120);

/// How many members or elements are shown at each end, level by level. The product bounds the line:
/// with as many on each level, what is nested deep enough would still be shown nearly whole.
const MEMBERS: [usize; 3] = [4, 2, 1];

/// The value as compact JSON, with `…` where something was left out.
pub fn brief(value: &Value) -> String {
    let mut out = String::new();
    push(&mut out, value, &MEMBERS);
    out
}

/// `levels` says how many members are shown at each end on this level and on those below.
fn push(out: &mut String, value: &Value, levels: &[usize]) {
    match (value, levels) {
        (Value::String(text), _) => push_string(out, text),
        (Value::Array(elements), [ends, below @ ..]) => {
            push_ends(out, ['[', ']'], *ends, elements.iter(), &mut |out, element| {
                push(out, element, below);
            });
        }
        (Value::Object(members), [ends, below @ ..]) => {
            push_ends(out, ['{', '}'], *ends, members.iter(), &mut |out, (key, value)| {
                push_string(out, key);
                out.push(':');
                push(out, value, below);
            });
        }
        (Value::Array(_) | Value::Object(_), []) => out.push('…'),
        (Value::Null | Value::Bool(_) | Value::Number(_), _) => out.push_str(&value.to_string()),
    }
}

/// The first and the last few items in brackets, joined by commas. Taken from both ends: counting
/// through the middle would be the square again.
fn push_ends<T>(
    out: &mut String,
    [open, close]: [char; 2],
    ends: usize,
    mut items: impl DoubleEndedIterator<Item = T> + ExactSizeIterator,
    push: &mut impl FnMut(&mut String, T),
) {
    let first: Vec<T> = items.by_ref().take(ends).collect();
    let mut last: Vec<T> = items.by_ref().rev().take(ends).collect();
    last.reverse();
    let hidden = items.len() > 0;
    let head = first.len();
    out.push(open);
    for (index, item) in first.into_iter().chain(last).enumerate() {
        if index > 0 {
            out.push(',');
        }
        if hidden && index == head {
            out.push_str("…,");
        }
        push(out, item);
    }
    out.push(close);
}

fn push_string(out: &mut String, text: &str) {
    let (head, tail) = STRING_ENDS;
    if text.len() <= head + tail {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    let boundary = |index: &usize| text.is_char_boundary(*index);
    let head = (0..=head).rev().find(boundary).unwrap_or(0);
    let tail = (text.len() - tail..text.len()).find(boundary).unwrap_or(text.len());
    // Both ends get quotes of their own; the two in the middle go.
    let (head, tail) =
        (Value::from(&text[..head]).to_string(), Value::from(&text[tail..]).to_string());
    out.push_str(head.strip_suffix('"').unwrap_or(&head));
    out.push('…');
    out.push_str(tail.strip_prefix('"').unwrap_or(&tail));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_is_short_is_whole() {
        let value = json!({"path": "a.txt", "n": [1, 2.5, null, true], "o": {}});
        assert_eq!(brief(&value), value.to_string());
    }

    #[test]
    fn of_what_is_long_the_two_ends_are_shown() {
        let numbers: Vec<u32> = (0..100).collect();
        assert_eq!(brief(&json!(numbers)), "[0,1,2,3,…,96,97,98,99]");
        assert_eq!(brief(&json!([0, 1, 2, 3, 4, 5, 6, 7, 8])), "[0,1,2,3,…,5,6,7,8]");
        assert_eq!(brief(&json!([0, 1, 2, 3, 4, 5, 6, 7])), "[0,1,2,3,4,5,6,7]", "both ends meet");
        let text = format!("{}{}", "\"".repeat(50), "你".repeat(100));
        assert_eq!(brief(&json!(text)), format!("\"{}…{}\"", "\\\"".repeat(40), "你".repeat(40)));
    }

    #[test]
    fn depth_has_an_end() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(brief(&deep), "[[[…]]]");
        let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
        assert_eq!(brief(&deep), r#"{"a":{"a":{"a":…}}}"#);
    }

    proptest! {
        /// However large the value, and however it is nested, the line stays short.
        #[test]
        fn a_line_stays_short(length in 0..500usize, counts in vec(1..12usize, 0..5)) {
            let value = counts.iter().fold(json!("x\n".repeat(length)), |inner, &count| {
                json!({"a": inner, "b": vec![inner; count]})
            });
            prop_assert!(brief(&value).len() < 16_000);
        }
    }
}

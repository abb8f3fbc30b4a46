//! Texts of every kind: valid, to be mended, cut, broken, and ways of cutting them into deltas.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// One JSON object, perhaps to be mended: `parse_arguments` must accept it.
pub fn good_object() -> impl Strategy<Value = String> {
    (space(), object(good_value().boxed()), space()).prop_map(|(a, object, b)| a + &object + &b)
}

/// Any text: good, cut, broken in one place, or a soup of tokens.
pub fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => good_object(),
        2 => cut(good_object().boxed()),
        2 => broken(good_object().boxed()),
        1 => broken(cut(good_object().boxed()).boxed()),
        1 => cut(good_value().boxed()),
        1 => (good_value(), space()).prop_map(|(value, space)| value + &space),
        2 => vec(token(), 0..12).prop_map(|tokens| tokens.concat()),
        1 => any::<String>(),
    ]
}

/// Sizes of deltas in characters; taken in turn until the text is used up.
pub fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![1]), vec(1..6_usize, 1..5), vec(0..40_usize, 1..5)]
        .prop_filter("would never end", |sizes| sizes.iter().any(|&size| size > 0))
}

/// Cuts `text` into deltas of the given sizes.
pub fn deltas<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut rest = text;
    let mut deltas = Vec::new();
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (delta, after) = rest.split_at(end);
        deltas.push(delta);
        rest = after;
    }
    deltas
}

fn good_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        string(),
        number(),
        select(vec!["true", "false", "null"]).prop_map(String::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let array = (space(), vec(spaced(inner.clone().boxed()), 0..4))
            .prop_map(|(space, elements)| format!("[{space}{}]", elements.join(",")));
        prop_oneof![array, object(inner.boxed())]
    })
}

fn object(value: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let member =
        (spaced(key().boxed()), spaced(value)).prop_map(|(key, value)| format!("{key}:{value}"));
    (space(), vec(member, 0..4))
        .prop_map(|(space, members)| format!("{{{space}{}}}", members.join(",")))
}

/// Few keys, so that they repeat; also spelled in several ways, and faulty ones.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec![r#""a""#, r#""b""#, r#""\u0061""#, r#""""#, r#""__proto__""#, r#""路径""#])
            .prop_map(String::from),
        1 => string(),
    ]
}

fn string() -> impl Strategy<Value = String> {
    vec(piece(), 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A piece of a string: neither a bare quote nor a bare backslash at its end.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9 \\x00-\\x1f\\x7f\\x80-\\x9f]",
        any::<char>().prop_filter("special", |c| !['"', '\\'].contains(c)).prop_map(String::from),
        select(vec!["你好🦀", "👨‍👩‍👧", "e\u{301}", "\u{feff}", "\u{2028}", "{", "]", ",", ":", "u"])
            .prop_map(String::from),
        select(vec![r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t"])
            .prop_map(String::from),
        any::<u16>().prop_map(|unit| format!("\\u{unit:04x}")),
        select(vec![0xd7ff, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff, 0xe000, 0])
            .prop_map(|unit: u16| format!("\\u{unit:04X}")),
        // Illegal: what follows the backslash is neither a quote nor a backslash.
        select(vec![
            r"\q", r"\H", r"\u", r"\u1", r"\u12G4", r"\ud83", r"\U0041", r"\x41", "\\\n", r"\é",
            r"\'", r"\u+123", r"\u 041"
        ])
        .prop_map(String::from),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
        select(vec![
            "0",
            "-0",
            "-0.0",
            "1e-400",
            "123456789012345678901234567890",
            "1.7976931348623157e308"
        ])
        .prop_map(String::from),
    ]
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \\t\\n\\r]{0,3}"]
}

fn spaced(text: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    (space(), text, space()).prop_map(|(before, text, after)| before + &text + &after)
}

fn cut(text: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    (text, any::<prop::sample::Index>()).prop_map(|(text, index)| {
        let length = index.index(text.chars().count() + 1);
        text.chars().take(length).collect()
    })
}

/// One token too many, or one character replaced or lost.
fn broken(text: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    (text, any::<prop::sample::Index>(), token(), 0..2_usize).prop_map(
        |(text, index, token, lost)| {
            let at = index.index(text.chars().count() + 1);
            let before: String = text.chars().take(at).collect();
            let after: String = text.chars().skip(at + lost).collect();
            before + &token + &after
        },
    )
}

fn token() -> impl Strategy<Value = String> {
    select(vec![
        "", "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"a\":", "u", "\\u", "\\ud83d",
        "\\ude00", "\\n", "12", "-", "01", "1.", ".5", "+1", "1e", "1e999", "-1e999", "1E+2",
        "0x1", "tru", "true", "nul", "null", "False", "NaN", "Infinity", " ", "\n", "\t", "\0",
        "\u{b}", "\u{a0}", "\u{feff}", "'", "//", "/**/", "```", "é", "🦀",
    ])
    .prop_map(String::from)
}

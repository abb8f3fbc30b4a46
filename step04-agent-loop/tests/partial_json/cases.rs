//! Faults that people met in agents and JSON libraries, each widened to its kind.

use serde_json::{Value, json};
use step04_agent_loop::partial_json::{
    ArgumentsError, ArgumentsPreview, Fault, Position, parse_arguments,
};

use crate::oracle::{DEPTH, preview};

/// Every beginning of `text`, the empty one and the whole included.
fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).map(|at| &text[..at])
}

fn accepted(text: &str) -> Value {
    let arguments = parse_arguments(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(preview(text).as_ref(), Some(arguments.as_value()), "{text:?}");
    arguments.as_value().clone()
}

fn refused(text: &str) -> ArgumentsError {
    match parse_arguments(text) {
        Err(error) => error,
        Ok(arguments) => panic!("{text:?} was read as {arguments:?}"),
    }
}

fn malformed_at(text: &str) -> usize {
    match refused(text) {
        ArgumentsError::Malformed { at, .. } => at.offset,
        other => panic!("{text:?}: {other}"),
    }
}

// Half a tool call is run

#[test]
fn half_a_string_is_truncated_and_says_where() {
    let error = refused(r#"{"content":"par"#);
    let at = Position { offset: 15, line: 1, column: 16 };
    assert_eq!(error, ArgumentsError::Truncated { at, inside: "a string" });
    assert_eq!(
        error.to_string(),
        "arguments truncated at byte 15 (line 1, column 16): the text ends inside a string"
    );
}

#[test]
fn the_error_says_what_the_text_ends_inside() {
    for (text, expected) in [
        ("{", "an object"),
        (r#"{"ke"#, "a key"),
        (r#"{"key""#, "an object"),
        (r#"{"key":"#, "an object"),
        (r#"{"key":"x\"#, "a string"),
        (r#"{"key":1"#, "a number or literal"),
        (r#"{"key":1 "#, "an object"),
        (r#"{"key":["#, "an array"),
        (r#"{"key":[[1],"#, "an array"),
        (r#"{"key":[{}"#, "an array"),
        (r#"{"key":[{"a":{}"#, "an object"),
        ("tru", "a number or literal"),
        ("\"", "a string"),
    ] {
        match refused(text) {
            ArgumentsError::Truncated { inside, .. } => assert_eq!(inside, expected, "{text}"),
            other => panic!("{text}: {other}"),
        }
    }
}

#[test]
fn fifteen_kilobytes_cut_at_any_byte_are_an_error() {
    let text = json!({"path": "a.rs", "content": "fn main() {\n}\n".repeat(1_000)}).to_string();
    assert!(text.len() > 15_000);
    let cuts = (1..text.len()).step_by(97).chain([7_153, text.len() - 1]);
    for cut in cuts {
        match refused(&text[..cut]) {
            ArgumentsError::Truncated { at, .. } => assert_eq!(at.offset, cut),
            other => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn every_cut_of_every_kind_of_value_is_truncated() {
    let text = "{\"s\":\"\\u4e2d\\ud83d\\ude00\\n\",\n \"n\":-1.5e+10,\"l\":[true,false,null],\"o\":{\"\":{}}}";
    for cut in prefixes(text).skip(1).filter(|cut| *cut != text) {
        assert!(matches!(refused(cut), ArgumentsError::Truncated { .. }), "{cut:?}");
    }
    accepted(text);
}

#[test]
fn no_text_is_no_arguments() {
    for blank in ["", " ", "\n", "\r\n\t "] {
        assert_eq!(parse_arguments(blank).expect("blank").as_value(), &json!({}));
        assert_eq!(preview(blank), None);
    }
    // White space is what JSON calls so: not a no-break space, a form feed or a NUL.
    for text in ["\u{a0}", "\u{c}", "\u{b}", "\0", "\u{feff}", "\u{3000}", "\u{2028}"] {
        assert_eq!(malformed_at(text), 0, "{text:?}");
    }
}

#[test]
fn only_an_object_is_arguments() {
    for (text, expected) in [
        ("null", "null"),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ("12", "a number"),
        ("\"{}\"", "a string"),
        ("[{}]", "an array"),
    ] {
        assert_eq!(refused(text), ArgumentsError::NotAnObject { found: expected });
    }
}

// Cost grows with the square

#[test]
fn a_long_text_in_one_byte_deltas_is_looked_at_once() {
    let long = |piece: &str| piece.repeat(116_667 / piece.len());
    for (text, twice) in [
        (format!(r#"{{"path":"a","content":"{}"}}"#, long("x")), 0),
        (format!(r#"{{"path":"a","content":"{}"}}"#, long(r"\n\u4e2d\q")), 0),
        (format!(r#"{{"{}":""#, long("key")), 0),
        (format!(r#"{{"n":{}"#, long(" ")), 0),
        // Numbers and literals are read again when they are whole, not before.
        (format!(r#"{{"edits":[{}"#, long(r#"{"a":"b","c":12},"#)), 2 * (116_667 / 17)),
        (format!(r#"{{"n":1.{} "#, long("7")), 116_669),
        (format!("[{}", long("true,")), 4 * (116_667 / 5)),
    ] {
        let mut preview = ArgumentsPreview::new();
        (0..text.len()).for_each(|at| preview.push(&text[at..=at]));
        assert_eq!(preview.bytes_examined(), (text.len() + twice) as u64);
    }
}

#[test]
fn nothing_is_looked_at_after_a_fault() {
    let mut preview = ArgumentsPreview::new();
    preview.push(r#"{"a":1} and"#);
    let examined = preview.bytes_examined();
    preview.push(&" more prose".repeat(1_000));
    assert_eq!(preview.bytes_examined(), examined);
    assert_eq!(preview.frozen().map(|freeze| freeze.at), Some(8));
}

// JSON text

#[test]
fn every_raw_control_character_is_kept() {
    for control in ('\0'..='\x1f').chain(['\x7f', '\u{80}', '\u{9f}']) {
        let text = format!("{{\"k{control}\":\"a{control}b\"}}");
        let value = json!({format!("k{control}"): format!("a{control}b")});
        assert_eq!(accepted(&text), value);
        // Right after a backslash it is no escape, and both are kept.
        let text = format!("{{\"a\":\"\\{control}\"}}");
        assert_eq!(accepted(&text), json!({"a": format!("\\{control}")}));
    }
    // Between tokens only four of them are white space.
    for control in '\0'..='\x1f' {
        let text = format!("{{{control}\"a\":1}}");
        match control {
            '\t' | '\n' | '\r' => assert_eq!(accepted(&text), json!({"a": 1})),
            _ => assert_eq!(malformed_at(&text), 1),
        }
    }
}

#[test]
fn an_illegal_escape_is_kept_as_written() {
    let legal = ['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u'];
    let letters = (' '..='~').chain(['é', '你', '🦀', '\u{7f}']);
    for letter in letters.filter(|letter| !legal.contains(letter)) {
        let text = format!(r#"{{"\{letter}":"x\{letter}y"}}"#);
        assert_eq!(accepted(&text), json!({format!("\\{letter}"): format!("x\\{letter}y")}));
    }
    assert_eq!(accepted(r#"{"a":"App\Http"}"#), json!({"a": r"App\Http"}));
    for cut in prefixes(r#"{"a":"App\Http"}"#).skip(6) {
        let shown = preview(cut).expect("the object")["a"].as_str().map(String::from);
        assert!(r"App\Http".starts_with(&shown.expect("the string")), "{cut}");
    }
}

#[test]
fn what_follows_an_illegal_escape_is_read_normally() {
    for (inside, expected) in [
        (r"\u12G4", r"\u12G4"),
        (r"\u12\n", "\\u12\n"),
        (r"\u\u0041", r"\uA"),
        (r"\u00e", r"\u00e"),
        (r"\u\\", r"\u\"),
        (r"\u12\q", r"\u12\q"),
        (r"\q\n", "\\q\n"),
        (r"\u12é", r"\u12é"),
        (r"\u+041", r"\u+041"),
        (r"\u 041", r"\u 041"),
        (r"\U0041", r"\U0041"),
        (r"\u00C9\u00c9", "ÉÉ"),
        (r#"\u12\""#, "\\u12\""),
    ] {
        let text = format!(r#"{{"a":"{inside}","b":1}}"#);
        assert_eq!(accepted(&text), json!({"a": expected, "b": 1}));
    }
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    for (inside, expected) in [
        (r"\ud83d\ude00", "😀"),
        (r"\uD83D\uDE00", "😀"),
        (r"\ud800\udc00", "\u{10000}"),
        (r"\udbff\udfff", "\u{10ffff}"),
        (r"\ud7ff\ue000", "\u{d7ff}\u{e000}"),
        (r"\ude00", "\u{fffd}"),
        (r"\udc00\udfff", "\u{fffd}\u{fffd}"),
        (r"\ud83d", "\u{fffd}"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\ud83d\ue000", "\u{fffd}\u{e000}"),
        (r"\ud83d\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\ud83d\ud83dx", "\u{fffd}\u{fffd}x"),
        (r"\ud83d\q", "\u{fffd}\\q"),
        (r"\ud83d\u12G4", "\u{fffd}\\u12G4"),
        (r"\ud83d\ude0", "\u{fffd}\\ude0"),
        (r"\ud83d\u", "\u{fffd}\\u"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d你", "\u{fffd}你"),
        (r"\ud83d😀", "\u{fffd}😀"),
    ] {
        let text = format!(r#"{{"{inside}":"{inside}"}}"#);
        assert_eq!(accepted(&text), json!({expected: expected}), "{inside}");
    }
}

#[test]
fn every_unicode_escape_reads_as_its_character() {
    for unit in 0..=u16::MAX {
        let expected = char::from_u32(unit.into()).unwrap_or('\u{fffd}');
        let mut preview = ArgumentsPreview::new();
        preview.push(&format!("\"\\u{unit:04x}\""));
        assert_eq!(preview.value(), Some(&Value::from(String::from(expected))), "{unit:04x}");
    }
}

#[test]
fn half_an_escape_is_held_back() {
    let shown =
        |inside: &str| preview(&format!(r#"{{"a":"x{inside}"#)).expect("an object")["a"].clone();
    for held in
        [r"\", r"\u", r"\u4", r"\u4e", r"\u4e2", r"\ud83d", r"\ud83d\", r"\ud83d\u", r"\ud83d\ude0"]
    {
        assert_eq!(shown(held), "x", "{held}");
    }
    assert_eq!(shown(r"\u4e2d"), "x中");
    assert_eq!(shown(r"\u12G"), r"x\u12G");
    assert_eq!(shown(r"\ud83d\ud83"), "x");
    assert_eq!(shown(r"\ud83d\ud83d"), "x\u{fffd}");
}

#[test]
fn nothing_flickers_at_any_cut() {
    let text = r#"{"k":1,"a":"x\u4e2d"}"#;
    for cut in prefixes(text) {
        let shown = preview(cut).unwrap_or_default();
        assert_eq!(shown.get("k").is_some(), cut.len() > 6, "{cut}");
        let a = shown.get("a").map(|a| a.as_str().expect("a string"));
        let expected = match cut.len() {
            ..12 => None,
            12 => Some(""),
            13..19 => Some("x"),
            _ => Some("x中"),
        };
        assert_eq!(a, expected, "{cut}");
    }
}

#[test]
fn a_number_or_literal_is_hidden_until_the_character_after_it() {
    let scalars = ["0", "12", "-1", "-0", "1.5", "1e5", "1E+5", "-2.5e-3", "true", "false", "null"];
    for scalar in scalars {
        let value: Value = serde_json::from_str(scalar).expect("a scalar");
        for length in 1..=scalar.len() {
            let half = &scalar[..length];
            assert_eq!(preview(half), None, "{half}");
            assert_eq!(preview(&format!("[1, {half}")), Some(json!([1])), "{half}");
            assert_eq!(preview(&format!(r#"{{"k":1,"n":{half}"#)), Some(json!({"k": 1})), "{half}");
        }
        for after in [" ", "\t", "\n", "\r"] {
            assert_eq!(preview(&format!("{scalar}{after}")), Some(value.clone()));
        }
        for after in [" ", "\t", "\n", "\r", ",", "]"] {
            assert_eq!(preview(&format!("[{scalar}{after}")), Some(json!([value])));
        }
        for after in [" ", "\t", "\n", "\r", ",", "}"] {
            assert_eq!(preview(&format!(r#"{{"n":{scalar}{after}"#)), Some(json!({"n": value})));
        }
        // What may not follow shows nothing.
        for after in ["}", ":", "\"", "[", "{", "x", "é", "\0", "\u{a0}", "_"] {
            assert_eq!(preview(&format!("[{scalar}{after}")), Some(json!([])), "{scalar}{after}");
        }
        assert_eq!(preview(&format!(r#"{{"n":{scalar}]"#)), Some(json!({})));
        for after in [",", "]", "}", ":"] {
            assert_eq!(preview(&format!("{scalar}{after}")), None);
        }
    }
}

#[test]
fn finish_ends_a_bare_number_or_literal() {
    for (text, expected) in [
        ("12", Some(json!(12))),
        ("-0.5e1", Some(json!(-5.0))),
        (" true", Some(json!(true))),
        ("null", Some(Value::Null)),
        ("tru", None),
        ("-", None),
        ("1e", None),
        ("1.", None),
        ("01", None),
        ("1e999", None),
        ("", None),
        ("[12", Some(json!([]))),
        (r#"{"a":12"#, Some(json!({}))),
        (r#""text"#, Some(json!("text"))),
        (r#""text\"#, Some(json!("text"))),
        (r#""text\ud83d"#, Some(json!("text"))),
    ] {
        let mut preview = ArgumentsPreview::new();
        preview.push(text);
        preview.finish();
        assert_eq!(preview.value().cloned(), expected, "{text}");
        // A text that can't become JSON is frozen now; one that was cut is not.
        assert_eq!(preview.frozen().is_some(), ["01", "1e999"].contains(&text), "{text}");
    }
}

#[test]
fn a_value_after_the_finished_one_is_a_fault() {
    let mut preview = ArgumentsPreview::new();
    preview.push("12");
    preview.finish();
    preview.finish();
    preview.push("3");
    assert_eq!(preview.value(), Some(&json!(12)));
    assert_eq!(preview.frozen().map(|freeze| freeze.at), Some(2));
}

#[test]
fn a_member_appears_when_its_value_does() {
    for (text, expected) in [
        ("{", json!({})),
        (r#"{"a"#, json!({})),
        (r#"{"a""#, json!({})),
        (r#"{"a":"#, json!({})),
        (r#"{"a": "#, json!({})),
        (r#"{"a":""#, json!({"a": ""})),
        (r#"{"a":["#, json!({"a": []})),
        (r#"{"a":{"#, json!({"a": {}})),
        (r#"{"a":1"#, json!({})),
        (r#"{"a":[{"b":["#, json!({"a": [{"b": []}]})),
        (r#"{"a":[{"b":["c"#, json!({"a": [{"b": ["c"]}]})),
        (r#"{"a":[[],"#, json!({"a": [[]]})),
    ] {
        assert_eq!(preview(text), Some(expected), "{text}");
    }
}

#[test]
fn a_repeated_key_replaces_the_earlier_member_where_it_stands() {
    let shown = |text: &str| preview(text).expect("an object").to_string();
    let earlier = r#"{"k":"one","z":1,"k":"#;
    assert_eq!(shown(earlier), r#"{"k":"one","z":1}"#);
    assert_eq!(shown(&format!("{earlier}2")), r#"{"k":"one","z":1}"#);
    assert_eq!(shown(&format!("{earlier}2,")), r#"{"k":2,"z":1}"#);
    assert_eq!(shown(&format!("{earlier}\"")), r#"{"k":"","z":1}"#);
    assert_eq!(shown(&format!("{earlier}\"tw")), r#"{"k":"tw","z":1}"#);
    assert_eq!(shown(&format!("{earlier}[[3],{{\"k\":\"x")), r#"{"k":[[3],{"k":"x"}],"z":1}"#);
    // Another member after it, and the same key spelled as an escape.
    assert_eq!(shown(&format!("{earlier}[2],\"y\":\"w")), r#"{"k":[2],"z":1,"y":"w"}"#);
    assert_eq!(shown(r#"{"k":1,"\u006b":{"a":"b"#), r#"{"k":{"a":"b"}}"#);
    assert_eq!(accepted(r#"{"k":1,"k":2,"k":3}"#), json!({"k": 3}));
}

#[test]
fn unusual_keys_are_keys_like_any_other() {
    let text = r#"{"":1,"__proto__":{"a":2},"constructor":3,"\n":4,"a.b":5,"0":6}"#;
    assert_eq!(accepted(text).to_string(), text);
}

#[test]
fn nothing_after_the_object_is_salvaged() {
    let object = r#"{"a":1}"#;
    for after in
        ["x", " Done.", "{}", r#" {"b":2}"#, "\n```", ",", "}", "]", "\0", "\u{feff}", "1", "//"]
    {
        let text = format!("{object}{after}");
        let expected = object.len() + after.len() - after.trim_start().len();
        assert_eq!(malformed_at(&text), expected, "{text:?}");
        assert_eq!(preview(&text), Some(json!({"a": 1})), "{text:?}");
    }
    for before in ["x", "```json\n", "\u{feff}", "to=functions.exec_command ", "\0", ",", "//\n"] {
        // `to` begins like `true`.
        let expected = usize::from(before.starts_with('t'));
        assert_eq!(malformed_at(&format!("{before}{object}")), expected);
        assert_eq!(preview(&format!("{before}{object}")), None);
    }
    assert_eq!(accepted(&format!(" \r\n\t{object} \r\n\t")), json!({"a": 1}));
}

#[test]
fn an_unescaped_quote_in_a_string_is_a_fault() {
    for (text, offset) in [
        (r#"{"a":"say "hi\n" to"}"#, 11),
        (r#"{"a":"say "\"}"#, 11),
        (r#"{"a":"say ""}"#, 11),
        (r#"{"a":"x"\u0041"}"#, 8),
        (r#"{"a"b":1}"#, 4),
    ] {
        assert_eq!(malformed_at(text), offset, "{text}");
        for cut in prefixes(text) {
            preview(cut);
        }
    }
}

#[test]
fn a_number_out_of_range_is_an_error() {
    for number in ["1e999", "-1e999", "1E309", "1.8e308", &"9".repeat(400)] {
        let text = format!(r#"{{"k":1,"a":{number}}}"#);
        match refused(&text) {
            ArgumentsError::Malformed { at, fault: Fault::OutOfRange } => assert_eq!(at.offset, 11),
            other => panic!("{other}"),
        }
        assert_eq!(preview(&text), Some(json!({"k": 1})));
    }
    for number in ["1e308", "1.7976931348623157e308", "1e-999", "18446744073709551616", "0.1e-400"]
    {
        accepted(&format!(r#"{{"a":{number}}}"#));
    }
}

#[test]
fn depth_is_bounded_exactly_as_in_serde_json() {
    let kinds =
        [("[", "]", ""), (r#"{"a":"#, "}", ""), (r#"[{"a":"#, "}]", ""), ("[[],", "]", "0")];
    for (open, close, inside) in kinds {
        let per_round = open.matches(['[', '{']).count() - open.matches(']').count();
        for rounds in 0..200 {
            let nested = format!("{}{inside}{}", open.repeat(rounds), close.repeat(rounds));
            let text = format!(r#"{{"x":{}}}"#, if nested.is_empty() { "0" } else { &nested });
            let text = text.replace(":}", ":0}");
            let serde = serde_json::from_str::<Value>(&text).ok();
            let ours = parse_arguments(&text).ok().map(|arguments| arguments.as_value().clone());
            assert_eq!(ours, serde, "{rounds} of {open}");
            let open_at_once = 1 + rounds * per_round + usize::from(open == "[[],");
            assert_eq!(ours.is_some(), open_at_once <= DEPTH, "{rounds} of {open}");
        }
    }
}

#[test]
fn a_hundred_thousand_brackets_freeze_and_harm_nobody() {
    for open in ["[", r#"{"a":"#, "[ ", r#"[{"":"#] {
        let text = open.repeat(100_000);
        let mut preview = ArgumentsPreview::new();
        preview.push(&text);
        assert_eq!(preview.frozen().map(|freeze| &freeze.fault), Some(&Fault::TooDeep));
        let shown = preview.value().expect("what stands before the fault");
        assert_eq!(shown.to_string().matches(['[', '{']).count(), DEPTH);
        assert!(format!("{preview:?} {:?}", preview.clone()).contains("TooDeep"));
        drop(preview);
        match refused(&text) {
            ArgumentsError::Malformed { fault: Fault::TooDeep, .. } => {}
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_faulty_number_or_literal_is_reported_where_it_goes_wrong() {
    for (scalar, offset) in [
        ("01", 1),
        ("-01", 2),
        ("-x", 1),
        ("1.", 2),
        ("1.e5", 2),
        ("1.5.2", 3),
        ("1e", 2),
        ("1e+", 3),
        ("1ex", 2),
        ("1-2", 1),
        ("-", 1),
        ("12abc", 2),
        ("0x1F", 1),
        ("tru", 3),
        ("trUe", 2),
        ("nulll", 4),
        ("falsetrue", 5),
        ("1e999", 0),
    ] {
        assert_eq!(malformed_at(&format!(r#"{{"a":{scalar}}}"#)), 5 + offset, "{scalar}");
    }
}

// What else the types promise

#[test]
fn positions_count_lines_and_characters() {
    let text = "{\"路径\": \"🦀\",\n  \"n\": 01}";
    match refused(text) {
        ArgumentsError::Malformed { at, fault } => {
            assert_eq!(at, Position { offset: text.len() - 2, line: 2, column: 9 });
            assert_eq!(fault, Fault::Unexpected { found: '1', expected: "`,` or `}`" });
        }
        other => panic!("{other}"),
    }
}

#[test]
fn errors_read_well_and_name_their_source() {
    for (text, expected) in [
        (
            "{'a':1}",
            "at byte 1 (line 1, column 2): expected a key in double quotes or `}`, found '\\''",
        ),
        (r#"{"a":1,}"#, "at byte 7 (line 1, column 8): expected a key in double quotes, found '}'"),
        (r#"{"a" 1}"#, "at byte 5 (line 1, column 6): expected `:`, found '1'"),
        (r#"{"a":}"#, "at byte 5 (line 1, column 6): expected a value, found '}'"),
        (r#"{"a":[}"#, "at byte 6 (line 1, column 7): expected a value or `]`, found '}'"),
        (r#"{"a":[1 2]}"#, "at byte 8 (line 1, column 9): expected `,` or `]`, found '2'"),
        (r#"{"a":1;}"#, "at byte 6 (line 1, column 7): expected `,` or `}`, found ';'"),
        (r#"{"a":[1}"#, "at byte 7 (line 1, column 8): expected `,` or `]`, found '}'"),
        (
            r#"{"a":nul}"#,
            "at byte 8 (line 1, column 9): expected the rest of `true`, `false` or `null`, found '}'",
        ),
        (r#"{"a":[-]}"#, "at byte 7 (line 1, column 8): expected a digit, found ']'"),
        (r#"{"a":1e999}"#, "at byte 5 (line 1, column 6): number out of range"),
        ("{}\n```", "at byte 3 (line 2, column 1): expected nothing more, found '`'"),
        ("\u{feff}{}", "at byte 0 (line 1, column 1): expected a value, found '\\u{feff}'"),
        (&"[".repeat(128), "at byte 127 (line 1, column 128): nested more than 127 levels deep"),
    ] {
        let error = refused(text);
        assert_eq!(error.to_string(), format!("arguments malformed {expected}"));
        let source = std::error::Error::source(&error).expect("the fault");
        assert!(expected.ends_with(&source.to_string()));
    }
    let error = refused("[]");
    assert_eq!(error.to_string(), "arguments malformed: expected an object, found an array");
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn arguments_fit_a_struct_or_say_why_not() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Read {
        path: String,
        limit: Option<u32>,
    }
    let arguments = parse_arguments(r#"{"path":"a.rs","limit":3}"#).expect("good");
    assert_eq!(
        arguments.parse::<Read>().expect("fits"),
        Read { path: "a.rs".into(), limit: Some(3) }
    );
    assert_eq!(arguments.get("path"), Some(&json!("a.rs")));
    assert_eq!(arguments.get("content"), None);
    assert_eq!(serde_json::to_string(&arguments).expect("JSON"), r#"{"path":"a.rs","limit":3}"#);

    let error = parse_arguments("{}").expect("good").parse::<Read>().expect_err("no path");
    assert_eq!(error.to_string(), "arguments do not fit the tool: missing field `path`");
    assert!(std::error::Error::source(&error).is_some());
}

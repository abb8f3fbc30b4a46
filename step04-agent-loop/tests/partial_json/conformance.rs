//! RFC 8259, production by production, with the near misses of each.
//!
//! Every text stands in the place of a value: it is wrapped as `{"a": …}`. serde_json is asked too,
//! on the text itself: it must agree on all but the mended ones.

use serde_json::{Value, json};
use step04_agent_loop::partial_json::{ArgumentsPreview, parse_arguments};

use crate::oracle::preview;

/// Section 2: structure and white space.
#[test]
fn structure() {
    accepted(&[
        "{}",
        "[]",
        "[ ]",
        "{ }",
        " 1 ",
        "\t1\n",
        "\r\n1\r\n",
        "[\n1\t,\r2 ]",
        "{ \"b\" : 1 }",
    ]);
    accepted(&[
        "[[]]",
        "[[],[]]",
        "[{}]",
        "{\"b\":{}}",
        "[[[[[[[[[[1]]]]]]]]]]",
        "[1,[2,{\"b\":[3]}],4]",
    ]);
    refused(&[
        "",
        " ",
        "[",
        "]",
        "{",
        "}",
        "[}",
        "{]",
        "[1}",
        "{\"b\":1]",
        "[[1]",
        "[1]]",
        "{}}",
        "[]]",
    ]);
    refused(&[
        "\u{b}1",
        "\u{c}1",
        "\u{a0}1",
        "\u{feff}1",
        "\u{2028}1",
        "\u{3000}1",
        "\u{85}1",
        "\0",
        "1\0",
    ]);
    refused(&[
        "// c\n1",
        "/* c */1",
        "1 // c",
        "# c\n1",
        "1;",
        "1 2",
        "{} {}",
        "[] 1",
        "\"x\" \"y\"",
        "1,",
        ",1",
    ]);
}

/// Section 3: literals are lower case and whole.
#[test]
fn literals() {
    accepted(&["true", "false", "null", " null ", "[true,false,null]"]);
    for literal in ["true", "false", "null"] {
        for cut in 1..literal.len() {
            refused(&[
                &literal[..cut],
                &literal[cut..],
                &format!("{} {}", &literal[..cut], &literal[cut..]),
            ]);
        }
        let capital = literal[..1].to_uppercase() + &literal[1..];
        refused(&[
            &capital,
            &literal.to_uppercase(),
            &format!("{literal}x"),
            &format!("{literal}1"),
        ]);
        refused(&[
            &format!("x{literal}"),
            &format!("-{literal}"),
            &literal.repeat(2),
            &format!("{literal}\0"),
        ]);
    }
    refused(&[
        "undefined",
        "None",
        "nil",
        "yes",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "inf",
        "+Inf",
        "a",
        "x=1",
    ]);
}

/// Section 4: objects.
#[test]
fn objects() {
    accepted(&[
        r#"{"b":1}"#,
        r#"{"b":1,"c":2}"#,
        r#"{"":0}"#,
        r#"{"b":{"b":{"b":1}}}"#,
        r#"{"b":1,"b":2}"#,
    ]);
    accepted(&[
        r#"{"\u0062":1}"#,
        r#"{"b\"c":1}"#,
        r#"{"路径":1}"#,
        r#"{"__proto__":1}"#,
        r#"{"{":"}"}"#,
    ]);
    refused(&[
        "{,}",
        r#"{"b"}"#,
        r#"{"b":}"#,
        r#"{"b",1}"#,
        r#"{:1}"#,
        r#"{"b":1,}"#,
        r#"{,"b":1}"#,
        r#"{"b":1,,"c":2}"#,
    ]);
    refused(&[
        r#"{"b" 1}"#,
        r#"{"b"::1}"#,
        r#"{"b"=1}"#,
        r#"{"b":1 "c":2}"#,
        r#"{"b":1;"c":2}"#,
        r#"{"b":1:2}"#,
    ]);
    refused(&[
        "{b:1}",
        "{'b':1}",
        "{1:1}",
        "{null:1}",
        "{[]:1}",
        "{{}:1}",
        r#"{"b":1"#,
        r#"{"b":"#,
        r#"{"b"#,
        r#"{"b":1,"#,
    ]);
    refused(&[
        r#"{"b":1}x"#,
        r#"{"b":1,"c"}"#,
        r#"{"b":"c" "d"}"#,
        r#"{"b":1,…}"#,
        r#"{"b":1,"c":…}"#,
        r#"{"b",}"#,
    ]);
}

/// Section 5: arrays.
#[test]
fn arrays() {
    accepted(&["[1]", "[1,2]", r#"[1,"b",null,[],{}]"#, "[ 1 , 2 ]", r#"["]"]"#, r#"[","]"#]);
    refused(&[
        "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1;2]", "[1:2]", "[1", "[1,", "[\"b\"", "[1}",
        "[1,2}",
    ]);
    refused(&[
        "[1]x",
        "[x]",
        "[*]",
        "[1,\n1\n,1",
        "[\"b\":1]",
        "[1 true]",
        "[-]",
        "[...]",
        "[,,]",
        "[1,2",
        "(1)",
    ]);
}

/// Section 6: numbers.
#[test]
fn numbers() {
    accepted(&[
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "1234567890",
        "0.0",
        "-0.0",
        "0.1",
        "1.5",
        "-1.50",
        "100.001",
    ]);
    accepted(&[
        "0e0", "0e+1", "0E-1", "1e5", "1E5", "1e+5", "1e-5", "1.5e3", "1e05", "1e00", "-1.5E+10",
        "0.0e0",
    ]);
    accepted(&[
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
    ]);
    accepted(&["18446744073709551615", "18446744073709551616", "123456789012345678901234567890"]);
    accepted(&[
        "1e308",
        "1.7976931348623157e308",
        "5e-324",
        "1e-400",
        "0.1e-400",
        "0e999",
        "-0e-999",
    ]);
    accepted(&[
        "0.1000000000000000055511151231257827",
        "2.2250738585072011e-308",
        "9007199254740993",
    ]);
    refused(&[
        "00", "01", "-01", "-00", "0123", "1.", "-1.", "0.", ".5", "-.5", ".", "1.e5", "1..5",
        "1.5.2",
    ]);
    refused(&[
        "1e", "1e+", "1e-", "1E", "e5", "1ee5", "1e5e5", "1e5.5", "1e+-5", "1.5e", "0e", "0.e1",
        "-e1",
    ]);
    refused(&[
        "+1", "+0", "++1", "--1", "-", "+", "- 1", "-+1", "1-", "1+", "1+2", "1-2", "-a", "−1",
        "1_000", "1,000",
    ]);
    refused(&[
        "0x1F", "0b1", "0o7", "1f", "1n", "1a", "1 000", "１", "٣", "1e999", "-1e999", "1e309",
        "1\u{a0}", "1é",
    ]);
}

/// Section 7: strings.
#[test]
fn strings() {
    accepted(&[
        r#""""#,
        r#""b""#,
        r#"" ""#,
        r#""\"""#,
        r#""\\""#,
        r#""\/""#,
        r#""/""#,
        r#""\b\f\n\r\t""#,
        r#""\\\"""#,
    ]);
    accepted(&[
        r#""\u0041""#,
        r#""\u00e9\u00C9""#,
        r#""\u4e2d""#,
        r#""\ud83d\ude00""#,
        r#""\uD834\uDD1E""#,
    ]);
    accepted(&[
        r#""\u0000""#,
        r#""\u001f""#,
        r#""\u0022""#,
        r#""\u005c""#,
        r#""\uffff""#,
        r#""\ufdd0""#,
        r#""\\u0041""#,
    ]);
    accepted(&[
        "\"é你好🦀\"",
        "\"\u{7f}\u{80}\u{9f}\"",
        "\"\u{2028}\u{2029}\u{feff}\"",
        "\"\u{10ffff}\u{ffff}\"",
    ]);
    accepted(&[r#""'""#, r#""{[,:]}""#, r#""//""#, r#""null""#, r#""\\\\""#]);
    refused(&[
        "\"",
        "\"b",
        r#""\""#,
        r#""b\\\""#,
        "'b'",
        "b",
        "\"b\"c",
        "\"b\"\"",
        "“b”",
        "`b`",
        r#"\"b\""#,
        "\"b'",
    ]);
    refused(&[
        r#"\u0022b""#,
        r#""b\u0022"#,
        r#""\u"#,
        r#""\u00"#,
        r#""\ud83d"#,
        r#""\ud83d\u"#,
        r#""b"+"c""#,
    ]);
}

/// The three mends are all that is accepted beyond the RFC.
#[test]
fn mends() {
    for control in '\0'..='\x1f' {
        mended(&format!("\"{control}\""), &String::from(control));
        mended(&format!("\"b{control}\\n\""), &format!("b{control}\n"));
    }
    for (inside, expected) in [
        (r"\q", r"\q"),
        (r"\'", r"\'"),
        (r"\x41", r"\x41"),
        (r"\0", r"\0"),
        (r"\ n", r"\ n"),
        (r"\é", r"\é"),
        (r"\N\B", r"\N\B"),
        (r"\u", r"\u"),
        (r"\u1", r"\u1"),
        (r"\u12", r"\u12"),
        (r"\u123", r"\u123"),
        (r"\u12G4", r"\u12G4"),
        (r"\u123é", r"\u123é"),
        (r"\uD83D", "\u{fffd}"),
        (r"\uDE00", "\u{fffd}"),
        (r"\uD83Dx", "\u{fffd}x"),
        (r"\uD83D\uD83D\uDE00", "\u{fffd}😀"),
        (r"\uDE00\uD83D", "\u{fffd}\u{fffd}"),
        (r"\uD83D\u0041", "\u{fffd}A"),
    ] {
        mended(&format!("\"{inside}\""), expected);
    }
}

/// Section 9: a parser may set limits; ours are serde_json's. (For depth see `cases`.)
#[test]
fn left_to_the_parser() {
    // A repeated key: the last one wins. A number beyond 64 bits: the nearest float.
    assert_eq!(value(r#"{"b":1,"b":2}"#), Some(json!({"b": 2})));
    assert_eq!(value("18446744073709551616"), Some(json!(18_446_744_073_709_551_616.0)));
    assert_eq!(value("1e-400"), Some(json!(0.0)));
    assert_eq!(value("-0").map(|zero| zero.to_string()), Some("-0.0".into()));
    let long = "x".repeat(100_000);
    assert_eq!(value(&format!("\"{long}\"")), Some(json!(long)));
    let digits = format!("0.{}1", "0".repeat(100_000));
    assert_eq!(value(&digits), Some(json!(0.0)));
}

fn wrap(text: &str) -> String {
    format!("{{\"a\": {text}}}")
}

fn value(text: &str) -> Option<Value> {
    Some(parse_arguments(&wrap(text)).ok()?.as_value()["a"].clone())
}

fn accepted(texts: &[&str]) {
    for text in texts {
        let expected: Value = serde_json::from_str(text).expect(text);
        let ours = value(text).unwrap_or_else(|| panic!("{text:?} is refused"));
        assert_eq!(ours.to_string(), expected.to_string(), "{text:?}");
        check_previews(text);
        // And by itself, at the root, where `finish` ends a number or literal.
        let mut root = ArgumentsPreview::new();
        root.push(text);
        root.finish();
        assert_eq!(root.value(), Some(&expected), "{text:?}");
    }
}

fn refused(texts: &[&str]) {
    for text in texts {
        assert!(serde_json::from_str::<Value>(text).is_err(), "serde_json accepts {text:?}");
        assert_eq!(value(text), None, "{text:?}");
        check_previews(text);
    }
}

fn mended(text: &str, expected: &str) {
    assert!(serde_json::from_str::<Value>(text).is_err(), "nothing to mend in {text:?}");
    assert_eq!(value(text), Some(expected.into()), "{text:?}");
    check_previews(text);
}

/// Character by character or at once, the last preview is the same; and it is the final value, if
/// there is one.
fn check_previews(text: &str) {
    let wrapped = wrap(text);
    let mut slow = ArgumentsPreview::new();
    wrapped.split_inclusive(|_| true).for_each(|character| slow.push(character));
    assert_eq!(slow.value().cloned(), preview(&wrapped), "{text:?}");
    if let Ok(arguments) = parse_arguments(&wrapped) {
        assert_eq!(slow.value(), Some(arguments.as_value()), "{text:?}");
    }
}

//! Where we differ from Pi, on the texts that were recorded from it.
//!
//! The record has, for every length of 27 texts, what Pi's two previews show: `psj` parses the text
//! again at each delta, `inc` is incremental; and what Pi would execute in the end. Every difference
//! must be of a known kind. The counts are compared with the table in `docs/partial-json-vs-pi.md`
//! and its Chinese twin, which give the reasons.

use std::collections::BTreeMap;

use serde_json::Value;
use step04_agent_loop::partial_json::parse_arguments;

use crate::oracle::preview;

const RECORD: &str = include_str!("../data/pi/json-prefixes.jsonl");
const DOCS: [&str; 2] = [
    include_str!("../../docs/partial-json-vs-pi.md"),
    include_str!("../../docs/partial-json-vs-pi.zh-CN.md"),
];

/// Per kind: how often in `psj`, in `inc`, in the final verdict; and the first example.
type Table = BTreeMap<&'static str, ([usize; 3], String)>;

#[test]
fn the_docs_tell_every_difference() {
    let expected = rows(&differences());
    let lengths = RECORD.matches(r#"{"n":"#).count().to_string();
    for docs in DOCS {
        assert!(docs.contains(&lengths), "{lengths} lengths were compared");
        let told: Vec<&str> = docs.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(told, expected, "the table in the docs should be:\n{}\n", expected.join("\n"));
        for row in &expected {
            let kind = row.split('`').nth(1).expect("the name of the kind");
            assert!(docs.contains(&format!("**`{kind}`**")), "{kind} is not explained");
        }
    }
}

fn rows(table: &Table) -> Vec<String> {
    let row = |(kind, (counts, example)): (&&str, &([usize; 3], String))| {
        let [psj, inc, verdict] = counts;
        format!("| `{kind}` | {psj} | {inc} | {verdict} | {example} |")
    };
    table.iter().map(row).collect()
}

fn differences() -> Table {
    let mut table = Table::new();
    assert_eq!(RECORD.lines().count(), 27);
    for line in RECORD.lines() {
        // The record holds lone surrogates, which serde_json refuses. Our own reader mends them.
        let line = parse_arguments(line).expect("a line of the record").as_value().clone();
        let input = line["input"].as_str().expect("a text");
        for row in line["rows"].as_array().expect("one row per length") {
            compare_previews(&mut table, input, row);
        }
        compare_verdicts(&mut table, input, &line["final"]["toolArgs"]["v"]);
    }
    table
}

fn compare_previews(table: &mut Table, input: &str, row: &Value) {
    let units: Vec<u16> = input.encode_utf16().collect();
    let length = row["n"].as_u64().expect("a length in UTF-16 units") as usize;
    let whole = String::from_utf16(&units[..length]).ok();
    let prefix = whole.clone().unwrap_or_else(|| String::from_utf16_lossy(&units[..length - 1]));
    let ours = preview(&prefix);
    for (column, view) in ["psj", "inc"].into_iter().enumerate() {
        let theirs = row[view].get("v").cloned();
        let kind = match whole {
            Some(_) => kind_of(&prefix, ours.as_ref(), theirs.as_ref()),
            None => Some("torn-character"),
        };
        note(table, kind, column, &prefix, ours.as_ref(), theirs.as_ref());
    }
}

/// Pi's verdict is the object that a tool gets, or `{}` with an error beside it.
fn compare_verdicts(table: &mut Table, input: &str, theirs: &Value) {
    let ours = parse_arguments(input).ok().map(|arguments| arguments.as_value().clone());
    let accepted = theirs.get("argumentsError").is_none();
    let theirs = accepted.then(|| &theirs["arguments"]);
    note(table, kind_of(input, ours.as_ref(), theirs), 2, input, ours.as_ref(), theirs);
}

fn note(
    table: &mut Table,
    kind: Option<&'static str>,
    column: usize,
    text: &str,
    ours: Option<&Value>,
    theirs: Option<&Value>,
) {
    let Some(kind) = kind else { return };
    let json = |value: Option<&Value>| value.map_or("nothing".into(), |value| format!("`{value}`"));
    let text = if text.is_empty() { "∅" } else { text };
    let text = text.escape_debug().to_string().replace("\\\"", "\"").replace("\\\\", "\\");
    let example = format!("`{text}` → ours {}, Pi {}", json(ours), json(theirs));
    table.entry(kind).or_insert_with(|| ([0; 3], example)).0[column] += 1;
}

/// Which kind of difference this is, if there is one. A kind that is not known fails the test.
fn kind_of(text: &str, ours: Option<&Value>, theirs: Option<&Value>) -> Option<&'static str> {
    let written = |value: Option<&Value>| value.map_or(String::new(), Value::to_string);
    let (our_text, their_text) = (written(ours), written(theirs));
    let frozen = matches!(
        parse_arguments(text),
        Err(step04_agent_loop::partial_json::ArgumentsError::Malformed { .. })
    );
    let last = text.rsplit([',', ':', '[', ' ']).next().unwrap_or_default();
    let in_literal = !last.is_empty() && ["true", "null"].iter().any(|word| word.starts_with(last));
    Some(match () {
        // In Pi's strings a half pair stays what it is; the record's halves were mended to U+FFFD.
        () if our_text == their_text && their_text.contains('\u{fffd}') => "lone-surrogate",
        () if same(ours, theirs) => return None,
        () if their_text.contains('\u{fffd}') => "half-pair-shown",
        () if their_text.contains("Infinity__") && text.contains("1e999") => "out-of-range",
        () if their_text.contains("__") => "not-json-numbers",
        () if ours.is_none() && their_text == "{}" => "empty-object-for-nothing",
        () if in_literal => "guessed-literal",
        () if text.contains('\n') && their_text == "{}" => "raw-control-hides-text",
        () if text.ends_with([' ', '\n', '\t']) => "trailing-space-trimmed",
        () if frozen => "after-a-fault",
        () if last.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => "unfinished-number",
        () => panic!("{text:?}: ours {our_text}, Pi {their_text}: a difference of no known kind"),
    })
}

/// JSON has one kind of number, and so has JavaScript: `-0` is `0` there, `1E5` is `100000`.
fn same(ours: Option<&Value>, theirs: Option<&Value>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => same_value(ours, theirs),
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

fn same_value(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let members = ours.iter().zip(theirs);
            ours.len() == theirs.len()
                && members.into_iter().all(|((k, a), (l, b))| k == l && same_value(a, b))
        }
        (ours, theirs) => ours == theirs,
    }
}

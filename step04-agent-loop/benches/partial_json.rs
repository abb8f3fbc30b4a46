//! What a preview costs while a call's arguments arrive in deltas of four bytes, looked at after
//! each: `cargo bench -p step04-agent-loop --bench partial_json`.
//!
//! Each row is measured for 100 KB and for 1 MB. Ten times the text may take ten times as long, not
//! a hundred: `growth` stays under 12.

use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;
use step04_agent_loop::partial_json::{ArgumentsPreview, ToolArguments, parse_arguments};

const SMALL: usize = 100_000;
const LARGE: usize = 1_000_000;
const RUNS: usize = 11;

/// What a run makes; kept until the clock stops.
#[allow(dead_code)]
enum Made {
    Preview(ArgumentsPreview),
    Arguments(ToolArguments),
    Value(Value),
}

fn main() {
    println!("| work | N (bytes) | time | per byte | growth N→10N |");
    println!("|---|---|---|---|---|");
    row("preview, plain text", plain, preview);
    row("preview, code full of escapes", code, preview);
    row("preview, nothing but escapes", escapes, preview);
    row("preview, many small objects", objects, preview);
    row("preview, many numbers", numbers, preview);
    row("preview, one object of many members", members, preview);
    row("preview, string below 126 arrays", deep, preview);
    row("strict parse, plain text", plain, strict);
    row("strict parse, code full of escapes", code, strict);
    row("strict parse, many small objects", objects, strict);
    row("serde_json alone, many small objects", objects, serde);
}

fn row(work: &str, text: fn(usize) -> String, run: fn(&str) -> Made) {
    let (small, large) = (text(SMALL), text(LARGE));
    let mut times: Vec<(f64, f64)> = (0..RUNS)
        .map(|_| {
            // Ten small ones, all kept, beside one large one: what disturbs the machine disturbs both
            // alike, and both fill as much memory, so the growth is that of the work alone.
            let ten_small = time(|| (0..10).map(|_| run(black_box(&small))).collect());
            (ten_small / 10.0, time(|| vec![run(black_box(&large))]))
        })
        .collect();
    let median = |pick: fn(&(f64, f64)) -> f64, times: &mut Vec<(f64, f64)>| {
        times.sort_by(|a, b| pick(a).total_cmp(&pick(b)));
        pick(&times[RUNS / 2])
    };
    let (small, large) = (median(|t| t.0, &mut times), median(|t| t.1, &mut times));
    print_row(work, SMALL, small, String::new());
    print_row(work, LARGE, large, format!("{:.1}", large / small));
}

fn print_row(work: &str, length: usize, seconds: f64, growth: String) {
    let (millis, per_byte) = (seconds * 1e3, seconds * 1e9 / length as f64);
    println!("| {work} | {length} | {millis:.2} ms | {per_byte:.1} ns | {growth} |");
}

/// In seconds, dropping what was made included.
fn time(run: impl FnOnce() -> Vec<Made>) -> f64 {
    let start = Instant::now();
    drop(black_box(run()));
    start.elapsed().as_secs_f64()
}

fn preview(text: &str) -> Made {
    let mut preview = ArgumentsPreview::new();
    // All texts here are ASCII, so four bytes never cut a character.
    for start in (0..text.len()).step_by(4) {
        preview.push(&text[start..(start + 4).min(text.len())]);
        black_box(preview.value());
    }
    assert!(preview.frozen().is_none(), "the bench would measure nothing");
    Made::Preview(preview)
}

fn strict(text: &str) -> Made {
    Made::Arguments(parse_arguments(text).expect("the bench would measure nothing"))
}

/// For comparison.
fn serde(text: &str) -> Made {
    Made::Value(serde_json::from_str(text).expect("the bench would measure nothing"))
}

/// `begin`, then `piece` until the text has about `length` bytes, then `end`.
fn repeat(begin: &str, piece: &str, end: &str, length: usize) -> String {
    format!("{begin}{}{end}", piece.repeat(length / piece.len()))
}

fn plain(length: usize) -> String {
    let begin = r#"{"path":"notes.md","content":""#;
    repeat(begin, "The quick brown fox jumps over the lazy dog. ", r#""}"#, length)
}

fn code(length: usize) -> String {
    let begin = r#"{"path":"main.rs","content":""#;
    let line = r#"    println!(\"{name}\\t{}\", value);\n\tlet s = \"\u4e2d\ud83e\udd80\";\n"#;
    repeat(begin, line, r#""}"#, length)
}

fn escapes(length: usize) -> String {
    repeat(r#"{"content":""#, r#"\n\"\u4e2d\\\ud83e\udd80\t"#, r#""}"#, length)
}

fn objects(length: usize) -> String {
    repeat(r#"{"edits":["#, r#"{"line":12,"text":"x"},"#, "0]}", length)
}

fn numbers(length: usize) -> String {
    repeat(r#"{"n":["#, "1,", "0]}", length)
}

fn members(length: usize) -> String {
    let members: String = (0..length / 12).map(|n| format!("\"{n:07}\":1,")).collect();
    format!("{{{members}\"end\":null}}")
}

fn deep(length: usize) -> String {
    let (begin, end) = ("[".repeat(126), "]".repeat(126));
    repeat(&format!(r#"{{"a":{begin}""#), "deep ", &format!(r#""{end}}}"#), length)
}

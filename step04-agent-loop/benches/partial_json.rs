//! What a preview costs while a call's arguments arrive in deltas of four bytes, looked at after
//! each: `cargo bench -p step04-agent-loop --bench partial_json`.
//!
//! Each row is measured for 100 KB and for 1 MB. Ten times the text may take ten times as long, not
//! a hundred: `growth` stays under 12.

use std::any::Any;
use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;
use step04_agent_loop::partial_json::{ArgumentsPreview, parse_arguments};

const SMALL: usize = 100_000;
const LARGE: usize = 1_000_000;
const RUNS: usize = 21;

/// What a run makes; kept until the clock stops.
type Made = Box<dyn Any>;

fn main() {
    println!("| work | N (bytes) | time | aim | per byte | growth N→10N |");
    println!("|---|---|---|---|---|---|");
    row("preview, plain text", Some(6), plain, preview);
    row("preview, code full of escapes", Some(9), code, preview);
    row("preview, nothing but escapes", None, escapes, preview);
    row("preview, many small objects", None, objects, preview);
    row("preview, many numbers", None, numbers, preview);
    row("preview, one object of many members", None, members, preview);
    row("preview, string below 126 arrays", None, deep, preview);
    row("strict parse, plain text", None, plain, strict);
    row("strict parse, code full of escapes", None, code, strict);
    row("strict parse, many small objects", None, objects, strict);
    row("serde_json alone, many small objects", None, objects, serde);
}

/// `aim` is in milliseconds for the large text.
fn row(work: &str, aim: Option<u32>, text: fn(usize) -> String, run: fn(&str) -> Made) {
    let (small, large) = (text(SMALL), text(LARGE));
    // `cargo bench` passes this flag; `cargo test --benches` doesn't, and only wants a sign of life.
    let runs = if std::env::args().any(|argument| argument == "--bench") { RUNS } else { 1 };
    // Ten small ones, all kept, beside one large one: what disturbs the machine disturbs both alike,
    // and both fill as much memory, so the growth is that of the work alone.
    let pairs = (0..runs).map(|_| {
        let ten_small = time(|| (0..10).map(|_| run(black_box(&small))).collect());
        (ten_small / 10.0, time(|| vec![run(black_box(&large))]))
    });
    let (small, large): (Vec<_>, Vec<_>) = pairs.unzip();
    let (small, large) = (fastest(small), fastest(large));
    print_row(work, SMALL, small, String::new(), String::new());
    let aim = aim.map_or(String::new(), |aim| format!("≤ {aim} ms"));
    print_row(work, LARGE, large, aim, format!("{:.1}", large / small));
}

/// Whatever disturbs a run makes it slower, never faster.
fn fastest(times: Vec<f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

fn print_row(work: &str, length: usize, seconds: f64, aim: String, growth: String) {
    let (millis, per_byte) = (seconds * 1e3, seconds * 1e9 / length as f64);
    println!("| {work} | {length} | {millis:.2} ms | {aim} | {per_byte:.1} ns | {growth} |");
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
    Box::new(preview)
}

fn strict(text: &str) -> Made {
    Box::new(parse_arguments(text).expect("the bench would measure nothing"))
}

/// For comparison.
fn serde(text: &str) -> Made {
    Box::new(serde_json::from_str::<Value>(text).expect("the bench would measure nothing"))
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

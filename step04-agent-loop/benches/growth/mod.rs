//! A bench that answers one question: does ten times the work take ten times the time?
//!
//! The usual harnesses time one size well, but print no ratio between sizes; quadratic work hides
//! in a table of small sizes. So each row here has the cost per unit *and* its growth from N to
//! 10 N, and the growth is marked when it reaches [`LIMIT`].

use std::time::Duration;

/// Linear work grows by 10; memory that no longer fits a cache may add a little.
const LIMIT: f64 = 12.0;

/// Runs per size, of which the fastest counts: whatever else the machine does can only add time.
const RUNS: usize = 9;

/// Prints the head of the table; `unit` is what is counted, say "event".
pub fn head(unit: &str) {
    println!("| work | N | per {unit} | aim | growth N→10N |");
    println!("|---|---|---|---|---|");
}

/// Prints one row for each of `sizes`, which grow tenfold. `run` does the work for one size and
/// returns the time it took, set-up aside; `aim` is in microseconds per unit.
pub fn rows(work: &str, sizes: &[usize], aim: Option<f64>, mut run: impl FnMut(usize) -> Duration) {
    // `cargo bench` passes this flag; `cargo test --benches` doesn't, and only wants a sign of life.
    let measuring = std::env::args().any(|arg| arg == "--bench");
    let mut previous = None;
    for &size in if measuring { sizes } else { &sizes[..1] } {
        let time = fastest(if measuring { RUNS } else { 1 }, || run(size)).as_secs_f64();
        let growth = previous.map_or("".to_owned(), |before| growth(time / before));
        let micros = time * 1e6 / size as f64;
        let aim = aim.map_or("".to_owned(), |aim| format!("≤ {aim} µs"));
        println!("| {work} | {size} | {micros:.4} µs | {aim} | {growth} |");
        previous = Some(time);
    }
}

fn growth(ratio: f64) -> String {
    let mark = if ratio < LIMIT { "" } else { " (NOT LINEAR)" };
    format!("{ratio:.1}{mark}")
}

fn fastest(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().expect("at least one run")
}

//! The tool from outside, on answers that do everything an answer should not, and on others.
//!
//! Each fixture is a folder of answers, handed over with `--from`: the learners' own files are not
//! touched, and their state makes no difference here.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use exercises::registry::EXERCISES;
use serde_json::Value;

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn lab(arguments: &[&str]) -> Run {
    run(Command::new(env!("CARGO_BIN_EXE_exercises")).args(arguments))
}

fn run(command: &mut Command) -> Run {
    let command = command.env_remove("LAB_LANG").env("COLUMNS", "80");
    let Output { status, stdout, stderr } = command.output().expect("the tool starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: status.code().expect("an exit code"), out: text(stdout), err: text(stderr) }
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    folder.display().to_string()
}

/// Checks the fixture's typewriter: it is never solved, and the verdict says each of these.
fn verdict(name: &str, says: &[&str]) {
    let run = lab(&["check", "typewriter", "--from", &fixture(name)]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for text in says.iter().chain(&["check again", "a hint"]) {
        assert!(run.out.contains(text), "no {text:?} in {}{}", run.out, run.err);
    }
    assert!(!run.out.contains('\u{1b}'), "colours where they would not be seen: {}", run.out);
}

#[test]
fn what_does_not_compile_is_shown_with_its_line() {
    verdict("broken", &["error", "exercise.rs:", "It does not compile yet"]);
}

#[test]
fn a_changed_signature_is_named_as_such() {
    verdict("signature", &["as starter.rs", "declares it"]);
}

/// With the signature intact, nobody is sent to mend it, nor to a file of a library.
#[test]
fn an_error_inside_the_function_is_not_taken_for_a_changed_signature() {
    for (name, exercise, line) in
        [("question_mark", "errors_are_events", 9), ("no_import", "lazy_stream", 13)]
    {
        let run = lab(&["check", exercise, "--from", &fixture(name)]);
        assert_eq!(run.code, 1, "{}{}", run.out, run.err);
        let head: String = run.out.lines().take_while(|line| !line.is_empty()).collect();
        assert!(head.contains(&format!("exercise.rs:{line}")), "{}", run.out);
        assert!(!run.out.contains("as starter.rs"), "{}", run.out);
    }
}

#[test]
fn a_panic_is_a_missed_criterion_with_its_line() {
    verdict("panic", &["✗ the pieces stand side by side", "a long piece", "exercise.rs:10"]);
}

#[test]
fn a_stack_that_overflows_takes_only_its_own_program_along() {
    verdict("overflow", &["✗ the pieces stand side by side", "·", "ended here"]);
}

/// Out of memory or out of time, whichever comes first; either way only its own program ends.
#[test]
fn a_loop_that_collects_without_end_is_ended() {
    verdict("hoards", &["First ✗: the pieces stand side by side"]);
}

#[test]
fn leaving_with_success_is_no_success() {
    verdict("leaves", &["✗ the pieces stand side by side", "process::exit"]);
}

/// The file of the report is named in the environment; what an answer adds to it counts for nothing.
#[test]
fn a_report_that_the_answer_wrote_is_not_believed() {
    for name in ["forges", "forges_and_leaves"] {
        verdict(name, &["First ✗", "ended here"]);
    }
}

#[test]
fn what_cargo_refuses_the_tool_refuses() {
    verdict("unsafe_block", &["usage of an `unsafe` block", "It does not compile yet"]);
}

#[test]
fn a_body_that_is_commented_out_passes_nothing() {
    verdict("commented_out", &["✗ the pieces stand side by side", "Nothing reached `out`"]);
}

#[test]
fn an_answer_learned_by_heart_fails() {
    verdict("hard_coded", &["✗ the pieces stand side by side", "Write `delta` and nothing else"]);
}

#[test]
fn what_hangs_is_stopped_and_named() {
    for name in ["endless", "floods"] {
        let arguments = ["check", "typewriter", "--from", &fixture(name)];
        let mut command = Command::new(env!("CARGO_BIN_EXE_exercises"));
        let run = run(command.args(arguments).env("LAB_LIMIT", "0.3"));
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.out.contains("First ✗: the pieces stand side by side"), "{}", run.out);
        assert!(run.out.contains("still running after 0.3 s"), "{}", run.out);
        assert!(run.out.len() < 10_000, "what it printed is cut");
    }
}

/// One broken answer, one missing, the others right: each gets its own verdict.
#[test]
fn no_answer_keeps_another_from_its_verdict() {
    let folder = Scratch::new("mixed");
    for exercise in EXERCISES.iter().filter(|exercise| exercise.name != "own_rule") {
        let solution =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(exercise.name).join("solution.rs");
        folder.write(
            &format!("{}/exercise.rs", exercise.name),
            &fs::read_to_string(solution).expect("one"),
        );
    }
    folder.write("typewriter/exercise.rs", "this is not Rust");
    let from = folder.0.display().to_string();

    let json = lab(&["check", "--all", "--format", "json", "--from", &from]);
    assert_eq!(json.code, 1);
    let report: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(report["of"], EXERCISES.len());
    assert_eq!(report["solved"], EXERCISES.len() - 2);
    let exercises = report["exercises"].as_array().expect("a list");
    for (exercise, expected) in exercises.iter().zip(EXERCISES) {
        assert_eq!(exercise["name"], expected.name);
        let wrong = ["typewriter", "own_rule"].contains(&expected.name);
        assert_eq!(exercise["solved"], !wrong, "{exercise:#}");
    }
    assert_eq!(exercises[0]["compiles"], false);
}

/// A folder in the place of a file, and a link that leads nowhere but to itself.
#[test]
fn what_is_no_file_is_named_and_keeps_no_other_from_its_verdict() {
    let folder = Scratch::new("no-files");
    fs::create_dir_all(folder.0.join("typewriter/exercise.rs")).expect("a folder");
    fs::create_dir_all(folder.0.join("fold_on_done")).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink("exercise.rs", folder.0.join("fold_on_done/exercise.rs"))
        .expect("a link");
    let solution = Path::new(env!("CARGO_MANIFEST_DIR")).join("own_rule/solution.rs");
    folder.write("own_rule/exercise.rs", &fs::read_to_string(solution).expect("one"));
    let from = folder.0.display().to_string();

    let json = lab(&["check", "--all", "--format", "json", "--from", &from]);
    assert_eq!(json.code, 1, "{}", json.err);
    let report: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(report["solved"], 1);
    let error = &report["exercises"][0]["errors"][0]["message"];
    assert!(error.as_str().is_some_and(|text| text.contains("typewriter")), "{error}");
    let one = lab(&["check", "typewriter", "--from", &from]);
    assert!(one.code == 1 && one.out.contains("not a regular file"), "{}", one.out);
}

#[test]
fn an_unknown_name_lists_the_valid_ones() {
    for arguments in [["hint", "nothing"], ["check", "99"], ["solution", "fold"]] {
        let run = lab(&arguments);
        assert_eq!(run.code, 2, "{}", run.out);
        assert!(run.err.contains("fold_on_done"), "{}", run.err);
    }
    assert_eq!(lab(&["nonsense"]).code, 2);
    assert_eq!(lab(&["check", "--format", "json"]).code, 2);
}

#[test]
fn every_hint_is_shown_and_leads_to_the_next() {
    for exercise in EXERCISES {
        for (lang, level) in
            [("en", "1"), ("en", "2"), ("en", "3"), ("zh", "1"), ("zh", "2"), ("zh", "3")]
        {
            let run = lab(&["--lang", lang, "hint", exercise.name, level]);
            assert_eq!(run.code, 0, "{}", run.err);
            let next = ["hint", "hint", "solution"][level.parse::<usize>().expect("a number") - 1];
            assert!(run.out.contains(&format!("{next} {}", exercise.name)), "{}", run.out);
        }
        assert_eq!(lab(&["hint", exercise.name, "4"]).code, 2);
    }
}

#[test]
fn the_difference_of_two_steps_leaves_their_names_out() {
    let run = lab(&["diff", "02", "3"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("src/render.rs  (new)"), "{}", run.out);
    assert!(run.out.contains("the same: command.rs, input.rs, stdin.rs"), "{}", run.out);
    assert!(!run.out.contains("- use step02_fake_model"), "{}", run.out);
    let model = lab(&["diff", "02", "03", "model.rs"]);
    assert!(model.out.contains("^") && !model.out.contains("src/repl.rs"), "{}", model.out);
    assert_eq!(lab(&["diff", "02", "09"]).code, 2);
}

/// With the system's notices, and where it gives none: saving a file is enough.
#[test]
fn saving_is_noticed_with_and_without_notices_of_the_system() {
    for notices in [&[][..], &["--poll"]] {
        let folder = Scratch::new("watched");
        folder.write("typewriter/exercise.rs", "not yet Rust");
        let mut watch = Command::new(env!("CARGO_BIN_EXE_exercises"));
        let watch = watch
            .args(["watch", "typewriter", "--from", &folder.0.display().to_string()])
            .args(notices)
            .env_remove("LAB_LANG")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut watch = Stopped(watch.spawn().expect("the tool starts"));
        let lines = lines(watch.0.stdout.take().expect("a pipe"));
        let wait_for = |text: &str| {
            // Far longer than it ever takes: only a tool that is broken lets this run out.
            let next = || lines.recv_timeout(Duration::from_secs(60)).expect("one more line");
            while !next().contains(text) {}
        };
        wait_for("Watching");
        let solution = Path::new(env!("CARGO_MANIFEST_DIR")).join("typewriter/solution.rs");
        folder.write("typewriter/exercise.rs", &fs::read_to_string(solution).expect("one"));
        wait_for("Solved.");
    }
}

/// A process that is stopped when its owner is done with it, also when the owner panics.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// A folder that goes away with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

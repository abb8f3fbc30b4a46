//! What every exercise promises, held against each of its answers.
//!
//! As shipped it compiles without a warning and fails, naming its TODO; the solution passes; every
//! wrong answer fails with the message that is meant for it. The learners' own files are no part of
//! this target: these tests are green whatever state those are in.

// The starters are compiled here: a warning a learner would meet in an untouched file is an error.
#![deny(warnings)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use exercises::criterion::{Criterion, Fault, Kind};
use exercises::harness;
use exercises::registry::EXERCISES;
use exercises::report::{Report, Standing};
use exercises::text::Lang;
use exercises::verdict;

#[path = "../errors_are_events/answers.rs"]
mod errors_are_events;
#[path = "../fold_in_place/answers.rs"]
mod fold_in_place;
#[path = "../fold_on_done/answers.rs"]
mod fold_on_done;
#[path = "../lazy_stream/answers.rs"]
mod lazy_stream;
#[path = "../own_rule/answers.rs"]
mod own_rule;
#[path = "../typewriter/answers.rs"]
mod typewriter;

/// The name of each answer (its file, without the ending), and what it is checked for.
type Answers = Vec<(&'static str, Vec<Criterion>)>;

/// All answers to all exercises.
fn all() -> Vec<(&'static str, Answers)> {
    vec![
        ("typewriter", typewriter::answers()),
        ("own_rule", own_rule::answers()),
        ("lazy_stream", lazy_stream::answers()),
        ("errors_are_events", errors_are_events::answers()),
        ("fold_on_done", fold_on_done::answers()),
        ("fold_in_place", fold_in_place::answers()),
    ]
}

fn folder(exercise: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(exercise)
}

fn report(criteria: Vec<Criterion>) -> Report {
    harness::run(criteria, harness::LIMIT, |_| {})
}

fn fault(report: &Report) -> (String, Fault) {
    let (name, fault) = report.first_fault().expect("something is missed");
    (name.en.to_string(), fault.clone())
}

/// The text after `//! key:` at the head of a file.
fn head(file: &str, key: &str) -> String {
    let line = file.lines().find_map(|line| line.strip_prefix(&format!("//! {key}: ")));
    line.unwrap_or_else(|| panic!("no `//! {key}:` in {file}")).to_owned()
}

#[test]
fn every_answer_in_a_folder_is_tried() {
    let names: Vec<_> = all().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, EXERCISES.iter().map(|exercise| exercise.name).collect::<Vec<_>>());
    for (exercise, answers) in all() {
        let wrong =
            fs::read_dir(folder(exercise).join("wrong")).expect("a folder of wrong answers");
        let wrong = wrong.map(|file| file.expect("a file").path());
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut files: BTreeSet<_> = wrong.map(|path| format!("wrong/{}", stem(path))).collect();
        assert!(files.len() >= 2, "{exercise} has too few wrong answers");
        files.extend(["starter".to_owned(), "solution".to_owned()]);
        let tried: BTreeSet<_> = answers.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(tried, files, "answers.rs of {exercise} against its folder");
    }
}

#[test]
fn a_starter_fails_and_names_its_todo() {
    for (exercise, answers) in all() {
        let (_, criteria) = answers.into_iter().find(|(name, _)| *name == "starter").expect("one");
        let report = report(criteria);
        let (_, fault) = fault(&report);
        assert_eq!(fault.kind, Kind::Todo, "{exercise}: {fault:?}");
        assert!(fault.seen.en.starts_with(&format!("TODO {exercise}: ")), "{fault:?}");
        assert!(fault.place.expect("a place").contains("starter.rs:"));
        assert!(!report.solved());
    }
}

#[test]
fn a_solution_passes() {
    for (exercise, answers) in all() {
        let (_, criteria) = answers.into_iter().find(|(name, _)| *name == "solution").expect("one");
        let report = report(criteria);
        assert!(report.solved(), "{exercise}: {report:#?}");
    }
}

#[test]
fn a_wrong_answer_fails_with_the_message_meant_for_it() {
    for (exercise, answers) in all() {
        for (name, criteria) in answers.into_iter().filter(|(name, _)| name.starts_with("wrong/")) {
            let text = fs::read_to_string(folder(exercise).join(name).with_extension("rs"));
            let text = text.expect("a wrong answer can be read");
            let report = report(criteria);
            assert!(!report.solved(), "{exercise}/{name} passes");
            let (criterion, fault) = fault(&report);
            assert_eq!(criterion, head(&text, "Fails"), "{exercise}/{name}: {fault:#?}");
            let said = format!("{} {} {}", fault.why.en, fault.seen.en, fault.expected.en);
            assert!(said.contains(&head(&text, "Says")), "{exercise}/{name} says: {fault:#?}");
        }
    }
}

/// A criterion that no wrong answer misses checks nothing, as far as anybody knows.
#[test]
fn every_criterion_is_missed_by_some_wrong_answer() {
    for (exercise, answers) in all() {
        let wrong = answers.into_iter().filter(|(name, _)| name.starts_with("wrong/"));
        let reports: Vec<_> = wrong.map(|(_, criteria)| report(criteria)).collect();
        for (at, (name, _)) in reports[0].criteria.iter().enumerate() {
            let missed = |report: &Report| matches!(report.criteria[at].1, Standing::Missed(_));
            assert!(reports.iter().any(missed), "{exercise}: {}", name.en);
        }
    }
}

#[test]
fn every_message_is_in_both_languages() {
    for (exercise, answers) in all() {
        for (name, criteria) in answers {
            for (criterion, _) in &report(criteria).criteria {
                for lang in [Lang::En, Lang::Zh] {
                    assert!(!criterion.pick(lang).is_empty(), "{exercise}/{name}");
                }
                assert!(!criterion.zh.is_ascii(), "{exercise}: {} is not translated", criterion.en);
            }
        }
    }
}

/// The pages say what is true: the same in both languages, the first run as it is, and three hints.
#[test]
fn the_pages_of_an_exercise_hold() {
    for (exercise, answers) in all() {
        let (_, criteria) = answers.into_iter().find(|(name, _)| *name == "starter").expect("one");
        let report = report(criteria);
        let starter = read(exercise, "starter.rs");
        let english = read(exercise, "README.md");
        let chinese = read(exercise, "README.zh-CN.md");
        for (page, lang) in [(&english, Lang::En), (&chinese, Lang::Zh)] {
            let mut verdict = Vec::new();
            verdict::write(&mut verdict, exercise, &starter, &report, lang, 80)
                .expect("a Vec takes all");
            let verdict = String::from_utf8(verdict).expect("UTF-8");
            let verdict =
                anstream::adapter::strip_str(&verdict).to_string().replace(" --lang zh", "");
            assert!(
                page.replace(" --lang zh", "").contains(&verdict),
                "{exercise} says: {verdict}"
            );
            assert_eq!(page.matches("<details>").count(), 3, "{exercise}: three hints");
            assert!(page.contains(&format!("cargo test -q -p exercises --test {exercise}")));
            assert!(
                links(page).all(|link| folder(exercise).join(link).exists()),
                "{exercise}: a link"
            );
        }
        let shape = |page: &str| {
            let code = page.split("```").skip(1).step_by(2).filter(|code| code.starts_with("rust"));
            (page.matches("\n## ").count(), code.count())
        };
        assert_eq!(shape(&english), shape(&chinese), "{exercise}: both languages, the same shape");
    }
}

fn read(exercise: &str, file: &str) -> String {
    let path = folder(exercise).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// An exercise is wired up in four places, and this finds the one that was forgotten.
#[test]
fn every_exercise_has_a_target_that_is_left_alone() {
    let manifest = fs::read_to_string(folder("Cargo.toml")).expect("the manifest");
    let targets: Vec<_> = manifest.split("[[test]]").skip(1).collect();
    assert_eq!(targets.len(), EXERCISES.len());
    for (target, exercise) in targets.iter().zip(EXERCISES) {
        for line in [
            format!("name = \"{}\"", exercise.name),
            format!("path = \"{}/run.rs\"", exercise.name),
            "test = false".to_owned(),
            "harness = false".to_owned(),
        ] {
            assert!(target.lines().any(|found| found == line), "{line} in {target}");
        }
        let run = read(exercise.name, "run.rs");
        assert!(run.contains("\nmod exercise;\n"), "the tool replaces this line for `--from`");
    }
}

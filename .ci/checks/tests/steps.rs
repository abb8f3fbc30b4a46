//! Two neighbouring steps differ by one idea and no more.

use lab_checks::{root, steps};

/// The most lines of code that may change from one step to the next.
const BUDGETS: [(&str, &str, usize); 2] =
    [("step01-cli", "step02-fake-model", 200), ("step02-fake-model", "step03-streaming", 150)];

/// The modules whose idea changes, and so may differ, between steps that both have them.
const CHANGED: [(&str, &[&str]); 2] = [
    ("step02-fake-model", &["lib.rs", "main.rs", "repl.rs"]),
    (
        "step03-streaming",
        &["lib.rs", "main.rs", "repl.rs", "cli.rs", "message.rs", "model.rs", "fake_model.rs"],
    ),
];

#[test]
fn the_difference_between_two_steps_stays_within_its_budget() {
    for (from, to, budget) in BUDGETS {
        let changes = steps::changes(&root().join(from), &root().join(to));
        let total: usize = changes.values().sum();
        println!("line budget: {from} -> {to}: {total} of {budget} changed lines of code");
        assert!(total > 0 && total <= budget, "{total} lines, {budget} at most: {changes:#?}");
    }
}

#[test]
fn a_file_whose_idea_did_not_change_is_the_same_in_both_steps() {
    for ((from, to, _), (_, may_differ)) in BUDGETS.into_iter().zip(CHANGED) {
        let source =
            |step: &str, file: &str| std::fs::read(root().join(step).join("src").join(file));
        let modules = steps::modules(&root().join(to));
        for file in modules.keys() {
            let (Ok(old), Ok(new)) = (source(from, file), source(to, file)) else { continue };
            assert_eq!(old != new, may_differ.contains(&file.as_str()), "{file}: {from} -> {to}");
        }
    }
}

#[test]
fn the_manifests_of_the_steps_are_standalone_and_share_the_runtime() {
    let mut runtimes = Vec::new();
    for step in ["step01-cli", "step02-fake-model", "step03-streaming", "step04-agent-loop"] {
        let Ok(manifest) = std::fs::read_to_string(root().join(step).join("Cargo.toml")) else {
            continue; // not there yet
        };
        assert!(!manifest.contains("workspace"), "{step} inherits from the workspace");
        assert!(!manifest.contains("path = \".."), "{step} depends on its neighbour");
        let dependencies = manifest.split("[dev-dependencies]").next().expect("a first part");
        runtimes.extend(
            dependencies.lines().find(|line| line.starts_with("tokio =")).map(str::to_owned),
        );
    }
    assert!(runtimes.len() >= 2, "02 and 03 have a runtime");
    runtimes.dedup();
    assert_eq!(runtimes.len(), 1, "walking on must not rebuild tokio: {runtimes:?}");
}

/// The modules of a step's `lib.rs`, in the order in which it tells a reader to read them.
fn reading_order(step: &str) -> Vec<String> {
    let lib = std::fs::read_to_string(root().join(step).join("src/lib.rs")).expect("a lib.rs");
    let rows = lib.lines().filter_map(|line| {
        line.strip_prefix("//! | ").or_else(|| line.strip_prefix("//! - "))?.split('`').nth(1)
    });
    rows.map(str::to_owned).collect()
}

#[test]
fn the_table_of_contents_names_every_module_once() {
    for step in ["step01-cli", "step02-fake-model", "step03-streaming", "step04-agent-loop"] {
        let lib = std::fs::read_to_string(root().join(step).join("src/lib.rs")).expect("a lib.rs");
        let declared = |line: &str| {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
        };
        let mut modules: Vec<String> = lib.lines().filter_map(declared).collect();
        let mut named = reading_order(step);
        modules.sort();
        named.sort();
        assert_eq!(named, modules, "{step}");
    }
}

/// An event and its partial know each other: the one is made of the other.
const MUTUAL: [(&str, &str); 1] = [("event", "partial")];

#[test]
fn a_module_of_the_last_step_knows_only_those_before_it() {
    let order = reading_order("step04-agent-loop");
    let place = |module: &str| order.iter().position(|other| other == module);
    let mut known = 0;
    for (file, code) in steps::modules(&root().join("step04-agent-loop")) {
        let module = file.split(['/', '.']).next().expect("a first part");
        let Some(here) = place(module) else { continue }; // `lib` and `main`
        for other in code.split("crate::").skip(1) {
            let other = other.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            let other = other.expect("a first part");
            let there = place(other).unwrap_or_else(|| panic!("{file}: crate::{other}"));
            let before = there <= here || MUTUAL.contains(&(module, other));
            assert!(before, "{file} knows {other}, which comes later");
            known += 1;
        }
    }
    assert!(known > 0);
}

#[test]
fn the_agent_loop_fits_on_a_few_screens() {
    let modules = steps::modules(&root().join("step04-agent-loop"));
    let lines = modules["agent_loop.rs"].lines().count();
    assert!(lines <= 150, "{lines} lines of code");
}

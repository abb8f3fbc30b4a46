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

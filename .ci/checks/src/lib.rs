//! What must hold of the lab as a whole, and of no single step.
//!
//! A step's own tests live with it. Here are the promises between them: that two neighbouring steps
//! differ by one idea and no more ([`steps`]), and that a document shows what the programs really do
//! ([`docs`]).

pub mod docs;
pub mod steps;

use std::path::PathBuf;

/// The folder that holds the steps.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("`.ci/checks` is two folders deep").to_owned()
}

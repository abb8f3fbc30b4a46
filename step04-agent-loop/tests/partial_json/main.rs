//! Tests of the half-written JSON: its laws, its rows of known faults, the grammar of RFC 8259, what
//! Pi does on the same texts, and the playground as a learner runs it.

mod cases;
mod conformance;
mod generate;
mod laws;
mod oracle;
mod pi;
mod playground;

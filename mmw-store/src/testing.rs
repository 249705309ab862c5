//! For tests: builders of values, a small world to put them in, and the suite that says what
//! "engine" means. Nothing here is used by a program.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that can't go on stops"
)]

pub mod build;
pub mod conformance;

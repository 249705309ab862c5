//! The Stop hook as a client meets it: real git, real files, transcripts as clients write them.
//!
//! Times are set, never waited for.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod clients;
mod desk;
mod history;
mod places;
mod recorded;
mod stories;

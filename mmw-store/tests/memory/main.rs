//! The rules of the domain on the real store: one module a rule.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod access;
mod bulk;
mod conflicts;
mod forgetting;
mod freshness;
mod idempotency;
mod isolation;
mod lane;
mod limits;
mod meaning;
mod model;
mod policy;
mod rescan;
mod running_example;
mod searching;
mod second_look;
mod sight;
mod sources;
mod summaries;
mod support;
mod transfer;
mod turns;
mod versions;
mod why_not;
mod wording;

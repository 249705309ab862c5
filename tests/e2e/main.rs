//! The stories that must hold end to end, on the real programs: one module a story.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod clients;
mod compared_files;
mod crash;
mod faults;
mod field_reports;
mod guard_everywhere;
mod guard_rules;
mod http_rules;
mod nothing_goes_out;
mod people;
mod processes;
mod relay;
mod relay_between;
mod relay_crash;
mod relay_doctor;
mod relay_faults;
mod relay_projects;
mod running_example;
mod same_answers;
mod stdio_rules;
mod stop_hook;

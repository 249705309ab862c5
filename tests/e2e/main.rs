//! The stories that must hold end to end, on the real programs: one module a story.

mod clients;
mod crash;
mod faults;
mod http_rules;
mod processes;
mod running_example;
mod same_answers;
mod stdio_rules;

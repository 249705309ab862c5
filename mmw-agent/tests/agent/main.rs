//! The real program, run as people and clients run it: one module a story.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail the test that called them"
)]

mod anchors;
mod commands;
mod connect;
mod desk;
mod doctor;
mod person;
mod projects;
mod protocol;
mod settings;
mod transfer;

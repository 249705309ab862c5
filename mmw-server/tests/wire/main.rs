//! The server as its clients meet it: bytes in, bytes out, on a real store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests: what is not as expected ends them"
)]

mod differential;
mod harness;
mod http_contract;
mod lists;
mod modern;
mod program;
mod stdio;

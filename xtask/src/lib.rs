//! The project's own commands, started with `cargo xtask <command>`.
//!
//! They check, generate, test and measure the project. No crate of the project is imported here:
//! what needs one (`codegen`, `bench`, `eval`) starts a binary of `mmw-tests`, so that a broken crate never
//! takes the tool that reports it down.

// Printing is what these commands are for; none of them speaks a protocol on stdout.
#![allow(clippy::disallowed_macros)]

mod bench;
mod ci;
mod cli;
mod codegen;
mod e2e;
mod eval;
mod model;
mod process;
mod tidy;

pub use cli::run;

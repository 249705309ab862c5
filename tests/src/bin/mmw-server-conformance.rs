//! `mmw-server` with the fixtures that the official conformance suite calls, for the tests alone.

use std::process::ExitCode;

fn main() -> ExitCode {
    mmw_server::cli::run()
}

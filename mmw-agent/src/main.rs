//! The program `mmw-agent`. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    mmw_agent::run()
}

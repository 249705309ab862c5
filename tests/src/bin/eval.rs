//! The evaluation: `cargo xtask eval` builds a release and starts this.

use std::process::ExitCode;

fn main() -> ExitCode {
    mmw_tests::eval::run(std::env::args_os())
}

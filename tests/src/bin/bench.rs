//! The benchmark: `cargo xtask bench` builds a release and starts this.

use std::process::ExitCode;

fn main() -> ExitCode {
    mmw_tests::bench::run(std::env::args().skip(1))
}

//! `eval`: builds a release of the evaluation of `mmw-tests` and starts it.

use std::process::ExitCode;

use crate::process::{Outcome, Repository, Step};

/// Builds the evaluation and runs it with these arguments. Its exit code is handed on: 2 says that
/// the arguments can't be followed, absent corpora among them.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    // Without the programs: the guard is measured in process, and a change of a rule builds in seconds.
    Step::cargo(
        "cargo build --quiet --release --package mmw-tests --no-default-features --bin eval",
    )
    .run(repository)?;
    let program = repository.target()?.join("release").join("eval");
    arguments
        .iter()
        .fold(Step::program(&program), Step::arg)
        .run_for_code(repository)
}

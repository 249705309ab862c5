//! `bench`: builds a release and starts the benchmark of `mmw-tests` on it.

use crate::process::{Outcome, Repository, Step};

/// Builds the programs and the benchmark, then runs it with these arguments.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome {
    // All programs, because the benchmark also measures them over HTTP and stdio.
    Step::cargo("cargo build --release --workspace --exclude xtask --bins").run(repository)?;
    let program = repository.target()?.join("release").join("bench");
    arguments
        .iter()
        .fold(Step::program(&program), Step::arg)
        .run(repository)
}

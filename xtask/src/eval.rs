//! `eval`: builds a release of the evaluation of `mmw-tests` and starts it.

use std::process::ExitCode;

use sha2::{Digest as _, Sha256};

use crate::process::{Outcome, Repository, Step};

/// Builds the evaluation and runs it with these arguments. Its exit code is handed on: 2 says that
/// the arguments can't be followed, absent corpora among them.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    // A folder of this checkout's own: checkouts that share a target folder share what build scripts
    // wrote, and one would measure the rules of another.
    let checkout = Sha256::digest(repository.root().as_os_str().as_encoded_bytes());
    let folder = format!(
        "eval-{:02x}{:02x}{:02x}",
        checkout[0], checkout[1], checkout[2]
    );
    let target = repository.target()?.join(folder);
    // Without the programs: the guard is measured in process, and a change of a rule builds in seconds.
    Step::cargo(
        "cargo build --quiet --release --package mmw-tests --no-default-features --bin eval",
    )
    .arg("--target-dir")
    .arg(target.display().to_string())
    .run(repository)?;
    arguments
        .iter()
        .fold(
            Step::program(&target.join("release").join("eval")),
            Step::arg,
        )
        .run_for_code(repository)
}

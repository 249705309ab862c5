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
    // Without the programs: what is measured runs in process, and a change of a rule of the guard builds in
    // seconds. Only search needs the store.
    let mut build =
        "cargo build --quiet --release --package mmw-tests --no-default-features --bin eval"
            .to_owned();
    if needs_search(arguments) {
        build += " --features search";
    }
    Step::cargo(&build)
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

/// Tells whether search is part of what is asked for; so it is where help is.
fn needs_search(arguments: &[String]) -> bool {
    arguments.first().is_none_or(|what| what != "guard")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_is_measured_without_the_store() {
        let needs = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            needs_search(&words)
        };
        assert!(!needs("guard --corpus search"));
        assert!(needs("search --json"));
        assert!(needs("--help") && needs(""));
    }
}

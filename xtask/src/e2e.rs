//! `e2e`: runs the end-to-end tests of `mmw-tests`.
//!
//! Two groups of them need more than cargo and are asked for by a variable, so that a plain
//! `cargo test` stays quick and needs no network: the real clients, and the long crash tests.

use crate::process::{Outcome, Repository, Step};

/// Names the folder with the installed clients; the module `clients` runs only where it is set.
pub(crate) const CLIENTS_VARIABLE: &str = "MMW_E2E_CLIENTS";

/// Set to `1` for the full length of the module `crash`.
pub(crate) const CRASH_VARIABLE: &str = "MMW_E2E_CRASH";

/// Which tests to run; all that need nothing installed if none is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Those with real clients.
    pub(crate) clients: bool,
    /// Those that kill programs, at full length.
    pub(crate) crash: bool,
}

/// Runs the chosen tests.
pub(crate) fn run(repository: &Repository, choice: Choice) -> Outcome {
    for step in steps(repository, choice)? {
        println!("$ {}", step.line());
        step.run(repository)?;
    }
    Ok(())
}

/// Returns the steps that run the chosen tests: programs first, then clients, then tests
/// as the last.
pub(crate) fn steps(repository: &Repository, choice: Choice) -> Outcome<Vec<Step>> {
    let mut steps = vec![build()];
    // `--workspace` selects the same features as a whole test run, so that nothing is built twice.
    let mut test = Step::cargo("cargo test --workspace --test e2e --");
    if choice.clients {
        let folder = repository.target()?.join("clients").display().to_string();
        steps.push(Step::cargo("bash tests/clients/install.sh").arg(&folder));
        steps.push(conformance_server());
        test = test.arg("clients::").env(CLIENTS_VARIABLE, folder);
    }
    if choice.crash {
        test = test.arg("crash::").env(CRASH_VARIABLE, "1");
    }
    steps.push(test);
    Ok(steps)
}

/// Returns the step that builds a server with the fixtures of the official suite, beside the one
/// without.
fn conformance_server() -> Step {
    Step::cargo(
        "cargo build --package mmw-tests --features conformance --bin mmw-server-conformance",
    )
}

/// Returns the step that builds the programs which the tests start.
pub(crate) fn build() -> Step {
    Step::cargo("cargo build --workspace --exclude xtask --bins")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(clients: bool, crash: bool) -> Vec<String> {
        let repository = Repository::of_this_build();
        steps(&repository, Choice { clients, crash })
            .unwrap()
            .iter()
            .map(Step::line)
            .collect()
    }

    #[test]
    fn without_a_choice_nothing_is_installed_and_nothing_filtered() {
        let lines = lines(false, false);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with("--test e2e --"), "{lines:?}");
    }

    #[test]
    fn clients_are_installed_before_their_tests_run() {
        let lines = lines(true, true);
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("bash tests/clients/install.sh"));
        assert!(lines[2].ends_with("--bin mmw-server-conformance"));
        assert!(lines[3].contains("MMW_E2E_CLIENTS=") && lines[3].contains("MMW_E2E_CRASH=1"));
        assert!(lines[3].ends_with("-- clients:: crash::"), "{lines:?}");
    }
}

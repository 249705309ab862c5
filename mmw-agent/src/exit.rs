//! Exit codes, and the one shape in which a command fails.
//!
//! A script can act on the code; a person reads the sentence and the hint. Neither ever repeats
//! what the guard refused.

use std::fmt;
use std::process::ExitCode;

use mmw_core::place::WorkspaceError;
use mmw_core::validation::Invalid;
use mmw_store::engine::EngineError;
use mmw_store::{Failure, RememberError};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Nothing was found, or the person decided against it: nothing was done.
    Nothing = 1,
    /// An argument, a setting or the input is wrong.
    Usage = 2,
    /// The guard, a limit or a missing right refused it; or the guard holds it for review.
    Refused = 3,
    /// The store can't be used: busy, full, read-only, damaged or newer than the program; or the server can't
    /// be asked.
    Store = 4,
    /// Only a person at an interactive terminal may do this.
    NeedsPerson = 5,
    /// Commits make facts stale (`stale --diff`).
    Stale = 6,
}

/// The table of exit codes, as `--help` prints it.
pub const TABLE: &str = "\
Exit codes:
  0  done
  1  nothing was found, or you decided against it
  2  an argument, a setting or the input is wrong
  3  refused by the guard, a limit or a missing right, or held for review
  4  the store can't be used (busy, full, read-only, damaged, too new), or the server not be asked
  5  only a person at an interactive terminal may do this
  6  commits make facts stale (`stale --diff`)";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed: a sentence, what to do about it, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The exit code.
    pub exit: Exit,
    /// What could not be done.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

impl Trouble {
    /// Returns a failure with that exit code and sentence.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    /// Returns a wrong argument, setting or input.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Returns the failure with what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Trouble {}

impl From<Invalid> for Trouble {
    fn from(invalid: Invalid) -> Self {
        Self::usage(invalid.to_string())
    }
}

impl From<WorkspaceError> for Trouble {
    fn from(error: WorkspaceError) -> Self {
        Self::usage(format!("workspace: {error}"))
    }
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        Self::new(Exit::Store, chain(&error))
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Invalid(invalid) => invalid.into(),
            Failure::Engine(error) => error.into(),
            Failure::NotFound(_) => Self::new(Exit::Nothing, failure.to_string())
                .hint("ids are per project: are you in the right folder?"),
            Failure::Forbidden(_) | Failure::Plan(_) | Failure::Rejected(_) => {
                Self::new(Exit::Refused, failure.to_string())
            }
            other => Self::new(Exit::Store, chain(&other)),
        }
    }
}

impl From<RememberError> for Trouble {
    fn from(error: RememberError) -> Self {
        match error {
            RememberError::Common(failure) => failure.into(),
            RememberError::Rejected(rejection) => Self::new(Exit::Refused, rejection.to_string())
                .hint("nothing was saved; say it without the part that the rule names"),
            other => Self::usage(chain(&other)),
        }
    }
}

/// Returns the sentence of an error and of everything that caused it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_code() {
        for exit in [
            Exit::Done,
            Exit::Nothing,
            Exit::Usage,
            Exit::Refused,
            Exit::Store,
            Exit::NeedsPerson,
            Exit::Stale,
        ] {
            assert!(TABLE.contains(&format!("\n  {}  ", exit as u8)), "{exit:?}");
        }
    }

    #[test]
    fn each_failure_has_its_code() {
        for (trouble, exit) in [
            (Trouble::from(Invalid::new("kind", "no")), Exit::Usage),
            (Failure::NotFound("record").into(), Exit::Nothing),
            (EngineError::DiskFull.into(), Exit::Store),
            (
                Failure::Plan(mmw_core::plan::Refusal::ReadOnly).into(),
                Exit::Refused,
            ),
            (RememberError::IdempotencyConflict.into(), Exit::Usage),
        ] {
            assert_eq!(trouble.exit, exit, "{trouble}");
        }
    }
}

//! Hands the process's own arguments, input and output to [`crate::run`].

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use crate::run::run;

/// Runs the program on the process's own arguments, input and output. The exit code is 0 whatever
/// happens: some clients take another one for a veto against what the agent was about to do.
#[must_use]
pub fn main() -> ExitCode {
    // Even a mistake of our own must neither print into the session nor stop it.
    panic::set_hook(Box::new(|_| {}));
    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
        run(
            std::env::args_os().skip(1),
            std::io::stdin().lock(),
            std::io::stdout().lock(),
        );
    }));
    ExitCode::SUCCESS
}

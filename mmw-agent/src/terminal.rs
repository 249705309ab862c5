//! Whether a person is there: what only a person may do needs a terminal on every stream.
//!
//! This keeps out a model that pipes an answer into a command. It can't keep out a program that
//! draws up a whole pseudo-terminal and hides whose shell it runs in; such a program could as well
//! write into the store's file.

use std::io::IsTerminal as _;

use crate::config::Config;
use crate::exit::{Exit, Trouble};

/// Which of the program's streams are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Standard input.
    pub(crate) stdin: bool,
    /// Standard output.
    pub(crate) stdout: bool,
    /// Standard error, where prompts are drawn.
    pub(crate) stderr: bool,
}

impl Terminal {
    /// Looks at the streams of this process.
    pub(crate) fn detect() -> Self {
        Self {
            stdin: std::io::stdin().is_terminal(),
            stdout: std::io::stdout().is_terminal(),
            stderr: std::io::stderr().is_terminal(),
        }
    }

    /// Tells whether somebody can be asked.
    pub(crate) const fn is_interactive(self) -> bool {
        self.stdin && self.stdout && self.stderr
    }

    /// Returns the width to wrap lines at: none if the output is read by a program.
    pub(crate) fn width(self) -> Option<usize> {
        self.stdout.then(|| textwrap::termwidth().clamp(40, 100))
    }

    /// Refuses unless a person is at the terminal.
    ///
    /// # Errors
    /// Exit code 5, with what to do.
    pub(crate) fn needs_person(self, config: &Config, command: &str) -> Result<(), Trouble> {
        let hint = format!("run `mmw-agent {command}` yourself, in a terminal of your own");
        if !self.is_interactive() {
            return Err(Trouble::new(
                Exit::NeedsPerson,
                format!(
                    "`{command}` is a person's decision: it needs an interactive terminal, and \
                     takes no piped answers"
                ),
            )
            .hint(hint));
        }
        if let Some(agent) = config.agent_shell {
            return Err(Trouble::new(
                Exit::NeedsPerson,
                format!("`{command}` is a person's decision, and this shell belongs to {agent}"),
            )
            .hint(hint));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn config(agent: bool) -> Config {
        Config::from_lookup(
            |name| match name {
                "HOME" => Some("/h".into()),
                "CLAUDECODE" if agent => Some("1".into()),
                _ => None,
            },
            PathBuf::from("/"),
        )
        .unwrap()
    }

    #[test]
    fn one_stream_that_is_no_terminal_is_enough_to_refuse() {
        for bits in 0..8 {
            let terminal = Terminal {
                stdin: bits & 1 != 0,
                stdout: bits & 2 != 0,
                stderr: bits & 4 != 0,
            };
            let asked = terminal.needs_person(&config(false), "resolve");
            assert_eq!(asked.is_ok(), bits == 7, "{terminal:?}");
            assert!(terminal.needs_person(&config(true), "resolve").is_err());
        }
    }
}

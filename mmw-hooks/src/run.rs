//! The whole program as one function over its arguments, input and output.
//!
//! It has no result: there is nothing that a hook could report to the session without harming it.
//! The environment joins with capture, which is the first to ask it anything.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};

use crate::input::read_event;

/// What `--help` prints.
const HELP: &str = "\
Receives an event of a coding agent on standard input. Started by the agent, not by hand.

Usage: mmw-hooks <EVENT>

Arguments:
  <EVENT>  The event's name, for example PostToolUse

Options:
  -h, --help     Print help
  -V, --version  Print version

This version captures nothing: it reads the event and lets it go. It prints nothing and its exit
code is always 0, so that it never disturbs the session.
";

/// Runs the program; `arguments` come without its own name.
///
/// Prints only what a person asked for with `--help` or `--version`.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    input: impl Read,
    mut output: impl Write,
) {
    let first = arguments.into_iter().next();
    let asked_for = match first.as_deref().and_then(OsStr::to_str) {
        Some("-h" | "--help") => Some(HELP.to_owned()),
        Some("-V" | "--version") => Some(format!("mmw-hooks {}\n", env!("CARGO_PKG_VERSION"))),
        _ => None,
    };
    if let Some(text) = asked_for {
        // A reader that has gone away is no reason to complain.
        let _ = output.write_all(text.as_bytes());
        return;
    }
    // Read although nothing is done with it yet: a client that still writes must not meet a closed pipe.
    let _ = read_event(input);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn printed(argument: Option<&str>, input: &[u8]) -> String {
        let mut output = Vec::new();
        run(argument.map(OsString::from), input, &mut output);
        String::from_utf8(output).unwrap()
    }

    /// An input that must not be read.
    struct Untouched;

    impl Read for Untouched {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("the input was read")
        }
    }

    #[test]
    fn help_and_version_do_not_wait_for_input() {
        for option in ["-h", "--help", "-V", "--version"] {
            let mut output = Vec::new();
            run([OsString::from(option)], Untouched, &mut output);
            assert!(output.starts_with(b"Receives") || output.starts_with(b"mmw-hooks 0."));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_printed_whatever_comes_in(
            argument in prop::option::of("[A-Za-z][A-Za-z0-9]{0,30}"),
            input in prop::collection::vec(any::<u8>(), 0..2048),
        ) {
            prop_assert_eq!(printed(argument.as_deref(), &input), "");
        }
    }
}

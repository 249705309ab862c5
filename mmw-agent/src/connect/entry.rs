//! What a client is told: the program, its arguments, its environment.

use std::path::{Path, PathBuf};

use super::places::System;

/// The name under which the memory is registered.
pub(crate) const NAME: &str = "mmw";
/// The argument with which the program is a Stop hook.
pub(crate) const STOP: &str = "hook-stop";
/// The program's name without an ending.
const PROGRAM: &str = "mmw-agent";

/// How this program is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The program; absolute, since programs with windows have another `PATH` than a shell.
    pub(crate) program: String,
    /// The variables that it is to have, in order. Never a key.
    pub(crate) environment: Vec<(String, String)>,
    /// The system whose shell reads a command line.
    pub(crate) system: System,
}

impl Entry {
    /// Returns the command line that starts the program with plain arguments, for clients that give it to
    /// a shell.
    pub(crate) fn command_line(&self, arguments: &str) -> String {
        format!("{} {arguments}", quoted(&self.program, self.system))
    }
}

/// Tells whether a program is this one, wherever it lies.
pub(crate) fn is_ours(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name == PROGRAM
}

/// Tells whether a shell's command line starts this program as a Stop hook.
pub(crate) fn is_our_hook(command_line: &str) -> bool {
    let (program, rest) = split(command_line);
    is_ours(&program) && rest.split_whitespace().next() == Some(STOP)
}

/// Returns the program that a command line starts.
pub(crate) fn program_of(command_line: &str) -> String {
    split(command_line).0
}

/// Splits a command line into the program and the rest.
fn split(command_line: &str) -> (String, String) {
    // What an apostrophe in a path is to a shell, and a sign that is in no path.
    const APOSTROPHE: (&str, &str) = (r"'\''", "\0");
    let line = command_line.trim().replace(APOSTROPHE.0, APOSTROPHE.1);
    let quote = line
        .chars()
        .next()
        .filter(|first| ['"', '\''].contains(first));
    let (program, rest) = match quote {
        Some(quote) => line[1..].split_once(quote).unwrap_or((&line[1..], "")),
        None => line.split_once(' ').unwrap_or((&line, "")),
    };
    (program.replace(APOSTROPHE.1, "'"), rest.to_owned())
}

fn quoted(program: &str, system: System) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-:+@".contains(c);
    match system {
        System::Windows if program.chars().all(is_plain) => program.to_owned(),
        System::Windows => format!("\"{program}\""),
        // A backslash is no plain sign to a shell here.
        System::Unix | System::Mac if program.chars().all(|c| is_plain(c) && c != '\\') => {
            program.to_owned()
        }
        System::Unix | System::Mac => format!("'{}'", program.replace('\'', r"'\''")),
    }
}

/// Returns the path under which the running program should be registered: the one that `PATH` finds, if it
/// leads to the same file, for it outlives an update of what it leads to.
pub(crate) fn lasting(program: &Path, on_path: Option<PathBuf>) -> PathBuf {
    let same = |other: &PathBuf| {
        let (ours, theirs) = (program.canonicalize().ok(), other.canonicalize().ok());
        ours.is_some() && ours == theirs
    };
    on_path
        .filter(same)
        .unwrap_or_else(|| program.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_program_is_known_wherever_it_lies() {
        for ours in [
            "mmw-agent",
            "/opt/bin/mmw-agent",
            r"C:\Program Files\mmw\mmw-agent.exe",
            "./mmw-agent",
        ] {
            assert!(is_ours(ours), "{ours}");
        }
        for other in ["", "mmw", "/opt/mmw-agent/bin/other", "mmw-agent2", "npx"] {
            assert!(!is_ours(other), "{other}");
        }
    }

    #[test]
    fn a_command_line_is_read_back_as_ours() {
        for program in [
            "/usr/bin/mmw-agent",
            "/a b/bin/mmw-agent",
            r"C:\Program Files\mmw-agent.exe",
            "/it's/mmw-agent",
        ] {
            for system in [System::Unix, System::Windows] {
                let entry = Entry {
                    program: program.to_owned(),
                    environment: Vec::new(),
                    system,
                };
                let line = entry.command_line(STOP);
                assert!(is_our_hook(&line), "{line}");
                assert_eq!(program_of(&line), program);
                assert!(!is_our_hook(&entry.command_line("serve")), "{line}");
            }
        }
        assert!(!is_our_hook("echo mmw-agent hook-stop"));
        assert!(!is_our_hook("mmw-agent"));
    }

    #[test]
    fn a_path_with_a_space_is_one_word_of_a_shell() {
        let check = |system, program: &str, line: &str| {
            assert_eq!(quoted(program, system), line);
        };
        check(System::Unix, "/usr/bin/mmw-agent", "/usr/bin/mmw-agent");
        check(System::Unix, "/a b/mmw-agent", "'/a b/mmw-agent'");
        check(System::Unix, "/it's/x", r"'/it'\''s/x'");
        check(System::Unix, r"/a\b", r"'/a\b'");
        check(
            System::Windows,
            r"C:\b\mmw-agent.exe",
            r"C:\b\mmw-agent.exe",
        );
        check(System::Windows, r"C:\a b\x.exe", "\"C:\\a b\\x.exe\"");
    }

    #[test]
    fn a_link_on_the_path_to_the_same_program_is_registered_instead() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("mmw-agent-1.0");
        std::fs::write(&real, "x").unwrap();
        assert_eq!(lasting(&real, None), real);
        let other = folder.path().join("other");
        std::fs::write(&other, "x").unwrap();
        assert_eq!(lasting(&real, Some(other)), real);
        #[cfg(unix)]
        {
            let link = folder.path().join("mmw-agent");
            std::os::unix::fs::symlink(&real, &link).unwrap();
            assert_eq!(lasting(&real, Some(link.clone())), link);
        }
    }
}

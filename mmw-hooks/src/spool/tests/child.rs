//! Other processes: this test program once more, which plays a role and prints a line for each step.

#![allow(
    clippy::disallowed_methods,
    reason = "a child learns its role from its environment"
)]

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::*;

const ROLE: &str = "MMW_SPOOL_TEST_ROLE";
const BASE: &str = "MMW_SPOOL_TEST_BASE";

/// What a child prints begins with this, among what the test program prints.
const MARK: &str = "> ";

/// Turns a command into one that plays a role; `program` is this program or a copy.
pub(super) fn playing(mut command: Command, role: &str, base: &Path) -> Command {
    command
        .args([
            "--exact",
            "spool::tests::child::plays_its_role",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(BASE, base)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Starts a child of this program.
pub(super) fn start(role: &str, base: &Path) -> Running {
    run(playing(Command::new(this_program()), role, base))
}

pub(super) fn this_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

pub(super) fn run(mut command: Command) -> Running {
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    Running { child, lines }
}

/// Runs a command and returns what its child printed.
pub(super) fn output(command: Command) -> Vec<String> {
    run(command).rest()
}

/// Returns a command of a program.
pub(super) fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// A child that runs.
pub(super) struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    /// Waits for the next line; `None` at the end.
    pub(super) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // One that was killed in the middle of a line said nothing.
            let whole = line.strip_suffix('\n');
            // What the test program prints may stand in front of the first one.
            if let Some((_, said)) = whole.and_then(|line| line.split_once(MARK)) {
                return Some(said.to_owned());
            }
        }
    }

    /// Waits for the end and returns the lines until there.
    pub(super) fn rest(mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| self.line()).collect();
        self.child.wait().unwrap();
        lines
    }

    /// Ends it in the middle of whatever it does; returns the lines until there.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.rest()
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    out.write_all(format!("{MARK}{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
fn plays_its_role() {
    let (Ok(role), Some(base)) = (std::env::var(ROLE), std::env::var_os(BASE)) else {
        // Started as a test among others: there is no role to play.
        return;
    };
    let spool = open(Path::new(&base));
    let words: Vec<&str> = role.split(' ').collect();
    match words[..] {
        // Queues so many entries and tells each that is acknowledged.
        ["put", prefix, n] => {
            for nth in 0..n.parse().unwrap() {
                let key = format!("{prefix}{nth}");
                match spool.put(&entry(&key)) {
                    Ok(_) => say(&key),
                    Err(error) => say(&format!("error {}: {error}", error.is_no_room())),
                }
            }
        }
        // Queues entries of these sizes.
        ["sizes", ..] => {
            for (nth, size) in words[1..].iter().enumerate() {
                let entry = entry_of(&format!("k{nth}"), size.parse().unwrap());
                match spool.put(&entry) {
                    Ok(_) => say(&format!("k{nth}")),
                    Err(error) => say(&format!("error {}: {error}", error.is_no_room())),
                }
            }
        }
        // Sends to a file, and tells each.
        ["drain"] => loop {
            let mut log = fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(Path::new(&base).join("server.log"))
                .unwrap();
            let (_, done) = drained(&spool, &TestClock::new(), |key| {
                log.write_all(format!("{key}\n").as_bytes()).unwrap();
                say(key);
                Outcome::Done
            });
            if done.ended == Ended::Busy && !spool.is_empty().unwrap() {
                thread::yield_now();
                continue;
            }
            return;
        },
        // Queues until the disk is full, sends all, and queues again.
        ["fill"] => {
            let mut n_taken = 0;
            let error = loop {
                match spool.put(&entry_of(&format!("k{n_taken}"), 4000)) {
                    Ok(_) => n_taken += 1,
                    Err(error) => break error,
                }
            };
            say(&format!("full {}", error.is_no_room()));
            say(&format!(
                "sent all {}",
                all_done(&spool) == keys(0..n_taken)
            ));
            spool.put(&entry("later")).unwrap();
            say(&format!("took some {}", n_taken > 5));
            say(&format!("again {}", all_done(&spool) == ["later"]));
        }
        _ => panic!("no such role: {role}"),
    }
}

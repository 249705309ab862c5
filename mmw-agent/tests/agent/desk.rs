//! A desk of one's own: an empty home, a repository, and the program to run in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mmw-agent");

/// A home folder and a repository in it.
pub(crate) struct Desk(TempDir);

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(desk.repository()).unwrap();
        let made = Command::new("git")
            .args(["init", "-q", "-b", "main"])
            .current_dir(desk.repository())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        desk
    }

    pub(crate) fn home(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.home().join("repo")
    }

    /// Returns the program with these words, in the repository, with nothing else set.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(words)
            .current_dir(self.repository())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TERM", "xterm");
        command
    }

    /// Runs the program with that input.
    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        Ran::of(self.command(words), input)
    }

    /// Runs the program without input.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    /// Runs the program and returns the JSON that it printed.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let ran = self.run(&[words, &["--json"]].concat());
        assert!(ran.code <= 1, "{words:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Saves a version of the running example's fact and returns its id.
    pub(crate) fn remember_deploy(&self, text: &str) -> String {
        let docs = self.repository().join("docs");
        std::fs::create_dir_all(&docs).unwrap();
        std::fs::write(docs.join("deploy.md"), "how staging is deployed\n").unwrap();
        let saved = self.json(&[
            "remember",
            text,
            "--key",
            "deploy-staging",
            "--workspace",
            "backend",
            "--source-id",
            "docs/deploy.md",
        ]);
        saved["id"].as_str().unwrap().to_owned()
    }
}

impl Ran {
    /// Runs a command to its end.
    pub(crate) fn of(mut command: Command, input: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().unwrap();
        Self {
            code: status.code().unwrap(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}

//! A person with a home, a repository and commands, with or without a server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mmw_tests::server::Server;
use mmw_tests::{environment, programs};
use serde_json::Value;
use tempfile::TempDir;

/// The model is left out: what is found by meaning depends on when vectors come.
pub(super) const WITHOUT_MODEL: [(&str, &str); 1] = [("MMW_EMBEDDER", "off")];

/// What a command gave.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// A person's computer.
pub(super) struct Person {
    home: TempDir,
    server: Option<(String, String)>,
}

impl Person {
    /// Returns a person with a memory of their own.
    pub(super) fn alone() -> Self {
        Self::of(None)
    }

    /// Returns a person whose commands work on a server with a key.
    pub(super) fn at(url: &str, key: &str) -> Self {
        Self::of(Some((url.to_owned(), key.to_owned())))
    }

    fn of(server: Option<(String, String)>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let person = Self { home, server };
        std::fs::create_dir_all(person.repository().join("docs")).unwrap();
        person.git(&["init", "-q", "-b", "main"]);
        person
    }

    /// Takes another key from now on.
    pub(super) fn uses(&mut self, key: &str) {
        if let Some((_, used)) = &mut self.server {
            key.clone_into(used);
        }
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.home().join("shop")
    }

    /// Writes a file of the repository.
    pub(super) fn writes(&self, name: &str, text: &str) {
        std::fs::write(self.repository().join(name), text).unwrap();
    }

    pub(super) fn git(&self, words: &[&str]) {
        let ran = Command::new("git")
            .args([
                "-c",
                "user.name=Ann",
                "-c",
                "user.email=ann@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .current_dir(self.repository())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }

    /// Commits everything.
    pub(super) fn commits(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Returns a command of the person, in the repository.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(programs::path("mmw-agent"));
        command
            .args(words)
            .env_clear()
            .env("PATH", environment::search_path())
            .env("TERM", "xterm")
            .env("HOME", self.home())
            .env("MMW_AGENT_HOME", self.home().join("mmw"))
            .envs(WITHOUT_MODEL)
            .current_dir(self.repository());
        if let Some((url, key)) = &self.server {
            command.env("MMW_ENDPOINT", url).env("MMW_API_KEY", key);
        }
        command
    }

    /// Runs a command to its end.
    pub(super) fn runs(&self, words: &[&str]) -> Ran {
        let mut command = self.command(words);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs a command with `--json`, and returns its code and what it printed.
    pub(super) fn asks(&self, words: &[&str]) -> (i32, Value) {
        let ran = self.runs(&[words, &["--json"]].concat());
        let json = serde_json::from_str(&ran.stdout);
        (ran.code, json.unwrap_or_else(|_| panic!("{ran:?}")))
    }
}

/// Returns a server without a model, on a folder.
pub(super) fn server(folder: &Path) -> Server {
    Server::start_with(folder, "mmw-server", &WITHOUT_MODEL)
}

/// Returns a server without a model on an address that another one had.
pub(super) fn server_again(url: &str, folder: &Path) -> Server {
    let listen = url.strip_prefix("http://").unwrap();
    Server::start_at(listen, folder, "mmw-server", &WITHOUT_MODEL, Stdio::null())
}

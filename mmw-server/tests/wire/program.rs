//! The program as it is started: commands, exit codes, what is printed where.

use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

struct Program {
    folder: TempDir,
}

impl Program {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mmw-server"))
            .args(arguments)
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .env_clear()
            .output()
            .unwrap()
    }

    /// Runs a command that succeeds and returns what it printed.
    fn told(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains('\u{1b}'), "no colours but on a terminal");
        text
    }

    fn data(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.told(arguments)).unwrap()
    }

    fn fails(&self, arguments: &[&str], exit_code: i32, words: &str) {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(exit_code),
            "{arguments:?} {errors}"
        );
        assert!(errors.contains(words), "{arguments:?}: {errors}");
    }
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let program = Program::new();
    assert_eq!(program.told(&["key", "list"]).trim(), "There are no keys.");
    let key = program.data(&[
        "key",
        "create",
        "laptop",
        "--scopes",
        "read,review",
        "--json",
    ]);
    let (id, secret) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    assert!(secret.starts_with(&format!("mmw_{id}_")));
    let list = program.told(&["key", "list"]);
    assert!(list.contains(id) && list.contains("[read,review]") && list.contains("in force"));
    assert!(!list.contains(secret));
    program.told(&["key", "revoke", id]);
    assert!(program.told(&["key", "list"]).contains("revoked"));
    program.fails(&["key", "revoke", "nope"], 1, "no key with that id");
    program.fails(
        &["key", "create", "x", "--scopes", "fly"],
        1,
        "`fly` is no scope",
    );
    program.fails(
        &["key", "create", "x", "--project", "nope"],
        1,
        "no project of that name",
    );
}

#[test]
fn projects_are_made_and_listed_and_the_store_is_looked_after() {
    let program = Program::new();
    program.fails(&["verify"], 1, "there is no store");
    program.told(&["project", "create", "api", "--max-records", "10"]);
    program.fails(&["project", "create", "api"], 1, "is taken");
    let list = program.data(&["project", "list", "--json"]);
    assert_eq!(
        (&list[0]["name"], &list[0]["max_records"]),
        (&"api".into(), &10.into())
    );
    assert_eq!(program.told(&["verify"]).trim(), "The store is sound.");
    assert_eq!(program.data(&["audit", "verify", "--json"])["ok"], true);
    let purged = program.data(&["purge", "--project", "api", "--dry-run", "--json"]);
    assert_eq!(purged["ids"], serde_json::json!([]));
    program.fails(
        &["purge", "--project", "nope"],
        1,
        "no project of that name",
    );
}

#[test]
fn the_first_key_is_made_by_the_first_start_that_has_its_address() {
    let program = Program::new();
    let key = program.folder.path().join("data").join("first-key");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    program.fails(&["serve", "--listen", &taken], 3, "can't be listened on");
    assert!(!key.exists());
    drop(other);
    // Ends this start as well, after the key was handed over.
    let port_file = program.folder.path().join("nowhere").join("port");
    let port_file = port_file.to_str().unwrap();
    let arguments = ["serve", "--listen", &taken, "--port-file", port_file];
    program.fails(&arguments, 1, port_file);
    let secret = std::fs::read_to_string(&key).unwrap();
    assert!(secret.starts_with("mmw_"));
}

#[test]
fn who_listens_to_the_network_is_warned() {
    let program = Program::new();
    let port_file = program.folder.path().join("nowhere").join("port");
    let port_file = port_file.to_str().unwrap();
    for (address, warned) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
        let arguments = ["serve", "--listen", address, "--port-file", port_file];
        let output = program.run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.contains("plain HTTP"), warned, "{address}: {errors}");
    }
}

#[test]
fn what_is_not_understood_or_usable_has_its_exit_code() {
    let program = Program::new();
    program.fails(&["--bogus"], 2, "--bogus");
    program.fails(&["serve", "--listen", "here"], 2, "MMW_LISTEN");
    std::fs::write(program.folder.path().join("data"), b"a file, not a folder").unwrap();
    program.fails(&["serve"], 3, "can't be used");
    let help = program.run(&["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Exit codes:") && help.contains("MMW_DATA_DIR"));
    assert!(
        program
            .told(&["completions", "bash"])
            .contains("mmw-server")
    );
}

#[test]
fn a_policy_is_checked_set_shown_and_taken_away_and_rescan_tells_what_it_did() {
    let program = Program::new();
    program.told(&["project", "create", "api"]);
    let example = program.told(&["project", "policy", "--example"]);
    assert!(example.contains("[[allow]]"));
    let file = program.folder.path().join("guard.toml");
    let name = file.to_str().unwrap();
    std::fs::write(&file, "secrets = \"keep\"\n").unwrap();
    for what in ["--check", "--set"] {
        let command = ["project", "policy", "api", what, name];
        program.fails(&command, 1, "line 1, secrets: must be");
    }
    std::fs::write(&file, "# pw: hunter2x\n").unwrap();
    let command = ["project", "policy", "api", "--set", name];
    program.fails(&command, 1, "has a secret in it");
    std::fs::write(&file, "secrets = \"reject\"\n").unwrap();
    assert!(
        program
            .told(&["project", "policy", "--check", name])
            .contains("secrets reject")
    );
    assert!(
        program
            .told(&["project", "policy", "api", "--set", name])
            .starts_with("Set: policy ")
    );
    let shown = program.data(&["project", "policy", "api", "--json"]);
    assert_eq!(shown["policy"]["text"], "secrets = \"reject\"\n");
    assert_eq!(
        program.told(&["project", "policy", "api"]),
        "secrets = \"reject\"\n"
    );
    program.told(&["project", "policy", "api", "--clear"]);
    let shown = program.data(&["project", "policy", "api", "--json"]);
    assert!(shown["policy"].is_null());
    program.fails(
        &["project", "policy", "other"],
        1,
        "no project of that name",
    );

    let report = program.data(&["rescan", "--json"]);
    assert_eq!(
        (&report["redacted"], &report["dry_run"]),
        (&0.into(), &false.into())
    );
    assert!(
        program
            .told(&["rescan", "--project", "api", "--dry-run"])
            .contains("Would change")
    );
    program.fails(
        &["rescan", "--project", "other"],
        1,
        "no project of that name",
    );
}

//! The rules that an operator adds to the guard: both programs use them, and neither starts without
//! them when they can't be used.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use mmw_tests::programs;
use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};
use tempfile::TempDir;

const RULES: &str = r#"
[[rules]]
id = "farm-ticket"
description = "Ticket of the build farm"
regex = '''farm-ticket:\s*([a-z]{4}-[a-z]{4})'''
keywords = ["farm-ticket"]
"#;
const BROKEN: &str = "[[rules]]\nid = 'farm-ticket'\nregex = 'farm-(ticket'\n";
const TEXT: &str = "the farm-ticket: abcd-wxyz opens it, and abcd-wxyz again";
const CLEAN: &str =
    "the farm-ticket: [REDACTED:farm-ticket] opens it, and [REDACTED:farm-ticket] again";

fn file(folder: &TempDir, rules: &str) -> PathBuf {
    let file = folder.path().join("rules.toml");
    fs::write(&file, rules).unwrap();
    file
}

fn check_saved(saved: &Value) {
    assert_eq!(saved["content"], CLEAN, "{saved}");
    assert!(saved.to_string().contains("farm-ticket"), "{saved}");
}

#[test]
fn the_server_replaces_what_the_added_rules_find() {
    let folder = tempfile::tempdir().unwrap();
    let rules = file(&folder, RULES);
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let server = Server::start_with(
        &data,
        "mmw-server",
        &[("MMW_GUARD_RULES", rules.to_str().unwrap())],
    );
    let client = server.client(&server.first_key());
    let saved = client
        .tool(Era::Modern, "remember", &json!({ "content": TEXT }))
        .ok();
    check_saved(&saved);
    assert!(server.stop().success());
    for entry in fs::read_dir(&data).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"abcd-wxyz"));
    }
}

#[test]
fn the_agent_replaces_what_the_added_rules_find() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(programs::path("mmw-agent"));
    command
        .env_clear()
        .env("PATH", mmw_tests::environment::search_path())
        .env("HOME", home.path())
        .env("MMW_GUARD_RULES", file(&home, RULES))
        .current_dir(home.path());
    let mut client = StdioClient::with(command, Era::Modern, None);
    let saved = client.tool("remember", &json!({ "content": TEXT })).ok();
    check_saved(&saved);
    assert!(client.close().0.success());
}

fn refused(program: &str, words: &[&str], rules: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(programs::path(program))
        .args(words)
        .env_clear()
        .env("PATH", mmw_tests::environment::search_path())
        .env("HOME", home.path())
        .env("MMW_GUARD_RULES", file(&home, rules))
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().collect();
    assert_eq!(
        left.len(),
        1,
        "nothing is made but the rules of the test: {left:?}"
    );
    output
}

#[test]
fn a_file_that_cannot_be_used_keeps_both_programs_from_starting() {
    for (program, words) in [
        ("mmw-server", &["serve", "--listen", "127.0.0.1:0"][..]),
        ("mmw-server", &["key", "list"]),
        ("mmw-agent", &[]),
        ("mmw-agent", &["remember", "a note"]),
    ] {
        let output = refused(program, words, BROKEN);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{program} {words:?}: {told}");
        assert!(output.stdout.is_empty(), "{program} {words:?}");
        for part in [
            "MMW_GUARD_RULES",
            "rules.toml",
            "line 3",
            "rule `farm-ticket`, regex: unclosed group",
        ] {
            assert!(told.contains(part), "{program} {words:?}: {told}");
        }
    }
}

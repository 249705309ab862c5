//! The environment, help and exit codes.

use crate::desk::{Desk, Ran};

#[test]
fn a_command_that_a_server_cannot_do_says_so_and_never_shows_the_key() {
    let desk = Desk::new();
    for (words, code, said) in [
        (
            &["search", "x"][..],
            4,
            "http://127.0.0.1:1 can't be reached",
        ),
        (&["verify"], 2, "mmw-server verify"),
        (&["export"], 2, "unset MMW_ENDPOINT"),
    ] {
        let mut command = desk.command(words);
        command.env("MMW_ENDPOINT", "http://127.0.0.1:1");
        command.env("MMW_API_KEY", "mmw_k_secret");
        let refused = Ran::of(command, "");
        assert_eq!(refused.code, code, "{words:?}");
        assert!(refused.stdout.is_empty());
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(!refused.stderr.contains("secret"));
    }
}

#[test]
fn an_address_that_a_key_must_not_go_to_is_refused_before_anything_is_said() {
    let desk = Desk::new();
    let addresses = [
        "http://mmw.example.org",
        "mmw.example.org",
        "https://me:pw@mmw.example.org",
    ];
    let commands = [&[][..], &["search", "x"], &["remember", "x"], &["stale"]];
    let tried = addresses
        .iter()
        .flat_map(|address| commands.map(|words| (address, words)));
    for (address, words) in tried {
        let mut command = desk.command(words);
        command.env("MMW_ENDPOINT", address);
        command.env("MMW_API_KEY", "mmw_k_secret");
        let refused = Ran::of(command, "");
        assert_eq!(refused.code, 2, "{address} {words:?}");
        assert!(refused.stdout.is_empty());
        assert!(
            refused.stderr.contains("MMW_ENDPOINT: must"),
            "{}",
            refused.stderr
        );
        assert!(!refused.stderr.contains("secret") && !refused.stderr.contains(":pw"));
    }
}

#[test]
fn the_workspace_and_the_home_can_be_set() {
    let desk = Desk::new();
    let run = |words: &[&str]| {
        let mut command = desk.command(words);
        command.env("MMW_WORKSPACE", "backend");
        command.env("MMW_AGENT_HOME", "~/elsewhere");
        Ran::of(command, "")
    };
    let saved = run(&["remember", "port 8080"]);
    assert!(
        saved.stdout.contains("backend"),
        "{}{}",
        saved.stdout,
        saved.stderr
    );
    assert_eq!(run(&["search", "port"]).code, 0);
    assert_eq!(run(&["search", "port", "-w", "default"]).code, 1);
    assert!(desk.home().join("elsewhere/memory.db").exists());
    assert!(!desk.home().join(".mmw").exists());
}

#[cfg(unix)]
#[test]
fn the_home_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    desk.run(&["remember", "x"]);
    let home = std::fs::metadata(desk.home().join(".mmw")).unwrap();
    assert_eq!(home.permissions().mode() & 0o777, 0o700);
}

#[test]
fn help_and_version_are_answers() {
    let desk = Desk::new();
    let help = desk.run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("Exit codes:") && help.stdout.contains("mmw-agent search"));
    let version = desk.run(&["--version"]);
    assert_eq!(
        version.stdout,
        format!("mmw-agent {}\n", env!("CARGO_PKG_VERSION"))
    );
    let completions = desk.run(&["completions", "bash"]);
    assert_eq!(completions.code, 0);
    assert!(completions.stdout.contains("mmw-agent"));
    assert!(!desk.home().join(".mmw").exists());
}

#[test]
fn a_reader_that_hangs_up_is_no_error() {
    let desk = Desk::new();
    let mut child = desk
        .command(&["completions", "bash"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(ended.stderr.is_empty());
}

#[test]
fn a_project_stays_the_same_where_git_is_not_installed() {
    let desk = Desk::new();
    let config = desk.repository().join(".git/config");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("[remote \"origin\"]\n\turl = https://ann:hunter2@github.com/acme/api.git\n");
    std::fs::write(&config, text).unwrap();
    let with_git = desk.json(&["status"]);
    assert_eq!(with_git["project"], "github.com/acme/api");
    let mut command = desk.command(&["status", "--json"]);
    command.env("PATH", desk.home());
    let without: serde_json::Value = serde_json::from_str(&Ran::of(command, "").stdout).unwrap();
    assert_eq!(without, with_git);
}

#[test]
fn a_git_that_fails_or_answers_nonsense_does_no_harm() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    let project = desk.json(&["status"])["project"].clone();
    let fake = desk.home().join("git");
    for script in [
        "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\necho /nowhere\n",
        "no program\n",
    ] {
        std::fs::write(&fake, script).unwrap();
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = desk.command(&["status", "--json"]);
        command.env("PATH", desk.home());
        let ran = Ran::of(command, "");
        let status: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(status["project"], project, "{script}");
    }
}

//! The Stop hook as a client starts it: the program's streams, its exit code, what it leaves behind.
//!
//! What it asks about is tested in `mmw-hooks/tests/stop`, with the real clients in
//! `tests/clients/stop_hook.py`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use mmw_tests::programs;
use serde_json::{Value, json};

/// A session in a repository whose file changed.
struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let session = Self { folder };
        fs::create_dir(session.project()).unwrap();
        let made = Command::new("git")
            .args(["init", "--quiet"])
            .current_dir(session.project())
            .status();
        assert!(made.unwrap().success());
        fs::write(session.project().join("a.rs"), "fn a() {}\n").unwrap();
        fs::write(
            session.home().join(".claude.json"),
            r#"{"mcpServers":{"mmw":{"command":"mmw-agent"}}}"#,
        )
        .unwrap();
        // The file is of now, the session of long ago.
        let row = json!({
            "type": "user",
            "message": { "role": "user", "content": "go" },
            "timestamp": "2020-01-01T00:00:00.000Z",
        });
        fs::write(session.home().join("s.jsonl"), format!("{row}\n")).unwrap();
        session
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    fn agent_home(&self) -> PathBuf {
        self.home().join("mmw")
    }

    fn event(&self) -> Value {
        json!({
            "session_id": "s",
            "transcript_path": self.home().join("s.jsonl"),
            "cwd": self.project(),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(programs::path("mmw-agent"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", mmw_tests::environment::search_path())
            .env("HOME", self.home())
            .env("MMW_AGENT_HOME", self.agent_home())
            .current_dir(self.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

fn write(child: &mut Child, bytes: &[u8]) {
    // The program may end before it has read everything: a broken pipe is the client's business.
    let _ = child.stdin.as_mut().unwrap().write_all(bytes);
}

fn fed(mut command: Command, bytes: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    write(&mut child, bytes);
    child.wait_with_output().unwrap()
}

fn assert_silent(output: &Output, what: &str) {
    let seen = (
        output.status.code(),
        output.stdout.as_slice(),
        output.stderr.as_slice(),
    );
    assert_eq!(seen, (Some(0), &b""[..], &b""[..]), "{what}");
}

/// Returns the one line that asks, after checking everything else about the end.
fn asked(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
    assert!(output.stdout.ends_with(b"}\n"), "{output:?}");
    assert!(output.stdout.len() <= 4096 && !output.stdout.contains(&b'\r'));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_turn_is_held_up_once_and_no_store_is_made() {
    let session = Session::new();
    let event = session.event().to_string();
    let reply = asked(&fed(session.command(&["hook-stop"]), event.as_bytes()));
    assert_eq!(reply["decision"], "block");
    let reason = reply["reason"].as_str().unwrap();
    assert!(
        reason.contains("\"a.rs\"") && reason.contains("mcp__mmw__remember"),
        "{reason}"
    );
    // The second time without the client's flag, as in a new loop.
    let second = fed(session.command(&["hook-stop"]), event.as_bytes());
    assert_silent(&second, "the second stop");
    let left: Vec<_> = fs::read_dir(session.agent_home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["stop-hook"]);
}

#[test]
fn an_input_that_nobody_closes_is_not_waited_for() {
    let session = Session::new();
    let mut child = session.command(&["hook-stop"]).spawn().unwrap();
    write(&mut child, session.event().to_string().as_bytes());
    let open = child.stdin.take();
    asked(&child.wait_with_output().unwrap());
    drop(open);
}

#[test]
fn half_an_event_that_never_goes_on_ends_in_silence() {
    let session = Session::new();
    let event = session.event().to_string();
    let halves = [&event.as_bytes()[..event.len() / 2], b"", b"  "];
    let started = halves.map(|half| {
        let mut child = session.command(&["hook-stop"]).spawn().unwrap();
        write(&mut child, half);
        (child.stdin.take(), child)
    });
    for (open, child) in started {
        assert_silent(&child.wait_with_output().unwrap(), "half an event");
        drop(open);
    }
}

#[test]
fn whatever_is_unexpected_ends_in_silence_and_exit_code_zero() {
    let session = Session::new();
    let event = session.event();
    let with = |name: &str, value: Value| {
        let mut event = event.clone();
        event[name] = value;
        event.to_string().into_bytes()
    };
    let all_bytes: Vec<u8> = (0..=255).collect();
    let deep = [b"{\"a\":".repeat(100_000), b"}".repeat(100_000)].concat();
    for (what, sent) in [
        ("nothing", Vec::new()),
        ("all bytes", all_bytes),
        ("a list", b"[]".to_vec()),
        ("a deep object", deep),
        (
            "another event",
            with("hook_event_name", json!("PostToolUse")),
        ),
        ("the flag", with("stop_hook_active", json!(true))),
        (
            "the flag as a text",
            with("stop_hook_active", json!("true")),
        ),
        ("a session without a name", with("session_id", json!(""))),
        ("no folder", with("cwd", json!(7))),
        ("a folder that is gone", with("cwd", json!("/nowhere"))),
        (
            "a transcript that is gone",
            with("transcript_path", json!("/nowhere")),
        ),
        ("outside of git", with("cwd", json!(session.home()))),
    ] {
        assert_silent(&fed(session.command(&["hook-stop"]), &sent), what);
    }
    let mut off = session.command(&["hook-stop"]);
    off.env("MMW_STOP_HOOK", "off");
    assert_silent(&fed(off, event.to_string().as_bytes()), "switched off");
    // Nothing of all that was counted as having asked.
    asked(&fed(
        session.command(&["hook-stop"]),
        event.to_string().as_bytes(),
    ));
}

#[test]
fn settings_that_stop_other_commands_do_not_stop_the_hook() {
    for (name, value) in [
        ("MMW_LANG", "de"),
        ("MMW_WORKSPACE", "a|b"),
        ("MMW_ENDPOINT", "http://127.0.0.1:9"),
        ("MMW_EMBEDDER", "nonsense"),
        ("MMW_GUARD_RULES", "relative.toml"),
        ("RUST_LOG", "trace"),
        ("GIT_DIR", "/nowhere"),
        ("GIT_TRACE", "1"),
    ] {
        let session = Session::new();
        let mut command = session.command(&["hook-stop", "--client", "claude-code", "--later"]);
        command.env(name, value);
        asked(&fed(command, session.event().to_string().as_bytes()));
    }
}

#[test]
fn without_git_on_the_path_nobody_is_asked() {
    let session = Session::new();
    let mut command = session.command(&["hook-stop"]);
    command.env("PATH", session.home());
    assert_silent(
        &fed(command, session.event().to_string().as_bytes()),
        "no git",
    );
}

#[cfg(unix)]
#[test]
fn a_git_that_never_answers_ends_in_silence() {
    use std::os::unix::fs::PermissionsExt as _;

    let session = Session::new();
    let programs = session.home().join("bin");
    fs::create_dir(&programs).unwrap();
    // Its other end of the pipe is never closed either.
    fs::write(programs.join("git"), "#!/bin/sh\nexec /bin/sleep 600\n").unwrap();
    fs::set_permissions(programs.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = session.command(&["hook-stop"]);
    command.env("PATH", &programs);
    let sent = session.event().to_string();
    assert_silent(&fed(command, sent.as_bytes()), "a slow git");
}

#[test]
fn an_agent_home_that_can_not_be_written_to_ends_in_silence() {
    let session = Session::new();
    fs::write(session.agent_home(), "a file").unwrap();
    let sent = session.event().to_string();
    let output = fed(session.command(&["hook-stop"]), sent.as_bytes());
    assert_silent(&output, "no home");
}

#[test]
fn a_large_event_is_read() {
    let session = Session::new();
    let mut event = session.event();
    event["last_assistant_message"] = json!("x".repeat(4 * 1024 * 1024));
    asked(&fed(
        session.command(&["hook-stop"]),
        event.to_string().as_bytes(),
    ));
}

#[test]
fn a_person_who_asks_for_help_gets_it() {
    let session = Session::new();
    let output = fed(session.command(&["hook-stop", "--help"]), b"");
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(
        page.contains("mmw-agent hook-stop") && page.contains("MMW_STOP_HOOK=off"),
        "{page}"
    );
}

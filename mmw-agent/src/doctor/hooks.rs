//! The Stop hook answers the events of every client quickly and in silence.
//!
//! The events are as the clients send them, recorded or after their documentation; the folder in them is
//! an empty one, so that there is nothing to ask for.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::Finding;
use crate::connect::entry::{Entry, STOP};

const ID: &str = "stop_hook";

/// The events, by client.
const EVENTS: &[(&str, &str)] = &[
    ("Claude Code", include_str!("events/claude-code.json")),
    ("Codex", include_str!("events/codex.json")),
    ("Copilot CLI", include_str!("events/copilot-cli.json")),
    ("Cursor", include_str!("events/cursor.json")),
    ("Gemini CLI", include_str!("events/gemini-cli.json")),
    ("VS Code", include_str!("events/vscode.json")),
];

/// What stands for the folder in an event.
const FOLDER: &str = "FOLDER";

pub(super) fn examine(entry: &Entry) -> Vec<Finding> {
    let mut slowest = 0.0_f64;
    for (client, event) in EVENTS {
        let began = Instant::now();
        if let Err(why) = run(&entry.program, event) {
            let said = format!("the Stop hook is not silent on an event of {client}: {why}");
            return vec![Finding::bad(
                ID,
                said,
                "set MMW_STOP_HOOK=off, and please report it",
            )];
        }
        slowest = slowest.max(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let said = format!(
        "the Stop hook passes over the events of {} clients in silence, within {slowest:.0} ms",
        EVENTS.len()
    );
    vec![Finding::good(ID, said)]
}

/// Gives an event to the hook, and tells what it did that it should not.
fn run(program: &str, event: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // As JSON writes it: a path may have backslashes.
    let path = serde_json::to_string(&folder.path().to_string_lossy()).unwrap_or_default();
    let event = event.replace(FOLDER, path.trim_matches('"'));
    let mut child = Command::new(program)
        .arg(STOP)
        .current_dir(folder.path())
        .env("MMW_AGENT_HOME", folder.path().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A hook that has seen enough may be gone.
        let _ = input.write_all(event.as_bytes());
    }
    let ended = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if !ended.status.success() {
        return Err(format!("it ended with {}", ended.status));
    }
    if !ended.stdout.is_empty() || !ended.stderr.is_empty() {
        return Err("it printed something".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_one_of_a_folder() {
        for (client, event) in EVENTS {
            let event: serde_json::Value = serde_json::from_str(event).unwrap();
            assert!(event.to_string().contains(FOLDER), "{client}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_hook_that_speaks_or_fails_is_told_of() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        for (script, said) in [("echo x", "printed"), ("exit 2", "ended with")] {
            let program = folder.path().join("hook");
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            let allowed = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, allowed).unwrap();
            let why = run(program.to_str().unwrap(), EVENTS[0].1).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}

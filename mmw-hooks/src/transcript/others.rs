//! Where the transcripts of a session's subagents lie.
//!
//! Claude Code keeps them in a folder beside the session's own file, Codex as rollouts of their own
//! in the folder of the day. Other clients write what subagents did into the session's file, or
//! nowhere.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Kind, lines};

/// How deep folders may lie in each other.
const MAX_DEPTH: usize = 3;

/// The most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 4_096;

/// Returns the transcripts of the subagents, at most `max` of them.
#[must_use]
pub fn of(transcript: &Path, kind: Kind, max: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match kind {
        Kind::Claude => {
            let folder = transcript.with_extension("").join("subagents");
            collect(&folder, MAX_DEPTH, max, &mut found);
        }
        Kind::Codex => children(transcript, max, &mut found),
        Kind::Gemini | Kind::Events | Kind::Cursor => {}
    }
    found
}

/// Collects `agent-*.jsonl` in a folder and those in it. Links are not followed.
fn collect(folder: &Path, depth: usize, max: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().take(MAX_ENTRIES) {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth > 1 {
            collect(&entry.path(), depth - 1, max, found);
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_file() && name.starts_with("agent-") && name.ends_with(".jsonl") {
            found.push(entry.path());
        }
        if found.len() >= max {
            return;
        }
    }
}

/// Collects the rollouts of the same day whose first line says that they were spawned by this
/// session.
fn children(transcript: &Path, max: usize, found: &mut Vec<PathBuf>) {
    let own = lines::first_line(transcript)
        .and_then(|line| serde_json::from_slice::<Value>(&line).ok())
        .and_then(|row| Some(row.pointer("/payload/id")?.as_str()?.to_owned()));
    let (Some(own), Some(folder)) = (own, transcript.parent()) else {
        return;
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().take(MAX_ENTRIES) {
        let path = entry.path();
        let is_rollout = path
            .extension()
            .is_some_and(|extension| extension == "jsonl");
        if path == transcript || !is_rollout || found.len() >= max {
            continue;
        }
        // The id stands in the subagent's own source, so most files are told by a search in bytes.
        let Some(line) = lines::first_line(&path) else {
            continue;
        };
        if memchr::memmem::find(&line, own.as_bytes()).is_none() {
            continue;
        }
        let spawned = serde_json::from_slice::<Value>(&line).is_ok_and(|row| {
            let payload = row.get("payload").unwrap_or(&Value::Null);
            let source = payload.get("source").unwrap_or(&Value::Null);
            let said_by = |value: Option<&Value>| value.and_then(Value::as_str) == Some(&own);
            source
                .pointer("/subagent")
                .is_some_and(|by| by.to_string().contains(&own))
                || said_by(payload.get("parent_thread_id"))
                || (said_by(payload.get("session_id")) && !said_by(payload.get("id")))
        });
        if spawned {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[PathBuf]) -> Vec<String> {
        let mut names: Vec<_> = found
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn claude_code_keeps_them_in_a_folder_beside() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s.jsonl");
        let deep = folder.path().join("s/subagents/group");
        fs::create_dir_all(&deep).unwrap();
        fs::write(&session, "").unwrap();
        for file in [
            "s/subagents/agent-1.jsonl",
            "s/subagents/group/agent-2.jsonl",
            "s/subagents/agent-1.meta.json",
            "s/subagents/note.jsonl",
        ] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let found = of(&session, Kind::Claude, 10);
        assert_eq!(names(&found), ["agent-1.jsonl", "agent-2.jsonl"]);
        assert_eq!(of(&session, Kind::Claude, 1).len(), 1);
        assert!(of(&session, Kind::Gemini, 10).is_empty());
    }

    #[test]
    fn codex_writes_them_beside_the_sessions_own() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, payload: &str| {
            let line = format!("{{\"type\":\"session_meta\",\"payload\":{payload}}}\n");
            fs::write(folder.path().join(name), line).unwrap();
        };
        write("rollout-1.jsonl", r#"{"id":"own","source":"cli"}"#);
        write(
            "rollout-2.jsonl",
            r#"{"id":"a","source":{"subagent":{"thread_spawn":{"parent_thread_id":"own"}}}}"#,
        );
        write("rollout-3.jsonl", r#"{"id":"b","source":"cli"}"#);
        write(
            "rollout-4.jsonl",
            r#"{"id":"c","source":"cli","forked_from_id":"own"}"#,
        );
        let found = of(&folder.path().join("rollout-1.jsonl"), Kind::Codex, 10);
        assert_eq!(names(&found), ["rollout-2.jsonl"]);
    }
}

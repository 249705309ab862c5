//! Rollouts of Codex: an item or an event a line, each with its time.
//!
//! A call of an MCP tool is believed by the event of its end: in code mode the calls themselves are
//! nested in code. Versions differ in how they write that event down.

use std::path::Path;
use std::sync::LazyLock;

use mmw_core::time::Timestamp;
use serde_json::Value;

use super::tool::Tool;
use super::words::Words;
use super::{Session, lines, row_moment};
use crate::deadline::Deadline;

/// The words of which a line must hold one to be looked at.
const WORDS: [&str; 12] = [
    "\"session_meta\"",
    "\"mcp_tool_call_end\"",
    "\"McpToolCall\"",
    "\"patch_apply_end\"",
    "\"FileChange\"",
    "\"user_message\"",
    "\"UserMessage\"",
    "\"HookPrompt\"",
    "\"task_started\"",
    "\"task_complete\"",
    "\"turn_aborted\"",
    "<hook_prompt",
];

static FINDER: LazyLock<Words> = LazyLock::new(|| Words::new(&WORDS));

/// Adds what a rollout tells. `None` if it can't be read to its end.
pub fn read(path: &Path, deadline: Deadline, session: &mut Session) -> Option<()> {
    let mut reader = Reader {
        session,
        ended: None,
        before: None,
        is_new: false,
    };
    lines::each(path, deadline, |line| {
        if FINDER.of(line) != 0
            && let Ok(row) = serde_json::from_slice::<Value>(line)
        {
            reader.row(&row);
        }
    })
}

struct Reader<'a> {
    session: &'a mut Session,
    /// When the last turn ended.
    ended: Option<Timestamp>,
    /// When the turn before this one ended.
    before: Option<Timestamp>,
    /// Whether nobody has spoken in this turn yet.
    is_new: bool,
}

impl Reader<'_> {
    fn row(&mut self, row: &Value) {
        let at = row_moment(row);
        if let Some(at) = at {
            self.session.happened(at);
        }
        let Some(payload) = row.get("payload") else {
            return;
        };
        match (text(row, "type"), text(payload, "type")) {
            ("session_meta", _) => self.session.in_folder(payload.get("cwd")),
            ("event_msg", "item_completed") => {
                if let Some(item) = payload.get("item") {
                    self.item(item, at);
                }
            }
            ("event_msg", "mcp_tool_call_end") => {
                let failed = payload.pointer("/result/Ok").is_none()
                    || payload.pointer("/result/Ok/isError") == Some(&Value::Bool(true));
                let invocation = payload.get("invocation").unwrap_or(&Value::Null);
                self.called(invocation, failed, at);
            }
            ("event_msg", "patch_apply_end")
                if payload.get("success") == Some(&Value::Bool(true)) =>
            {
                self.patched(payload, at);
            }
            ("event_msg", "user_message") => self.person(at),
            ("event_msg", "task_started") => {
                self.before = self.ended;
                self.is_new = true;
            }
            ("event_msg", "task_complete" | "turn_aborted") => self.ended = at,
            ("response_item", "message") if payload.to_string().contains("<hook_prompt") => {
                self.session.may_be_asked(&payload.to_string(), at);
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Value, at: Option<Timestamp>) {
        match text(item, "type") {
            "UserMessage" => self.person(at),
            "HookPrompt" => self.session.may_be_asked(&item.to_string(), at),
            "McpToolCall" => {
                let failed = text(item, "status") != "completed"
                    || item.get("error").is_some_and(|error| !error.is_null())
                    || ["/result/isError", "/result/is_error"]
                        .iter()
                        .any(|at| item.pointer(at) == Some(&Value::Bool(true)));
                self.called(item, failed, at);
            }
            "FileChange" if text(item, "status") == "completed" => self.patched(item, at),
            _ => {}
        }
    }

    fn called(&mut self, call: &Value, failed: bool, at: Option<Timestamp>) {
        let (server, tool) = (text(call, "server"), text(call, "tool"));
        if !failed && tool == "remember" && !server.is_empty() {
            self.session.saved(Tool::of_server(server), at);
        }
    }

    fn patched(&mut self, patch: &Value, at: Option<Timestamp>) {
        let changes = patch.get("changes").and_then(Value::as_object);
        for (path, change) in changes.into_iter().flatten() {
            self.session.edited(path, at);
            let moved = change.get("move_path").and_then(Value::as_str);
            if let Some(target) = moved {
                self.session.edited(target, at);
            }
        }
    }

    /// Notes that a person spoke; old versions and new ones may both say so of one message.
    fn person(&mut self, at: Option<Timestamp>) {
        if self.is_new || self.session.n_prompts == 0 {
            self.is_new = false;
            self.session.prompted(self.before.take(), at);
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    fn session(payloads: &[&str]) -> Session {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (n, payload) in payloads.iter().enumerate() {
            let kind = if payload.contains("\"cwd\"") {
                "session_meta"
            } else {
                "event_msg"
            };
            writeln!(
                file,
                r#"{{"timestamp":"2026-11-30T10:00:{n:02}.500Z","type":"{kind}","payload":{payload}}}"#
            )
            .unwrap();
        }
        let mut session = Session::default();
        let far = Deadline::after(Duration::from_secs(600));
        read(file.path(), far, &mut session).unwrap();
        session
    }

    const META: &str = r#"{"id":"s","cwd":"/w"}"#;
    const STARTED: &str = r#"{"type":"task_started"}"#;
    const PERSON: &str = r#"{"type":"item_completed","item":{"type":"UserMessage"}}"#;

    #[test]
    fn a_call_is_believed_by_its_end() {
        for (end, saved) in [
            (
                r#"{"type":"mcp_tool_call_end","invocation":{"server":"mmw","tool":"remember"},"result":{"Ok":{"isError":false}}}"#,
                true,
            ),
            (
                r#"{"type":"mcp_tool_call_end","invocation":{"server":"mmw","tool":"remember"},"result":{"Ok":{"isError":true}}}"#,
                false,
            ),
            (
                r#"{"type":"mcp_tool_call_end","invocation":{"server":"mmw","tool":"remember"},"result":{"Err":"x"}}"#,
                false,
            ),
            (
                r#"{"type":"item_completed","item":{"type":"McpToolCall","server":"mmw","tool":"remember","status":"completed","result":{"content":[]}}}"#,
                true,
            ),
            (
                r#"{"type":"item_completed","item":{"type":"McpToolCall","server":"mmw","tool":"remember","status":"failed","error":{"message":"x"}}}"#,
                false,
            ),
            (
                r#"{"type":"item_completed","item":{"type":"McpToolCall","server":"mmw","tool":"search","status":"completed"}}"#,
                false,
            ),
        ] {
            let told = session(&[META, end]);
            let names: Vec<_> = told.saved.keys().map(|tool| tool.name.as_str()).collect();
            let wanted: &[&str] = if saved { &["mcp__mmw__remember"] } else { &[] };
            assert_eq!(names, wanted, "{end}");
        }
    }

    #[test]
    fn a_patch_tells_its_files() {
        for patch in [
            r#"{"type":"patch_apply_end","success":true,"changes":{"/w/a":{"type":"update","move_path":"b"}}}"#,
            r#"{"type":"item_completed","item":{"type":"FileChange","status":"completed","changes":{"/w/a":{"type":"update","move_path":"b"}}}}"#,
        ] {
            let told = session(&[META, patch]);
            let files: Vec<_> = told.edited.keys().cloned().collect();
            assert_eq!(files, [PathBuf::from("/w/a"), PathBuf::from("/w/b")]);
        }
        let failed = r#"{"type":"patch_apply_end","success":false,"changes":{"/w/a":{}}}"#;
        assert!(session(&[META, failed]).edited.is_empty());
    }

    #[test]
    fn a_message_that_two_events_tell_of_is_one() {
        let old = r#"{"type":"user_message","message":"go"}"#;
        let told = session(&[META, STARTED, PERSON, old]);
        assert_eq!(told.n_prompts, 1);
        let hook = r#"{"type":"item_completed","item":{"type":"HookPrompt","fragments":[{"text":"[mmw-hook-stop] x"}]}}"#;
        let told = session(&[META, STARTED, PERSON, hook]);
        assert!(told.asked);
        let told = session(&[META, STARTED, PERSON, hook, STARTED, PERSON]);
        assert!(!told.asked);
        assert_eq!(told.n_prompts, 2);
    }
}

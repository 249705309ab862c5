//! Transcripts of Copilot CLI, which VS Code writes too: an event a line, with its data and time.
//!
//! Nobody promises this form; what is read here is what people's own readers agree on.

use std::path::Path;

use mmw_core::time::Timestamp;
use serde_json::Value;

use super::calls::Calls;
use super::tool::Tool;
use super::{MARKER, Session, lines, row_moment};
use crate::deadline::Deadline;

/// Tools that change a file, and where they name it.
const PATHS: [&str; 3] = ["path", "filePath", "file_path"];
const EDITORS: [&str; 10] = [
    "edit",
    "create",
    "write",
    "str_replace",
    "str_replace_editor",
    "insert",
    "create_file",
    "insert_edit_into_file",
    "replace_string_in_file",
    "multi_replace_string_in_file",
];

enum Call {
    Save(Tool),
    Edit(String),
}

/// Adds what a transcript tells. `None` if it can't be read to its end.
pub fn read(path: &Path, deadline: Deadline, session: &mut Session) -> Option<()> {
    let mut calls = Calls::default();
    let mut last: Option<Timestamp> = None;
    lines::each(path, deadline, |line| {
        let Ok(row) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let at = row_moment(&row);
        if let Some(at) = at {
            session.happened(at);
        }
        let data = row.get("data").unwrap_or(&Value::Null);
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
        match row.get("type").and_then(Value::as_str).unwrap_or_default() {
            "session.start" => session.in_folder(data.pointer("/context/cwd")),
            "user.message" => {
                // The reason of a hook comes as a message too.
                if text("content").contains(MARKER) {
                    session.may_be_asked(MARKER, at);
                } else {
                    session.prompted(last, at);
                }
            }
            "tool.execution_start" => {
                if let Some(call) = call(data) {
                    calls.begin(text("toolCallId").to_owned(), call);
                }
            }
            "tool.execution_complete" => match calls.end(text("toolCallId")) {
                Some(_) if data.get("success") == Some(&Value::Bool(false)) => {}
                Some(Call::Save(tool)) => session.saved(tool, at),
                Some(Call::Edit(file)) => session.edited(&file, at),
                None => {}
            },
            kind if kind.starts_with("hook.") => {
                session.may_be_asked(&data.to_string(), at);
            }
            _ => {}
        }
        last = at.or(last);
    })
}

fn call(data: &Value) -> Option<Call> {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let name = text("toolName")?;
    if let (Some(server), Some("remember")) = (text("mcpServerName"), text("mcpToolName")) {
        return Some(Call::Save(Tool {
            name: name.to_owned(),
            server: server.to_owned(),
        }));
    }
    if EDITORS.contains(&name) {
        let arguments = data.get("arguments")?;
        let file = PATHS.iter().find_map(|field| arguments.get(field));
        return file
            .and_then(Value::as_str)
            .map(|file| Call::Edit(file.to_owned()));
    }
    Tool::parse(name).map(Call::Save)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    fn session(rows: &str) -> Session {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), rows).unwrap();
        let mut session = Session::default();
        let far = Deadline::after(Duration::from_secs(600));
        read(file.path(), far, &mut session).unwrap();
        session
    }

    #[test]
    fn a_session_is_told_by_its_events() {
        let told = session(
            r#"{"type":"session.start","data":{"sessionId":"s","context":{"cwd":"/w"}},"timestamp":"2026-11-30T10:00:00Z"}
{"type":"user.message","data":{"content":"go"},"timestamp":"2026-11-30T10:00:01Z"}
{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"edit","arguments":{"path":"/w/a.rs"}},"timestamp":"2026-11-30T10:00:02Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"1","success":true},"timestamp":"2026-11-30T10:00:03Z"}
{"type":"tool.execution_start","data":{"toolCallId":"2","toolName":"mmw-remember","arguments":{}},"timestamp":"2026-11-30T10:00:04Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"2","success":true},"timestamp":"2026-11-30T10:00:05Z"}
{"type":"tool.execution_start","data":{"toolCallId":"3","toolName":"mmw-remember","arguments":{}},"timestamp":"2026-11-30T10:00:06Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"3","success":false},"timestamp":"2026-11-30T10:00:07Z"}
"#,
        );
        let at = |text| Timestamp::parse(text).ok();
        assert_eq!(told.began, at("2026-11-30T10:00:00Z"));
        assert_eq!(told.folder, Some(PathBuf::from("/w")));
        assert_eq!(
            told.edited[Path::new("/w/a.rs")].at,
            at("2026-11-30T10:00:03Z")
        );
        let (tool, when) = told.saved.iter().next().unwrap();
        assert_eq!(tool.server, "mmw");
        assert_eq!(when.at, at("2026-11-30T10:00:05Z"));
        assert_eq!((told.n_prompts, told.asked), (1, false));
    }

    #[test]
    fn the_reason_of_a_hook_is_no_person() {
        let told = session(
            r#"{"type":"user.message","data":{"content":"go"},"timestamp":"2026-11-30T10:00:01Z"}
{"type":"user.message","data":{"content":"[mmw-hook-stop] x"},"timestamp":"2026-11-30T10:00:02Z"}
"#,
        );
        assert_eq!((told.n_prompts, told.asked), (1, true));
    }
}

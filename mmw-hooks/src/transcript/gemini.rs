//! Chats of Gemini CLI: a message a line, or in older versions one document with a list of them.

use std::path::Path;

use mmw_core::time::Timestamp;
use serde_json::Value;

use super::lines::MAX_LINE_BYTES;
use super::tool::Tool;
use super::{MARKER, Session, lines, row_moment};
use crate::deadline::Deadline;
use crate::wire::moment;

const EDITORS: [&str; 3] = ["write_file", "replace", "edit"];

/// Adds what a chat tells. `None` if it can't be read to its end.
pub fn read(path: &Path, deadline: Deadline, session: &mut Session) -> Option<()> {
    let mut last = None;
    let mut n_understood = 0_usize;
    lines::each(path, deadline, |line| {
        if let Ok(row) = serde_json::from_slice::<Value>(line) {
            n_understood += usize::from(row.is_object());
            document(&row, session, &mut last);
        }
    })?;
    if n_understood > 0 {
        return Some(());
    }
    let is_short = path.metadata().ok()?.len() <= MAX_LINE_BYTES as u64;
    let whole = is_short.then(|| std::fs::read(path).ok()).flatten()?;
    let row = serde_json::from_slice::<Value>(&whole).ok()?;
    document(&row, session, &mut last);
    Some(())
}

/// Reads a message, or whatever has a list of them.
fn document(row: &Value, session: &mut Session, last: &mut Option<Timestamp>) {
    if let Some(at) = row.get("startTime").and_then(moment) {
        session.happened(at);
    }
    let Some(messages) = row.get("messages").and_then(Value::as_array) else {
        message(row, session, last);
        return;
    };
    for row in messages {
        message(row, session, last);
    }
}

fn message(row: &Value, session: &mut Session, last: &mut Option<Timestamp>) {
    let at = row_moment(row);
    if let Some(at) = at {
        session.happened(at);
    }
    if row.get("type").and_then(Value::as_str) == Some("user") {
        let said = row.get("content").map(Value::to_string).unwrap_or_default();
        // The reason of a hook comes as a message too.
        if said.contains(MARKER) {
            session.may_be_asked(MARKER, at);
        } else {
            session.prompted(*last, at);
        }
    }
    let calls = row.get("toolCalls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "success" {
            continue;
        }
        let at = row_moment(call).or(at);
        let file = ["file_path", "absolute_path", "path"]
            .iter()
            .find_map(|field| call.get("args")?.get(field)?.as_str());
        match file {
            Some(file) if EDITORS.contains(&text("name")) => session.edited(file, at),
            _ => {
                if let Some(tool) = Tool::parse(text("name")) {
                    session.saved(tool, at);
                }
            }
        }
        *last = at.max(*last);
    }
    *last = at.max(*last);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn session(content: &str) -> Session {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let mut session = Session::default();
        let far = Deadline::after(Duration::from_secs(600));
        read(file.path(), far, &mut session).unwrap();
        session
    }

    const USER: &str =
        r#"{"id":"1","timestamp":"2026-11-30T10:00:00Z","type":"user","content":"go"}"#;
    const CALLS: &str = r#"{"id":"2","timestamp":"2026-11-30T10:00:01Z","type":"gemini","content":"","toolCalls":[
        {"id":"a","name":"write_file","args":{"file_path":"/w/a"},"status":"success","timestamp":"2026-11-30T10:00:02Z"},
        {"id":"b","name":"mcp_mmw_remember","args":{},"status":"success","timestamp":"2026-11-30T10:00:03Z"},
        {"id":"c","name":"mcp_mmw_remember","args":{},"status":"error","timestamp":"2026-11-30T10:00:04Z"}]}"#;

    fn check(told: &Session) {
        let at = |text| Timestamp::parse(text).ok();
        assert_eq!(told.began, at("2026-11-30T10:00:00Z"));
        let edit = told.edited[Path::new("/w/a")];
        assert_eq!(edit.at, at("2026-11-30T10:00:02Z"));
        let (tool, when) = told.saved.iter().next().unwrap();
        assert_eq!(
            (tool.server.as_str(), when.at),
            ("mmw", at("2026-11-30T10:00:03Z"))
        );
        assert_eq!(told.n_prompts, 1);
    }

    #[test]
    fn a_chat_is_lines_or_one_document() {
        let head = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-30T10:00:00Z"}"#;
        let calls = CALLS.replace('\n', "");
        check(&session(&format!("{head}\n{USER}\n{calls}\n")));
        let document = format!(
            "{{\n  \"sessionId\": \"s\",\n  \"startTime\": \"2026-11-30T10:00:00Z\",\n  \"messages\": [{USER},\n{CALLS}\n]\n}}\n"
        );
        check(&session(&document));
    }
}

//! Transcripts of Cursor: a message a line, without times and without results of tools.
//!
//! So only the order tells whether a file was edited after something was saved, and a call counts
//! as done. The session begins when its file was made, where the file system knows that.

use std::path::Path;

use serde_json::Value;

use super::tool::Tool;
use super::{MARKER, Session, lines};
use crate::deadline::Deadline;

const EDITORS: [&str; 8] = [
    "Write",
    "Edit",
    "StrReplace",
    "MultiEdit",
    "Delete",
    "edit_file",
    "search_replace",
    "write",
];
const PATHS: [&str; 4] = ["path", "file_path", "target_file", "filePath"];

/// Adds what a transcript tells. `None` if it can't be read to its end.
pub fn read(path: &Path, deadline: Deadline, session: &mut Session) -> Option<()> {
    lines::each(path, deadline, |line| {
        let Ok(row) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let content = row.pointer("/message/content");
        if row.get("role").and_then(Value::as_str) == Some("user") {
            let said = content.map(Value::to_string).unwrap_or_default();
            if said.contains(MARKER) {
                session.may_be_asked(MARKER, None);
            } else {
                session.prompted(None, None);
            }
            return;
        }
        for block in content.and_then(Value::as_array).into_iter().flatten() {
            if block.get("type").and_then(Value::as_str) == Some("tool_use") {
                call(block, session);
            }
        }
    })
}

fn call(block: &Value, session: &mut Session) {
    let Some(name) = block.get("name").and_then(Value::as_str) else {
        return;
    };
    let input = |field: &str| block.get("input")?.get(field)?.as_str();
    if EDITORS.contains(&name) {
        if let Some(file) = PATHS.iter().find_map(|field| input(field)) {
            session.edited(file, None);
        }
        return;
    }
    // Tools of servers are called through one tool, which names both.
    let tool = match input("toolName").or_else(|| input("tool_name")) {
        Some("remember") => Some(Tool {
            name: "remember".to_owned(),
            server: input("server").unwrap_or_default().to_owned(),
        }),
        _ => Tool::parse(name),
    };
    if let Some(tool) = tool {
        session.saved(tool, None);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_order_tells_what_came_after_the_save() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(
            file.path(),
            r#"{"role":"user","message":{"content":[{"type":"text","text":"go"}]}}
{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"path":"/w/a"}}]}}
{"role":"assistant","message":{"content":[{"type":"tool_use","name":"CallMcpTool","input":{"server":"user-mmw","toolName":"remember","arguments":{}}}]}}
{"role":"assistant","message":{"content":[{"type":"tool_use","name":"StrReplace","input":{"path":"/w/b"}}]}}
"#,
        )
        .unwrap();
        let mut told = Session::default();
        let far = Deadline::after(Duration::from_secs(600));
        read(file.path(), far, &mut told).unwrap();
        let (tool, saved) = told.saved.iter().next().unwrap();
        assert!(tool.names_mmw());
        assert!(told.edited[Path::new("/w/a")].order < saved.order);
        assert!(told.edited[Path::new("/w/b")].order > saved.order);
        assert_eq!(told.n_prompts, 1);
    }
}

//! Transcripts of Claude Code: a message a line, with rows of other kinds between them.
//!
//! A tool counts when its result came and is no error; the time is that of the result. Some versions
//! write a moment late, so a `remember` of the present turn whose result is not there yet is given
//! the benefit of the doubt.

use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem;
use mmw_core::time::Timestamp;
use serde_json::Value;

use super::calls::Calls;
use super::tool::Tool;
use super::words::Words;
use super::{MARKER, Session, lines, row_moment};
use crate::deadline::Deadline;

/// The tools that change a file, and where they name it.
const EDITORS: [(&str, &str); 4] = [
    ("Edit", "file_path"),
    ("Write", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
];

/// The words of which a line must hold one to be looked at.
const WORDS: [&str; 10] = [
    "\"user\"",
    "\"assistant\"",
    "tool_use_id",
    "__remember",
    "\"Edit\"",
    "\"Write\"",
    "\"MultiEdit\"",
    "\"NotebookEdit\"",
    MARKER,
    "mcp_instructions_delta",
];
const USER: u16 = 1;
const ASSISTANT: u16 = 1 << 1;
const RESULT: u16 = 1 << 2;
const SAVING: u16 = 1 << 3;
const EDITING: u16 = 0b1111 << 4;
const ASKED: u16 = 1 << 8;
const TOLD: u16 = 1 << 9;

static FINDER: LazyLock<Words> = LazyLock::new(|| Words::new(&WORDS));

/// Adds what a transcript tells. `None` if it can't be read to its end.
pub fn read(path: &Path, deadline: Deadline, session: &mut Session) -> Option<()> {
    let mut reader = Reader {
        session,
        calls: Calls::default(),
        last_message: Last::At(None),
        last_result: Vec::new(),
    };
    lines::each(path, deadline, |line| reader.line(line))?;
    reader.end();
    Some(())
}

/// A call of a tool whose result has not come yet.
enum Call {
    Save(Tool, Called),
    Edit(String),
}

/// When a tool was called.
#[derive(Clone, Copy)]
struct Called {
    at: Option<Timestamp>,
    n_prompts: usize,
}

struct Reader<'a> {
    session: &'a mut Session,
    calls: Calls<Call>,
    last_message: Last,
    /// The line of the last message, if that was a result. Only a prompt asks for its moment.
    last_result: Vec<u8>,
}

/// When the last message was written.
enum Last {
    At(Option<Timestamp>),
    /// As the line of the last result says.
    OfResult,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) {
        let words = FINDER.of(line);
        let has = |word: u16| words & word != 0;
        let is_result = has(RESULT) && self.calls.any(|id| holds(line, id));
        let is_call = has(ASSISTANT) && has(SAVING | EDITING);
        let may_be_prompt = has(USER) && !has(RESULT);
        let is_told = has(TOLD) || (has(SAVING) && !has(USER | ASSISTANT));
        if is_result || is_call || may_be_prompt || is_told || has(ASKED) {
            self.row(line);
        }
        if self.session.began.is_none()
            && let Some(at) = last_moment(line)
        {
            self.session.happened(at);
        }
        if has(RESULT) {
            // Its moment stands before what may be a whole file, so it is not looked for yet.
            self.last_message = Last::OfResult;
            self.last_result.clear();
            self.last_result.extend_from_slice(line);
        } else if has(USER | ASSISTANT)
            && let Some(at) = last_moment(line)
        {
            self.last_message = Last::At(Some(at));
        }
    }

    fn last_message(&self) -> Option<Timestamp> {
        match self.last_message {
            Last::At(at) => at,
            Last::OfResult => row_moment(&serde_json::from_slice(&self.last_result).ok()?),
        }
    }

    fn end(&mut self) {
        for call in self.calls.drain() {
            if let Call::Save(tool, called) = call
                && called.n_prompts == self.session.n_prompts
            {
                self.session.saved(tool, called.at);
            }
        }
    }

    fn row(&mut self, line: &[u8]) {
        let Ok(row) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        self.session.in_folder(row.get("cwd"));
        match row.get("type").and_then(Value::as_str) {
            Some("assistant") => self.assistant(&row),
            Some("user") => self.user(&row),
            Some("system") => {
                if let Some(errors) = row.get("hookErrors") {
                    self.session
                        .may_be_asked(&errors.to_string(), row_moment(&row));
                }
            }
            Some("attachment") => self.attachment(&row),
            _ => {}
        }
    }

    fn assistant(&mut self, row: &Value) {
        for block in blocks(row) {
            if kind(block) != "tool_use" {
                continue;
            }
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            let (Some(id), Some(name)) = (text(block.get("id")), text(block.get("name"))) else {
                continue;
            };
            let editor = EDITORS.iter().find(|(editor, _)| *editor == name);
            if let Some((_, field)) = editor {
                if let Some(file) = text(block.pointer(&format!("/input/{field}"))) {
                    self.calls.begin(id, Call::Edit(file));
                }
            } else if name.starts_with("mcp__")
                && let Some(tool) = Tool::parse(&name)
            {
                let called = Called {
                    at: row_moment(row),
                    n_prompts: self.session.n_prompts,
                };
                self.calls.begin(id, Call::Save(tool, called));
            }
        }
    }

    fn user(&mut self, row: &Value) {
        let at = row_moment(row);
        let mut is_result = false;
        for block in blocks(row) {
            if kind(block) != "tool_result" {
                continue;
            }
            is_result = true;
            let id = block.get("tool_use_id").and_then(Value::as_str);
            let Some(call) = id.and_then(|id| self.calls.end(id)) else {
                continue;
            };
            if block.get("is_error").is_some_and(|error| *error == true) {
                continue;
            }
            match call {
                Call::Save(tool, _) => self.session.saved(tool, at),
                Call::Edit(file) => self.session.edited(&file, at),
            }
        }
        if is_result {
            return;
        }
        let set = |name: &str| row.get(name).is_some_and(|flag| *flag == true);
        let said = said(row);
        if set("isMeta") {
            self.session.may_be_asked(&said, at);
        } else if !set("isCompactSummary")
            && !set("isSidechain")
            && !said.trim_start().starts_with("<task-notification")
        {
            let before = self.last_message();
            self.session.prompted(before, at);
        }
    }

    fn attachment(&mut self, row: &Value) {
        let Some(attachment) = row.get("attachment") else {
            return;
        };
        match kind(attachment) {
            "hook_blocking_error" | "hook_additional_context" => {
                self.session
                    .may_be_asked(&attachment.to_string(), row_moment(row));
            }
            "mcp_instructions_delta" => {
                let texts = |name: &'static str| list(attachment, name);
                for (name, block) in texts("addedNames").zip(texts("addedBlocks")) {
                    // Our own instructions, whatever the server is called.
                    if block.contains("`remember`") && block.contains("fact_key") {
                        self.session.offered.insert(Tool::of_server(name));
                    }
                }
                for name in texts("removedNames") {
                    self.session.offered.remove(&Tool::of_server(name));
                }
            }
            "deferred_tools_delta" => {
                for tool in list(attachment, "addedNames").filter_map(Tool::parse) {
                    if tool.names_mmw() {
                        self.session.offered.insert(tool);
                    }
                }
                for tool in list(attachment, "removedNames").filter_map(Tool::parse) {
                    self.session.offered.remove(&tool);
                }
            }
            _ => {}
        }
    }
}

fn holds(line: &[u8], text: &str) -> bool {
    memmem::find(line, text.as_bytes()).is_some()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn kind(value: &Value) -> &str {
    value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn blocks(row: &Value) -> impl Iterator<Item = &Value> {
    row.pointer("/message/content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Returns what a user's row says.
fn said(row: &Value) -> String {
    match row.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        _ => blocks(row)
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// Returns the last moment that a row names, without parsing it: the row's own stands near its end,
/// and inside a text its quotes would be escaped.
fn last_moment(line: &[u8]) -> Option<Timestamp> {
    const NAME: &[u8] = b"\"timestamp\":";
    let after = &line[memmem::rfind(line, NAME)? + NAME.len()..];
    let text = after.trim_ascii_start().strip_prefix(b"\"")?;
    let text = &text[..memchr::memchr(b'"', &text[..text.len().min(40)])?];
    Timestamp::parse(std::str::from_utf8(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    /// Reads rows, which are given without their times: each is a second later than the last.
    fn session(rows: &[&str]) -> Session {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (n, row) in rows.iter().enumerate() {
            let row = row.strip_suffix('}').unwrap();
            writeln!(
                file,
                "{row},\"timestamp\":\"2026-11-30T10:00:{n:02}.500Z\"}}"
            )
            .unwrap();
        }
        let mut session = Session::default();
        let far = Deadline::after(Duration::from_secs(600));
        read(file.path(), far, &mut session).unwrap();
        session
    }

    fn second(n: i64) -> Option<Timestamp> {
        Some(
            Timestamp::parse("2026-11-30T10:00:00.500Z")
                .unwrap()
                .plus_ms(n * 1000),
        )
    }

    fn call(id: &str, name: &str, input: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    }

    fn result(id: &str, further: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"{further}}}]}}}}"#
        )
    }

    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"go"},"cwd":"/w"}"#;

    #[test]
    fn only_what_was_answered_without_an_error_was_saved() {
        let remember = call("t1", "mcp__mmw__remember", "{}");
        for (answer, saved) in [
            (result("t1", ""), second(2)),
            (result("t1", r#","is_error":false"#), second(2)),
            (result("t1", r#","is_error":true"#), None),
            // Its own result may be written in a moment.
            (result("t2", ""), second(1)),
        ] {
            let told = session(&[PROMPT, &remember, &answer]);
            let found = told.saved.values().next().and_then(|when| when.at);
            assert_eq!(found, saved, "{answer}");
        }
        // In the next turn it is too late for that.
        assert!(session(&[PROMPT, &remember, PROMPT]).saved.is_empty());
    }

    #[test]
    fn edits_are_known_by_their_files() {
        for (tool, field) in EDITORS {
            let input = format!(r#"{{"{field}":"/w/a b.rs"}}"#);
            let told = session(&[PROMPT, &call("t1", tool, &input), &result("t1", "")]);
            let when = told.edited[&PathBuf::from("/w/a b.rs")];
            assert_eq!(when.at, second(2), "{tool}");
        }
        let read = call("t1", "Read", r#"{"file_path":"/w/a"}"#);
        assert!(
            session(&[PROMPT, &read, &result("t1", "")])
                .edited
                .is_empty()
        );
    }

    #[test]
    fn a_person_is_whoever_is_neither_a_tool_nor_a_hook() {
        let meta = r#"{"type":"user","message":{"role":"user","content":"Stop hook feedback:\n[mmw-hook-stop] x"},"isMeta":true}"#;
        let told = session(&[PROMPT, meta]);
        assert!(told.asked);
        assert_eq!((told.n_prompts, told.began), (1, second(0)));
        assert_eq!(told.folder, Some(PathBuf::from("/w")));
        let told = session(&[PROMPT, meta, PROMPT]);
        assert!(!told.asked);
        assert_eq!(told.n_prompts, 2);
        for none in [
            r#"{"type":"user","message":{"role":"user","content":"a summary"},"isCompactSummary":true}"#,
            r#"{"type":"user","message":{"role":"user","content":"a task"},"isSidechain":true}"#,
            r#"{"type":"user","message":{"role":"user","content":"<task-notification>done"}}"#,
        ] {
            let told = session(&[PROMPT, meta, none]);
            assert!(told.asked && told.n_prompts == 1, "{none}");
        }
    }

    #[test]
    fn a_model_that_quotes_the_request_was_not_asked() {
        let quote = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"[mmw-hook-stop]"}]}}"#;
        assert!(!session(&[PROMPT, quote]).asked);
        let prompt =
            r#"{"type":"user","message":{"role":"user","content":"what is [mmw-hook-stop]?"}}"#;
        assert!(!session(&[prompt]).asked);
    }

    #[test]
    fn a_request_is_found_wherever_the_client_notes_it() {
        for row in [
            r#"{"type":"system","subtype":"stop_hook_summary","hookErrors":["[mmw-hook-stop] x"]}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_blocking_error","blockingError":{"blockingError":"[mmw-hook-stop] x"}}}"#,
        ] {
            assert!(session(&[PROMPT, row]).asked, "{row}");
        }
    }

    #[test]
    fn a_server_is_known_by_what_it_told_the_agent() {
        let told = |name: &str, block: &str| {
            session(&[&format!(
                r#"{{"type":"attachment","attachment":{{"type":"mcp_instructions_delta","addedNames":["{name}"],"addedBlocks":["{block}"]}}}}"#
            )])
            .offered
            .into_iter()
            .map(|tool| tool.name)
            .collect::<Vec<_>>()
        };
        assert_eq!(
            told("notes", "## notes\\n`remember` with a fact_key"),
            ["mcp__notes__remember"]
        );
        assert!(told("notes", "## notes\\n`remember` all").is_empty());
        let deferred = r#"{"type":"attachment","attachment":{"type":"deferred_tools_delta","addedNames":["mcp__mmw__remember","mcp__other__remember"]}}"#;
        let gone = r#"{"type":"attachment","attachment":{"type":"deferred_tools_delta","removedNames":["mcp__mmw__remember"]}}"#;
        assert_eq!(session(&[deferred]).offered.len(), 1);
        assert!(session(&[deferred, gone]).offered.is_empty());
    }
}

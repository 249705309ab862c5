//! JSON lists of memories: of mem0, and of mcp-memory-service's export.
//!
//! Both are lists of objects, in an object of their own or bare. mem0 distils what it keeps from
//! conversations, so all of it is captured; mcp-memory-service keeps what it was told to, but marks what its
//! hooks and its consolidation made.

use serde_json::Value;

use super::foreign::{Statement, moment};

/// Whose list it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// mem0: each has a text `memory`.
    Mem0,
    /// mcp-memory-service: each has a text `content` and a `content_hash`.
    MemoryService,
}

/// The columns of mcp-memory-service's table `memories` that are read.
pub(crate) const COLUMNS: [&str; 9] = [
    "content_hash",
    "content",
    "tags",
    "memory_type",
    "metadata",
    "created_at",
    "created_at_iso",
    "deleted_at",
    "superseded_by",
];

/// Returns the list in a file, wherever it stands in it.
fn list(root: &Value) -> Option<&Vec<Value>> {
    root.as_array()
        .or_else(|| root["results"].as_array())
        .or_else(|| root["memories"].as_array())
}

/// Tells whose list a file holds.
pub(crate) fn whose(root: &Value) -> Option<Whose> {
    let first = list(root)?.first()?;
    if first["memory"].is_string() {
        Some(Whose::Mem0)
    } else if first["content"].is_string() && first["content_hash"].is_string() {
        Some(Whose::MemoryService)
    } else {
        None
    }
}

/// Returns the statements of a list, an export's or the rows of a table; one that is broken is `Err` with its
/// number, one that was deleted or superseded there is left out.
pub(crate) fn statements(whose: Whose, root: &Value) -> Vec<Result<Statement, u64>> {
    let entries = list(root).map(Vec::as_slice).unwrap_or_default();
    entries
        .iter()
        .zip(1..)
        .filter(|(entry, _)| entry["deleted_at"].is_null() && !is_superseded(entry))
        .map(|(entry, number)| {
            match whose {
                Whose::Mem0 => of_mem0(number, entry),
                Whose::MemoryService => of_service(number, entry),
            }
            .ok_or(number)
        })
        .collect()
}

/// Tells whether another entry took this one's place; older versions of the service say so beside the text.
fn is_superseded(entry: &Value) -> bool {
    let names_one = |value: &Value| value.as_str().is_some_and(|name| !name.is_empty());
    names_one(&entry["superseded_by"]) || names_one(&metadata(entry)["superseded_by"])
}

/// Returns what stands beside a text: an object, or one that is kept as text.
fn metadata(entry: &Value) -> Value {
    match &entry["metadata"] {
        Value::String(json) => serde_json::from_str(json).unwrap_or(Value::Null),
        other => other.clone(),
    }
}

fn of_mem0(line: u64, entry: &Value) -> Option<Statement> {
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    Some(Statement {
        line,
        name: text("id")?,
        content: text("memory")?,
        tags: texts(&entry["categories"]),
        session: text("run_id"),
        agent: text("agent_id"),
        said_at: moment(&entry["created_at"]),
        is_captured: true,
        ..Statement::default()
    })
}

fn of_service(line: u64, entry: &Value) -> Option<Statement> {
    let text = |name: &str| entry[name].as_str();
    let metadata = metadata(entry);
    let tags = match &entry["tags"] {
        Value::String(list) => list.split(',').map(str::to_owned).collect(),
        other => texts(other),
    };
    let session = tags
        .iter()
        .find_map(|tag: &String| tag.trim().strip_prefix("session:"));
    let session = session.map(str::to_owned);
    let memory_type = text("memory_type").unwrap_or_default();
    let said_at = moment(&entry["created_at"]).or_else(|| moment(&entry["created_at_iso"]));
    let is_captured = memory_type == WHOLE_SESSION
        || is_automatic(memory_type)
        || tags.iter().any(|tag| is_automatic(tag))
        || metadata["source"].as_str().is_some_and(is_automatic)
        || MADE_BY_IT.iter().any(|key| !metadata[*key].is_null());
    Some(Statement {
        line,
        name: text("content_hash")?.to_owned(),
        content: text("content")?.to_owned(),
        kind: kind_of(memory_type),
        tags,
        session: session.or_else(|| metadata["session_id"].as_str().map(str::to_owned)),
        said_at,
        is_captured,
        ..Statement::default()
    })
}

/// The type of a conversation that was kept whole.
const WHOLE_SESSION: &str = "session";

/// What only the service's own machinery notes beside a text.
const MADE_BY_IT: [&str; 3] = ["generated_by", "compression_date", "discovery_method"];

/// Tells whether a label says that nobody wrote what it labels.
fn is_automatic(label: &str) -> bool {
    let label = label.trim().to_lowercase().replace('_', "-");
    const MARKS: [&str; 12] = [
        "session-harvest",
        "compressed",
        "insight-card",
        "insight-ack",
        "auto",
        "automatic",
        "claude-code-session",
        "session-consolidation",
        "session-summary",
        "consolidated",
        "association",
        "harvested",
    ];
    MARKS.contains(&label.as_str())
        || ["auto-", "hook", "compressed-", "harvest:"]
            .iter()
            .any(|mark| label.starts_with(mark))
}

fn kind_of(memory_type: &str) -> Option<&'static str> {
    match memory_type.trim().to_lowercase().as_str() {
        "decision" => Some("decision"),
        "preference" => Some("preference"),
        "pattern" => Some("pattern"),
        "summary" => Some("summary"),
        "context" => Some("context"),
        _ => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_mem0_keeps_is_captured_and_keeps_its_moment() {
        let root = json!({ "results": [
            { "id": "3c90", "memory": "Prefers tabs", "user_id": "ada", "run_id": "s-1",
              "categories": ["style"], "created_at": "2025-11-07T05:31:56.123-08:00" },
            { "id": "3c91" },
        ]});
        assert_eq!(whose(&root), Some(Whose::Mem0));
        let found = statements(Whose::Mem0, &root);
        assert_eq!(found[1], Err(2));
        let first = found[0].clone().unwrap();
        assert_eq!(
            (first.content.as_str(), first.name.as_str()),
            ("Prefers tabs", "3c90")
        );
        assert_eq!(first.session.as_deref(), Some("s-1"));
        assert_eq!(
            first.said_at.unwrap().to_string(),
            "2025-11-07T13:31:56.123Z"
        );
        assert!(first.is_captured);
    }

    #[test]
    fn the_memory_service_tells_what_its_machinery_made() {
        let entry = |tags: Value, metadata: Value| {
            json!({ "content": "x", "content_hash": "ab12", "tags": tags, "memory_type": "decision",
                    "metadata": metadata, "created_at": 1_773_480_600.5 })
        };
        for (tags, metadata, is_captured) in [
            (json!(["port"]), json!({}), false),
            (json!("port,claude-code-session"), json!(null), true),
            (json!(["auto-generated"]), json!({}), true),
            (json!("session-harvest,harvest:decision"), json!({}), true),
            (json!(["auto-captured", "smart-ingest"]), json!({}), true),
            (json!("port,compressed"), json!({}), true),
            (
                json!(["port"]),
                json!({"compression_date": "2026-03-14"}),
                true,
            ),
            (json!("harvest"), json!({}), false),
            (json!([]), json!("{\"source\":\"hook\"}"), true),
            (json!([]), json!("no JSON"), false),
        ] {
            let root =
                json!({ "export_metadata": {}, "memories": [entry(tags.clone(), metadata)] });
            assert_eq!(whose(&root), Some(Whose::MemoryService));
            let found = statements(Whose::MemoryService, &root).remove(0).unwrap();
            assert_eq!(found.is_captured, is_captured, "{tags}");
            assert_eq!(found.kind, Some("decision"));
            assert_eq!(found.said_at.unwrap().to_string(), "2026-03-14T09:30:00.5Z");
        }
    }

    #[test]
    fn what_the_memory_service_superseded_is_left_out_and_a_session_is_captured() {
        let root = json!([
            { "content": "old", "content_hash": "1", "superseded_by": "2" },
            { "content": "old", "content_hash": "2", "metadata": "{\"superseded_by\":\"3\"}" },
            { "content": "[user] hello", "content_hash": "3", "memory_type": "session",
              "tags": "session:s-9,x", "superseded_by": "" },
        ]);
        let found = statements(Whose::MemoryService, &root);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = found[0].clone().unwrap();
        assert!(one.is_captured);
        assert_eq!(one.session.as_deref(), Some("s-9"));
    }

    #[test]
    fn other_json_is_nobodys_list() {
        for root in [
            json!({}),
            json!([]),
            json!([1]),
            json!({"results": [{"text": "x"}]}),
            json!("x"),
        ] {
            assert_eq!(whose(&root), None, "{root}");
            assert!(statements(Whose::Mem0, &root).iter().all(Result::is_err));
        }
    }
}

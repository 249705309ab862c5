//! An export as Markdown, for people: by workspace and topic, newest first, with status and source.
//!
//! It is for reading. What is in it can't be taken in again without loss; the lines of an export can.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mmw_core::wire::transfer::{ExportLine, ExportedRecord};

use crate::show::clean::clean;

/// Returns the pages of an export.
pub(crate) fn text(lines: &[ExportLine]) -> String {
    let mut places: BTreeMap<&str, BTreeMap<Option<&str>, Vec<&ExportedRecord>>> = BTreeMap::new();
    for line in lines {
        if let ExportLine::Record(record) = line {
            let statement = &record.statement;
            let workspace = statement.workspace.as_deref().unwrap_or("default");
            let topics = places.entry(workspace).or_default();
            let topic = topics.entry(statement.fact_key.as_deref()).or_default();
            topic.push(record);
        }
    }
    let mut text = "# Memory\n".to_owned();
    if places.is_empty() {
        text.push_str("\nNothing is remembered.\n");
    }
    for (workspace, topics) in places {
        let _ = write!(text, "\n## {}\n", plain(workspace));
        // What has a topic first; the rest has no heading to stand under but this.
        let (without, with): (Vec<_>, Vec<_>) =
            topics.into_iter().partition(|(topic, _)| topic.is_none());
        for (topic, mut records) in with.into_iter().chain(without) {
            let _ = match topic {
                Some(topic) => write!(text, "\n### {}\n\n", plain(topic)),
                None => write!(text, "\n### Without a topic\n\n"),
            };
            records.reverse();
            for record in records {
                add(&mut text, record);
            }
        }
    }
    text
}

fn add(text: &mut String, record: &ExportedRecord) {
    let content = clean(&record.statement.content);
    let mut lines = content.lines();
    let _ = writeln!(text, "- {}", lines.next().unwrap_or_default());
    for line in lines {
        // Inside the list entry, or a heading in it would be one of the page.
        let _ = writeln!(text, "  {line}").map(|()| ());
    }
    let status = record.status.as_deref().unwrap_or("unverified");
    let _ = write!(text, "  - {status}, {}", record.created_at);
    if let Some(by) = record.superseded_by {
        let _ = write!(text, ", superseded by {by}");
    }
    text.push('\n');
    if let Some(source) = &record.statement.source_id {
        let _ = write!(text, "  - source: {}", plain(source));
        if let Some(revision) = &record.statement.source_revision {
            let _ = write!(text, " at {}", plain(revision));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "  - id: {}", record.id);
}

/// Returns a name on one line.
fn plain(name: &str) -> String {
    clean(name).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(n: u8, workspace: &str, topic: Option<&str>, content: &str) -> ExportLine {
        let line = json!({ "record": {
            "id": format!("0192f0c1-8a6b-7c3d-9e4f-0000000000{n:02}"),
            "content": content, "workspace": workspace, "fact_key": topic,
            "source_id": "docs/a.md#One",
            "author": "0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
            "created_at": "2026-03-14T09:30:00Z", "received_at": "2026-03-14T09:30:00Z",
            "status": "conflict",
        }});
        serde_json::from_value(line).unwrap()
    }

    #[test]
    fn statements_stand_under_their_workspace_and_topic_newest_first() {
        let lines = [
            record(1, "default", None, "no topic"),
            record(2, "default", Some("port"), "8080"),
            record(3, "default", Some("port"), "8081\n# not a heading\u{1b}[2J"),
            record(4, "backend", Some("unit"), "app"),
        ];
        let text = text(&lines);
        let order = [
            "## backend",
            "### unit",
            "## default",
            "### port",
            "- 8081",
            "- 8080",
            "### Without",
            "- no topic",
        ];
        let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(
            text.contains("  # not a heading") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(text.contains("  - conflict, 2026-03-14T09:30:00Z\n  - source: docs/a.md#One\n"));
    }

    #[test]
    fn an_empty_memory_says_so() {
        assert!(text(&[]).contains("Nothing is remembered."));
    }
}

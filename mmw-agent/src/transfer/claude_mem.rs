//! The database of claude-mem: what it observed in sessions, its summaries of them, and the rules that a person
//! gave it.
//!
//! All but those rules is captured. Its columns changed their names over time; both are read. One database is
//! of all projects: which one a row is of is among its tags.

use serde_json::Value;

use super::database::Database;
use super::foreign::{Statement, moment};

const OBSERVED: [&str; 12] = [
    "id",
    "project",
    "memory_session_id",
    "sdk_session_id",
    "text",
    "type",
    "title",
    "facts",
    "narrative",
    "concepts",
    "created_at_epoch",
    "created_at",
];

/// Rules of a person's own, in newer versions.
const DIRECTED: [&str; 7] = [
    "id",
    "project",
    "content",
    "status",
    "source",
    "created_at_epoch",
    "created_at",
];

const SUMMED_UP: [&str; 10] = [
    "id",
    "project",
    "memory_session_id",
    "sdk_session_id",
    "request",
    "learned",
    "completed",
    "notes",
    "created_at_epoch",
    "created_at",
];

/// Tells whether a database is one of claude-mem.
pub(crate) fn is_one(database: &Database) -> bool {
    database.has("observations", &["id", "title", "narrative"])
}

/// Returns its statements; a row that says nothing is `Err` with its number.
///
/// # Errors
/// If the database is damaged.
pub(crate) fn statements(database: &Database) -> rusqlite::Result<Vec<Result<Statement, u64>>> {
    let observed = database.rows("observations", &OBSERVED)?;
    let summed_up = database.rows("session_summaries", &SUMMED_UP)?;
    let directed = database.rows("directives", &DIRECTED)?;
    let observed = observed.iter().map(observation);
    let summed_up = summed_up.iter().map(summary);
    let in_force = directed
        .iter()
        .filter(|row| text(row, "status").is_none_or(|status| status == "active"));
    Ok(observed
        .chain(summed_up)
        .chain(in_force.map(directive))
        .zip(1..)
        .map(|(statement, line)| {
            statement
                .map(|statement| Statement { line, ..statement })
                .ok_or(line)
        })
        .collect())
}

fn text<'r>(row: &'r Value, column: &str) -> Option<&'r str> {
    row[column]
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

fn about(row: &Value, kind: &str) -> Option<Statement> {
    let session = text(row, "memory_session_id").or_else(|| text(row, "sdk_session_id"));
    Some(Statement {
        name: format!("{kind}:{}", row["id"].as_i64()?),
        session: session.map(str::to_owned),
        said_at: moment(&row["created_at_epoch"]).or_else(|| moment(&row["created_at"])),
        tags: text(row, "project")
            .map(str::to_owned)
            .into_iter()
            .collect(),
        is_captured: true,
        ..Statement::default()
    })
}

/// A rule; one that a person typed is no machine's.
fn directive(row: &Value) -> Option<Statement> {
    Some(Statement {
        content: text(row, "content")?.to_owned(),
        kind: Some("preference"),
        is_captured: text(row, "source") != Some("manual"),
        ..about(row, "directive")?
    })
}

fn observation(row: &Value) -> Option<Statement> {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(text(row, "title").map(str::to_owned));
    let facts: Vec<String> = list(&row["facts"]);
    // The facts are the narrative in sentences; one of the two is enough.
    if facts.is_empty() {
        let told = text(row, "narrative").or_else(|| text(row, "text"));
        parts.extend(told.map(str::to_owned));
    } else {
        parts.extend(facts.iter().map(|fact| format!("- {}", fact.trim())));
    }
    if parts.is_empty() {
        return None;
    }
    let sort = text(row, "type");
    let mut tags: Vec<String> = sort.map(str::to_owned).into_iter().collect();
    tags.extend(list(&row["concepts"]));
    let about = about(row, "observation")?;
    tags.extend(about.tags.iter().cloned());
    Some(Statement {
        content: parts.join("\n"),
        kind: (sort == Some("decision")).then_some("decision"),
        tags,
        ..about
    })
}

fn summary(row: &Value) -> Option<Statement> {
    let parts: Vec<String> = [
        ("request", "Asked"),
        ("learned", "Learned"),
        ("completed", "Done"),
        ("notes", "Notes"),
    ]
    .into_iter()
    .filter_map(|(column, label)| Some(format!("{label}: {}", text(row, column)?)))
    .collect();
    if parts.is_empty() {
        return None;
    }
    Some(Statement {
        content: parts.join("\n"),
        kind: Some("summary"),
        ..about(row, "summary")?
    })
}

/// Reads a list of texts that is kept as JSON.
fn list(value: &Value) -> Vec<String> {
    let json = value.as_str().unwrap_or_default();
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::database::testing::made;

    const SAMPLE: &str = r#"
        CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,
            type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
            created_at TEXT, created_at_epoch INTEGER);
        INSERT INTO observations VALUES
            (7, 's-1', 'p', NULL, 'decision', 'Port moved', NULL, '["Staging listens on 8081", "8080 is taken"]',
             'long', '["gotcha"]', '2026-03-14T09:30:00.000Z', 1773480600000),
            (8, 's-1', 'p', 'old text', 'change', NULL, NULL, 'no JSON', NULL, NULL, '2026-03-14T09:30:00Z', NULL),
            (9, 's-1', 'p', NULL, 'change', NULL, NULL, NULL, ' ', NULL, NULL, NULL);
        CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, sdk_session_id TEXT, request TEXT,
            investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at_epoch INTEGER);
        INSERT INTO session_summaries VALUES (1, 's-1', 'move the port', 'x', 'it was taken', NULL, 'y', '', 1773480600);
    "#;

    #[test]
    fn a_rule_that_a_person_typed_is_no_machines() {
        let folder = tempfile::tempdir().unwrap();
        let sample = format!(
            "{SAMPLE}
            CREATE TABLE directives (id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, project TEXT,
                content TEXT NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, created_at TEXT NOT NULL,
                created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL);
            INSERT INTO directives VALUES
                (1, 'global', NULL, 'tabs, never spaces', 'active', 'manual', '2026-03-14T09:30:00Z', 1773480600000, 1),
                (2, 'project', 'p', 'use pnpm', 'active', 'learned', '2026-03-14T09:30:00Z', 1773480600000, 1),
                (3, 'global', NULL, 'old', 'archived', 'manual', '2026-03-14T09:30:00Z', 1773480600000, 1);"
        );
        let database = Database::open(&made(folder.path(), &sample)).unwrap();
        let found = statements(&database).unwrap();
        let rules: Vec<_> = found
            .iter()
            .flatten()
            .filter(|one| one.name.starts_with("directive:"))
            .map(|one| (one.content.as_str(), one.is_captured, one.tags.len()))
            .collect();
        assert_eq!(
            rules,
            [("tabs, never spaces", false, 0), ("use pnpm", true, 1)]
        );
    }

    #[test]
    fn observations_and_summaries_are_captured_statements() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&made(folder.path(), SAMPLE)).unwrap();
        assert!(is_one(&database));
        let found = statements(&database).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|one| {
                one.as_ref()
                    .map(|one| (one.name.as_str(), one.content.as_str()))
            })
            .collect();
        assert_eq!(
            told,
            [
                Ok((
                    "observation:7",
                    "Port moved\n- Staging listens on 8081\n- 8080 is taken"
                )),
                Ok(("observation:8", "old text")),
                Err(&3),
                Ok(("summary:1", "Asked: move the port\nLearned: it was taken")),
            ]
        );
        let first = found[0].as_ref().unwrap();
        assert_eq!(
            (first.kind, first.line, first.is_captured),
            (Some("decision"), 1, true)
        );
        assert_eq!(first.tags, ["decision", "gotcha", "p"]);
        for one in found.iter().flatten() {
            assert_eq!(one.said_at.unwrap().to_string(), "2026-03-14T09:30:00Z");
            assert_eq!(one.session.as_deref(), Some("s-1"));
        }
    }
}

//! Records, their versions, links, sources and resolutions.

mod forget;
mod read;
mod write;

use std::collections::BTreeMap;

use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::place::{Place, WorkspaceName};
use mmw_core::record::{Confidence, Kind, Record, Said, Visibility};
use mmw_core::source::{Origin, SourceId, Span};
use rusqlite::Row as Columns;

use super::SqliteTxn;
use super::columns as col;
use crate::engine::{EngineResult, Row, Stored};

/// The columns that [`stored`] reads, from `records` as `r`, `workspaces` as `w`, `projects` as `p`.
pub(super) const STORED: &str = "r.row, r.id, p.id, w.name, r.content, r.fact_key, r.kind, r.label,
    r.source_id, r.source_hash, r.source_hash_text, r.source_revision,
    r.span_kind, r.span_label, r.span_hash, r.confidence, r.scope, r.tags,
    r.valid_from, r.valid_until, r.visibility, r.author, r.created_at, r.received_at,
    r.agent, r.client, r.session, r.branch, r.replaced, r.approval,
    r.screened";

/// What a record is joined with to be read.
pub(super) const AROUND: &str = "JOIN workspaces w ON w.number = r.workspace
    JOIN projects p ON p.number = w.project";

/// Reads a record, but for what it was derived from.
pub(super) fn stored(row: &Columns<'_>) -> rusqlite::Result<Stored> {
    let span = match (
        row.get::<_, Option<String>>(12)?,
        row.get::<_, Option<String>>(13)?,
        col::optional_hash(row, 14)?,
    ) {
        (Some(kind), Some(label), Some(hash)) => Some(Span { kind, label, hash }),
        _ => None,
    };
    let source_id = row
        .get_ref(8)?
        .as_str_or_null()?
        .map(|text| SourceId::new(text).ok_or_else(|| col::unreadable(8, "a source id")))
        .transpose()?;
    Ok(Stored {
        row: row.get(0)?,
        record: Record {
            id: col::id(row, 1)?,
            place: Place {
                project: col::id(row, 2)?,
                workspace: col::workspace(row, 3)?,
            },
            content: row.get(4)?,
            fact_key: col::optional_fact_key(row, 5)?,
            kind: col::choice(row, 6, Kind::named)?,
            label: row.get(7)?,
            origin: Origin {
                id: source_id,
                hash: col::optional_hash(row, 9)?,
                text_hash: col::optional_hash(row, 10)?,
                revision: row.get(11)?,
                span,
            },
            confidence: Confidence::new(row.get(15)?)
                .ok_or_else(|| col::unreadable(15, "a confidence"))?,
            derived_from: Vec::new(),
            scope: row.get(16)?,
            tags: col::texts(row, 17)?,
            valid_from: col::optional_moment(row, 18)?,
            valid_until: col::optional_moment(row, 19)?,
            visibility: col::choice(row, 20, Visibility::named)?,
            said: Said {
                author: col::id(row, 21)?,
                created_at: col::moment(row, 22)?,
                received_at: col::moment(row, 23)?,
                agent: row.get(24)?,
                client: row.get(25)?,
                session: row.get(26)?,
                branch: row.get(27)?,
            },
        },
        replaced: col::replaced(row, 28)?,
        approval: col::optional_id(row, 29)?,
        screened: row.get::<_, i64>(30)?.cast_unsigned(),
    })
}

impl SqliteTxn<'_> {
    /// Adds what the records were derived from, forgotten ones too, in the order given.
    pub(super) fn with_sources(&self, mut found: Vec<Stored>) -> EngineResult<Vec<Stored>> {
        if found.is_empty() {
            return Ok(found);
        }
        let rows: Vec<Row> = found.iter().map(|stored| stored.row).collect();
        let sources = self.many(
            "SELECT l.from_row, l.nth, t.id FROM rarray(?1) wanted
             CROSS JOIN links l ON l.from_row = wanted.value AND l.kind = 'derived_from'
             CROSS JOIN records t ON t.row = l.to_row",
            [col::numbers(rows)],
            |row| {
                let source: (Row, i64) = (row.get(0)?, row.get(1)?);
                Ok((source, col::id::<RecordId>(row, 2)?))
            },
        )?;
        if sources.is_empty() {
            return Ok(found);
        }
        let sources: BTreeMap<(Row, i64), RecordId> = sources.into_iter().collect();
        for stored in &mut found {
            let own = sources.range((stored.row, i64::MIN)..=(stored.row, i64::MAX));
            stored.record.derived_from = own.map(|(_, id)| *id).collect();
        }
        Ok(found)
    }

    /// Returns the number of a project.
    pub(super) fn project_number(&self, project: ProjectId) -> EngineResult<Option<i64>> {
        self.one(
            "SELECT number FROM projects WHERE id = ?1",
            [project.as_bytes()],
            |row| row.get(0),
        )
    }

    /// Returns the numbers of these projects; unknown ones hold nothing.
    pub(super) fn project_numbers(&self, projects: &[ProjectId]) -> EngineResult<Vec<i64>> {
        let mut numbers = Vec::new();
        for project in projects {
            if let Some(number) = self.project_number(*project)?
                && !numbers.contains(&number)
            {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    fn workspace_number(&self, project: i64, name: &WorkspaceName) -> EngineResult<Option<i64>> {
        self.one(
            "SELECT number FROM workspaces WHERE project = ?1 AND name = ?2",
            (project, name.as_str()),
            |row| row.get(0),
        )
    }

    fn place_number(&self, place: &Place) -> EngineResult<Option<i64>> {
        self.one(
            "SELECT w.number FROM projects p JOIN workspaces w ON w.project = p.number
             WHERE p.id = ?1 AND w.name = ?2",
            (place.project.as_bytes(), place.workspace.as_str()),
            |row| row.get(0),
        )
    }

    /// Returns the row of a record, forgotten or not.
    pub(super) fn row_of(&self, id: RecordId) -> EngineResult<Option<Row>> {
        self.one(
            "SELECT row FROM records WHERE id = ?1",
            [id.as_bytes()],
            |row| row.get(0),
        )
    }
}

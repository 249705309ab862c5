//! Reads of records. Forgotten ones are in none of them but the tombstones.

use std::collections::BTreeMap;

use mmw_core::fact::{Resolution, Version, evidence_of};
use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::link::{Direction, Link, LinkKind};
use mmw_core::place::{Place, WorkspaceChoice, WorkspaceName};
use mmw_core::record::FactKey;
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;

use super::{AROUND, STORED, stored};
use crate::engine::{Answered, EngineResult, Records, Row, SourceMatch, Stored, Tombstone};
use crate::sqlite::SqliteTxn;
use crate::sqlite::columns as col;

/// A character that no text sorts behind.
const LAST_CHAR: char = char::MAX;

impl Records for SqliteTxn<'_> {
    fn record(&self, id: RecordId) -> EngineResult<Option<Stored>> {
        let found = self.one(
            &format!(
                "SELECT {STORED} FROM records r {AROUND}
                 WHERE r.id = ?1 AND r.forgotten_at IS NULL"
            ),
            [id.as_bytes()],
            stored,
        )?;
        Ok(self.with_sources(found.into_iter().collect())?.pop())
    }

    fn records(&self, ids: &[RecordId]) -> EngineResult<Vec<Stored>> {
        let found = self.many(
            &format!(
                "SELECT {STORED} FROM rarray(?1) wanted CROSS JOIN records r ON r.id = wanted.value
                 {AROUND} WHERE r.forgotten_at IS NULL"
            ),
            [col::record_ids(ids)],
            stored,
        )?;
        self.with_sources(found)
    }

    fn records_at(&self, rows: &[Row]) -> EngineResult<Vec<Stored>> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let found = self.many(
            &format!(
                "SELECT {STORED} FROM rarray(?1) wanted CROSS JOIN records r ON r.row = wanted.value
                 {AROUND} WHERE r.forgotten_at IS NULL"
            ),
            [col::numbers(rows)],
            stored,
        )?;
        self.with_sources(found)
    }

    fn orders_at(&self, rows: &[Row]) -> EngineResult<Vec<(Row, (Timestamp, RecordId))>> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        self.many(
            "SELECT r.row, r.created_at, r.id
             FROM rarray(?1) wanted CROSS JOIN records r ON r.row = wanted.value
             WHERE r.forgotten_at IS NULL",
            [col::numbers(rows)],
            |row| Ok((row.get(0)?, (col::moment(row, 1)?, col::id(row, 2)?))),
        )
    }

    fn newest_records(&self, place: &Place, limit: usize) -> EngineResult<Vec<Stored>> {
        let Some(workspace) = self.place_number(place)? else {
            return Ok(Vec::new());
        };
        let found = self.many(
            &format!(
                "SELECT {STORED} FROM record_terms alive CROSS JOIN records r ON r.row = alive.row
                 {AROUND} WHERE alive.row BETWEEN ?1 AND ?2 ORDER BY alive.row DESC LIMIT ?3"
            ),
            (
                col::first_row(workspace),
                col::last_row(workspace),
                col::limit(limit),
            ),
            stored,
        )?;
        self.with_sources(found)
    }

    fn tombstones(&self, ids: &[RecordId]) -> EngineResult<Vec<Tombstone>> {
        self.many(
            &format!(
                "SELECT r.id, p.id, w.name, r.forgotten_at, r.forgotten_by, r.purged
                 FROM rarray(?1) wanted CROSS JOIN records r ON r.id = wanted.value {AROUND}
                 WHERE r.forgotten_at IS NOT NULL"
            ),
            [col::record_ids(ids)],
            |row| {
                Ok(Tombstone {
                    id: col::id(row, 0)?,
                    place: Place {
                        project: col::id(row, 1)?,
                        workspace: col::workspace(row, 2)?,
                    },
                    at: col::moment(row, 3)?,
                    by: col::id(row, 4)?,
                    purged: row.get(5)?,
                })
            },
        )
    }

    fn versions(&self, place: &Place, fact_key: &FactKey) -> EngineResult<Vec<Version>> {
        let Some(workspace) = self.place_number(place)? else {
            return Ok(Vec::new());
        };
        self.many(
            "SELECT r.id, r.created_at, r.digest, r.valid_from, r.valid_until, r.source_id,
                    (SELECT group_concat(hex(t.id), ',' ORDER BY l.nth)
                     FROM links l JOIN records t ON t.row = l.to_row
                     WHERE l.from_row = r.row AND l.kind = 'derived_from')
             FROM records r
             WHERE r.workspace = ?1 AND r.fact_key = ?2 AND r.forgotten_at IS NULL",
            (workspace, fact_key.as_str()),
            |row| {
                Ok(Version {
                    id: col::id(row, 0)?,
                    created_at: col::moment(row, 1)?,
                    digest: col::id(row, 2)?,
                    valid_from: col::optional_moment(row, 3)?,
                    valid_until: col::optional_moment(row, 4)?,
                    evidence: evidence(row)?,
                })
            },
        )
    }

    fn resolutions(&self, place: &Place, fact_key: &FactKey) -> EngineResult<Vec<Resolution>> {
        let Some(workspace) = self.place_number(place)? else {
            return Ok(Vec::new());
        };
        let mut found = self.many(
            "SELECT id, winner, at, by, way, note FROM resolutions
             WHERE workspace = ?1 AND fact_key = ?2",
            (workspace, fact_key.as_str()),
            |row| {
                Ok(Resolution {
                    id: col::id(row, 0)?,
                    place: place.clone(),
                    fact_key: fact_key.clone(),
                    winner: col::id(row, 1)?,
                    closed: Vec::new(),
                    at: col::moment(row, 2)?,
                    by: col::id(row, 3)?,
                    way: col::choice(row, 4, col::review_way)?,
                    note: row.get(5)?,
                })
            },
        )?;
        for resolution in &mut found {
            resolution.closed = self.many(
                "SELECT record FROM resolution_claims WHERE resolution = ?1 ORDER BY nth",
                [resolution.id.as_bytes()],
                |row| col::id(row, 0),
            )?;
        }
        Ok(found)
    }

    fn same_statement(&self, place: &Place, digest: ContentDigest) -> EngineResult<Option<Stored>> {
        let Some(workspace) = self.place_number(place)? else {
            return Ok(None);
        };
        let found = self.one(
            &format!(
                "SELECT {STORED} FROM records r {AROUND}
                 WHERE r.workspace = ?1 AND r.digest = ?2
                     AND r.forgotten_at IS NULL AND r.fact_key IS NULL
                 ORDER BY r.row DESC LIMIT 1"
            ),
            (workspace, digest.as_bytes()),
            stored,
        )?;
        Ok(self.with_sources(found.into_iter().collect())?.pop())
    }

    fn of_source(&self, which: &SourceMatch<'_>) -> EngineResult<Vec<Stored>> {
        let mut found = BTreeMap::new();
        let span = which.source_id.is_span().then(|| which.source_id.as_str());
        for (project, choice) in which.places {
            let Some(number) = self.project_number(*project)? else {
                continue;
            };
            let (first, last) = match choice {
                WorkspaceChoice::All => (
                    col::first_row_of_project(number),
                    col::last_row_of_project(number),
                ),
                WorkspaceChoice::One(name) => match self.workspace_number(number, name)? {
                    Some(workspace) => (col::first_row(workspace), col::last_row(workspace)),
                    None => continue,
                },
            };
            let here = self.many(
                &format!(
                    "SELECT {STORED} FROM records r {AROUND}
                     WHERE r.source_document = ?1 AND r.row BETWEEN ?2 AND ?3
                         AND r.forgotten_at IS NULL
                         AND (?4 IS NULL OR r.source_id = ?4)
                     ORDER BY r.received_at DESC, r.row DESC LIMIT ?5"
                ),
                (
                    which.source_id.document(),
                    first,
                    last,
                    span,
                    col::limit(which.limit),
                ),
                stored,
            )?;
            found.extend(here.into_iter().map(|stored| (stored.row, stored)));
        }
        let mut found: Vec<Stored> = found.into_values().collect();
        found.sort_by_key(|stored| std::cmp::Reverse((stored.record.said.received_at, stored.row)));
        found.truncate(which.limit);
        self.with_sources(found)
    }

    fn sources_with_hash(
        &self,
        projects: &[ProjectId],
        hash: &ContentHash,
    ) -> EngineResult<Vec<SourceId>> {
        let hash = col::kept_hash(hash);
        let mut found: Vec<SourceId> = Vec::new();
        for number in self.project_numbers(projects)? {
            let here = self.many(
                "SELECT source_id FROM records WHERE source_hash = ?1
                     AND row BETWEEN ?2 AND ?3 AND forgotten_at IS NULL
                 UNION SELECT source_id FROM records WHERE source_hash_text = ?1
                     AND row BETWEEN ?2 AND ?3 AND forgotten_at IS NULL
                 UNION SELECT source_id FROM records WHERE span_hash = ?1
                     AND row BETWEEN ?2 AND ?3 AND forgotten_at IS NULL
                 UNION SELECT source_id FROM source_reports WHERE project = ?4 AND hash = ?1",
                (
                    &hash,
                    col::first_row_of_project(number),
                    col::last_row_of_project(number),
                    number,
                ),
                |row| Ok(row.get_ref(0)?.as_str_or_null()?.and_then(SourceId::new)),
            )?;
            found.extend(here.into_iter().flatten());
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn links(&self, ids: &[RecordId], direction: Direction) -> EngineResult<Vec<Link>> {
        let end = match direction {
            Direction::Out => "from_row",
            Direction::In => "to_row",
        };
        self.many(
            &format!(
                "SELECT f.id, t.id, l.kind, l.created_at
                 FROM rarray(?1) wanted
                 CROSS JOIN records own ON own.id = wanted.value
                 CROSS JOIN links l ON l.{end} = own.row
                 CROSS JOIN records f ON f.row = l.from_row
                 CROSS JOIN records t ON t.row = l.to_row
                 WHERE f.forgotten_at IS NULL
                     AND (t.forgotten_at IS NULL OR l.kind = 'derived_from')
                 ORDER BY l.from_row, l.kind, l.nth, l.to_row"
            ),
            [col::record_ids(ids)],
            |row| {
                Ok(Link {
                    from: col::id(row, 0)?,
                    to: col::id(row, 1)?,
                    kind: col::choice(row, 2, LinkKind::named)?,
                    created_at: col::moment(row, 3)?,
                })
            },
        )
    }

    fn workspaces(&self, project: ProjectId) -> EngineResult<Vec<(WorkspaceName, u64)>> {
        self.many(
            "SELECT w.name, w.n_records FROM projects p JOIN workspaces w ON w.project = p.number
             WHERE p.id = ?1 ORDER BY w.name",
            [project.as_bytes()],
            |row| Ok((col::workspace(row, 0)?, col::count(row, 1)?)),
        )
    }

    fn fact_keys(&self, place: &Place, prefix: &str, limit: usize) -> EngineResult<Vec<FactKey>> {
        let Some(workspace) = self.place_number(place)? else {
            return Ok(Vec::new());
        };
        let n_chars = mmw_core::record::MAX_FACT_KEY_CHARS;
        let end = format!("{prefix}{}", LAST_CHAR.to_string().repeat(n_chars));
        let found = self.many(
            "SELECT DISTINCT fact_key FROM records
             WHERE workspace = ?1 AND fact_key BETWEEN ?2 AND ?3 AND forgotten_at IS NULL
             ORDER BY fact_key LIMIT ?4",
            (workspace, prefix, end, col::limit(limit)),
            |row| col::optional_fact_key(row, 0),
        )?;
        Ok(found.into_iter().flatten().collect())
    }

    fn contested_facts(
        &self,
        project: ProjectId,
        limit: usize,
    ) -> EngineResult<Vec<(WorkspaceName, FactKey)>> {
        let Some(number) = self.project_number(project)? else {
            return Ok(Vec::new());
        };
        self.many(
            "SELECT w.name, contested.fact_key FROM (
                 SELECT workspace, fact_key FROM records
                 WHERE workspace BETWEEN ?1 AND ?2
                     AND fact_key IS NOT NULL AND forgotten_at IS NULL
                 GROUP BY workspace, fact_key HAVING min(digest) <> max(digest)
             ) contested JOIN workspaces w ON w.number = contested.workspace
             ORDER BY w.name, contested.fact_key LIMIT ?3",
            (
                col::workspaces_from(number),
                col::workspaces_from(number) | col::MAX_WORKSPACE,
                col::limit(limit),
            ),
            |row| {
                let fact_key = col::optional_fact_key(row, 1)?
                    .ok_or_else(|| col::unreadable(1, "a fact key"))?;
                Ok((col::workspace(row, 0)?, fact_key))
            },
        )
    }

    fn n_records(&self, project: ProjectId) -> EngineResult<u64> {
        let found = self.one(
            "SELECT n_records FROM projects WHERE id = ?1",
            [project.as_bytes()],
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }

    fn answered(&self, project: ProjectId, key: &str) -> EngineResult<Option<Answered>> {
        self.one(
            "SELECT i.request, i.answer, i.at FROM projects p
             JOIN idempotency i ON i.project = p.number WHERE p.id = ?1 AND i.key = ?2",
            (project.as_bytes(), key),
            |row| {
                Ok(Answered {
                    request: row.get(0)?,
                    answer: row.get(1)?,
                    at: col::moment(row, 2)?,
                })
            },
        )
    }
}

/// Returns the fingerprint of a version's evidence, from its source and its sources' ids in
/// hexadecimal digits.
fn evidence(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<ContentDigest>> {
    let source = row
        .get::<_, Option<String>>(5)?
        .and_then(|id| SourceId::new(&id));
    let derived_from: Option<String> = row.get(6)?;
    let derived_from: Vec<RecordId> = derived_from
        .iter()
        .flat_map(|ids| ids.split(','))
        .filter_map(|id| id.parse().ok())
        .collect();
    Ok(evidence_of(source.as_ref(), &derived_from))
}

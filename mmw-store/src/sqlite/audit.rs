//! The audit chain and the table of background jobs.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mmw_core::audit::{CHAIN_START, ChainHash, Deed, Entry, seal};
use mmw_core::ids::{JobId, KeyId, ProjectId, RecordId};
use mmw_core::place::Way;
use mmw_core::time::Timestamp;
use rusqlite::Row;
use serde_json::json;

use super::SqliteTxn;
use super::columns as col;
use crate::engine::{AuditRow, AuditTrail, AuditWrites, EngineResult};

const ROW: &str = "a.seq, a.at, a.account, a.project, a.principal, a.key, a.way, a.deed, a.ids,
    a.why, a.hash";

/// The most names of ways that are remembered beside the known ones.
const MAX_OTHER_WAYS: usize = 64;

fn audit_row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    let key = row
        .get_ref(5)?
        .as_str_or_null()?
        .map(|text| KeyId::new(text).ok_or_else(|| col::unreadable(5, "a key id")))
        .transpose()?;
    Ok(AuditRow {
        seq: col::count(row, 0)?,
        entry: Entry {
            at: col::moment(row, 1)?,
            account: col::id(row, 2)?,
            project: col::optional_id(row, 3)?,
            principal: col::id(row, 4)?,
            key,
            way: col::choice(row, 6, way)?,
            deed: col::choice(row, 7, Deed::named)?,
            ids: col::texts(row, 8)?,
            why: row.get(9)?,
        },
        hash: row.get(10)?,
    })
}

/// Returns the name of a way as the program keeps it. Names that are no [`Way`] are remembered, a
/// bounded number of them.
fn way(name: &str) -> Option<&'static str> {
    static OTHERS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let known = [Way::Mcp, Way::Stdio, Way::Rest, Way::Command, Way::Library];
    if let Some(way) = known.into_iter().find(|way| way.name() == name) {
        return Some(way.name());
    }
    let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(other) = others.get(name) {
        return Some(other);
    }
    if others.len() >= MAX_OTHER_WAYS {
        return None;
    }
    let other: &'static str = Box::leak(name.to_owned().into_boxed_str());
    others.insert(other);
    Some(other)
}

impl AuditTrail for SqliteTxn<'_> {
    fn audit(&self, from_seq: u64, limit: usize) -> EngineResult<Vec<AuditRow>> {
        self.many(
            &format!("SELECT {ROW} FROM audit a WHERE a.seq >= ?1 ORDER BY a.seq LIMIT ?2"),
            (col::kept_count(from_seq), col::limit(limit)),
            audit_row,
        )
    }

    fn audit_of(&self, id: RecordId) -> EngineResult<Vec<AuditRow>> {
        self.many(
            &format!(
                "SELECT {ROW} FROM audit_records t JOIN audit a ON a.seq = t.seq
                 WHERE t.record = ?1 ORDER BY t.seq"
            ),
            [id.as_bytes()],
            audit_row,
        )
    }
}

impl AuditWrites for SqliteTxn<'_> {
    fn append_audit(&mut self, entry: &Entry) -> EngineResult<()> {
        let last: Option<(i64, ChainHash)> = self.one(
            "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let (last_seq, before) = last.unwrap_or((0, CHAIN_START));
        let seq = last_seq + 1;
        self.run(
            "INSERT INTO audit (seq, at, account, project, principal, key, way, deed, ids, why, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                seq,
                entry.at.as_ms(),
                entry.account.as_bytes(),
                entry.project.as_ref().map(ProjectId::as_bytes),
                entry.principal.as_bytes(),
                entry.key.as_ref().map(KeyId::as_str),
                entry.way,
                entry.deed.name(),
                json!(entry.ids).to_string(),
                &entry.why,
                seal(&before, entry),
            ),
        )?;
        for id in &entry.ids {
            if let Ok(record) = id.parse::<RecordId>() {
                self.run(
                    "INSERT OR IGNORE INTO audit_records (record, seq) VALUES (?1, ?2)",
                    (record.as_bytes(), seq),
                )?;
            }
        }
        Ok(())
    }

    fn enqueue_job(
        &mut self,
        id: JobId,
        kind: &str,
        payload: &str,
        due_at: Timestamp,
    ) -> EngineResult<()> {
        self.run(
            "INSERT INTO jobs (id, kind, payload, due_at) VALUES (?1, ?2, ?3, ?4)",
            (id.as_bytes(), kind, payload, due_at.as_ms()),
        )?;
        Ok(())
    }

    fn take_job(
        &mut self,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> EngineResult<Option<(JobId, String, String, u32)>> {
        self.one(
            "UPDATE jobs SET due_at = ?2, n_attempts = n_attempts + 1
             WHERE id = (SELECT id FROM jobs WHERE set_aside = 0 AND due_at <= ?1
                         ORDER BY due_at, id LIMIT 1)
             RETURNING id, kind, payload, n_attempts",
            (now.as_ms(), lease_until.as_ms()),
            |row| Ok((col::id(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
    }

    fn finish_job(&mut self, id: JobId) -> EngineResult<()> {
        self.run("DELETE FROM jobs WHERE id = ?1", [id.as_bytes()])?;
        Ok(())
    }

    fn postpone_job(
        &mut self,
        id: JobId,
        due_at: Option<Timestamp>,
        error: &str,
    ) -> EngineResult<()> {
        self.run(
            "UPDATE jobs SET due_at = coalesce(?2, due_at), set_aside = ?3, last_error = ?4
             WHERE id = ?1",
            (id.as_bytes(), col::ms(due_at), due_at.is_none(), error),
        )?;
        Ok(())
    }
}

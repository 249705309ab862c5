//! Forgetting takes a record out of every read; purging erases what it said.

use mmw_core::ids::{PrincipalId, RecordId};
use mmw_core::time::Timestamp;

use crate::engine::{EngineResult, Gone, Row};
use crate::sqlite::SqliteTxn;
use crate::sqlite::columns as col;

/// What purging sets.
const ERASED: &str = "purged = 1, content = '', fact_key = NULL, scope = '', label = NULL,
    source_id = NULL, source_document = NULL, source_revision = NULL, span_kind = NULL,
    span_label = NULL, agent = NULL, client = NULL, session = NULL, branch = NULL, tags = NULL,
    replaced = NULL, forget_reason = NULL";

impl SqliteTxn<'_> {
    /// Forgets one record and adds what left the reads. Forgotten or unknown ones are passed over.
    pub(super) fn forget_one(
        &self,
        id: RecordId,
        at: Timestamp,
        by: PrincipalId,
        reason: Option<&str>,
        gone: &mut Gone,
    ) -> EngineResult<()> {
        let forgotten = self.one(
            "UPDATE records SET forgotten_at = ?2, forgotten_by = ?3, forget_reason = ?4
             WHERE id = ?1 AND forgotten_at IS NULL RETURNING row",
            (id.as_bytes(), at.as_ms(), by.as_bytes(), reason),
            |row| row.get::<_, Row>(0),
        )?;
        let Some(row) = forgotten else {
            return Ok(());
        };
        let n_words = self
            .one(
                "DELETE FROM record_terms WHERE row = ?1 RETURNING n_words",
                [row],
                |row| row.get::<_, i64>(0),
            )?
            .unwrap_or(0);
        self.run("DELETE FROM record_words WHERE rowid = ?1", [row])?;
        let n_vectors = self.run("DELETE FROM vectors WHERE row = ?1", [row])?;
        let n_links = self.run(
            "DELETE FROM links WHERE from_row = ?1 OR (to_row = ?1 AND kind <> 'derived_from')",
            [row],
        )?;
        let workspace = col::workspace_of(row);
        self.run(
            "UPDATE workspaces SET n_records = n_records - 1, n_words = n_words - ?2
             WHERE number = ?1",
            (workspace, n_words),
        )?;
        self.run(
            "UPDATE projects SET n_records = n_records - 1 WHERE number = ?1",
            [col::project_of(workspace)],
        )?;
        // The item of the lane that became this record said the same.
        self.run(
            "UPDATE candidates SET draft = NULL, envelope = NULL, why_durable = NULL,
                 replaced = NULL, fact_key = NULL
             WHERE record = ?1",
            [id.as_bytes()],
        )?;
        gone.records += 1;
        gone.links += u32::try_from(n_links).unwrap_or(u32::MAX);
        // The words of a record have two rows: where they are found and how often they occur.
        gone.index_rows += 2 + u32::try_from(n_vectors).unwrap_or(u32::MAX - 2);
        Ok(())
    }

    /// Erases what the forgotten records of a project said; ids, hashes, who and when stay.
    pub(super) fn purge_project(
        &self,
        project: i64,
        forgotten_before: Timestamp,
    ) -> EngineResult<Vec<RecordId>> {
        // The topics whose last record goes lose their resolutions too.
        let topics = self.many(
            "SELECT DISTINCT workspace, fact_key FROM records
             WHERE forgotten_at < ?1 AND purged = 0 AND row BETWEEN ?2 AND ?3
                 AND fact_key IS NOT NULL",
            (
                forgotten_before.as_ms(),
                col::first_row_of_project(project),
                col::last_row_of_project(project),
            ),
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
        )?;
        let purged = self.many(
            &format!(
                "UPDATE records SET {ERASED}
             WHERE forgotten_at < ?1 AND purged = 0 AND row BETWEEN ?2 AND ?3 RETURNING id"
            ),
            (
                forgotten_before.as_ms(),
                col::first_row_of_project(project),
                col::last_row_of_project(project),
            ),
            |row| col::id(row, 0),
        )?;
        for (workspace, fact_key) in topics {
            self.drop_resolutions(workspace, &fact_key)?;
        }
        if !purged.is_empty() {
            // The words of a deleted row stay in the index until its parts are merged.
            self.run(
                "INSERT INTO record_words (record_words) VALUES ('optimize')",
                [],
            )?;
        }
        Ok(purged)
    }

    /// Erases what one forgotten record said, as [`Self::purge_project`] does.
    pub(in crate::sqlite) fn purge_one(&self, id: RecordId) -> EngineResult<()> {
        let topic = self.one(
            "SELECT workspace, fact_key FROM records
             WHERE id = ?1 AND forgotten_at IS NOT NULL AND purged = 0",
            [id.as_bytes()],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)),
        )?;
        let Some((workspace, fact_key)) = topic else {
            return Ok(());
        };
        self.run(
            &format!("UPDATE records SET {ERASED} WHERE id = ?1"),
            [id.as_bytes()],
        )?;
        if let Some(fact_key) = fact_key {
            self.drop_resolutions(workspace, &fact_key)?;
        }
        Ok(())
    }

    fn drop_resolutions(&self, workspace: i64, fact_key: &str) -> EngineResult<()> {
        // Records that are forgotten but not purged yet keep the topic, too.
        let is_left = self
            .one(
                "SELECT 1 FROM records
                 WHERE workspace = ?1 AND fact_key = ?2 AND forgotten_at IS NULL
                 UNION ALL SELECT 1 FROM records
                 WHERE workspace = ?1 AND fact_key = ?2
                     AND forgotten_at IS NOT NULL AND purged = 0
                 LIMIT 1",
                (workspace, fact_key),
                |_| Ok(()),
            )?
            .is_some();
        if is_left {
            return Ok(());
        }
        self.run(
            "DELETE FROM resolution_claims WHERE resolution IN
                 (SELECT id FROM resolutions WHERE workspace = ?1 AND fact_key = ?2)",
            (workspace, fact_key),
        )?;
        self.run(
            "DELETE FROM resolutions WHERE workspace = ?1 AND fact_key = ?2",
            (workspace, fact_key),
        )?;
        Ok(())
    }
}

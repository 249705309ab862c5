//! Writes of records.

use mmw_core::fact::Resolution;
use mmw_core::ids::{CandidateId, PrincipalId, ProjectId, RecordId};
use mmw_core::link::{Link, LinkKind};
use mmw_core::place::Place;
use mmw_core::record::FactKey;
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::time::Timestamp;
use rusqlite::named_params;

use crate::engine::{
    Answered, EngineError, EngineResult, Gone, MAX_SOURCE_REPORTS, NewRecord, RecordWrites, Row,
};
use crate::sqlite::SqliteTxn;
use crate::sqlite::columns as col;
use crate::sqlite::fault::failure;
use crate::sqlite::lexicon::kept_counts;

fn no_project(project: ProjectId) -> EngineError {
    failure(format!("there is no project {project}"))
}

impl SqliteTxn<'_> {
    pub(in crate::sqlite) fn number_or_fail(&self, project: ProjectId) -> EngineResult<i64> {
        self.project_number(project)?
            .ok_or_else(|| no_project(project))
    }

    pub(in crate::sqlite) fn row_or_fail(&self, id: RecordId) -> EngineResult<Row> {
        self.row_of(id)?
            .ok_or_else(|| failure(format!("there is no record {id}")))
    }

    /// Returns the number of a workspace, which is made if it is not there yet.
    fn make_workspace(&self, place: &Place) -> EngineResult<i64> {
        if let Some(number) = self.place_number(place)? {
            return Ok(number);
        }
        let project = self.number_or_fail(place.project)?;
        let before = col::workspaces_from(project);
        let number = 1 + self
            .one(
                "SELECT max(number) FROM workspaces WHERE number BETWEEN ?1 AND ?2",
                (before, before | col::MAX_WORKSPACE),
                |row| row.get::<_, Option<i64>>(0),
            )?
            .flatten()
            .unwrap_or(before);
        if col::project_of(number) != project {
            return Err(failure(format!(
                "the project has {} workspaces already, the most that it can number",
                col::MAX_WORKSPACE
            )));
        }
        self.run(
            "INSERT INTO workspaces (number, project, name) VALUES (?1, ?2, ?3)",
            (number, project, place.workspace.as_str()),
        )?;
        Ok(number)
    }

    /// Takes the next row of a workspace and counts a record there.
    fn take_row(&self, workspace: i64, n_words: u32) -> EngineResult<Row> {
        let sequence = self
            .one(
                "UPDATE workspaces SET next_seq = next_seq + 1, n_records = n_records + 1,
                     n_words = n_words + ?2
                 WHERE number = ?1 RETURNING next_seq - 1",
                (workspace, n_words),
                |row| row.get::<_, i64>(0),
            )?
            .unwrap_or(0);
        if sequence > col::MAX_SEQUENCE {
            return Err(failure(
                "the workspace has taken more records than it can number",
            ));
        }
        self.run(
            "UPDATE projects SET n_records = n_records + 1 WHERE number = ?1",
            [col::project_of(workspace)],
        )?;
        Ok(col::first_row(workspace) | sequence)
    }

    fn put_link(&self, from: Row, to: Row, link: &Link, nth: usize) -> EngineResult<()> {
        self.run(
            "INSERT INTO links (from_row, kind, to_row, nth, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            (
                from,
                link.kind.name(),
                to,
                col::limit(nth),
                link.created_at.as_ms(),
            ),
        )?;
        Ok(())
    }
}

impl RecordWrites for SqliteTxn<'_> {
    fn take_turn(&mut self, _place: &Place, _fact_key: &FactKey) -> EngineResult<()> {
        Ok(())
    }

    fn insert_record(&mut self, new: &NewRecord<'_>) -> EngineResult<Row> {
        let record = new.record;
        let origin = &record.origin;
        let workspace = self.make_workspace(&record.place)?;
        let row = self.take_row(workspace, new.words.length)?;
        self.conn
            .prepare_cached(
                "INSERT INTO records (row, id, workspace, digest, fact_key, kind, created_at,
                     received_at, valid_from, valid_until, confidence, author, visibility, approval,
                     scope, label, source_id, source_document, source_hash, source_hash_text,
                     source_revision, span_kind, span_label, span_hash, agent, client, session,
                     branch, tags, replaced, content, screened)
                 VALUES (:row, :id, :workspace, :digest, :fact_key, :kind, :created_at,
                     :received_at, :valid_from, :valid_until, :confidence, :author, :visibility,
                     :approval, :scope, :label, :source_id, :source_document, :source_hash,
                     :source_hash_text, :source_revision, :span_kind, :span_label, :span_hash,
                     :agent, :client, :session, :branch, :tags, :replaced, :content, :screened)",
            )?
            .execute(named_params! {
                ":row": row,
                ":id": record.id.as_bytes(),
                ":workspace": workspace,
                ":digest": new.digest.as_bytes(),
                ":fact_key": record.fact_key.as_ref().map(FactKey::as_str),
                ":kind": record.kind.name(),
                ":created_at": record.said.created_at.as_ms(),
                ":received_at": record.said.received_at.as_ms(),
                ":valid_from": col::ms(record.valid_from),
                ":valid_until": col::ms(record.valid_until),
                ":confidence": record.confidence.get(),
                ":author": record.said.author.as_bytes(),
                ":visibility": record.visibility.name(),
                ":approval": new.approval.as_ref().map(CandidateId::as_bytes),
                ":scope": record.scope,
                ":label": record.label,
                ":source_id": origin.id.as_ref().map(SourceId::as_str),
                ":source_document": origin.id.as_ref().map(SourceId::document),
                ":source_hash": origin.hash.as_ref().map(col::kept_hash),
                ":source_hash_text": origin.text_hash.as_ref().map(col::kept_hash),
                ":source_revision": origin.revision,
                ":span_kind": origin.span.as_ref().map(|span| &span.kind),
                ":span_label": origin.span.as_ref().map(|span| &span.label),
                ":span_hash": origin.span.as_ref().map(|span| col::kept_hash(&span.hash)),
                ":agent": record.said.agent,
                ":client": record.said.client,
                ":session": record.said.session,
                ":branch": record.said.branch,
                ":tags": col::kept_texts(&record.tags),
                ":replaced": col::kept_replaced(new.replaced),
                ":content": record.content,
                ":screened": new.screened.cast_signed(),
            })?;
        self.run(
            "INSERT INTO record_terms (row, n_words, counts) VALUES (?1, ?2, ?3)",
            (row, new.words.length, kept_counts(new.words)),
        )?;
        self.run(
            "INSERT INTO record_words (rowid, words) VALUES (?1, ?2)",
            (row, &new.words.text),
        )?;
        for (nth, source) in record.derived_from.iter().enumerate() {
            let link = Link {
                from: record.id,
                to: *source,
                kind: LinkKind::DerivedFrom,
                created_at: record.said.received_at,
            };
            self.put_link(row, self.row_or_fail(*source)?, &link, nth)?;
        }
        Ok(row)
    }

    fn forget(
        &mut self,
        ids: &[RecordId],
        at: Timestamp,
        by: PrincipalId,
        reason: Option<&str>,
    ) -> EngineResult<Gone> {
        let mut gone = Gone::default();
        for id in ids {
            self.forget_one(*id, at, by, reason, &mut gone)?;
        }
        Ok(gone)
    }

    fn purge(
        &mut self,
        project: ProjectId,
        forgotten_before: Timestamp,
    ) -> EngineResult<Vec<RecordId>> {
        match self.project_number(project)? {
            Some(number) => self.purge_project(number, forgotten_before),
            None => Ok(Vec::new()),
        }
    }

    fn insert_link(&mut self, link: &Link) -> EngineResult<()> {
        let from = self.row_or_fail(link.from)?;
        let to = self.row_or_fail(link.to)?;
        // `derived_from` links made later come after those that the author gave.
        let nth = self
            .one(
                "SELECT coalesce(max(nth) + 1, 0) FROM links WHERE from_row = ?1 AND kind = ?2",
                (from, link.kind.name()),
                |row| row.get::<_, i64>(0),
            )?
            .unwrap_or(0);
        self.put_link(from, to, link, usize::try_from(nth).unwrap_or(0))
    }

    fn insert_resolution(&mut self, resolution: &Resolution) -> EngineResult<()> {
        let workspace = self.make_workspace(&resolution.place)?;
        self.run(
            "INSERT INTO resolutions (id, workspace, fact_key, winner, at, by, way, note)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                resolution.id.as_bytes(),
                workspace,
                resolution.fact_key.as_str(),
                resolution.winner.as_bytes(),
                resolution.at.as_ms(),
                resolution.by.as_bytes(),
                resolution.way.name(),
                &resolution.note,
            ),
        )?;
        for (nth, closed) in resolution.closed.iter().enumerate() {
            self.run(
                "INSERT INTO resolution_claims (resolution, nth, record) VALUES (?1, ?2, ?3)",
                (resolution.id.as_bytes(), col::limit(nth), closed.as_bytes()),
            )?;
        }
        Ok(())
    }

    fn keep_answer(
        &mut self,
        project: ProjectId,
        key: &str,
        answered: &Answered,
        keep_from: Timestamp,
    ) -> EngineResult<()> {
        let number = self.number_or_fail(project)?;
        self.run(
            "DELETE FROM idempotency WHERE project = ?1 AND at < ?2",
            (number, keep_from.as_ms()),
        )?;
        self.run(
            "INSERT INTO idempotency (project, key, request, answer, at)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET request = excluded.request, answer = excluded.answer,
                 at = excluded.at",
            (
                number,
                key,
                answered.request,
                &answered.answer,
                answered.at.as_ms(),
            ),
        )?;
        Ok(())
    }

    fn report_source(
        &mut self,
        project: ProjectId,
        source_id: &SourceId,
        hash: &ContentHash,
        at: Timestamp,
    ) -> EngineResult<()> {
        let number = self.number_or_fail(project)?;
        let hash = col::kept_hash(hash);
        let known = self.run(
            "UPDATE source_reports SET at = max(at, ?4)
             WHERE project = ?1 AND hash = ?2 AND source_id = ?3",
            (number, &hash, source_id.as_str(), at.as_ms()),
        )?;
        if known > 0 {
            return Ok(());
        }
        self.run(
            "INSERT INTO source_reports (project, hash, source_id, at) VALUES (?1, ?2, ?3, ?4)",
            (number, &hash, source_id.as_str(), at.as_ms()),
        )?;
        let n_reports = self
            .one(
                "UPDATE projects SET n_source_reports = n_source_reports + 1 WHERE number = ?1
                 RETURNING n_source_reports",
                [number],
                |row| col::count(row, 0),
            )?
            .unwrap_or(0);
        let surplus = n_reports.saturating_sub(MAX_SOURCE_REPORTS as u64);
        if surplus > 0 {
            let dropped = self.run(
                "DELETE FROM source_reports WHERE project = ?1 AND (hash, source_id) IN (
                     SELECT hash, source_id FROM source_reports WHERE project = ?1
                     ORDER BY at LIMIT ?2)",
                (number, col::kept_count(surplus)),
            )?;
            self.run(
                "UPDATE projects SET n_source_reports = n_source_reports - ?2 WHERE number = ?1",
                (number, col::limit(dropped)),
            )?;
        }
        Ok(())
    }
}

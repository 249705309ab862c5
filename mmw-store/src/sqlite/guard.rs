//! What the guard keeps and looks over again: policies of projects, and every text that is stored.

use mmw_core::audit::{Walk, voucher};
use mmw_core::capture::LaneItem;
use mmw_core::ids::{CandidateId, ProjectId, RecordId};
use mmw_core::record::FactKey;
use mmw_core::source::SourceId;
use mmw_core::time::Timestamp;
use mmw_core::wire::RememberArgs;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{ToSql, named_params};
use serde_json::json;

use super::SqliteTxn;
use super::columns as col;
use super::fault::failure;
use super::lane::{ITEM, item, written};
use super::records::{AROUND, STORED, stored};
use crate::engine::{
    AuditTrail as _, EngineResult, GuardReads, GuardWrites, Kept, Loose, LooseText, PolicyRow,
    Rewritten, Row, Spot,
};

impl ToSql for Spot {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Number(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Name(name) => ToSqlOutput::Borrowed(ValueRef::Text(name.as_bytes())),
        })
    }
}

fn spot(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Spot> {
    match row.get_ref(at)? {
        ValueRef::Integer(number) => Ok(Spot::Number(number)),
        ValueRef::Blob(bytes) => Ok(Spot::Bytes(bytes.to_vec())),
        ValueRef::Text(_) => Ok(Spot::Name(row.get(at)?)),
        _ => Err(col::unreadable(at, "a key")),
    }
}

/// Where loose texts of one sort lie: table, key, what it belongs to, column, condition. `:number`
/// and `:project` are the project, `:from` and `:to` its rows, `:first` and `:last` its workspaces.
struct Place {
    table: &'static str,
    key: &'static str,
    of: &'static str,
    column: &'static str,
    here: &'static str,
}

const fn place(which: Loose) -> Place {
    let (table, key, of, column, here) = match which {
        Loose::ForgetReason => (
            "records",
            "row",
            "'record ' || lower(hex(id))",
            "forget_reason",
            "row BETWEEN :from AND :to",
        ),
        Loose::ResolutionNote => (
            "resolutions",
            "id",
            "'resolution ' || lower(hex(id))",
            "note",
            "workspace BETWEEN :first AND :last",
        ),
        Loose::DecisionNote => (
            "candidates",
            "rowid",
            "'waiting item ' || lower(hex(id))",
            "decided_note",
            "project = :number",
        ),
        Loose::FindingReason => (
            "candidates",
            "rowid",
            "'waiting item ' || lower(hex(id))",
            "finding_reason",
            "project = :number",
        ),
        Loose::ReportedSource => (
            "source_reports",
            "source_id",
            "'a reported source'",
            "source_id",
            "project = :number",
        ),
        Loose::CapturedOutput => (
            "capture_events",
            "rowid",
            "'a captured event'",
            "output_summary",
            "project = :number",
        ),
        Loose::JobError => (
            "jobs",
            "rowid",
            "'job ' || lower(hex(id))",
            "last_error",
            "1",
        ),
        Loose::AuditReason => (
            "audit",
            "seq",
            "'audit row ' || seq",
            "why",
            "project = :project",
        ),
        Loose::WorkspaceName => (
            "workspaces",
            "number",
            "'workspace number ' || number",
            "name",
            "project = :number",
        ),
        Loose::ProjectName => (
            "projects",
            "number",
            "'project ' || lower(hex(id))",
            "name",
            "number = :number",
        ),
        Loose::KeyName => ("keys", "id", "'key ' || id", "name", "project = :project"),
    };
    Place {
        table,
        key,
        of,
        column,
        here,
    }
}

impl GuardReads for SqliteTxn<'_> {
    fn policy(&self, project: ProjectId) -> EngineResult<Option<PolicyRow>> {
        self.one(
            "SELECT g.text, g.set_at, g.set_by FROM projects p
             JOIN guard_policies g ON g.project = p.number WHERE p.id = ?1",
            [project.as_bytes()],
            |row| {
                Ok(PolicyRow {
                    text: row.get(0)?,
                    set_at: col::moment(row, 1)?,
                    set_by: col::id(row, 2)?,
                })
            },
        )
    }

    fn every_project(&self) -> EngineResult<Vec<ProjectId>> {
        self.many("SELECT id FROM projects ORDER BY number", [], |row| {
            col::id(row, 0)
        })
    }

    fn kept_records(
        &self,
        project: ProjectId,
        behind: Option<Row>,
        limit: usize,
    ) -> EngineResult<Vec<Kept>> {
        let Some(number) = self.project_number(project)? else {
            return Ok(Vec::new());
        };
        let first = behind.map_or(col::first_row_of_project(number), |row| row + 1);
        let found = self.many(
            &format!(
                "SELECT {STORED}, r.forgotten_at IS NOT NULL FROM records r {AROUND}
                 WHERE r.row BETWEEN ?1 AND ?2 AND r.purged = 0 ORDER BY r.row LIMIT ?3"
            ),
            (first, col::last_row_of_project(number), col::limit(limit)),
            |row| Ok((stored(row)?, row.get::<_, bool>(31)?)),
        )?;
        let (found, forgotten): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Ok(self
            .with_sources(found)?
            .into_iter()
            .zip(forgotten)
            .map(|(stored, is_forgotten)| Kept {
                stored,
                is_forgotten,
            })
            .collect())
    }

    fn kept_lane_items(
        &self,
        project: ProjectId,
        behind: Option<CandidateId>,
        limit: usize,
    ) -> EngineResult<Vec<LaneItem>> {
        self.many(
            &format!(
                "SELECT {ITEM} FROM projects p JOIN candidates c ON c.project = p.number
                 WHERE p.id = ?1 AND (?2 IS NULL OR c.id > ?2)
                     AND (c.draft IS NOT NULL OR c.fact_key IS NOT NULL)
                 ORDER BY c.id LIMIT ?3"
            ),
            (
                project.as_bytes(),
                behind.as_ref().map(CandidateId::as_bytes),
                col::limit(limit),
            ),
            item,
        )
    }

    fn loose_texts(
        &self,
        which: Loose,
        project: ProjectId,
        behind: Option<&Spot>,
        limit: usize,
    ) -> EngineResult<Vec<LooseText>> {
        let Some(number) = self.project_number(project)? else {
            return Ok(Vec::new());
        };
        let Place {
            table,
            key,
            of,
            column,
            here,
        } = place(which);
        let first = col::workspaces_from(number);
        let parameters = named_params! {
            ":number": number,
            ":project": project.as_bytes(),
            ":from": col::first_row_of_project(number),
            ":to": col::last_row_of_project(number),
            ":first": first,
            ":last": first | col::MAX_WORKSPACE,
            ":behind": behind,
            ":limit": col::limit(limit),
        };
        // Every parameter is named somewhere, so that each sort can be bound the same way.
        self.many(
            &format!(
                "SELECT DISTINCT {key}, {of}, {column} FROM {table}
                 WHERE {here} AND {column} IS NOT NULL AND (:behind IS NULL OR {key} > :behind)
                     AND coalesce(:number, :project, :from, :to, :first, :last) IS NOT NULL
                 ORDER BY {key} LIMIT :limit"
            ),
            parameters,
            |row| {
                Ok(LooseText {
                    at: spot(row, 0)?,
                    of: row.get(1)?,
                    text: row.get(2)?,
                })
            },
        )
    }

    fn n_kept(&self, project: ProjectId) -> EngineResult<u64> {
        let Some(number) = self.project_number(project)? else {
            return Ok(0);
        };
        let found = self.one(
            "SELECT (SELECT count(*) FROM records WHERE row BETWEEN ?1 AND ?2 AND purged = 0)
                 + (SELECT count(*) FROM candidates WHERE project = ?3
                        AND (draft IS NOT NULL OR fact_key IS NOT NULL))",
            (
                col::first_row_of_project(number),
                col::last_row_of_project(number),
                number,
            ),
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }
}

impl SqliteTxn<'_> {
    /// Gives a record new words, and lets it wait for a new vector.
    fn rewrite_words(&self, row: Row, new: &Rewritten<'_>) -> EngineResult<()> {
        if self.replace_words(row, new.words)? {
            self.run("DELETE FROM vectors WHERE row = ?1", [row])?;
        }
        Ok(())
    }

    /// Changes the reason of a row of the audit, and returns what vouches for it.
    fn redact_reason(&self, seq: i64, text: &str, now: Timestamp) -> EngineResult<String> {
        self.run(
            "INSERT INTO audit_redactions (seq, at) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET at = excluded.at",
            (seq, now.as_ms()),
        )?;
        self.run("UPDATE audit SET why = ?2 WHERE seq = ?1", (seq, text))?;
        let number = u64::try_from(seq).unwrap_or(0);
        let mut before = *Walk::default().before();
        if number > 1 {
            before = self
                .audit(number - 1, 1)?
                .first()
                .filter(|row| row.seq == number - 1)
                .map_or(before, |row| row.hash);
        }
        let row = self.audit(number, 1)?.pop();
        let row = row.filter(|row| row.seq == number);
        let row = row.ok_or_else(|| failure(format!("the audit has no row {number}")))?;
        Ok(voucher(number, &before, &row.entry))
    }
}

impl GuardWrites for SqliteTxn<'_> {
    fn set_policy(&mut self, project: ProjectId, policy: Option<&PolicyRow>) -> EngineResult<()> {
        let number = self.number_or_fail(project)?;
        match policy {
            Some(policy) => self.run(
                "INSERT INTO guard_policies (project, text, set_at, set_by)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET text = excluded.text, set_at = excluded.set_at,
                     set_by = excluded.set_by",
                (
                    number,
                    &policy.text,
                    policy.set_at.as_ms(),
                    policy.set_by.as_bytes(),
                ),
            )?,
            None => self.run("DELETE FROM guard_policies WHERE project = ?1", [number])?,
        };
        Ok(())
    }

    fn rewrite_record(&mut self, new: &Rewritten<'_>) -> EngineResult<()> {
        let record = new.record;
        let origin = &record.origin;
        let row = self.row_or_fail(record.id)?;
        self.conn
            .prepare_cached(
                "UPDATE records SET digest = :digest, scope = :scope, label = :label,
                     source_id = :source_id, source_document = :source_document,
                     source_revision = :source_revision, span_label = :span_label,
                     agent = :agent, client = :client, session = :session, branch = :branch,
                     tags = :tags, replaced = :replaced, content = :content, screened = :screened
                 WHERE row = :row",
            )?
            .execute(named_params! {
                ":row": row,
                ":digest": new.digest.as_bytes(),
                ":scope": record.scope,
                ":label": record.label,
                ":source_id": origin.id.as_ref().map(SourceId::as_str),
                ":source_document": origin.id.as_ref().map(SourceId::document),
                ":source_revision": origin.revision,
                ":span_label": origin.span.as_ref().map(|span| &span.label),
                ":agent": record.said.agent,
                ":client": record.said.client,
                ":session": record.said.session,
                ":branch": record.said.branch,
                ":tags": col::kept_texts(&record.tags),
                ":replaced": col::kept_replaced(new.replaced),
                ":content": record.content,
                ":screened": new.screened.cast_signed(),
            })?;
        self.rewrite_words(row, new)
    }

    fn mark_screened(&mut self, ids: &[RecordId], screened: u64) -> EngineResult<()> {
        for id in ids {
            self.run(
                "UPDATE records SET screened = ?2 WHERE id = ?1",
                (id.as_bytes(), screened.cast_signed()),
            )?;
        }
        Ok(())
    }

    fn purge_records(&mut self, ids: &[RecordId]) -> EngineResult<()> {
        for id in ids {
            self.purge_one(*id)?;
        }
        Ok(())
    }

    fn rewrite_lane_item(&mut self, item: &LaneItem) -> EngineResult<()> {
        let proposal = &item.proposal;
        let (args, envelope) = RememberArgs::of(&proposal.draft);
        let finding = proposal.finding.as_ref();
        self.conn
            .prepare_cached(
                "UPDATE candidates SET workspace = :workspace, kind = :kind,
                     digest = CASE WHEN draft IS NOT NULL THEN :digest ELSE digest END,
                     fact_key = :fact_key, finding_rule = :finding_rule,
                     finding_reason = :finding_reason, evidence = :evidence,
                     why_durable = CASE WHEN draft IS NOT NULL THEN :why_durable END,
                     replaced = CASE WHEN draft IS NOT NULL THEN :replaced END,
                     envelope = CASE WHEN draft IS NOT NULL THEN :envelope END,
                     draft = CASE WHEN draft IS NOT NULL THEN :draft END
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": item.id.as_bytes(),
                ":workspace": proposal.draft.workspace.as_str(),
                ":kind": proposal.kind.name(),
                ":digest": item.digest().as_bytes(),
                ":fact_key": proposal.draft.fact_key.as_ref().map(FactKey::as_str),
                ":finding_rule": finding.map(|finding| &finding.rule),
                ":finding_reason": finding.map(|finding| &finding.reason),
                ":why_durable": proposal.why_durable,
                ":evidence": json!(proposal.evidence).to_string(),
                ":replaced": col::kept_replaced(&proposal.replaced),
                ":draft": written(serde_json::to_string(&args))?,
                ":envelope": written(serde_json::to_string(&envelope))?,
            })?;
        Ok(())
    }

    fn rewrite_loose(
        &mut self,
        which: Loose,
        at: &Spot,
        text: &str,
        now: Timestamp,
    ) -> EngineResult<Option<String>> {
        if !which.can_change() {
            return Err(failure(format!("a {} can't be changed", which.name())));
        }
        match (which, at) {
            (Loose::AuditReason, Spot::Number(seq)) => {
                return self.redact_reason(*seq, text, now).map(Some);
            }
            (Loose::ReportedSource, _) => {
                for project in self.many(
                    "SELECT project, count(*) FROM source_reports WHERE source_id = ?1
                     GROUP BY project",
                    [at],
                    |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
                )? {
                    self.run(
                        "UPDATE projects SET n_source_reports = n_source_reports - ?2
                         WHERE number = ?1",
                        project,
                    )?;
                }
                self.run("DELETE FROM source_reports WHERE source_id = ?1", [at])?;
            }
            _ => {
                let Place {
                    table, key, column, ..
                } = place(which);
                self.run(
                    &format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1"),
                    (at, text),
                )?;
            }
        }
        Ok(None)
    }
}

//! The review lane: candidates, suggestions and quarantined writes.

use mmw_core::capture::{
    Classification, Decision, Finding, LaneItem, LaneKind, LaneState, Proposal, WAITING_DAYS,
};
use mmw_core::draft::{Draft, Envelope};
use mmw_core::ids::{CandidateId, ProjectId, RecordId};
use mmw_core::place::WorkspaceName;
use mmw_core::record::{Confidence, DEFAULT_SCOPE, FactKey, Kind, Visibility};
use mmw_core::source::{ContentHash, Origin, SourceId, Span};
use mmw_core::text::ContentDigest;
use mmw_core::time::{DAY_MS, Timestamp};
use mmw_core::wire::{EnvelopeArgs, RememberArgs};
use rusqlite::{Row, named_params};
use serde_json::json;

use super::SqliteTxn;
use super::columns as col;
use super::fault::failure;
use crate::engine::{EngineError, EngineResult, Lane, LaneFilter, LaneWrites};

/// The columns that [`item`] reads, from `candidates` as `c` and `projects` as `p`.
pub(super) const ITEM: &str =
    "c.id, p.id, c.author, c.kind, c.classification, c.why_durable, c.evidence,
    c.replaced, c.finding_rule, c.finding_reason, c.state, c.created_at,
    c.decided_by, c.decided_way, c.decided_at, c.decided_note, c.record,
    c.draft, c.envelope, c.workspace, c.fact_key, c.confidence";

/// Returns the condition of a filter, over the parameters `projects`, `kind`, `workspace` and
/// `waiting_after`. Waiting items have an index of their own, which only a plain condition uses.
fn filtered(filter: &LaneFilter) -> String {
    let waiting = match filter.waiting_at {
        Some(_) => "c.state = 'waiting' AND c.created_at > :waiting_after",
        None => ":waiting_after IS NULL",
    };
    format!(
        "c.project IN (SELECT value FROM rarray(:projects)) AND {waiting}
         AND (:kind IS NULL OR c.kind = :kind)
         AND (:workspace IS NULL OR c.workspace = :workspace)"
    )
}

pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<LaneItem> {
    let finding = match (row.get(8)?, row.get(9)?) {
        (Some(rule), Some(reason)) => Some(Finding { rule, reason }),
        _ => None,
    };
    Ok(LaneItem {
        id: col::id(row, 0)?,
        project: col::id(row, 1)?,
        author: col::id(row, 2)?,
        proposal: Proposal {
            kind: col::choice(row, 3, LaneKind::named)?,
            draft: draft(row)?,
            replaced: col::replaced(row, 7)?,
            classification: col::choice(row, 4, Classification::named)?,
            why_durable: row.get(5)?,
            evidence: col::texts(row, 6)?,
            finding,
        },
        state: col::choice(row, 10, LaneState::named)?,
        created_at: col::moment(row, 11)?,
        decision: decision(row)?,
    })
}

fn decision(row: &Row<'_>) -> rusqlite::Result<Option<Decision>> {
    let Some(by) = col::optional_id(row, 12)? else {
        return Ok(None);
    };
    Ok(Some(Decision {
        by,
        way: col::choice(row, 13, col::review_way)?,
        at: col::moment(row, 14)?,
        note: row.get(15)?,
        record: col::optional_id(row, 16)?,
    }))
}

/// Reads the draft. It was valid when it was kept and is not judged again by today's limits; of an
/// erased one only workspace, topic (if it was kept) and confidence are left.
fn draft(row: &Row<'_>) -> rusqlite::Result<Draft> {
    let workspace = col::workspace(row, 19)?;
    let confidence =
        Confidence::new(row.get(21)?).ok_or_else(|| col::unreadable(21, "a confidence"))?;
    let Some(kept) = row.get_ref(17)?.as_str_or_null()? else {
        return Ok(Draft {
            content: String::new(),
            workspace,
            fact_key: col::optional_fact_key(row, 20)?,
            kind: Kind::Fact,
            label: None,
            origin: Origin::default(),
            confidence,
            derived_from: Vec::new(),
            scope: DEFAULT_SCOPE.to_owned(),
            tags: Vec::new(),
            valid_from: None,
            valid_until: None,
            visibility: Visibility::Project,
            envelope: Envelope::default(),
        });
    };
    let args: RememberArgs =
        serde_json::from_str(kept).map_err(|_| col::unreadable(17, "a draft in JSON"))?;
    let envelope: EnvelopeArgs = match row.get_ref(18)?.as_str_or_null()? {
        Some(kept) => {
            serde_json::from_str(kept).map_err(|_| col::unreadable(18, "an envelope in JSON"))?
        }
        None => EnvelopeArgs::default(),
    };
    read_draft(args, envelope, workspace, confidence)
        .ok_or_else(|| col::unreadable(17, "a draft that can be read back"))
}

/// Puts a draft together from its kept form; `None` if an id, a hash or a moment is none.
fn read_draft(
    args: RememberArgs,
    envelope: EnvelopeArgs,
    workspace: WorkspaceName,
    confidence: Confidence,
) -> Option<Draft> {
    Some(Draft {
        content: args.content,
        workspace,
        fact_key: optional(args.fact_key, |text| FactKey::new(text).ok())?,
        kind: optional(args.kind, Kind::named)?.unwrap_or(Kind::Fact),
        label: args.source,
        origin: Origin {
            id: optional(args.source_id, SourceId::new)?,
            hash: optional(args.source_hash, hash)?,
            text_hash: optional(envelope.source_hash_text, hash)?,
            revision: args.source_revision,
            span: match envelope.span {
                Some(span) => Some(Span {
                    kind: span.kind,
                    label: span.label,
                    hash: hash(&span.hash)?,
                }),
                None => None,
            },
        },
        confidence,
        derived_from: args
            .derived_from
            .iter()
            .map(|id| id.parse().ok())
            .collect::<Option<_>>()?,
        scope: args.scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned()),
        tags: args.tags,
        valid_from: optional(args.valid_from, moment)?,
        valid_until: optional(args.valid_until, moment)?,
        visibility: optional(args.visibility, Visibility::named)?.unwrap_or(Visibility::Project),
        envelope: Envelope {
            idempotency_key: envelope.idempotency_key,
            proposed_id: optional(envelope.proposed_id, |text| text.parse().ok())?,
            recorded_at: optional(envelope.recorded_at, moment)?,
            agent: envelope.agent,
            client: envelope.client,
            session: envelope.session_id,
            branch: envelope.branch,
        },
    })
}

fn hash(text: &str) -> Option<ContentHash> {
    ContentHash::new(text).ok()
}

fn moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).ok()
}

/// Reads a text that may be missing: `None` if it is there and can't be read.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the text is taken out of the kept form"
)]
fn optional<T>(text: Option<String>, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match text.as_deref() {
        Some(text) => read(text).map(Some),
        None => Some(None),
    }
}

fn waiting_after(filter: &LaneFilter) -> Option<i64> {
    filter
        .waiting_at
        .map(|now| now.as_ms().saturating_sub(WAITING_DAYS * DAY_MS))
}

impl Lane for SqliteTxn<'_> {
    fn lane_item(&self, id: CandidateId) -> EngineResult<Option<LaneItem>> {
        self.one(
            &format!(
                "SELECT {ITEM} FROM candidates c JOIN projects p ON p.number = c.project
                 WHERE c.id = ?1"
            ),
            [id.as_bytes()],
            item,
        )
    }

    fn lane_same(
        &self,
        project: ProjectId,
        digest: ContentDigest,
    ) -> EngineResult<Option<LaneItem>> {
        self.one(
            &format!(
                "SELECT {ITEM} FROM projects p JOIN candidates c ON c.project = p.number
                 WHERE p.id = ?1 AND c.digest = ?2 ORDER BY c.created_at DESC, c.id DESC LIMIT 1"
            ),
            (project.as_bytes(), digest.as_bytes()),
            item,
        )
    }

    fn lane_items(
        &self,
        projects: &[ProjectId],
        filter: &LaneFilter,
        limit: usize,
    ) -> EngineResult<Vec<LaneItem>> {
        let projects = self.project_numbers(projects)?;
        self.many(
            &format!(
                "SELECT {ITEM} FROM candidates c JOIN projects p ON p.number = c.project
                 WHERE {} ORDER BY c.created_at, c.id LIMIT :limit",
                filtered(filter)
            ),
            named_params! {
                ":projects": col::numbers(projects),
                ":kind": filter.kind.map(LaneKind::name),
                ":workspace": filter.workspace.as_ref().map(WorkspaceName::as_str),
                ":waiting_after": waiting_after(filter),
                ":limit": col::limit(limit),
            },
            item,
        )
    }

    fn n_lane_items(&self, projects: &[ProjectId], filter: &LaneFilter) -> EngineResult<u64> {
        let projects = self.project_numbers(projects)?;
        let found = self.one(
            &format!(
                "SELECT count(*) FROM candidates c WHERE {}",
                filtered(filter)
            ),
            named_params! {
                ":projects": col::numbers(projects),
                ":kind": filter.kind.map(LaneKind::name),
                ":workspace": filter.workspace.as_ref().map(WorkspaceName::as_str),
                ":waiting_after": waiting_after(filter),
            },
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }
}

impl LaneWrites for SqliteTxn<'_> {
    fn insert_lane_item(&mut self, item: &LaneItem) -> EngineResult<()> {
        let project = self
            .project_number(item.project)?
            .ok_or_else(|| failure(format!("there is no project {}", item.project)))?;
        let proposal = &item.proposal;
        let (args, envelope) = RememberArgs::of(&proposal.draft);
        let finding = proposal.finding.as_ref();
        let decision = item.decision.as_ref();
        self.conn
            .prepare_cached(
                "INSERT INTO candidates (id, project, workspace, author, kind, state, digest,
                     fact_key, classification, confidence, created_at, decided_by, decided_way,
                     decided_at, decided_note, record, finding_rule, finding_reason, why_durable,
                     evidence, replaced, draft, envelope)
                 VALUES (:id, :project, :workspace, :author, :kind, :state, :digest, :fact_key,
                     :classification, :confidence, :created_at, :decided_by, :decided_way,
                     :decided_at, :decided_note, :record, :finding_rule, :finding_reason,
                     :why_durable, :evidence, :replaced, :draft, :envelope)",
            )?
            .execute(named_params! {
                ":id": item.id.as_bytes(),
                ":project": project,
                ":workspace": proposal.draft.workspace.as_str(),
                ":author": item.author.as_bytes(),
                ":kind": proposal.kind.name(),
                ":state": item.state.name(),
                ":digest": item.digest().as_bytes(),
                ":fact_key": proposal.draft.fact_key.as_ref().map(FactKey::as_str),
                ":classification": proposal.classification.name(),
                ":confidence": proposal.draft.confidence.get(),
                ":created_at": item.created_at.as_ms(),
                ":decided_by": decision.map(|decision| decision.by.as_bytes()),
                ":decided_way": decision.map(|decision| decision.way.name()),
                ":decided_at": decision.map(|decision| decision.at.as_ms()),
                ":decided_note": decision.and_then(|decision| decision.note.as_ref()),
                ":record": decision
                    .and_then(|decision| decision.record.as_ref())
                    .map(RecordId::as_bytes),
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

    fn decide_lane_item(
        &mut self,
        id: CandidateId,
        state: LaneState,
        decision: &Decision,
        erase: bool,
    ) -> EngineResult<()> {
        let changed = self.run(
            "UPDATE candidates SET state = ?2, decided_by = ?3, decided_way = ?4, decided_at = ?5,
                 decided_note = ?6, record = ?7
             WHERE id = ?1",
            (
                id.as_bytes(),
                state.name(),
                decision.by.as_bytes(),
                decision.way.name(),
                decision.at.as_ms(),
                &decision.note,
                decision.record.as_ref().map(RecordId::as_bytes),
            ),
        )?;
        if changed == 0 {
            return Err(failure(format!(
                "there is no item {} in the lane",
                id.shown()
            )));
        }
        if erase {
            // The topic of an item that was turned down for good is what later ones are held against.
            self.run(
                "UPDATE candidates SET draft = NULL, envelope = NULL, why_durable = NULL,
                     replaced = NULL, fact_key = CASE state WHEN 'never' THEN fact_key END
                 WHERE id = ?1",
                [id.as_bytes()],
            )?;
        }
        Ok(())
    }

    fn add_lane_evidence(&mut self, id: CandidateId, evidence: &[String]) -> EngineResult<()> {
        let known = self.one(
            "SELECT evidence FROM candidates WHERE id = ?1",
            [id.as_bytes()],
            |row| col::texts(row, 0),
        )?;
        let Some(mut all) = known else {
            return Err(failure(format!(
                "there is no item {} in the lane",
                id.shown()
            )));
        };
        for event in evidence {
            if !all.contains(event) {
                all.push(event.clone());
            }
        }
        self.run(
            "UPDATE candidates SET evidence = ?2 WHERE id = ?1",
            (id.as_bytes(), json!(all).to_string()),
        )?;
        Ok(())
    }

    fn expire_lane_items(&mut self, created_before: Timestamp) -> EngineResult<u32> {
        let n_erased = self.run(
            "UPDATE candidates SET draft = NULL, envelope = NULL, why_durable = NULL,
                 replaced = NULL, fact_key = NULL
             WHERE state = 'waiting' AND created_at < ?1 AND draft IS NOT NULL",
            [created_before.as_ms()],
        )?;
        Ok(u32::try_from(n_erased).unwrap_or(u32::MAX))
    }
}

pub(super) fn written(json: serde_json::Result<String>) -> EngineResult<String> {
    json.map_err(|error| EngineError::Backend(Box::new(error)))
}

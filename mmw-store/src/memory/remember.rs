//! Saves a statement: *screen, read, decide, write*.
//!
//! The guard comes first, so that nothing it replaces or refuses reaches any table, the idempotency
//! keys included. Everything after it happens in one transaction.

use mmw_core::audit::{Deed, Entry};
use mmw_core::capture::{Classification, LaneItem, LaneKind, LaneState, Proposal};
use mmw_core::draft::{Draft, Screened};
use mmw_core::fact::plan::{Plan, place_of, plan};
use mmw_core::fact::{Version, Versions};
use mmw_core::ids::{CandidateId, RecordId};
use mmw_core::place::{Caller, Place, Scope};
use mmw_core::record::Record;
use mmw_core::status::Level;
use mmw_core::text::{ContentDigest, comparable};
use mmw_core::time::{DAY_MS, Timestamp};
use mmw_core::validation::Invalid;
use mmw_core::wire::{
    Conflicting, EnvelopeArgs, QuarantineView, RecordView, RememberAnswer, RememberArgs,
    ReplacedView,
};
use mmw_guard::Verdict;
use sha2::{Digest as _, Sha256};

use super::Memory;
use super::failure::RememberError;
use super::mention;
use crate::engine::{Answered, EngineResult, NewRecord, Snapshot, Stored, Txn, write};
use crate::words;

/// How long an idempotency key is kept, in days. "Keys live at least 15 days."
const IDEMPOTENCY_DAYS: i64 = 30;

/// The most claims that are told as conflicting with a saved one; the newest are kept.
const MAX_TOLD_CONFLICTS: usize = 20;

/// What an answer is made of, without any content: what an idempotency key keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    kind: OutcomeKind,
    conflicts_with: Vec<RecordId>,
    superseded: Vec<RecordId>,
    replaced: Vec<ReplacedView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OutcomeKind {
    Saved(RecordId),
    Deduplicated(RecordId),
    Quarantined(QuarantineView),
}

impl Memory {
    /// Saves a statement. The answer comes after it is durable.
    ///
    /// Saving under a `fact_key` that exists adds a version; nothing is edited. What the new
    /// version disagrees with is told beside it. A repetition that says nothing new returns the
    /// record that is there.
    ///
    /// # Errors
    /// [`RememberError`]; nothing was saved then.
    pub fn remember(
        &self,
        caller: &Caller,
        args: RememberArgs,
        envelope: &EnvelopeArgs,
    ) -> Result<RememberAnswer, RememberError> {
        self.need(caller, Scope::Write)?;
        let draft = args.into_draft(envelope)?;
        self.remember_draft(caller, draft)
    }

    fn remember_draft(
        &self,
        caller: &Caller,
        draft: Draft,
    ) -> Result<RememberAnswer, RememberError> {
        let now = self.clock.now();
        let prepared = self.prepare(caller, draft, now)?;
        write(self.engine(), |txn| {
            match prepared.commit(txn, caller, now)? {
                Ok(outcome) => answer(txn.snapshot(), &outcome).map(Ok),
                Err(refused) => Ok(Err(refused)),
            }
        })?
    }

    /// Refuses a secret in the place of a hash. A hash can't be replaced: with a placeholder it would
    /// be the hash of nothing.
    fn check_hashes(&self, draft: &Draft) -> Result<(), Invalid> {
        let origin = &draft.origin;
        let span = origin.span.as_ref().map(|span| &span.hash);
        for (field, hash) in [
            ("source_hash", origin.hash.as_ref()),
            ("source_hash_text", origin.text_hash.as_ref()),
            ("span.hash", span),
        ] {
            if let Some(hash) = hash {
                self.check_hash(field, hash)?;
            }
        }
        Ok(())
    }

    /// Screens a draft and takes everything that the transaction needs before it begins.
    pub(super) fn prepare(
        &self,
        caller: &Caller,
        draft: Draft,
        now: Timestamp,
    ) -> Result<Prepared, RememberError> {
        self.check_hashes(&draft)?;
        let id = draft
            .envelope
            .proposed_id
            .unwrap_or_else(|| RecordId::from_parts(now, self.entropy.id_bytes()));
        match self.guard.screen(draft) {
            Verdict::Allow(screened) => Ok(Prepared::Save(screened, id)),
            Verdict::Quarantine(screened, finding) => {
                let item = LaneItem {
                    id: CandidateId::from_parts(now, self.entropy.id_bytes()),
                    project: place_of(&screened, caller).project,
                    author: caller.principal,
                    proposal: Proposal {
                        kind: LaneKind::Quarantined,
                        draft: without_key(screened.draft()),
                        replaced: screened.replaced().to_vec(),
                        classification: Classification::Fact,
                        why_durable: None,
                        evidence: Vec::new(),
                        finding: Some(finding),
                    },
                    state: LaneState::Waiting,
                    created_at: now,
                    decision: None,
                };
                Ok(Prepared::Hold(screened, Box::new(item)))
            }
            Verdict::Reject(rejection) => {
                let entry = entry(caller, Deed::Reject, Vec::new(), Some(&rejection.rule), now);
                // The refusal stands whether or not it could be noted: a full disk must not turn
                // it into another error.
                let _ = write(self.engine(), |txn| txn.append_audit(&entry));
                Err(rejection.into())
            }
        }
    }
}

/// Returns the draft as it may wait: its idempotency key is kept as a hash, and not here.
pub(super) fn without_key(draft: &Draft) -> Draft {
    let mut waiting = draft.clone();
    waiting.envelope.idempotency_key = None;
    waiting
}

/// A screened draft on its way into memory or into the lane.
pub(super) enum Prepared {
    /// It may become memory, under this id.
    Save(Screened, RecordId),
    /// The guard holds it back.
    Hold(Screened, Box<LaneItem>),
}

impl Prepared {
    /// Carries it out in the transaction.
    pub(super) fn commit(
        &self,
        txn: &mut dyn Txn,
        caller: &Caller,
        now: Timestamp,
    ) -> EngineResult<Result<Outcome, RememberError>> {
        match self {
            Self::Save(screened, id) => save(txn, caller, screened, *id, now, None),
            Self::Hold(screened, item) => hold(txn, caller, screened, item, now),
        }
    }
}

/// Saves a screened draft in the transaction.
pub(super) fn save(
    txn: &mut dyn Txn,
    caller: &Caller,
    screened: &Screened,
    id: RecordId,
    now: Timestamp,
    approval: Option<CandidateId>,
) -> EngineResult<Result<Outcome, RememberError>> {
    let draft = screened.draft();
    let place = place_of(screened, caller);
    let key = kept_key(draft);
    if let Some(key) = &key
        && let Some(earlier) = txn.answered(place.project, key)?
    {
        return Ok(replay(&earlier, screened, caller));
    }
    if let Some(fact_key) = &draft.fact_key {
        txn.take_turn(&place, fact_key)?;
    }
    if let Some(refused) = check_sources(txn.snapshot(), caller, draft)? {
        return Ok(Err(refused.into()));
    }
    match look_at_proposed_id(txn.snapshot(), caller, draft)? {
        Proposed::Free => {}
        Proposed::Delivered => return Ok(Ok(Outcome::existing(id, screened))),
        Proposed::Taken => {
            return Ok(Err(Invalid::new(
                "proposed_id",
                "is in use; propose a fresh UUIDv7",
            )
            .into()));
        }
    }
    let before = versions_before(txn.snapshot(), &place, draft)?;
    let newest = newest_before(txn.snapshot(), &place, draft, before.as_ref())?;
    let outcome = match plan(
        screened,
        caller,
        id,
        now,
        newest.as_ref().map(|stored| &stored.record),
    ) {
        Plan::Existing(existing) => Outcome {
            conflicts_with: before
                .as_ref()
                .map(|versions| versions.disagreeing_with(existing))
                .unwrap_or_default(),
            ..Outcome::existing(existing, screened)
        },
        Plan::New(record) => {
            if let Some(project) = txn.project(place.project)? {
                let n_records = txn.n_records(place.project)?;
                if let Err(full) = mmw_core::plan::may_grow(&project.limits, n_records) {
                    return Ok(Err(full.into()));
                }
            }
            insert(txn, caller, screened, &record, before, approval, now)?
        }
    };
    if let Some(key) = &key {
        keep(txn, place.project, key, screened, caller, &outcome, now)?;
    }
    Ok(Ok(outcome))
}

/// Holds a write back in the lane.
fn hold(
    txn: &mut dyn Txn,
    caller: &Caller,
    screened: &Screened,
    item: &LaneItem,
    now: Timestamp,
) -> EngineResult<Result<Outcome, RememberError>> {
    let key = kept_key(screened.draft());
    if let Some(key) = &key
        && let Some(earlier) = txn.answered(item.project, key)?
    {
        return Ok(replay(&earlier, screened, caller));
    }
    let waiting = txn
        .lane_same(item.project, item.digest())?
        .filter(|same| same.waits_at(now));
    let shown = match &waiting {
        Some(same) => same,
        None => {
            txn.insert_lane_item(item)?;
            let why = item
                .proposal
                .finding
                .as_ref()
                .map(|finding| finding.rule.as_str());
            txn.append_audit(&entry(
                caller,
                Deed::Quarantine,
                vec![item.id.shown()],
                why,
                now,
            ))?;
            item
        }
    };
    let (rule, reason) = shown
        .proposal
        .finding
        .as_ref()
        .map(|finding| (finding.rule.clone(), finding.reason.clone()))
        .unwrap_or_default();
    let outcome = Outcome {
        kind: OutcomeKind::Quarantined(QuarantineView {
            candidate_id: shown.id.shown(),
            rule,
            reason,
        }),
        conflicts_with: Vec::new(),
        superseded: Vec::new(),
        replaced: ReplacedView::all_of(screened.replaced()),
    };
    if let Some(key) = &key {
        keep(txn, item.project, key, screened, caller, &outcome, now)?;
    }
    Ok(Ok(outcome))
}

fn insert(
    txn: &mut dyn Txn,
    caller: &Caller,
    screened: &Screened,
    record: &Record,
    before: Option<Versions>,
    approval: Option<CandidateId>,
    now: Timestamp,
) -> EngineResult<Outcome> {
    let words = words::document(&indexed_texts(record));
    txn.insert_record(&NewRecord {
        record,
        digest: ContentDigest::of(&record.content),
        words: &words,
        replaced: screened.replaced(),
        approval,
    })?;
    txn.append_audit(&entry(
        caller,
        Deed::Remember,
        vec![record.id.to_string()],
        None,
        now,
    ))?;
    let after = match (&record.fact_key, before) {
        (Some(fact_key), Some(before)) => {
            let mut versions = before.all().to_vec();
            versions.push(Version::of(record));
            let resolutions = txn.resolutions(&record.place, fact_key)?;
            Some(Versions::assemble(versions, &resolutions))
        }
        _ => None,
    };
    let (conflicts_with, superseded) = after.map_or_else(Default::default, |versions| {
        let superseded = versions
            .all()
            .iter()
            .filter(|version| versions.superseded_by(version.id) == Some(record.id))
            .map(|version| version.id)
            .collect();
        (versions.disagreeing_with(record.id), superseded)
    });
    Ok(Outcome {
        kind: OutcomeKind::Saved(record.id),
        conflicts_with,
        superseded,
        replaced: ReplacedView::all_of(screened.replaced()),
    })
}

/// The texts of a record that can be found by words.
fn indexed_texts(record: &Record) -> Vec<&str> {
    let mut texts = vec![record.content.as_str()];
    texts.extend(
        record
            .fact_key
            .as_ref()
            .map(mmw_core::record::FactKey::as_str),
    );
    texts.extend(
        record
            .origin
            .id
            .as_ref()
            .map(mmw_core::source::SourceId::as_str),
    );
    texts.extend(record.tags.iter().map(String::as_str));
    texts
}

/// "Ids of existing, visible, unforgotten records."
fn check_sources(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    draft: &Draft,
) -> EngineResult<Option<Invalid>> {
    if draft.derived_from.is_empty() {
        return Ok(None);
    }
    let seen: Vec<RecordId> = snapshot
        .records(&draft.derived_from)?
        .into_iter()
        .filter(|stored| caller.sees(stored.record.place.project))
        .map(|stored| stored.record.id)
        .collect();
    Ok(draft
        .derived_from
        .iter()
        .position(|id| !seen.contains(id))
        .map(|nth| {
            Invalid::new(
                format!("derived_from[{nth}]"),
                "names no record here (it may have been forgotten)",
            )
        }))
}

/// What a proposed id comes to.
enum Proposed {
    /// It is free, or none was proposed.
    Free,
    /// This very statement has it: a repeated delivery.
    Delivered,
    /// Something else has it.
    Taken,
}

/// A record, forgotten or not, is never written over.
fn look_at_proposed_id(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    draft: &Draft,
) -> EngineResult<Proposed> {
    let Some(id) = draft.envelope.proposed_id else {
        return Ok(Proposed::Free);
    };
    if let Some(stored) = snapshot.record(id)? {
        let record = stored.record;
        let same = record.place == caller.place(draft.workspace.clone())
            && record.said.author == caller.principal
            && record.fact_key == draft.fact_key
            && comparable(&record.content) == comparable(&draft.content);
        return Ok(if same {
            Proposed::Delivered
        } else {
            Proposed::Taken
        });
    }
    let forgotten = !snapshot.tombstones(&[id])?.is_empty();
    Ok(if forgotten {
        Proposed::Taken
    } else {
        Proposed::Free
    })
}

fn versions_before(
    snapshot: &dyn Snapshot,
    place: &Place,
    draft: &Draft,
) -> EngineResult<Option<Versions>> {
    let Some(fact_key) = &draft.fact_key else {
        return Ok(None);
    };
    let versions = snapshot.versions(place, fact_key)?;
    let resolutions = snapshot.resolutions(place, fact_key)?;
    Ok(Some(Versions::assemble(versions, &resolutions)))
}

fn newest_before(
    snapshot: &dyn Snapshot,
    place: &Place,
    draft: &Draft,
    before: Option<&Versions>,
) -> EngineResult<Option<Stored>> {
    match before {
        Some(versions) => match versions.newest() {
            Some(newest) => snapshot.record(newest.id),
            None => Ok(None),
        },
        None => snapshot.same_statement(place, ContentDigest::of(&draft.content)),
    }
}

/// Returns the row of the audit for what a caller did.
pub(super) fn entry(
    caller: &Caller,
    deed: Deed,
    ids: Vec<String>,
    why: Option<&str>,
    now: Timestamp,
) -> Entry {
    Entry {
        at: now,
        account: caller.account,
        project: Some(caller.project),
        principal: caller.principal,
        key: caller.key.clone(),
        way: caller.way.name(),
        deed,
        ids,
        why: why.map(str::to_owned),
    }
}

/// An idempotency key as it is kept: as its hash. Clients make keys of what they have at hand, a
/// secret included, and nothing but the same key has to be recognised.
fn kept_key(draft: &Draft) -> Option<String> {
    let key = draft.envelope.idempotency_key.as_ref()?;
    let digest = Sha256::digest(key.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The fingerprint of a request: of the screened draft, so that no secret goes into it.
fn fingerprint(screened: &Screened, caller: &Caller) -> [u8; 32] {
    let (args, mut envelope) = RememberArgs::of(screened.draft());
    // When and under which id it was queued may differ between two tries of one request.
    envelope.recorded_at = None;
    envelope.proposed_id = None;
    let canonical = serde_json::json!({
        "principal": caller.principal,
        "args": args,
        "envelope": envelope,
    });
    Sha256::digest(canonical.to_string().as_bytes()).into()
}

fn keep(
    txn: &mut dyn Txn,
    project: mmw_core::ids::ProjectId,
    key: &str,
    screened: &Screened,
    caller: &Caller,
    outcome: &Outcome,
    now: Timestamp,
) -> EngineResult<()> {
    let answered = Answered {
        request: fingerprint(screened, caller),
        answer: outcome.to_json(),
        at: now,
    };
    txn.keep_answer(
        project,
        key,
        &answered,
        now.plus_ms(-IDEMPOTENCY_DAYS * DAY_MS),
    )
}

/// "Same key and same request → the same record and the same answer; same key and a different
/// request → `409 Conflict`."
fn replay(
    earlier: &Answered,
    screened: &Screened,
    caller: &Caller,
) -> Result<Outcome, RememberError> {
    if earlier.request != fingerprint(screened, caller) {
        return Err(RememberError::IdempotencyConflict);
    }
    Outcome::from_json(&earlier.answer).ok_or_else(|| {
        let damaged = crate::engine::EngineError::Corrupt("a kept answer can't be read".to_owned());
        damaged.into()
    })
}

impl Outcome {
    fn existing(id: RecordId, screened: &Screened) -> Self {
        Self {
            kind: OutcomeKind::Deduplicated(id),
            conflicts_with: Vec::new(),
            superseded: Vec::new(),
            replaced: ReplacedView::all_of(screened.replaced()),
        }
    }

    /// Returns the id of the record that is in memory now.
    pub(super) const fn record_id(&self) -> Option<RecordId> {
        match &self.kind {
            OutcomeKind::Saved(id) | OutcomeKind::Deduplicated(id) => Some(*id),
            OutcomeKind::Quarantined(_) => None,
        }
    }

    fn to_json(&self) -> String {
        let (kind, id, quarantine) = match &self.kind {
            OutcomeKind::Saved(id) => ("saved", Some(id), None),
            OutcomeKind::Deduplicated(id) => ("deduplicated", Some(id), None),
            OutcomeKind::Quarantined(quarantine) => ("quarantined", None, Some(quarantine)),
        };
        serde_json::json!({
            "kind": kind,
            "id": id,
            "quarantine": quarantine,
            "conflicts_with": self.conflicts_with,
            "superseded": self.superseded,
            "replaced": self.replaced,
        })
        .to_string()
    }

    fn from_json(json: &str) -> Option<Self> {
        let kept: serde_json::Value = serde_json::from_str(json).ok()?;
        let id = || serde_json::from_value(kept["id"].clone()).ok();
        let kind = match kept["kind"].as_str()? {
            "saved" => OutcomeKind::Saved(id()?),
            "deduplicated" => OutcomeKind::Deduplicated(id()?),
            "quarantined" => {
                OutcomeKind::Quarantined(serde_json::from_value(kept["quarantine"].clone()).ok()?)
            }
            _ => return None,
        };
        Some(Self {
            kind,
            conflicts_with: serde_json::from_value(kept["conflicts_with"].clone()).ok()?,
            superseded: serde_json::from_value(kept["superseded"].clone()).ok()?,
            replaced: serde_json::from_value(kept["replaced"].clone()).ok()?,
        })
    }
}

/// Reads what an outcome names. What has been forgotten since is left out.
pub(super) fn answer(snapshot: &dyn Snapshot, outcome: &Outcome) -> EngineResult<RememberAnswer> {
    let record = match outcome.record_id() {
        Some(id) => snapshot
            .record(id)?
            .map(|stored| RecordView::of(&stored.record)),
        None => None,
    };
    let told = outcome.conflicts_with.len().min(MAX_TOLD_CONFLICTS);
    let mut conflicts_with: Vec<Conflicting> = snapshot
        .records(&outcome.conflicts_with[outcome.conflicts_with.len() - told..])?
        .into_iter()
        .map(|stored| Conflicting {
            id: stored.record.id,
            created_at: stored.record.said.created_at,
            source_id: stored.record.origin.id.as_ref().map(ToString::to_string),
            content: stored.record.content,
        })
        .collect();
    conflicts_with.sort_by_key(|claim| std::cmp::Reverse((claim.created_at, claim.id)));
    mention::fit(conflicts_with.iter_mut().map(|claim| &mut claim.content));
    let (name, quarantine) = match &outcome.kind {
        OutcomeKind::Quarantined(quarantine) => ("quarantined", Some(quarantine.clone())),
        _ if record.is_none() => ("forgotten", None),
        OutcomeKind::Saved(_) => ("saved", None),
        OutcomeKind::Deduplicated(_) => ("deduplicated", None),
    };
    Ok(RememberAnswer {
        outcome: name.to_owned(),
        status: record.as_ref().map(|_| Level::Unverified.name().to_owned()),
        record,
        conflicts_with,
        superseded: outcome.superseded.clone(),
        replaced: outcome.replaced.clone(),
        deduplicated: matches!(outcome.kind, OutcomeKind::Deduplicated(_)),
        quarantine,
    })
}

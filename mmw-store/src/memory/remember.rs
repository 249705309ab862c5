//! Saves a statement: *screen, read, decide, write*.
//!
//! The guard comes first, so that nothing it replaces or refuses reaches any table, the idempotency
//! keys included. Everything after it happens in one transaction.

mod checks;
mod idempotency;
mod outcome;

use mmw_core::audit::{Deed, Entry};
use mmw_core::capture::{
    Classification, LaneItem, LaneKind, LaneState, NotAdmitted, Proposal, admit,
};
use mmw_core::draft::{Draft, Screened};
use mmw_core::fact::plan::{Plan, place_of, plan};
use mmw_core::fact::{Version, Versions};
use mmw_core::ids::{CandidateId, RecordId};
use mmw_core::place::{Caller, Place, Scope};
use mmw_core::record::Record;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;
use mmw_core::validation::Invalid;
use mmw_core::wire::{EnvelopeArgs, QuarantineView, RememberAnswer, RememberArgs, ReplacedView};
use mmw_guard::Verdict;

use self::checks::{Identity, check_sources, identity};
use self::idempotency::{keep, kept_key, replay};
use self::outcome::OutcomeKind;
pub(super) use self::outcome::{Outcome, answer};
use super::Memory;
use super::failure::RememberError;
use super::indexed::words_of;
use super::review::n_waiting;
use crate::engine::{EngineResult, NewRecord, Snapshot, Stored, Txn, read, write};

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
        let answered = write(self.engine(), |txn| {
            match prepared.commit(txn, caller, now)? {
                Ok(outcome) => answer(self, txn.snapshot(), &outcome, now).map(Ok),
                Err(refused) => Ok(Err(refused)),
            }
        })?;
        self.meaning.wake();
        answered
    }

    /// Refuses a secret in the place of a hash. A hash can't be replaced: with a placeholder it would
    /// be the hash of nothing.
    pub(super) fn check_hashes(&self, draft: &Draft) -> Result<(), Invalid> {
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
        let project = caller.place(draft.workspace.clone()).project;
        let ward = read(self.engine(), |snapshot| self.ward(snapshot, project, now))?;
        let fresh = RecordId::from_parts(now, self.entropy.id_bytes());
        match ward.screen(draft) {
            Verdict::Allow(screened) => Ok(Prepared::Save(screened, fresh, ward.revision())),
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

/// The most items that wait for review in one person's reach. Beyond it a flood of writes that the
/// guard holds back would bury those that matter.
pub(super) const MAX_WAITING: u32 = 1_000;

/// Returns the draft as it may wait: its idempotency key is kept as a hash, and not here.
pub(super) fn without_key(draft: &Draft) -> Draft {
    let mut waiting = draft.clone();
    waiting.envelope.idempotency_key = None;
    waiting
}

/// A screened draft on its way into memory or into the lane.
pub(super) enum Prepared {
    /// It may become memory, under this id if it proposes none of its own; screened with the rules
    /// of that number.
    Save(Screened, RecordId, u64),
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
            Self::Save(screened, id, screened_with) => {
                let kept = Kept {
                    approval: None,
                    screened_with: *screened_with,
                };
                save(txn, caller, screened, *id, now, kept)
            }
            Self::Hold(screened, item) => hold(txn, caller, screened, item, now),
        }
    }
}

/// What is kept with a record and is no part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// The item of the lane that it came out of.
    pub(super) approval: Option<CandidateId>,
    /// The number of the rules that it was screened with.
    pub(super) screened_with: u64,
}

/// Saves a screened draft in the transaction.
pub(super) fn save(
    txn: &mut dyn Txn,
    caller: &Caller,
    screened: &Screened,
    id: RecordId,
    now: Timestamp,
    kept: Kept,
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
    let id = match identity(txn.snapshot(), caller, draft, id)? {
        Identity::New(id) => id,
        Identity::Delivered(id) => return Ok(Ok(Outcome::existing(id, screened))),
        Identity::Taken => {
            return Ok(Err(Invalid::new(
                "proposed_id",
                "is in use; propose a fresh UUIDv7",
            )
            .into()));
        }
    };
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
            insert(txn, caller, screened, &record, before, kept, now)?
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
    let same = txn.lane_same(item.project, item.digest())?;
    let finding = item.proposal.finding.clone();
    let (rule, mut reason) = finding
        .map(|found| (found.rule, found.reason))
        .unwrap_or_default();
    let shown = match (admit(&item.proposal, same.as_ref(), now), same) {
        (Err(NotAdmitted::WaitingAlready), Some(same)) => same.id,
        (Err(NotAdmitted::TurnedDownBefore), Some(same)) => {
            reason.push_str("; a person turned the same text down before");
            same.id
        }
        _ => {
            if n_waiting(txn.snapshot(), caller, now)? >= MAX_WAITING {
                let why = format!(
                    "was held back by the guard ({rule}: {reason}), and {MAX_WAITING} items wait for \
                     review already: decide on some of them first"
                );
                return Ok(Err(Invalid::new("content", why).into()));
            }
            txn.insert_lane_item(item)?;
            let ids = vec![item.id.shown()];
            txn.append_audit(&entry(caller, Deed::Quarantine, ids, Some(&rule), now))?;
            item.id
        }
    };
    let outcome = Outcome {
        kind: OutcomeKind::Quarantined(QuarantineView {
            candidate_id: shown.shown(),
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
    kept: Kept,
    now: Timestamp,
) -> EngineResult<Outcome> {
    let words = words_of(record);
    txn.insert_record(&NewRecord {
        record,
        digest: ContentDigest::of(&record.content),
        words: &words,
        replaced: screened.replaced(),
        approval: kept.approval,
        screened: kept.screened_with,
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

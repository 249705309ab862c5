//! What saving came to, and the answer that it is told with.
//!
//! An outcome names records and holds none of their content: a kept answer is read anew, so that
//! what has been forgotten since can't come back.

use mmw_core::draft::Screened;
use mmw_core::ids::RecordId;
use mmw_core::status::Level;
use mmw_core::time::Timestamp;
use mmw_core::wire::{Conflicting, QuarantineView, RecordView, RememberAnswer, ReplacedView};

use crate::engine::{EngineResult, Snapshot};
use crate::memory::second_look::SecondLook;
use crate::memory::{Memory, mention};

/// The most claims that are told as conflicting with a saved one; the newest are kept.
const MAX_TOLD_CONFLICTS: usize = 20;

/// The most versions that are told as superseded; the newest are kept.
const MAX_TOLD_SUPERSEDED: usize = 50;

/// What an answer is made of, without any content: what an idempotency key keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) struct Outcome {
    pub(super) kind: OutcomeKind,
    pub(super) conflicts_with: Vec<RecordId>,
    pub(super) superseded: Vec<RecordId>,
    pub(super) replaced: Vec<ReplacedView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutcomeKind {
    Saved(RecordId),
    Deduplicated(RecordId),
    Quarantined(QuarantineView),
}

impl Outcome {
    pub(super) fn existing(id: RecordId, screened: &Screened) -> Self {
        Self {
            kind: OutcomeKind::Deduplicated(id),
            conflicts_with: Vec::new(),
            superseded: Vec::new(),
            replaced: ReplacedView::all_of(screened.replaced()),
        }
    }

    /// Returns the id of the record that is in memory now.
    pub(in crate::memory) const fn record_id(&self) -> Option<RecordId> {
        match &self.kind {
            OutcomeKind::Saved(id) | OutcomeKind::Deduplicated(id) => Some(*id),
            OutcomeKind::Quarantined(_) => None,
        }
    }

    pub(super) fn to_json(&self) -> String {
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

    pub(super) fn from_json(json: &str) -> Option<Self> {
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
pub(in crate::memory) fn answer(
    memory: &Memory,
    snapshot: &dyn Snapshot,
    outcome: &Outcome,
    now: Timestamp,
) -> EngineResult<RememberAnswer> {
    let mut look = SecondLook::new(memory, now);
    let record = match outcome.record_id().map(|id| snapshot.record(id)) {
        Some(found) => match found? {
            Some(stored) => look.at(snapshot, stored)?,
            None => None,
        },
        None => None,
    };
    let record = record.map(|stored| RecordView::of(&stored.record));
    let told = outcome.conflicts_with.len().min(MAX_TOLD_CONFLICTS);
    let mut conflicts_with: Vec<Conflicting> = Vec::with_capacity(told);
    for stored in
        snapshot.records(&outcome.conflicts_with[outcome.conflicts_with.len() - told..])?
    {
        if let Some(stored) = look.at(snapshot, stored)? {
            conflicts_with.push(Conflicting {
                id: stored.record.id,
                created_at: stored.record.said.created_at,
                source_id: stored.record.origin.id.as_ref().map(ToString::to_string),
                content: stored.record.content,
            });
        }
    }
    conflicts_with.sort_by_key(|claim| std::cmp::Reverse((claim.created_at, claim.id)));
    mention::fit(conflicts_with.iter_mut().map(|claim| &mut claim.content));
    // Of a replayed answer, what has been forgotten since is left out; a fact may have more versions
    // than anybody wants to be told.
    let told = outcome.superseded.len().min(MAX_TOLD_SUPERSEDED);
    let mut superseded = outcome.superseded[outcome.superseded.len() - told..].to_vec();
    let forgotten = snapshot.tombstones(&superseded)?;
    superseded.retain(|id| forgotten.iter().all(|tombstone| tombstone.id != *id));
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
        superseded,
        replaced: outcome.replaced.clone(),
        deduplicated: matches!(outcome.kind, OutcomeKind::Deduplicated(_)),
        quarantine,
        source_note: None,
    })
}

//! What a draft names must be there: its sources, and the id that it proposes.

use mmw_core::draft::Draft;
use mmw_core::ids::RecordId;
use mmw_core::place::Caller;
use mmw_core::text::comparable;
use mmw_core::validation::Invalid;

use crate::engine::{EngineResult, Snapshot};

/// "Ids of existing, visible, unforgotten records."
pub(super) fn check_sources(
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

/// The id that a draft is saved under.
pub(super) enum Identity {
    /// This one, which is free.
    New(RecordId),
    /// This very statement has its proposed id: a repeated delivery.
    Delivered(RecordId),
    /// Something else that the caller sees has the proposed id.
    Taken,
}

/// Chooses the id: the proposed one if it is free, else `fresh`. A record, forgotten or not, is never
/// written over, and what the caller can't see is not given away by a refusal.
pub(super) fn identity(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    draft: &Draft,
    fresh: RecordId,
) -> EngineResult<Identity> {
    let Some(proposed) = draft.envelope.proposed_id else {
        return Ok(Identity::New(fresh));
    };
    if let Some(stored) = snapshot.record(proposed)? {
        let record = stored.record;
        let is_same = record.place == caller.place(draft.workspace.clone())
            && record.said.author == caller.principal
            && record.fact_key == draft.fact_key
            && comparable(&record.content) == comparable(&draft.content);
        return Ok(if is_same {
            Identity::Delivered(proposed)
        } else if caller.sees(record.place.project) {
            Identity::Taken
        } else {
            Identity::New(fresh)
        });
    }
    Ok(match snapshot.tombstones(&[proposed])?.first() {
        Some(tombstone) if caller.sees(tombstone.place.project) => Identity::Taken,
        Some(_) => Identity::New(fresh),
        None => Identity::New(proposed),
    })
}

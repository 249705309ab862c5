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

/// What a proposed id comes to.
pub(super) enum Proposed {
    /// It is free, or none was proposed.
    Free,
    /// This very statement has it: a repeated delivery.
    Delivered,
    /// Something else has it.
    Taken,
}

/// A record, forgotten or not, is never written over.
pub(super) fn look_at_proposed_id(
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

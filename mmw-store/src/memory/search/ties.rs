//! What comes first among equals: what was said later, then the higher id.
//!
//! Candidates are ordered by where they arrived; a record that waited in a queue arrived later than it
//! was said. Only equals among the places that a reader can see are looked at.

use std::collections::HashMap;

use mmw_core::ids::RecordId;
use mmw_core::time::Timestamp;

use super::candidates::Candidate;
use crate::engine::{EngineResult, Row, Snapshot};

/// The places that a reader can see: above the highest `limit`.
const SEEN: usize = 64;

/// Orders equals.
pub(super) fn settle(snapshot: &dyn Snapshot, ranked: &mut [Candidate]) -> EngineResult<()> {
    let seen = ranked.len().min(SEEN);
    // A run of equals that begins among the seen is taken to its end.
    let mut rows: Vec<Row> = Vec::new();
    let mut end = 0;
    let mut runs = Vec::new();
    for run in ranked.chunk_by(|a, b| a.worth.total_cmp(&b.worth).is_eq()) {
        let from = end;
        end += run.len();
        if from >= seen {
            break;
        }
        if run.len() > 1 {
            rows.extend(run.iter().map(|one| one.row));
            runs.push(from..end);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let order: HashMap<Row, (Timestamp, RecordId)> = snapshot
        .records_at(&rows)?
        .into_iter()
        .map(|stored| (stored.row, stored.record.order()))
        .collect();
    for run in runs {
        ranked[run].sort_by(|a, b| order.get(&b.row).cmp(&order.get(&a.row)));
    }
    Ok(())
}

//! What comes first among equals: what was said later, then the higher id.
//!
//! Candidates are ordered by where they arrived; a record that waited in a queue arrived later than it
//! was said. Equals are looked at as far as somebody wants to see.

use rustc_hash::FxHashMap;

use super::candidates::Candidate;
use crate::engine::{EngineResult, Row, Snapshot};

/// Orders equals, given that those before `from` are in order: all that begin before `to`, each run of equals
/// to its end. Returns up to where all are in order now.
pub(super) fn settle(
    snapshot: &dyn Snapshot,
    ranked: &mut [Candidate],
    from: usize,
    to: usize,
) -> EngineResult<usize> {
    let mut runs = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut end = from;
    for run in ranked[from..].chunk_by(|a, b| a.worth.total_cmp(&b.worth).is_eq()) {
        if end >= to {
            break;
        }
        if run.len() > 1 {
            rows.extend(run.iter().map(|one| one.row));
            runs.push(end..end + run.len());
        }
        end += run.len();
    }
    if rows.is_empty() {
        return Ok(end);
    }
    let order: FxHashMap<_, _> = snapshot.orders_at(&rows)?.into_iter().collect();
    for run in runs {
        ranked[run].sort_by(|a, b| order.get(&b.row).cmp(&order.get(&a.row)));
    }
    Ok(end)
}

//! Builds hits: what a search or a brief shows of a record.

use std::collections::HashMap;

use mmw_core::fact::Versions;
use mmw_core::ids::RecordId;
use mmw_core::record::Record;
use mmw_core::time::Timestamp;
use mmw_core::wire::{Hit, RelationView, ScoreView};

use super::judged::Judge;
use crate::engine::EngineResult;

/// The most claims of one fact that are shown side by side: nobody compares more, and one fact must
/// not take the room of all others.
pub(super) const MAX_SHOWN_CLAIMS: usize = 50;

/// How a record came to be a hit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Found {
    /// What its match is worth.
    pub(super) score: f64,
    /// What that is made of.
    pub(super) parts: ScoreView,
}

/// Chooses which versions of a fact are shown: all open claims if they disagree, else the newest;
/// with `history` the rest too. Newest first. Versions that nothing stands behind any more are
/// shown as history only.
///
/// Of more than [`MAX_SHOWN_CLAIMS`] the newest are shown; the others are counted as folded.
pub(super) fn shown_versions(versions: &Versions, history: bool) -> Vec<RecordId> {
    let mut shown: Vec<RecordId> = versions
        .all()
        .iter()
        .rev()
        .map(|version| version.id)
        .filter(|id| history || !versions.is_history(*id))
        .collect();
    // The newest open claim leads even if a closed one was said later.
    if let Some(newest) = versions.newest()
        && let Some(at) = shown.iter().position(|id| *id == newest.id)
    {
        shown[..=at].rotate_right(1);
    }
    shown.truncate(MAX_SHOWN_CLAIMS);
    shown
}

/// Keeps what holds at a moment. Without one (`as_of`), only what lies ahead of now is left out:
/// what is over stays and is shown as stale.
pub(super) fn holds(record: &Record, as_of: Option<Timestamp>, now: Timestamp) -> bool {
    match as_of {
        Some(moment) => record.holds_at(moment),
        None => !record.lies_ahead_of(now),
    }
}

/// Builds the hit of a record.
pub(super) fn hit(
    judge: &mut Judge<'_>,
    record: &Record,
    found: Found,
    older_versions: u32,
    relations: &mut HashMap<RecordId, Vec<RelationView>>,
) -> EngineResult<Hit> {
    let (status, status_reasons) = judge.shown_status(record)?;
    let superseded_by = judge
        .fact_of(record)?
        .and_then(|fact| fact.versions.superseded_by(record.id));
    Ok(Hit {
        record: judge.view(record)?.short(),
        status,
        status_reasons,
        superseded_by,
        older_versions,
        differences: judge.differences(record)?,
        graph_relations: relations.remove(&record.id).unwrap_or_default(),
        score: rounded(found.score),
        score_parts: found.parts,
        anchors: judge.anchors(record)?,
        local_source: None,
        local_span: None,
        truncated: false,
    })
}

/// Four digits tell matches apart; more would only cost tokens.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

//! The receipt of a record: "why do you remember this?"

use mmw_core::fact::Resolution;
use mmw_core::ids::{CandidateId, RecordId};
use mmw_core::place::{Caller, Scope};
use mmw_core::validation::Invalid;
use mmw_core::wire::{
    ApprovalView, DeedView, ExplainAnswer, ExplainArgs, ReplacedView, ResolutionView,
};

use super::Memory;
use super::failure::Failure;
use super::judged::Judge;
use crate::engine::{AuditRow, EngineResult, Snapshot, read};

impl Memory {
    /// Returns the receipt of a record: who said it, when, from what, its versions and links, why it
    /// has its status, who approved it, what the guard did and what was done to it since.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` for a forgotten, a foreign and an absent record alike.
    pub fn explain(&self, caller: &Caller, args: &ExplainArgs) -> Result<ExplainAnswer, Failure> {
        self.need(caller, Scope::Read)?;
        let id: RecordId = args
            .memory_id
            .parse()
            .map_err(|e| Invalid::new("memory_id", format!("{e}")))?;
        let now = self.clock.now();
        read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let explained = explain(snapshot, &mut judge, id)?;
            Ok((explained, judge.withheld(id)))
        })
        .map_err(Failure::from)
        .and_then(|(explained, is_withheld)| match explained {
            Some(explained) => Ok(explained),
            None if is_withheld => {
                let why = "names a record that is withheld: today's guard sees an instruction in \
                           it. A person can move it to the review lane with `rescan`";
                Err(Invalid::new("memory_id", why).into())
            }
            None => Err(Failure::NotFound("record")),
        })
    }
}

fn explain(
    snapshot: &dyn Snapshot,
    judge: &mut Judge<'_>,
    id: RecordId,
) -> EngineResult<Option<ExplainAnswer>> {
    let Some(stored) = judge.record(id)? else {
        return Ok(None);
    };
    let record = &stored.record;
    let (status, status_reasons) = judge.shown_status(record)?;
    let (superseded_by, mut resolutions) = match judge.fact_of(record)? {
        Some(fact) => (fact.versions.superseded_by(id), fact.resolutions.clone()),
        None => (None, Vec::new()),
    };
    resolutions.sort_by_key(|resolution| std::cmp::Reverse((resolution.at, resolution.id)));
    let versions = match &record.fact_key {
        Some(fact_key) => judge.versions(&record.place, fact_key)?,
        None => Vec::new(),
    };
    let approval = match stored.approval {
        Some(candidate) => approval(snapshot, candidate)?,
        None => None,
    };
    // Notes passed the rules of their day.
    let project = record.place.project;
    let mut resolutions: Vec<_> = resolutions.iter().map(resolution_view).collect();
    let mut history: Vec<_> = snapshot.audit_of(id)?.iter().map(deed).collect();
    let mut approval = approval;
    let notes = resolutions
        .iter_mut()
        .map(|resolution| &mut resolution.note);
    let notes = notes.chain(history.iter_mut().map(|deed| &mut deed.why));
    for note in notes.chain(approval.iter_mut().map(|approval| &mut approval.note)) {
        if let Some(text) = note.take() {
            *note = Some(judge.note(project, &text)?);
        }
    }
    Ok(Some(ExplainAnswer {
        record: judge.view(record)?,
        status,
        status_reasons,
        superseded_by,
        versions,
        resolutions,
        differences: judge.differences(record)?,
        graph_relations: judge.relations(&[id])?.remove(&id).unwrap_or_default(),
        anchors: judge.anchors(record)?,
        local_source: None,
        local_span: None,
        replaced: ReplacedView::all_of(&stored.replaced),
        approval,
        history,
    }))
}

fn approval(snapshot: &dyn Snapshot, id: CandidateId) -> EngineResult<Option<ApprovalView>> {
    let Some(item) = snapshot.lane_item(id)? else {
        return Ok(None);
    };
    Ok(item.decision.map(|decision| ApprovalView {
        candidate_id: item.id.shown(),
        lane: item.proposal.kind.name().to_owned(),
        by: decision.by,
        way: decision.way.name().to_owned(),
        at: decision.at,
        note: decision.note,
        evidence: item.proposal.evidence,
    }))
}

/// Returns a resolution as it is shown.
pub(super) fn resolution_view(resolution: &Resolution) -> ResolutionView {
    ResolutionView {
        id: resolution.id,
        winner: resolution.winner,
        closed: resolution.closed.clone(),
        at: resolution.at,
        by: resolution.by,
        way: resolution.way.name().to_owned(),
        note: resolution.note.clone(),
    }
}

fn deed(row: &AuditRow) -> DeedView {
    DeedView {
        at: row.entry.at,
        deed: row.entry.deed.name().to_owned(),
        way: row.entry.way.to_owned(),
        by: row.entry.principal,
        key: row.entry.key.as_ref().map(ToString::to_string),
        why: row.entry.why.clone(),
    }
}

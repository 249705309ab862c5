//! The lines of an export, in their one order: equal memories make equal files.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use mmw_core::capture::LaneItem;
use mmw_core::ids::RecordId;
use mmw_core::link::{Direction, LinkKind};
use mmw_core::place::{Caller, Place, Reviewer, Scope, WorkspaceChoice};
use mmw_core::record::{FactKey, Record};
use mmw_core::time::Timestamp;
use mmw_core::validation;
use mmw_core::wire::transfer::{
    EXPORT_VERSION, ExportHeader, ExportLine, ExportedForgotten, ExportedLink, ExportedRecord,
    ExportedResolution, ExportedWaiting,
};
use mmw_core::wire::{RememberArgs, ReplacedView};
use mmw_guard::Verdict;

use super::super::judged::Judge;
use super::super::second_look::draft_of;
use super::super::ward::Ward;
use crate::engine::{EngineResult, LaneFilter, Row, Snapshot, Stored, read};
use crate::memory::Memory;
use crate::memory::failure::Failure;

/// How many records are read at a time.
const PAGE: usize = 500;

/// After how many records the progress is told.
const TOLD_EVERY: u64 = 64;

/// What an export holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exported {
    /// Its lines, the header first.
    pub lines: Vec<ExportLine>,
    /// Records that today's guard withholds, like everywhere.
    pub n_withheld: u64,
}

impl Memory {
    /// Returns everything that the caller sees in their project and their own workspace, or in one
    /// workspace, as the lines of an export: in the order of workspace, moment and id. Forgotten records
    /// are not in it; of those that others were derived from, ids are.
    ///
    /// What today's guard would replace is replaced, as wherever something is shown. All of it is held in
    /// memory, from one snapshot.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn export(&self, caller: &Caller, workspace: Option<&str>) -> Result<Exported, Failure> {
        self.export_with(caller, workspace, None, &mut |_, _| {})
    }

    /// As [`Memory::export`]; with a person it holds what waits for review too, which nobody else is shown.
    /// `progress` is told how many of how many records are done.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn export_with(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        reviewer: Option<Reviewer>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Exported, Failure> {
        self.need(caller, Scope::Read)?;
        let chosen = match workspace {
            None => WorkspaceChoice::All,
            some => validation::workspace_choice(some)?,
        };
        let now = self.clock.now();
        let progress = RefCell::new(progress);
        let exported = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut kept: Vec<(Record, Stored)> = Vec::new();
            let found = unforgotten(snapshot, caller, &chosen)?;
            let n_found = found.len() as u64;
            for (stored, nth) in found.into_iter().zip(0..) {
                if nth % TOLD_EVERY == 0 {
                    (progress.borrow_mut())(nth, n_found);
                }
                // A page at a time would be judged again and again; what is judged is kept anyway.
                if let Some(record) = judge.know(stored.clone())? {
                    kept.push((record, stored));
                }
            }
            kept.sort_by(|(a, _), (b, _)| order(a).cmp(&order(b)));
            let (waiting, n_refused) = match reviewer {
                Some(_) => self.waiting_lines(snapshot, caller, &chosen, now)?,
                None => (Vec::new(), 0),
            };
            let lines = lines(snapshot, &mut judge, &kept, waiting)?;
            (progress.borrow_mut())(n_found, n_found);
            Ok(Exported {
                lines,
                n_withheld: judge.n_withheld() as u64 + n_refused,
            })
        })?;
        Ok(exported)
    }
}

impl Memory {
    /// Returns the lines of what waits for review, in the order of workspace, moment and id, and how many
    /// items today's guard refuses altogether.
    fn waiting_lines(
        &self,
        snapshot: &dyn Snapshot,
        caller: &Caller,
        chosen: &WorkspaceChoice,
        now: Timestamp,
    ) -> EngineResult<(Vec<ExportLine>, u64)> {
        let filter = LaneFilter {
            waiting_at: Some(now),
            workspace: match chosen {
                WorkspaceChoice::All => None,
                WorkspaceChoice::One(name) => Some(name.clone()),
            },
            ..LaneFilter::default()
        };
        let projects = caller.visible_projects();
        let n_items = snapshot.n_lane_items(&projects, &filter)?;
        let n_items = usize::try_from(n_items).unwrap_or(usize::MAX);
        let mut items = snapshot.lane_items(&projects, &filter, n_items)?;
        let place = |item: &LaneItem| item.proposal.draft.workspace.to_string();
        items.sort_by_key(|item| (place(item), item.created_at, item.id));
        let mut lines = Vec::with_capacity(items.len());
        let mut n_refused = 0;
        for item in items {
            let ward = self.ward(snapshot, item.project, now)?;
            match waiting_line(&ward, item) {
                Some(line) => lines.push(ExportLine::Waiting(Box::new(line))),
                None => n_refused += 1,
            }
        }
        Ok((lines, n_refused))
    }
}

/// Returns the line of an item; none if today's guard refuses what it says. What it was held back for is
/// what it is shown with, and no reason to leave it out.
fn waiting_line(ward: &Ward, item: LaneItem) -> Option<ExportedWaiting> {
    let proposal = item.proposal;
    let screened = match ward.look_at(proposal.draft) {
        Verdict::Allow(screened) | Verdict::Quarantine(screened, _) => screened,
        Verdict::Reject(_) => return None,
    };
    let clean = |text: String| ward.redact(&text).0;
    let (statement, envelope) = RememberArgs::of(screened.draft());
    let finding = proposal.finding;
    Some(ExportedWaiting {
        id: item.id.shown(),
        lane: proposal.kind.name().to_owned(),
        statement,
        envelope,
        author: item.author,
        created_at: item.created_at,
        classification: proposal.classification.name().to_owned(),
        why_durable: proposal.why_durable.map(clean),
        evidence: proposal.evidence.into_iter().map(clean).collect(),
        replaced: ReplacedView::all_of(&proposal.replaced),
        rule: finding.as_ref().map(|finding| finding.rule.clone()),
        reason: finding.map(|finding| clean(finding.reason)),
    })
}

fn order(record: &Record) -> (&str, Timestamp, RecordId) {
    let (moment, id) = record.order();
    (record.place.workspace.as_str(), moment, id)
}

fn unforgotten(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    chosen: &WorkspaceChoice,
) -> EngineResult<Vec<Stored>> {
    let mut found = Vec::new();
    for project in caller.visible_projects() {
        let mut behind: Option<Row> = None;
        loop {
            let page = snapshot.kept_records(project, behind, PAGE)?;
            let Some(last) = page.last() else { break };
            behind = Some(last.stored.row);
            let is_last = page.len() < PAGE;
            found.extend(
                page.into_iter()
                    .filter(|kept| !kept.is_forgotten)
                    .map(|kept| kept.stored)
                    .filter(|stored| match chosen {
                        WorkspaceChoice::All => true,
                        WorkspaceChoice::One(name) => stored.record.place.workspace == *name,
                    }),
            );
            if is_last {
                break;
            }
        }
    }
    Ok(found)
}

fn lines(
    snapshot: &dyn Snapshot,
    judge: &mut Judge<'_>,
    kept: &[(Record, Stored)],
    waiting: Vec<ExportLine>,
) -> EngineResult<Vec<ExportLine>> {
    let ids: Vec<RecordId> = kept.iter().map(|(record, _)| record.id).collect();
    let places: HashMap<RecordId, usize> = ids.iter().enumerate().map(|(n, id)| (*id, n)).collect();

    let mut records = Vec::with_capacity(kept.len());
    for (record, stored) in kept {
        let (statement, envelope) = RememberArgs::of(&draft_of(record));
        let mut line = ExportedRecord::of(record, statement, envelope);
        line.replaced = ReplacedView::all_of(&stored.replaced);
        line.approval = stored.approval.map(|id| id.shown());
        line.status = Some(judge.shown_status(record)?.0);
        line.superseded_by = match judge.fact_of(record)? {
            Some(fact) => fact.versions.superseded_by(record.id),
            None => None,
        };
        records.push(ExportLine::Record(Box::new(line)));
    }

    let sources: BTreeSet<RecordId> = kept
        .iter()
        .flat_map(|(record, _)| record.derived_from.iter().copied())
        .collect();
    let sources: Vec<RecordId> = sources.into_iter().collect();
    let mut forgotten = snapshot.tombstones(&sources)?;
    forgotten.sort_by_key(|tombstone| tombstone.id);
    let forgotten: Vec<ExportLine> = forgotten
        .into_iter()
        .map(|tombstone| {
            ExportLine::Forgotten(ExportedForgotten {
                id: tombstone.id,
                at: tombstone.at,
                by: tombstone.by,
            })
        })
        .collect();

    let mut links: Vec<ExportedLink> = Vec::new();
    for some in ids.chunks(PAGE) {
        for link in snapshot.links(some, Direction::Out)? {
            if link.kind != LinkKind::DerivedFrom && places.contains_key(&link.to) {
                links.push(ExportedLink {
                    from: link.from,
                    kind: link.kind.name().to_owned(),
                    to: link.to,
                    created_at: link.created_at,
                });
            }
        }
    }
    links.sort_by_key(|link| {
        let at = |id: &RecordId| places.get(id).copied();
        (at(&link.from), link.kind.clone(), at(&link.to))
    });

    let facts: BTreeSet<(&Place, &FactKey)> = kept
        .iter()
        .filter_map(|(record, _)| Some((&record.place, record.fact_key.as_ref()?)))
        .collect();
    let mut resolutions = Vec::new();
    for (place, fact_key) in facts {
        for resolution in judge.fact(place, fact_key)?.resolutions.clone() {
            let note = match &resolution.note {
                Some(note) => Some(judge.note(place.project, note)?),
                None => None,
            };
            resolutions.push(ExportedResolution {
                id: resolution.id,
                workspace: place.workspace.to_string(),
                fact_key: fact_key.to_string(),
                winner: resolution.winner,
                closed: resolution.closed,
                at: resolution.at,
                by: resolution.by,
                way: resolution.way.name().to_owned(),
                note,
            });
        }
    }
    resolutions.sort_by_key(|resolution| (resolution.at, resolution.id));

    let header = ExportHeader {
        version: EXPORT_VERSION,
        forgotten: forgotten.len() as u64,
        records: records.len() as u64,
        links: links.len() as u64,
        resolutions: resolutions.len() as u64,
        waiting: waiting.len() as u64,
    };
    let mut lines = vec![ExportLine::MmwExport(header)];
    lines.extend(forgotten);
    lines.extend(records);
    lines.extend(links.into_iter().map(ExportLine::Link));
    lines.extend(resolutions.into_iter().map(ExportLine::Resolution));
    lines.extend(waiting);
    Ok(lines)
}

//! The lines of an export, in their one order: equal memories make equal files.

use std::collections::{BTreeSet, HashMap};

use mmw_core::ids::RecordId;
use mmw_core::link::{Direction, LinkKind};
use mmw_core::place::{Caller, Place, Scope, WorkspaceChoice};
use mmw_core::record::{FactKey, Record};
use mmw_core::validation;
use mmw_core::wire::transfer::{
    EXPORT_VERSION, ExportHeader, ExportLine, ExportedForgotten, ExportedLink, ExportedRecord,
    ExportedResolution,
};
use mmw_core::wire::{RememberArgs, ReplacedView};

use super::super::judged::Judge;
use super::super::second_look::draft_of;
use crate::engine::{EngineResult, Row, Snapshot, Stored, read};
use crate::memory::Memory;
use crate::memory::failure::Failure;

/// How many records are read at a time.
const PAGE: usize = 500;

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
        self.need(caller, Scope::Read)?;
        let chosen = match workspace {
            None => WorkspaceChoice::All,
            some => validation::workspace_choice(some)?,
        };
        let now = self.clock.now();
        let exported = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut kept: Vec<(Record, Stored)> = Vec::new();
            for stored in unforgotten(snapshot, caller, &chosen)? {
                // A page at a time would be judged again and again; what is judged is kept anyway.
                if let Some(record) = judge.know(stored.clone())? {
                    kept.push((record, stored));
                }
            }
            kept.sort_by(|(a, _), (b, _)| order(a).cmp(&order(b)));
            Ok(Exported {
                lines: lines(snapshot, &mut judge, &kept)?,
                n_withheld: judge.n_withheld() as u64,
            })
        })?;
        Ok(exported)
    }
}

fn order(record: &Record) -> (&str, mmw_core::time::Timestamp, RecordId) {
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
    };
    let mut lines = vec![ExportLine::MmwExport(header)];
    lines.extend(forgotten);
    lines.extend(records);
    lines.extend(links.into_iter().map(ExportLine::Link));
    lines.extend(resolutions.into_iter().map(ExportLine::Resolution));
    Ok(lines)
}

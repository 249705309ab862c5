//! What is decided in the transaction: is it here already, and is what it rests on here.

use std::collections::HashMap;

use mmw_core::audit::Deed;
use mmw_core::capture::{
    Classification, LaneItem, LaneKind, LaneState, NotAdmitted, Proposal, admit,
};
use mmw_core::draft::Replacement;
use mmw_core::fact::Resolution;
use mmw_core::fact::plan::moved;
use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::link::{Direction, Link, LinkKind};
use mmw_core::place::{Caller, Place, Reviewer};
use mmw_core::plan::may_grow;
use mmw_core::record::{Confidence, DEFAULT_SCOPE, Kind, Record, Said, Visibility};
use mmw_core::source::Origin;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;
use mmw_core::wire::transfer::ExportedForgotten;

use super::super::indexed::words_of;
use super::super::remember::{MAX_WAITING, entry, without_key};
use super::super::review::n_waiting;
use super::names;
use super::prepare::{Item, Moving, Waiting, What};
use crate::engine::{EngineResult, LexicalDoc, NewRecord, Snapshot, Txn};

/// Why a row of the audit is there.
const WHY: &str = "import";

/// Who takes in, and when.
pub(super) struct Taking<'a> {
    pub(super) caller: &'a Caller,
    pub(super) reviewer: Option<Reviewer>,
    pub(super) now: Timestamp,
}

/// What became of one thing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is memory now.
    Imported,
    /// The record or waiting item was here.
    There,
    /// It was forgotten here.
    Forgotten,
    /// The guard holds it; by that rule.
    Held(String),
    /// It waits for a person.
    Proposed,
    /// A person turned it down before.
    TurnedDown,
    /// Nobody decided on it in time.
    Expired,
    /// The link is here now.
    Linked,
    /// The decision counts now.
    Resolved,
    /// The link or the decision was here.
    Known,
    /// Only a person may take it over.
    LeftToAPerson,
    /// It can't be taken in.
    Refused(String),
}

/// What an id means here.
enum Here {
    /// This record, which the caller sees.
    Is(Box<Record>),
    /// A forgotten record of this id.
    Gone(RecordId),
    /// Nothing: it can be used, as it is or under its alias.
    Free(RecordId),
}

impl Taking<'_> {
    pub(super) fn take(
        &self,
        txn: &mut dyn Txn,
        item: &Item,
        marks: &HashMap<RecordId, ExportedForgotten>,
    ) -> EngineResult<Taken> {
        match &item.what {
            What::Record(moving) => self.record(txn, moving, marks),
            What::Rejected { rule, reason } => {
                let row = entry(
                    self.caller,
                    Deed::Reject,
                    Vec::new(),
                    Some(rule.as_str()),
                    self.now,
                );
                txn.append_audit(&row)?;
                Ok(Taken::Refused(reason.clone()))
            }
            What::Link(link) => self.link(txn, link),
            What::Resolution(resolution) => self.decision(txn, resolution),
            What::Waiting(waiting) => self.waiting(txn, waiting),
        }
    }

    /// Finds out what an id means in this project.
    fn here(
        &self,
        snapshot: &dyn Snapshot,
        project: ProjectId,
        id: RecordId,
    ) -> EngineResult<Here> {
        let alias = names::alias(project, id);
        for id in [id, alias] {
            if let Some(stored) = snapshot.record(id)? {
                if self.caller.sees(stored.record.place.project) {
                    return Ok(Here::Is(Box::new(stored.record)));
                }
                continue;
            }
            match snapshot.tombstones(&[id])?.first() {
                Some(tombstone) if self.caller.sees(tombstone.place.project) => {
                    return Ok(Here::Gone(id));
                }
                Some(_) => {}
                None => return Ok(Here::Free(id)),
            }
        }
        Ok(Here::Free(names::alias(project, alias)))
    }

    fn record(
        &self,
        txn: &mut dyn Txn,
        moving: &Moving,
        marks: &HashMap<RecordId, ExportedForgotten>,
    ) -> EngineResult<Taken> {
        let draft = moving.screened.draft();
        let place = self.caller.place(draft.workspace.clone());
        let id = match self.here(txn.snapshot(), place.project, moving.id)? {
            Here::Is(record) => {
                let here = ContentDigest::of(&record.content);
                let is_same = record.place == place
                    && record.fact_key == draft.fact_key
                    && (here == ContentDigest::of(&draft.content) || here == moving.given);
                return Ok(if is_same {
                    Taken::There
                } else {
                    Taken::Refused("its id is that of another record here".to_owned())
                });
            }
            Here::Gone(_) => return Ok(Taken::Forgotten),
            Here::Free(id) => id,
        };
        let is_approved = moving.approval.is_some() && self.reviewer.is_some();
        let is_held = moving.finding.is_some() && !is_approved;
        if is_held || moving.captured.is_some() {
            return self.wait(txn, moving, &place);
        }
        if let Some(fact_key) = &draft.fact_key {
            txn.take_turn(&place, fact_key)?;
        }
        let mut sources = Vec::with_capacity(draft.derived_from.len());
        let mut forgotten = Vec::new();
        for (nth, source) in draft.derived_from.iter().enumerate() {
            match (
                self.here(txn.snapshot(), place.project, *source)?,
                marks.get(source),
            ) {
                (Here::Is(record), _) => sources.push(record.id),
                (Here::Gone(id), _) => sources.push(id),
                (Here::Free(free), Some(mark)) if free != id => {
                    sources.push(free);
                    forgotten.push((free, mark));
                }
                (Here::Free(_), _) => {
                    return Ok(Taken::Refused(format!(
                        "derived_from[{nth}]: names a record that is neither here nor in what is \
                         imported"
                    )));
                }
            }
        }
        if let Some(project) = txn.project(place.project)? {
            let n_records = txn.n_records(place.project)?;
            if let Err(full) = may_grow(&project.limits, n_records) {
                return Ok(Taken::Refused(full.to_string()));
            }
        }
        for (id, mark) in forgotten {
            self.mark_forgotten(txn, &place, id, mark)?;
        }
        let mut record = moved(&moving.screened, place, id, moving.moment, self.now);
        record.derived_from = sources;
        txn.insert_record(&NewRecord {
            record: &record,
            digest: ContentDigest::of(&record.content),
            words: &words_of(&record),
            replaced: &together(&moving.replaced_before, moving.screened.replaced()),
            approval: moving.approval.filter(|_| is_approved),
            screened: moving.revision,
        })?;
        let ids = vec![id.to_string()];
        txn.append_audit(&entry(
            self.caller,
            Deed::Remember,
            ids,
            Some(WHY),
            self.now,
        ))?;
        Ok(Taken::Imported)
    }

    /// Leaves the mark of a forgotten record, so that what was derived from it stays stale. It never
    /// had a content here.
    fn mark_forgotten(
        &self,
        txn: &mut dyn Txn,
        place: &Place,
        id: RecordId,
        mark: &ExportedForgotten,
    ) -> EngineResult<()> {
        let at = mark.at.min(self.now);
        let record = Record {
            id,
            place: place.clone(),
            content: String::new(),
            fact_key: None,
            kind: Kind::Fact,
            label: None,
            origin: Origin::default(),
            confidence: Confidence::default(),
            derived_from: Vec::new(),
            scope: DEFAULT_SCOPE.to_owned(),
            tags: Vec::new(),
            valid_from: None,
            valid_until: None,
            visibility: Visibility::Project,
            said: Said {
                author: mark.by,
                created_at: at,
                received_at: at,
                agent: None,
                client: None,
                session: None,
                branch: None,
            },
        };
        txn.insert_record(&NewRecord {
            record: &record,
            digest: ContentDigest::of(""),
            words: &LexicalDoc::default(),
            replaced: &[],
            approval: None,
            screened: 0,
        })?;
        txn.forget(&[id], at, mark.by, None)?;
        txn.purge_records(&[id])
    }

    /// Puts a statement into the lane.
    fn wait(&self, txn: &mut dyn Txn, moving: &Moving, place: &Place) -> EngineResult<Taken> {
        let id = names::waiting(place.project, moving.id);
        if txn.lane_item(id)?.is_some() {
            return Ok(Taken::There);
        }
        let finding = moving.finding.clone();
        let mut draft = without_key(moving.screened.draft());
        draft.envelope.recorded_at = Some(moving.moment.created_at);
        let captured = moving.captured.clone();
        let item = LaneItem {
            id,
            project: place.project,
            author: self.caller.principal,
            proposal: Proposal {
                kind: if finding.is_some() {
                    LaneKind::Quarantined
                } else {
                    LaneKind::Candidate
                },
                draft,
                replaced: together(&moving.replaced_before, moving.screened.replaced()),
                classification: captured
                    .as_ref()
                    .map_or(Classification::Fact, |captured| captured.classification),
                why_durable: captured.map(|captured| captured.why_durable),
                evidence: Vec::new(),
                finding: finding.clone(),
            },
            state: LaneState::Waiting,
            created_at: self.now,
            decision: None,
        };
        self.admit(txn, &item)
    }

    /// Puts a statement that waited elsewhere into the lane, under the id that it had there.
    fn waiting(&self, txn: &mut dyn Txn, waiting: &Waiting) -> EngineResult<Taken> {
        let workspace = waiting.proposal.draft.workspace.clone();
        let project = self.caller.place(workspace).project;
        let mut id = waiting.id;
        for candidate in [waiting.id, names::alias_of_waiting(project, waiting.id)] {
            id = candidate;
            match txn.lane_item(id)? {
                Some(known) if self.caller.sees(known.project) => return Ok(Taken::There),
                Some(_) => {}
                None => break,
            }
        }
        let item = LaneItem {
            id,
            project,
            author: waiting.author,
            proposal: waiting.proposal.clone(),
            state: LaneState::Waiting,
            created_at: waiting.created_at.min(self.now),
            decision: None,
        };
        if !item.waits_at(self.now) {
            return Ok(Taken::Expired);
        }
        self.admit(txn, &item)
    }

    fn admit(&self, txn: &mut dyn Txn, item: &LaneItem) -> EngineResult<Taken> {
        let same = txn.lane_same(item.project, item.digest())?;
        match admit(&item.proposal, same.as_ref(), self.now) {
            Ok(()) => {}
            Err(NotAdmitted::WaitingAlready) => return Ok(Taken::There),
            Err(NotAdmitted::TurnedDownBefore) => return Ok(Taken::TurnedDown),
            Err(NotAdmitted::NotDurable) => {
                return Ok(Taken::Refused(
                    "it is noise, or nothing says why it is worth keeping".into(),
                ));
            }
        }
        if n_waiting(txn.snapshot(), self.caller, self.now)? >= MAX_WAITING {
            return Ok(Taken::Refused(format!(
                "{MAX_WAITING} items wait for review already: decide on some, then import again"
            )));
        }
        txn.insert_lane_item(item)?;
        let Some(finding) = &item.proposal.finding else {
            return Ok(Taken::Proposed);
        };
        let ids = vec![item.id.shown()];
        let rule = Some(finding.rule.as_str());
        txn.append_audit(&entry(self.caller, Deed::Quarantine, ids, rule, self.now))?;
        Ok(Taken::Held(finding.rule.clone()))
    }

    fn link(&self, txn: &mut dyn Txn, link: &Link) -> EngineResult<Taken> {
        // It says that a person decided.
        if link.kind == LinkKind::Outdates && self.reviewer.is_none() {
            return Ok(Taken::LeftToAPerson);
        }
        let project = self.caller.project;
        let ends = (
            self.here(txn.snapshot(), project, link.from)?,
            self.here(txn.snapshot(), project, link.to)?,
        );
        let (Here::Is(from), Here::Is(to)) = ends else {
            return Ok(Taken::Refused("links a record that is not here".to_owned()));
        };
        let link = Link {
            from: from.id,
            to: to.id,
            created_at: link.created_at.min(self.now),
            ..*link
        };
        let known = txn.links(&[link.from], Direction::Out)?;
        if known
            .iter()
            .any(|one| one.to == link.to && one.kind == link.kind)
        {
            return Ok(Taken::Known);
        }
        txn.insert_link(&link)?;
        Ok(Taken::Linked)
    }

    fn decision(&self, txn: &mut dyn Txn, line: &Resolution) -> EngineResult<Taken> {
        let known = txn.resolutions(&line.place, &line.fact_key)?;
        let project = line.place.project;
        let alias = names::alias_of_decision(project, line.id);
        if known.iter().any(|one| one.id == line.id || one.id == alias) {
            return Ok(Taken::Known);
        }
        if self.reviewer.is_none() {
            return Ok(Taken::LeftToAPerson);
        }
        let mut resolution = line.clone();
        let mut is_of_here = false;
        let mut is_renamed = false;
        for id in std::iter::once(&mut resolution.winner).chain(&mut resolution.closed) {
            let found = match self.here(txn.snapshot(), project, *id)? {
                Here::Is(record) => {
                    is_of_here |= record.place == line.place
                        && record.fact_key.as_ref() == Some(&line.fact_key);
                    record.id
                }
                // Forgetting the winner does not reopen the losers.
                Here::Gone(id) | Here::Free(id) => id,
            };
            is_renamed |= found != *id;
            *id = found;
        }
        if !is_of_here {
            return Ok(Taken::Refused(
                "decides on a fact none of whose records is here".to_owned(),
            ));
        }
        if is_renamed {
            resolution.id = alias;
        }
        txn.insert_resolution(&resolution)?;
        let mut ids = vec![resolution.id.to_string(), resolution.winner.to_string()];
        ids.extend(resolution.closed.iter().map(ToString::to_string));
        txn.append_audit(&entry(self.caller, Deed::Resolve, ids, Some(WHY), self.now))?;
        Ok(Taken::Resolved)
    }
}

/// Adds up what was replaced earlier and now.
pub(super) fn together(before: &[Replacement], now: &[Replacement]) -> Vec<Replacement> {
    let mut all = before.to_vec();
    for one in now {
        match all
            .iter_mut()
            .find(|known| known.field == one.field && known.rule == one.rule)
        {
            Some(known) => known.count = known.count.saturating_add(one.count),
            None => all.push(one.clone()),
        }
    }
    all
}

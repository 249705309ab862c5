//! Judges records as one reader sees them: their facts, their status, what they inherit, what they
//! rest on. Every read path goes through here, so that none shows what another hides.

use std::collections::{HashMap, HashSet};

use mmw_core::fact::{Resolution, Versions};
use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::link::Direction;
use mmw_core::place::{Caller, Place};
use mmw_core::record::{FactKey, Record};
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::status::{Evidence, Reason, Status, judge};
use mmw_core::text::cut_at_char;
use mmw_core::time::Timestamp;
use mmw_core::wire::{
    Anchor, DifferenceView, ReasonView, RecordView, RelationView, SpanArgs, VersionView,
};

use super::second_look::SecondLook;
use super::{Memory, mention};
use crate::engine::{EngineResult, Snapshot, Stored};
use crate::graph::Derivations;

/// The most inherited reasons that one record shows; the loudest and nearest are kept.
pub(super) const MAX_INHERITED_REASONS: usize = 8;
/// The most records that are followed upwards for one answer. Beyond it the answer says that it
/// could not look at everything.
pub(super) const MAX_FOLLOWED: usize = 2_000;
/// The most anchors and relations that one record shows.
pub(super) const MAX_SHOWN_NEIGHBOURS: usize = 50;
/// The most claims that a record is compared with; the newest are.
const MAX_DIFFERENCES: usize = 5;
/// The length of a neighbour's snippet, in bytes.
const SNIPPET_BYTES: usize = 160;

/// What is known of one fact.
#[derive(Debug, Clone)]
pub(super) struct SeenFact {
    /// Its versions.
    pub(super) versions: Versions,
    /// The decisions on it.
    pub(super) resolutions: Vec<Resolution>,
}

/// A reader's view of one snapshot. Remembers what it has looked up.
pub(super) struct Judge<'a> {
    look: SecondLook<'a>,
    snapshot: &'a dyn Snapshot,
    caller: &'a Caller,
    now: Timestamp,
    current_hashes: &'a [(SourceId, ContentHash)],
    facts: HashMap<(Place, FactKey), SeenFact>,
    records: HashMap<RecordId, Stored>,
    /// Ids that lead to nothing unforgotten, and whether the reader may know that they were forgotten.
    missing: HashMap<RecordId, bool>,
    derivations: Derivations,
    followed: HashSet<RecordId>,
    own: HashMap<RecordId, Status>,
    followed_all: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        memory: &'a Memory,
        snapshot: &'a dyn Snapshot,
        caller: &'a Caller,
        now: Timestamp,
        current_hashes: &'a [(SourceId, ContentHash)],
    ) -> Self {
        Self {
            look: SecondLook::new(memory, now),
            snapshot,
            caller,
            now,
            current_hashes,
            facts: HashMap::new(),
            records: HashMap::new(),
            missing: HashMap::new(),
            derivations: Derivations::default(),
            followed: HashSet::new(),
            own: HashMap::new(),
            followed_all: true,
        }
    }

    /// Tells whether everything that records were derived from could be followed.
    pub(super) const fn followed_all(&self) -> bool {
        self.followed_all
    }

    /// Returns how many records today's guard withholds from this answer.
    pub(super) fn n_withheld(&self) -> usize {
        self.look.n_withheld()
    }

    /// Tells whether today's guard withholds this record.
    pub(super) fn withheld(&self, id: RecordId) -> bool {
        self.look.withheld(id)
    }

    /// Returns a note as it may be shown: without what today's rules call a secret.
    pub(super) fn note(&mut self, project: ProjectId, note: &str) -> EngineResult<String> {
        Ok(self.look.ward(self.snapshot, project)?.redact(note).0)
    }

    /// Tells whether names that are stored may be shown: today's rules see no secret in them.
    pub(super) fn are_clean(&mut self, project: ProjectId, names: &[&str]) -> EngineResult<bool> {
        let ward = self.look.ward(self.snapshot, project)?;
        Ok(names.iter().all(|name| ward.is_clean(name)))
    }

    /// Takes in a record that was read already, and returns it as it may be shown; `None` if it is
    /// withheld.
    pub(super) fn know(&mut self, stored: Stored) -> EngineResult<Option<Record>> {
        let id = stored.record.id;
        let Some(stored) = self.look.at(self.snapshot, stored)? else {
            self.missing.insert(id, false);
            return Ok(None);
        };
        let record = stored.record.clone();
        self.records.insert(id, stored);
        Ok(Some(record))
    }

    /// Returns an unforgotten record that the reader may see.
    pub(super) fn record(&mut self, id: RecordId) -> EngineResult<Option<Stored>> {
        self.load(&[id])?;
        Ok(self.records.get(&id).cloned())
    }

    /// Reads those of these records that are not known yet and that the reader may see.
    pub(super) fn load(&mut self, ids: &[RecordId]) -> EngineResult<()> {
        let unknown: Vec<RecordId> = ids
            .iter()
            .copied()
            .filter(|id| !self.records.contains_key(id) && !self.missing.contains_key(id))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        for stored in self.snapshot.records(&unknown)? {
            if self.caller.sees(stored.record.place.project) {
                self.know(stored)?;
            }
        }
        let gone: Vec<RecordId> = unknown
            .into_iter()
            .filter(|id| !self.records.contains_key(id) && !self.missing.contains_key(id))
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        let tombstones = self.snapshot.tombstones(&gone)?;
        for id in gone {
            let forgotten = tombstones
                .iter()
                .any(|tombstone| tombstone.id == id && self.caller.sees(tombstone.place.project));
            self.missing.insert(id, forgotten);
        }
        Ok(())
    }

    /// Returns the fact of a place and key.
    pub(super) fn fact(&mut self, place: &Place, fact_key: &FactKey) -> EngineResult<&SeenFact> {
        let key = (place.clone(), fact_key.clone());
        if !self.facts.contains_key(&key) {
            let versions = self.snapshot.versions(place, fact_key)?;
            let resolutions = self.snapshot.resolutions(place, fact_key)?;
            let seen = SeenFact {
                versions: Versions::assemble(versions, &resolutions),
                resolutions,
            };
            self.facts.insert(key.clone(), seen);
        }
        Ok(self.facts.get(&key).expect("it was just put there"))
    }

    /// Returns the fact of a record, if it has one.
    pub(super) fn fact_of(&mut self, record: &Record) -> EngineResult<Option<&SeenFact>> {
        match &record.fact_key {
            Some(fact_key) => self.fact(&record.place, fact_key).map(Some),
            None => Ok(None),
        }
    }

    /// Judges a record: by its own evidence and by everything that it was derived from.
    pub(super) fn status(&mut self, record: &Record) -> EngineResult<Status> {
        let own = self.own_status(record)?;
        if record.derived_from.is_empty() {
            return Ok(own);
        }
        self.follow(record)?;
        let sources = self.derivations.sources_of(record.id);
        let mut troubles: Vec<(RecordId, &Reason)> = Vec::new();
        for id in sources.ids() {
            let reasons = self.own.get(id).map_or(&[][..], Status::reasons);
            troubles.extend(reasons.iter().map(|cause| (*id, cause)));
        }
        // The sort is stable: among equally loud reasons the nearer one stays first.
        troubles.sort_by_key(|(_, cause)| std::cmp::Reverse(cause.level()));
        let inherited = troubles
            .into_iter()
            .take(MAX_INHERITED_REASONS)
            .map(|(id, cause)| Reason::Inherited {
                chain: sources.way_to(id),
                cause: Box::new(cause.clone()),
            })
            .collect();
        Ok(own.inheriting(inherited))
    }

    fn own_status(&mut self, record: &Record) -> EngineResult<Status> {
        if let Some(known) = self.own.get(&record.id) {
            return Ok(known.clone());
        }
        let disagrees_with = self
            .fact_of(record)?
            .map(|fact| fact.versions.disagreeing_with(record.id))
            .unwrap_or_default();
        let mut forgotten_sources = Vec::new();
        let mut resolved_away_sources = Vec::new();
        if !record.derived_from.is_empty() {
            self.load(&record.derived_from)?;
            for id in &record.derived_from {
                if self.missing.get(id).copied().unwrap_or(false) {
                    forgotten_sources.push(*id);
                } else if let Some(source) =
                    self.records.get(id).map(|stored| stored.record.clone())
                    && let Some(fact) = self.fact_of(&source)?
                    && fact.versions.is_closed(*id)
                {
                    resolved_away_sources.push(*id);
                }
            }
        }
        let status = judge(
            record,
            Evidence {
                disagrees_with,
                forgotten_sources,
                resolved_away_sources,
                current_hashes: self.current_hashes,
                now: self.now,
            },
        );
        self.own.insert(record.id, status.clone());
        Ok(status)
    }

    /// Reads everything that a record was derived from, at any depth, and judges each by itself.
    fn follow(&mut self, record: &Record) -> EngineResult<()> {
        let mut layer = vec![record.clone()];
        while !layer.is_empty() {
            layer.retain(|derived| self.followed.insert(derived.id));
            if self.followed.len() > MAX_FOLLOWED {
                self.followed_all = false;
                break;
            }
            let sources: Vec<RecordId> = layer
                .iter()
                .flat_map(|derived| derived.derived_from.iter().copied())
                .collect();
            self.load(&sources)?;
            for derived in &layer {
                for source in &derived.derived_from {
                    if self.records.contains_key(source) {
                        self.derivations.add(derived.id, *source);
                    }
                }
            }
            layer = sources
                .iter()
                .filter_map(|id| self.records.get(id))
                .map(|stored| stored.record.clone())
                .collect();
            for source in &layer {
                self.own_status(source)?;
            }
        }
        Ok(())
    }

    /// Returns the record as the reader may see it: ids that lead nowhere for them are left out.
    pub(super) fn view(&mut self, record: &Record) -> EngineResult<RecordView> {
        let mut view = RecordView::of(record);
        if !view.derived_from.is_empty() {
            self.load(&record.derived_from)?;
            view.derived_from.retain(|id| {
                self.records.contains_key(id) || self.missing.get(id).copied().unwrap_or(false)
            });
        }
        Ok(view)
    }

    /// Returns the file sources that a record rests on through what it was derived from.
    pub(super) fn anchors(&mut self, record: &Record) -> EngineResult<Vec<Anchor>> {
        if record.derived_from.is_empty() {
            return Ok(Vec::new());
        }
        self.follow(record)?;
        let sources = self.derivations.sources_of(record.id);
        let anchors = sources
            .ids()
            .iter()
            .filter_map(|id| self.records.get(id))
            .filter_map(|stored| anchor_of(&stored.record))
            .take(MAX_SHOWN_NEIGHBOURS)
            .collect();
        Ok(anchors)
    }

    /// Returns the links of records, by record. A neighbour's text is shown only where it could be a
    /// hit beside the record: what lies in another workspace, was decided against or does not hold
    /// yet is named by its id alone.
    pub(super) fn relations(
        &mut self,
        ids: &[RecordId],
    ) -> EngineResult<HashMap<RecordId, Vec<RelationView>>> {
        let mut relations: HashMap<RecordId, Vec<RelationView>> = HashMap::new();
        self.load(ids)?;
        for direction in [Direction::Out, Direction::In] {
            let links = self.snapshot.links(ids, direction)?;
            let far_end = |link: &mmw_core::link::Link| match direction {
                Direction::Out => (link.from, link.to),
                Direction::In => (link.to, link.from),
            };
            let others: Vec<RecordId> = links.iter().map(|link| far_end(link).1).collect();
            self.load(&others)?;
            for link in &links {
                let (own, other) = far_end(link);
                if !self.records.contains_key(&other)
                    || relations.get(&own).map_or(0, Vec::len) >= MAX_SHOWN_NEIGHBOURS
                {
                    continue;
                }
                let snippet = self.snippet_beside(own, other)?;
                relations.entry(own).or_default().push(RelationView {
                    kind: link.kind.name().to_owned(),
                    direction: direction.name().to_owned(),
                    id: other,
                    snippet,
                });
            }
        }
        Ok(relations)
    }

    /// Returns the beginning of a neighbour's content as it may stand beside a record; empty if it
    /// may not.
    fn snippet_beside(&mut self, own: RecordId, other: RecordId) -> EngineResult<String> {
        let place = self.records.get(&own).map(|stored| &stored.record.place);
        let Some(neighbour) = self.records.get(&other).map(|stored| &stored.record) else {
            return Ok(String::new());
        };
        if place != Some(&neighbour.place) || neighbour.lies_ahead_of(self.now) {
            return Ok(String::new());
        }
        let neighbour = neighbour.clone();
        let was_decided_against = self
            .fact_of(&neighbour)?
            .is_some_and(|fact| fact.versions.is_closed(other));
        Ok(if was_decided_against {
            String::new()
        } else {
            cut_at_char(&neighbour.content, SNIPPET_BYTES).to_owned()
        })
    }

    /// Returns what a record and each claim that it disagrees with differ in.
    pub(super) fn differences(&mut self, record: &Record) -> EngineResult<Vec<DifferenceView>> {
        let with = match self.fact_of(record)? {
            Some(fact) => fact.versions.disagreeing_with(record.id),
            None => return Ok(Vec::new()),
        };
        let with = &with[with.len().saturating_sub(MAX_DIFFERENCES)..];
        self.load(with)?;
        let differences = with
            .iter()
            .filter_map(|id| self.records.get(id))
            .map(|other| {
                let other = &other.record;
                let is_newer = record.order() > other.order();
                let (older, newer) = if is_newer {
                    (other, record)
                } else {
                    (record, other)
                };
                let difference = mmw_core::fact::difference::between(older, newer);
                DifferenceView::of(&difference, other.id, is_newer)
            })
            .collect();
        Ok(differences)
    }

    /// Returns the versions of a fact as they are shown, newest first.
    pub(super) fn versions(
        &mut self,
        place: &Place,
        fact_key: &FactKey,
    ) -> EngineResult<Vec<VersionView>> {
        let versions = self.fact(place, fact_key)?.versions.clone();
        let ids: Vec<RecordId> = versions.all().iter().map(|version| version.id).collect();
        self.load(&ids)?;
        let mut shown = Vec::with_capacity(ids.len());
        for id in ids.into_iter().rev() {
            let Some(stored) = self.records.get(&id).cloned() else {
                continue;
            };
            let status = self.status(&stored.record)?;
            shown.push(VersionView {
                id,
                content: stored.record.content,
                created_at: stored.record.said.created_at,
                source_id: stored.record.origin.id.as_ref().map(ToString::to_string),
                status: status.level().name().to_owned(),
                resolved_away: versions.is_closed(id),
                superseded_by: versions.superseded_by(id),
            });
        }
        mention::fit(shown.iter_mut().map(|version| &mut version.content));
        Ok(shown)
    }

    /// Returns the status and its reasons as they are shown.
    pub(super) fn shown_status(
        &mut self,
        record: &Record,
    ) -> EngineResult<(String, Vec<ReasonView>)> {
        let status = self.status(record)?;
        Ok((
            status.level().name().to_owned(),
            ReasonView::all_of(&status),
        ))
    }
}

/// Returns the file source that a record names, if it names one.
pub(super) fn anchor_of(record: &Record) -> Option<Anchor> {
    let origin = &record.origin;
    Some(Anchor {
        record: record.id,
        source_id: origin.id.as_ref()?.to_string(),
        source_hash: origin.hash.as_ref().map(ToString::to_string),
        source_hash_text: origin.text_hash.as_ref().map(ToString::to_string),
        span: origin.span.as_ref().map(|span| SpanArgs {
            kind: span.kind.clone(),
            label: span.label.clone(),
            hash: span.hash.to_string(),
        }),
    })
}

//! The second look: what was saved under older rules is screened again before it is shown.
//!
//! A record carries the number of the rules that it was screened with. If that is the number of
//! today, nothing is done, which is the rule. Else its texts are screened: secrets are replaced in
//! what is shown, and a planted instruction is withheld, unless a person let the record in. Nothing
//! is changed in the store; that is what a rescan does.

use std::collections::{HashMap, HashSet};

use mmw_core::draft::{Draft, Envelope};
use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::record::Record;
use mmw_core::time::Timestamp;
use mmw_guard::Verdict;

use super::Memory;
use super::ward::Ward;
use crate::engine::{EngineResult, Snapshot, Stored};

/// Looks at records as they are read in one snapshot.
pub(super) struct SecondLook<'m> {
    memory: &'m Memory,
    now: Timestamp,
    wards: HashMap<ProjectId, Ward>,
    withheld: HashSet<RecordId>,
}

impl<'m> SecondLook<'m> {
    pub(super) fn new(memory: &'m Memory, now: Timestamp) -> Self {
        Self {
            memory,
            now,
            wards: HashMap::new(),
            withheld: HashSet::new(),
        }
    }

    /// Returns how many records were withheld.
    pub(super) fn n_withheld(&self) -> usize {
        self.withheld.len()
    }

    /// Tells whether this record was withheld.
    pub(super) fn withheld(&self, id: RecordId) -> bool {
        self.withheld.contains(&id)
    }

    /// Returns the guard of a project.
    pub(super) fn ward(
        &mut self,
        snapshot: &dyn Snapshot,
        project: ProjectId,
    ) -> EngineResult<&Ward> {
        if !self.wards.contains_key(&project) {
            let ward = self.memory.ward(snapshot, project, self.now)?;
            self.wards.insert(project, ward);
        }
        Ok(self.wards.get(&project).expect("it was just put there"))
    }

    /// Returns the record as it may be shown; `None` if it is withheld.
    pub(super) fn at(
        &mut self,
        snapshot: &dyn Snapshot,
        stored: Stored,
    ) -> EngineResult<Option<Stored>> {
        let ward = self.ward(snapshot, stored.record.place.project)?;
        if stored.screened == ward.revision() {
            return Ok(Some(stored));
        }
        let shown = again(ward, stored.clone());
        if shown.is_none() {
            self.withheld.insert(stored.record.id);
        }
        Ok(shown)
    }
}

/// Screens a record again; `None` if it must not be shown.
fn again(ward: &Ward, mut stored: Stored) -> Option<Stored> {
    let by_a_person = stored.approval.is_some();
    let screened = match ward.look_at(draft_of(&stored.record)) {
        Verdict::Allow(screened) => screened,
        Verdict::Quarantine(screened, _) if by_a_person => screened,
        Verdict::Quarantine(..) | Verdict::Reject(_) => return None,
    };
    take_texts(&mut stored.record, screened.draft());
    Some(stored)
}

/// Returns the draft that a record would be if somebody saved it today.
pub(super) fn draft_of(record: &Record) -> Draft {
    let said = &record.said;
    Draft {
        content: record.content.clone(),
        workspace: record.place.workspace.clone(),
        fact_key: record.fact_key.clone(),
        kind: record.kind,
        label: record.label.clone(),
        origin: record.origin.clone(),
        confidence: record.confidence,
        derived_from: record.derived_from.clone(),
        scope: record.scope.clone(),
        tags: record.tags.clone(),
        valid_from: record.valid_from,
        valid_until: record.valid_until,
        visibility: record.visibility,
        envelope: Envelope {
            idempotency_key: None,
            proposed_id: None,
            recorded_at: Some(said.created_at),
            agent: said.agent.clone(),
            client: said.client.clone(),
            session: said.session.clone(),
            branch: said.branch.clone(),
        },
    }
}

/// Takes the texts of a clean draft over into the record. Returns whether one is another one now.
pub(super) fn take_texts(record: &mut Record, clean: &Draft) -> bool {
    let mut changed = false;
    let mut take = |into: &mut Option<String>, from: &Option<String>| {
        if into != from {
            into.clone_from(from);
            changed = true;
        }
    };
    take(&mut record.label, &clean.label);
    take(&mut record.origin.revision, &clean.origin.revision);
    take(&mut record.said.agent, &clean.envelope.agent);
    take(&mut record.said.client, &clean.envelope.client);
    take(&mut record.said.session, &clean.envelope.session);
    take(&mut record.said.branch, &clean.envelope.branch);
    changed |= replace(&mut record.content, &clean.content);
    changed |= replace(&mut record.scope, &clean.scope);
    changed |= replace(&mut record.tags, &clean.tags);
    changed |= replace(&mut record.origin.id, &clean.origin.id);
    changed |= replace(&mut record.origin.span, &clean.origin.span);
    changed
}

fn replace<T: Clone + PartialEq>(into: &mut T, from: &T) -> bool {
    let changed = into != from;
    if changed {
        into.clone_from(from);
    }
    changed
}

#[cfg(test)]
mod tests {
    use mmw_core::draft::Field;

    use super::*;
    use crate::testing::build::{World, record};

    #[test]
    fn every_text_of_a_draft_goes_back_into_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let engine = crate::sqlite::Sqlite::open(&folder.path().join("memory.db")).unwrap();
        let world = World::found(&engine);
        let mut full = record(&world.here, 1, "content");
        full.label = Some("label".into());
        full.origin.id = mmw_core::source::SourceId::new("a.md");
        full.origin.revision = Some("rev".into());
        full.origin.span = Some(mmw_core::source::Span {
            kind: "lines".into(),
            label: "L1".into(),
            hash: mmw_core::source::ContentHash::new("x:1").unwrap(),
        });
        full.tags = vec!["t".into()];
        full.said.agent = Some("a".into());
        full.said.client = Some("c".into());
        full.said.session = Some("s".into());
        full.said.branch = Some("b".into());
        let draft = draft_of(&full);
        let fields: Vec<Field> = draft.texts().into_iter().map(|(field, _)| field).collect();
        for field in fields {
            // A placeholder in a name would merge unrelated things: those are not taken over.
            if matches!(field, Field::Workspace | Field::FactKey) {
                continue;
            }
            let mut clean = draft.clone();
            clean.replace_text(field, "clean".into());
            let mut taken = full.clone();
            assert!(take_texts(&mut taken, &clean), "{field:?}");
            let now = draft_of(&taken);
            let texts = now.texts();
            let text = texts.iter().find(|(name, _)| *name == field);
            assert_eq!(text.map(|(_, text)| *text), Some("clean"), "{field:?}");
        }
        assert!(!take_texts(&mut full.clone(), &draft));
    }
}

//! The product as it is measured: records are saved through the library into a real file, embedded, and
//! searched by words, by meaning and by both.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use mmw_core::env::SystemEntropy;
use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Way};
use mmw_core::time::Timestamp;
use mmw_core::turn;
use mmw_core::wire::{EnvelopeArgs, ForgetArgs, RememberArgs, SearchArgs};
use mmw_store::memory::bulk::MAX_BULK;
use mmw_store::{Legs, Memory};
use tempfile::TempDir;

use super::clock::{SettableClock, spans};
use super::dates;
use super::set::Doc;

/// The longest that is waited for vectors: the largest sets take some minutes.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

/// A record that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    /// The place of the record's first document among all that were saved.
    pub(crate) record: usize,
    /// Its score for the reader, 0 to 1.
    pub(crate) score: f64,
}

/// A store with the product around it. The file goes with it.
pub(crate) struct Product {
    memory: Memory,
    clock: Arc<SettableClock>,
    caller: Caller,
    /// The workspace of each group, by its number.
    workspaces: HashMap<String, usize>,
    records: HashMap<RecordId, usize>,
    ids: HashMap<usize, RecordId>,
    n_saved: usize,
    _folder: TempDir,
}

impl Product {
    /// Opens an empty store.
    pub(crate) fn open() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("memory.db");
        let clock = Arc::new(SettableClock::default());
        let memory = Memory::open(&file, clock.clone(), Arc::new(SystemEntropy))?;
        let caller = memory.local_caller("evaluation", Way::Library)?;
        Ok(Self {
            memory,
            clock,
            caller,
            workspaces: HashMap::new(),
            records: HashMap::new(),
            ids: HashMap::new(),
            n_saved: 0,
            _folder: folder,
        })
    }

    /// Saves documents when they were said, each group in a workspace of its own, and waits for their
    /// vectors. Returns the record of each: equal ones share it, and what was refused or held back has none.
    pub(crate) fn save(&mut self, docs: &[Doc]) -> Result<Vec<Option<usize>>, Box<dyn Error>> {
        let mut records = Vec::with_capacity(docs.len());
        let said: Vec<Option<Timestamp>> = docs.iter().map(said_at).collect();
        for span in spans(&said, MAX_BULK) {
            self.clock.set(span.last);
            let chunk = docs[span.places.clone()].iter().zip(&said[span.places]);
            let statements = chunk
                .map(|(doc, said)| self.statement(doc, *said))
                .collect();
            for answer in self.memory.remember_all(&self.caller, statements)? {
                let nth = self.n_saved;
                self.n_saved += 1;
                let saved = answer.ok().and_then(|answer| answer.record);
                records.push(saved.map(|record| {
                    let first = *self.records.entry(record.id).or_insert(nth);
                    self.ids.insert(first, record.id);
                    first
                }));
            }
        }
        self.clock.set(None);
        if !self.memory.settle(PATIENCE)? {
            return Err("the records were not embedded: is the model there?".into());
        }
        self.memory.warm_up(&self.caller)?;
        self.memory.warm_up_words(&self.caller)?;
        Ok(records)
    }

    fn statement(&mut self, doc: &Doc, said: Option<Timestamp>) -> (RememberArgs, EnvelopeArgs) {
        let args = RememberArgs {
            content: doc.text.clone(),
            workspace: Some(self.workspace(&doc.group)),
            source: doc.who.clone(),
            kind: doc.session.is_some().then(|| turn::KIND.name().to_owned()),
            source_id: doc
                .session
                .as_ref()
                .map(|session| format!("{}{session}", turn::SESSION)),
            ..RememberArgs::default()
        };
        let envelope = EnvelopeArgs {
            recorded_at: said.map(|said| said.to_string()),
            ..EnvelopeArgs::default()
        };
        (args, envelope)
    }

    fn workspace(&mut self, group: &str) -> String {
        let next = self.workspaces.len();
        let number = *self.workspaces.entry(group.to_owned()).or_insert(next);
        format!("group-{number}")
    }

    /// Forgets a record.
    pub(crate) fn forget(&mut self, record: usize) -> Result<(), Box<dyn Error>> {
        if let Some(id) = self.ids.remove(&record) {
            let args = ForgetArgs {
                memory_id: Some(id.to_string()),
                ..ForgetArgs::default()
            };
            self.memory.forget(&self.caller, &args)?;
            self.records.remove(&id);
        }
        Ok(())
    }

    /// Searches a group, best first. What could not take part is an error: a figure of meaning that
    /// came from words alone would be worth nothing.
    pub(crate) fn rank(
        &self,
        group: &str,
        question: &str,
        legs: Legs,
    ) -> Result<Vec<Hit>, Box<dyn Error>> {
        let number = self.workspaces.get(group).ok_or("no such group")?;
        let args = SearchArgs {
            query: question.to_owned(),
            workspace: Some(format!("group-{number}")),
            limit: Some(50),
            ..SearchArgs::default()
        };
        let found = self.memory.recall(&self.caller, &args, legs)?;
        if legs != Legs::Words && found.degraded.contains(&"semantic") {
            return Err("the search went by words alone: is the model there?".into());
        }
        let mut seen = HashSet::new();
        let hits = found.recalled.iter().filter_map(|one| {
            Some(Hit {
                record: *self.records.get(&one.id)?,
                score: one.score,
            })
        });
        Ok(hits.filter(|hit| seen.insert(hit.record)).collect())
    }
}

fn said_at(doc: &Doc) -> Option<Timestamp> {
    let written = dates::rfc3339(doc.date.as_deref()?)?;
    Timestamp::parse(&written).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(group: &str, text: &str) -> Doc {
        Doc {
            group: group.into(),
            id: text.into(),
            text: text.into(),
            who: Some("Ann".into()),
            date: Some("8 May 2023".into()),
            session: None,
        }
    }

    #[test]
    fn what_is_saved_is_found_in_its_group_by_each_leg() {
        let mut product = Product::open().unwrap();
        let docs = [
            doc("a", "the cat sleeps in the kitchen"),
            doc("a", "rent is due on the first"),
            doc("a", "the cat sleeps in the kitchen"),
            doc("b", "the dog sleeps outside"),
            doc("b", &"x".repeat(20_000)),
        ];
        let records = product.save(&docs).unwrap();
        assert_eq!(records, [Some(0), Some(1), Some(0), Some(3), None]);
        for legs in [Legs::Words, Legs::Meaning, Legs::Both] {
            let hits = product
                .rank("a", "where does the cat sleep?", legs)
                .unwrap();
            assert_eq!(hits[0].record, 0, "{legs:?}");
            assert!(
                hits.iter()
                    .all(|hit| hit.record != 3 && (0.0..=1.0).contains(&hit.score))
            );
        }
        assert!(product.rank("c", "cat", Legs::Both).is_err());
    }

    #[test]
    fn records_are_of_the_day_on_which_they_were_said() {
        let mut product = Product::open().unwrap();
        let said = |date: Option<&str>, text: &str| Doc {
            date: date.map(str::to_owned),
            ..doc("a", text)
        };
        let docs = [
            said(Some("8 May 2023"), "we met at the lake"),
            said(Some("1:56 pm on 17 November, 2021"), "we met on the hill"),
            said(None, "we met once more"),
        ];
        product.save(&docs).unwrap();
        for (question, record) in [("May 2023", 0), ("17 November 2021", 1)] {
            let hits = product.rank("a", question, Legs::Words).unwrap();
            assert_eq!(hits[0].record, record, "{question}");
        }
    }

    #[test]
    fn what_is_forgotten_is_not_found_until_it_is_saved_again() {
        let mut product = Product::open().unwrap();
        let docs = [
            doc("a", "the cat sleeps in the kitchen"),
            doc("a", "rent is due"),
        ];
        let records = product.save(&docs).unwrap();
        product.forget(records[0].unwrap()).unwrap();
        let cats = |product: &Product| product.rank("a", "cat kitchen", Legs::Words).unwrap().len();
        assert_eq!(cats(&product), 0);
        assert_eq!(product.save(&docs[..1]).unwrap(), [Some(2)]);
        assert_eq!(cats(&product), 1);
    }
}

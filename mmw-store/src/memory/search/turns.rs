//! What was said before: the words of the turns before a turn count among its own, at half weight.
//!
//! Only what a question needs is read, when it is asked: no record is indexed under another's words, so
//! that whoever forgets a turn takes its words away at once. Places without turns cost one look. What a turn
//! is stands in [`mmw_core::turn`]; nothing is scored here.

use std::rc::Rc;

use mmw_core::turn::{KIND, SHARE_OF_BEFORE, TURNS_BEFORE};
use rustc_hash::FxHashMap;

use super::matches::Counts;
use crate::engine::{EngineResult, Lexical, Row, Snapshot};
use crate::inverted::Counted;
use crate::memory::wording::HeldWords;
use crate::words::Facet;

/// The turns of the searched places, as far as they have been looked at.
#[derive(Debug, Default)]
pub(super) struct Turns {
    are_there: bool,
    /// The turns before those that were looked at, the nearest first.
    before: FxHashMap<Row, Vec<Row>>,
    /// The turns after them, the nearest first.
    after: FxHashMap<Row, Vec<Row>>,
}

/// The words of a record, with those of the turns before it if it is one.
#[derive(Debug)]
pub(super) struct Heard {
    own: Rc<Counted>,
    before: Vec<Rc<Counted>>,
}

/// How often a word is in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// In the record itself.
    pub(super) own: f64,
    /// With those in the turns before it, each counted as far as it counts.
    pub(super) all: f64,
}

impl Turns {
    /// Looks whether there can be turns at all.
    pub(super) fn of(
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
        held: Option<&HeldWords<'_>>,
    ) -> EngineResult<Self> {
        let mut turns = Self::default();
        let kind = Facet::Kind(KIND.name()).word();
        for lexical in lexica {
            let rows = held.map_or(lexical.rows.clone(), |held| {
                held.may_be_turns(&lexical.rows)
            });
            if !rows.is_empty() && !snapshot.rows_with(&rows, &[&kind], 1)?.is_empty() {
                turns.are_there = true;
                break;
            }
            if let Some(held) = held {
                held.are_no_turns(&lexical.rows);
            }
        }
        Ok(turns)
    }

    /// Tells whether there can be turns.
    pub(super) const fn are_there(&self) -> bool {
        self.are_there
    }

    /// Returns the words of these records; those of forgotten ones are left out.
    pub(super) fn heard(
        &mut self,
        snapshot: &dyn Snapshot,
        counts: &Counts<'_>,
        rows: &[Row],
    ) -> EngineResult<Vec<(Row, Heard)>> {
        if !self.are_there {
            let docs = counts.of(snapshot, rows)?.into_iter();
            return Ok(docs.map(|(row, own)| (row, Heard::alone(own))).collect());
        }
        self.look_around(snapshot, rows)?;
        let mut wanted = rows.to_vec();
        wanted.extend(rows.iter().flat_map(|row| self.before_of(*row)));
        let docs: FxHashMap<Row, Rc<Counted>> = counts
            .of(snapshot, &wanted)?
            .into_iter()
            .map(|(row, doc)| (row, Rc::new(doc)))
            .collect();
        let heard = rows.iter().filter_map(|row| {
            let own = docs.get(row)?.clone();
            let before = self.before_of(*row).iter();
            let before = before.filter_map(|row| docs.get(row).cloned()).collect();
            Some((*row, Heard { own, before }))
        });
        Ok(heard.collect())
    }

    /// Returns the turns that follow on those of these records that are turns and whose words were looked
    /// at, in the order of the records, at most `most`.
    pub(super) fn after(&self, rows: impl Iterator<Item = Row>, most: usize) -> Vec<Row> {
        let after = rows.filter_map(|row| self.after.get(&row));
        after.flatten().copied().take(most).collect()
    }

    fn before_of(&self, row: Row) -> &[Row] {
        self.before.get(&row).map_or(&[], Vec::as_slice)
    }

    fn look_around(&mut self, snapshot: &dyn Snapshot, rows: &[Row]) -> EngineResult<()> {
        let unknown = rows.iter().filter(|row| !self.before.contains_key(row));
        let unknown: Vec<Row> = unknown.copied().collect();
        for around in snapshot.turns_around(&unknown, TURNS_BEFORE)? {
            // What is before the next ones is known by this.
            let mut so_far = around.before.clone();
            so_far.insert(0, around.row);
            for next in &around.after {
                let nearest = so_far.iter().copied().take(TURNS_BEFORE).collect();
                self.before.entry(*next).or_insert(nearest);
                so_far.insert(0, *next);
            }
            self.before.insert(around.row, around.before);
            self.after.insert(around.row, around.after);
        }
        Ok(())
    }
}

impl Heard {
    fn alone(own: Counted) -> Self {
        Self {
            own: Rc::new(own),
            before: Vec::new(),
        }
    }

    /// Returns how often a word is in it, by its place in the query; nothing if it is nowhere.
    pub(super) fn times(&self, word: usize) -> Option<Times> {
        let times_in = |counted: &Counted| f64::from(counted.times[word]);
        let own = times_in(&self.own);
        let before: f64 = self.before.iter().map(|counted| times_in(counted)).sum();
        let all = own + SHARE_OF_BEFORE * before;
        (all > 0.0).then_some(Times { own, all })
    }

    /// Returns how long it is, in words: of a turn and those before it the mean, each weighing what its
    /// words do. So a turn is not the longer for having been heard with others.
    pub(super) fn length(&self) -> f64 {
        let before = self.before.iter().map(|doc| f64::from(doc.length));
        let weights = self.before.iter().map(|_| SHARE_OF_BEFORE);
        let all = f64::from(self.own.length) + SHARE_OF_BEFORE * before.sum::<f64>();
        all / (1.0 + weights.sum::<f64>())
    }
}

impl Times {
    /// Returns how far the word counts as one that the record has.
    pub(super) const fn share(self) -> f64 {
        if self.own > 0.0 { 1.0 } else { SHARE_OF_BEFORE }
    }
}

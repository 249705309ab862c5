//! The words of records in memory: an inverted index, apart by workspace.
//!
//! | file | what is there |
//! |---|---|
//! | [`Inverted`] | the words of all workspaces that are here |
//! | [`Builder`] | those of one workspace on their way here |
//! | `segment` | those of one workspace: merged lists, and what came since |
//! | `lists` | sorted lists of places, one after the other |
//! | `posting` | a place where a word stands: the record and how often |
//! | [`Found`] | the lists of a query's words |
//! | `scan` | every record of these lists, with what it reached |
//! | `top` | the best of them |
//!
//! Words are known by their fingerprints: of 200,000 different words about five share one with another, and
//! whoever asks for one of them finds the other's records too.
//!
//! Nothing here reads a store, and nothing decides what a match is worth.

mod builder;
mod found;
mod lists;
mod posting;
mod scan;
mod segment;
#[cfg(test)]
mod tests;
mod top;

use std::collections::BTreeMap;
use std::ops::Range;

pub use builder::Builder;
pub use found::{Counted, Found};
pub use scan::{Keep, Reached, Sought};

use crate::engine::{LexicalDoc, Row, SEQUENCE_BITS, TermId};
use segment::Segment;

/// The words of all records of some workspaces.
#[derive(Debug, Default)]
pub struct Inverted {
    segments: BTreeMap<Row, Segment>,
}

impl Inverted {
    /// Puts the words of a workspace, that of the row, in place of what is here of it.
    pub fn put(&mut self, row: Row, built: Builder) {
        self.segments.insert(workspace(row), built.finish());
    }

    /// Forgets a workspace, that of the row.
    pub fn unload(&mut self, row: Row) {
        self.segments.remove(&workspace(row));
    }

    /// Tells whether the workspace of a row is here.
    #[must_use]
    pub fn is_loaded(&self, row: Row) -> bool {
        self.segments.contains_key(&workspace(row))
    }

    /// Adds the words of a record behind all that have been added to its workspace. Returns `false` and
    /// changes nothing if its workspace is not here, or a record with this row or a higher one is.
    pub fn add(&mut self, row: Row, words: &LexicalDoc) -> bool {
        let segment = self.segments.get_mut(&workspace(row));
        segment.is_some_and(|segment| segment.add(sequence(row), words))
    }

    /// Forgets records; those that are not here are passed over.
    pub fn remove(&mut self, rows: &[Row]) {
        for of_one in rows.chunk_by(|a, b| workspace(*a) == workspace(*b)) {
            if let Some(segment) = self.segments.get_mut(&workspace(of_one[0])) {
                segment.remove(of_one.iter().map(|row| sequence(*row)));
            }
        }
    }

    /// Tells whether a record is here.
    #[must_use]
    pub fn knows(&self, row: Row) -> bool {
        let segment = self.segments.get(&workspace(row));
        segment.is_some_and(|segment| segment.length(sequence(row)).is_some())
    }

    /// Looks up some words in some workspaces, each a range of rows that begins with its first. What is not
    /// here has no words.
    #[must_use]
    pub fn look_up(&self, words: &[TermId], within: &[Range<Row>]) -> Found<'_> {
        let parts = within.iter().filter_map(|rows| {
            let segment = self.segments.get(&workspace(rows.start))?;
            Some((segment, rows))
        });
        Found::new(words, parts)
    }

    /// Returns how many bytes of memory are held, about.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.segments.values().map(Segment::n_bytes).sum()
    }
}

/// Sequences in a workspace.
const SEQUENCES: Row = 1 << SEQUENCE_BITS;

fn workspace(row: Row) -> Row {
    row >> SEQUENCE_BITS
}

fn sequence(row: Row) -> u32 {
    (row & (SEQUENCES - 1)) as u32
}

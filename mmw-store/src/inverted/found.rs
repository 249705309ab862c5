//! The lists of a query's words, as far as a reader may look.

use std::ops::Range;

use super::posting::Posting;
use super::segment::Segment;
use super::{sequence, workspace};
use crate::engine::{Row, SEQUENCE_BITS, TermId};

/// The words of a query in some workspaces.
#[derive(Debug)]
pub struct Found<'i> {
    pub(super) parts: Vec<Part<'i>>,
}

/// The same in one workspace.
#[derive(Debug)]
pub(super) struct Part<'i> {
    pub(super) segment: &'i Segment,
    /// The row of the sequence 0.
    pub(super) first: Row,
    /// One list a word.
    pub(super) lists: Vec<List<'i>>,
}

/// The postings of one word, ascending.
#[derive(Debug)]
pub(super) struct List<'i> {
    merged: &'i [Posting],
    /// Behind those.
    fresh: Vec<Posting>,
}

/// How a record has the words of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// How many words it has in all.
    pub length: u32,
    /// How often it has each word of the query, up to [`mmw_core::rank::MAX_TIMES`].
    pub times: Vec<u16>,
}

impl<'i> Found<'i> {
    pub(super) fn new<'r>(
        words: &[TermId],
        parts: impl Iterator<Item = (&'i Segment, &'r Range<Row>)>,
    ) -> Self {
        let parts = parts.filter(|(_, rows)| !rows.is_empty());
        let parts = parts.map(|(segment, rows)| {
            let last = sequence(rows.end - 1);
            Part {
                segment,
                first: workspace(rows.start) << SEQUENCE_BITS,
                lists: words
                    .iter()
                    .map(|word| List::new(segment, *word, last))
                    .collect(),
            }
        });
        Self {
            parts: parts.collect(),
        }
    }

    /// Returns how many records have a word, by its place in the query.
    #[must_use]
    pub fn n_having(&self, word: usize) -> u64 {
        let having = self.parts.iter().map(|part| {
            let list = &part.lists[word];
            let dead = part.segment.dead().iter();
            list.len() - dead.filter(|dead| list.times(**dead) > 0).count()
        });
        having.map(|n| n as u64).sum()
    }

    /// Returns how records have the words, ascending by row; those that are not here are left out.
    #[must_use]
    pub fn count(&self, rows: &[Row]) -> Vec<(Row, Counted)> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let mut counted = Vec::with_capacity(rows.len());
        for of_one in rows.chunk_by(|a, b| workspace(*a) == workspace(*b)) {
            let in_it = |part: &&Part<'_>| workspace(part.first) == workspace(of_one[0]);
            if let Some(part) = self.parts.iter().find(in_it) {
                part.count(of_one, &mut counted);
            }
        }
        counted
    }
}

impl Part<'_> {
    /// Counts the words of ascending rows.
    fn count(&self, rows: &[Row], counted: &mut Vec<(Row, Counted)>) {
        let mut passed = vec![0; self.lists.len()];
        for row in rows {
            let sequence = sequence(*row);
            let Some(length) = self.segment.length(sequence) else {
                continue;
            };
            let lists = self.lists.iter().zip(&mut passed);
            let times = lists.map(|(list, passed)| list.times_behind(passed, sequence));
            let times = times.collect();
            counted.push((*row, Counted { length, times }));
        }
    }
}

impl<'i> List<'i> {
    /// Returns the list of a word up to a record.
    fn new(segment: &'i Segment, term: TermId, last: u32) -> Self {
        let (merged, mut fresh) = segment.postings(term);
        let end = Posting::last_of(last);
        let merged = &merged[..merged.partition_point(|one| *one <= end)];
        fresh.truncate(fresh.partition_point(|one| *one <= end));
        Self { merged, fresh }
    }

    pub(super) fn len(&self) -> usize {
        self.merged.len() + self.fresh.len()
    }

    /// Returns the last postings, at most so many, in two pieces.
    pub(super) fn newest(&self, most: usize) -> [&[Posting]; 2] {
        let passed = self.len().saturating_sub(most);
        let of_merged = passed.min(self.merged.len());
        [&self.merged[of_merged..], &self.fresh[passed - of_merged..]]
    }

    /// Returns how often a record has the word.
    fn times(&self, sequence: u32) -> u16 {
        self.times_behind(&mut 0, sequence)
    }

    /// The same for ascending records: those of the merged postings that have been passed are not looked at
    /// again.
    fn times_behind(&self, passed: &mut usize, sequence: u32) -> u16 {
        let from = Posting::first_of(sequence);
        let rest = &self.merged[*passed..];
        // In steps that double: the next one is near.
        let mut step = 1;
        while rest.get(step).is_some_and(|one| *one < from) {
            step *= 2;
        }
        let within = &rest[step / 2..rest.len().min(step + 1)];
        *passed += step / 2 + within.partition_point(|one| *one < from);
        let mut here = self.merged.get(*passed);
        if here.is_none() {
            here = self
                .fresh
                .get(self.fresh.partition_point(|one| *one < from));
        }
        let here = here.filter(|one| one.sequence() == sequence);
        here.map_or(0, |one| one.times() as u16)
    }
}

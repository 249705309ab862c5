//! The words of a workspace on their way into memory: collected, sorted and merged now and then, so that a
//! workspace is built in three times the memory that it takes.

use super::lists::Lists;
use super::posting::Posting;
use super::segment::Segment;
use super::sequence;
use crate::engine::{LexicalDoc, Row, TermId};

/// Postings that are collected before they are merged, at least.
const BATCH: usize = 1 << 20;

/// The words of one workspace, as far as they have been added.
#[derive(Debug, Default)]
pub struct Builder {
    lists: Lists,
    collected: Vec<(TermId, Posting)>,
    lengths: Vec<u32>,
}

impl Builder {
    /// Adds the words of a record. Rows come ascending; one that does not is passed over.
    pub fn add(&mut self, row: Row, words: &LexicalDoc) {
        let sequence = sequence(row);
        if !super::segment::note_length(&mut self.lengths, sequence, words.length) {
            return;
        }
        let postings = words.counts.iter();
        let postings = postings.map(|(term, times)| (*term, Posting::new(sequence, *times)));
        self.collected.extend(postings);
        if self.collected.len() >= BATCH.max(self.lists.len() / 2) {
            self.merge();
        }
    }

    /// Does what is left to do before a workspace can be searched.
    pub fn settle(&mut self) {
        if !self.collected.is_empty() {
            self.merge();
        }
        self.collected = Vec::new();
        self.lengths.shrink_to_fit();
    }

    fn merge(&mut self) {
        self.collected.sort_unstable();
        let collected = self.collected.iter().copied();
        let n_collected = self.collected.len();
        self.lists = self.lists.merged(collected, n_collected, |_| true);
        self.collected.clear();
    }

    pub(super) fn finish(mut self) -> Segment {
        self.settle();
        Segment::new(self.lists, self.lengths)
    }
}

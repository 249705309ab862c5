//! The words of one workspace: merged lists, what came since, and what went.

use std::collections::BTreeSet;

use super::lists::Lists;
use super::posting::Posting;
use crate::engine::{LexicalDoc, TermId};

/// Postings that are kept beside the lists, at least and as a part of them, before they are merged.
const FRESH: usize = 16_384;
const FRESH_PART: usize = 16;
/// Forgotten records whose postings stay in the lists, at most.
const DEAD: usize = 64;

/// The words of one workspace.
#[derive(Debug)]
pub(super) struct Segment {
    lists: Lists,
    /// What came since: every posting is behind those of its word in the lists.
    fresh: BTreeSet<(TermId, Posting)>,
    /// Of each sequence one more than how many words its record has; 0 without a record.
    lengths: Vec<u32>,
    /// Forgotten records that still have postings.
    dead: Vec<u32>,
}

/// Notes how long a record is that comes behind all others. Returns `false` if it does not.
pub(super) fn note_length(lengths: &mut Vec<u32>, sequence: u32, length: u32) -> bool {
    let at = sequence as usize;
    if at < lengths.len() {
        return false;
    }
    lengths.resize(at, 0);
    lengths.push(length.saturating_add(1));
    true
}

impl Segment {
    pub(super) fn new(lists: Lists, lengths: Vec<u32>) -> Self {
        Self {
            lists,
            fresh: BTreeSet::new(),
            lengths,
            dead: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, sequence: u32, words: &LexicalDoc) -> bool {
        if !note_length(&mut self.lengths, sequence, words.length) {
            return false;
        }
        let postings = words.counts.iter();
        let postings = postings.map(|(term, times)| (*term, Posting::new(sequence, *times)));
        self.fresh.extend(postings);
        if self.fresh.len() > FRESH.max(self.lists.len() / FRESH_PART) {
            self.merge();
        }
        true
    }

    pub(super) fn remove(&mut self, sequences: impl Iterator<Item = u32>) {
        for sequence in sequences {
            let length = self.lengths.get_mut(sequence as usize);
            if let Some(length) = length.filter(|length| **length > 0) {
                *length = 0;
                self.dead.push(sequence);
            }
        }
        if self.dead.len() > DEAD {
            self.merge();
        }
    }

    /// Merges what came since into the lists, without the postings of forgotten records.
    fn merge(&mut self) {
        let lengths = &self.lengths;
        let is_alive = |posting: Posting| lengths[posting.sequence() as usize] > 0;
        let fresh = self.fresh.iter().copied();
        self.lists = self.lists.merged(fresh, self.fresh.len(), is_alive);
        self.fresh.clear();
        self.dead.clear();
    }

    /// Returns how many words a record has; nothing if it is not here.
    pub(super) fn length(&self, sequence: u32) -> Option<u32> {
        self.lengths.get(sequence as usize)?.checked_sub(1)
    }

    /// Returns of each sequence one more than how many words its record has; 0 without a record.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the postings of a word in the lists, and those that came since.
    pub(super) fn postings(&self, term: TermId) -> (&[Posting], Vec<Posting>) {
        let fresh = (term, Posting::first_of(0))..=(term, Posting::last_of(u32::MAX));
        let fresh = self.fresh.range(fresh).map(|(_, posting)| *posting);
        (self.lists.get(term), fresh.collect())
    }

    /// Returns the forgotten records that still have postings.
    pub(super) fn dead(&self) -> &[u32] {
        &self.dead
    }

    /// Returns how many bytes of memory are held, about.
    pub(super) fn n_bytes(&self) -> usize {
        let fresh = self.fresh.len() * size_of::<(TermId, Posting)>();
        self.lists.n_bytes() + fresh + size_of::<u32>() * self.lengths.capacity()
    }
}

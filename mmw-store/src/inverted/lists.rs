//! Sorted lists of postings, one after the other: nothing is between them and nothing is linked.

use super::posting::Posting;
use crate::engine::TermId;

/// The lists of some words. Made at once and never changed.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Ascending.
    terms: Vec<TermId>,
    /// Where the list of each word ends; it begins where the one before ends.
    ends: Vec<u32>,
    postings: Vec<Posting>,
}

impl Lists {
    /// Returns the list of a word, ascending; empty if there is none.
    pub(super) fn get(&self, term: TermId) -> &[Posting] {
        let Ok(at) = self.terms.binary_search(&term) else {
            return &[];
        };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..self.ends[at] as usize]
    }

    /// Returns how many postings there are.
    pub(super) fn len(&self) -> usize {
        self.postings.len()
    }

    /// Returns these lists and further postings, ascending and each behind those of its word, without
    /// those that are left out.
    pub(super) fn merged(
        &self,
        more: impl Iterator<Item = (TermId, Posting)> + Clone,
        n_more: usize,
        keeps: impl Fn(Posting) -> bool,
    ) -> Self {
        let mut more = more.peekable();
        let mut merged = Self {
            terms: Vec::with_capacity(self.terms.len()),
            ends: Vec::with_capacity(self.terms.len()),
            postings: Vec::with_capacity(self.len() + n_more),
        };
        let mut known = self.terms.iter().copied().peekable();
        loop {
            let next = match (known.peek(), more.peek()) {
                (Some(known), Some((new, _))) => *known.min(new),
                (Some(known), None) => *known,
                (None, Some((new, _))) => *new,
                (None, None) => break,
            };
            if known.next_if_eq(&next).is_some() {
                let here = self.get(next).iter().copied();
                merged.postings.extend(here.filter(|one| keeps(*one)));
            }
            while let Some((_, posting)) = more.next_if(|(term, _)| *term == next) {
                if keeps(posting) {
                    merged.postings.push(posting);
                }
            }
            let end = merged.postings.len() as u32;
            if merged.ends.last().copied().unwrap_or(0) < end {
                merged.terms.push(next);
                merged.ends.push(end);
            }
        }
        merged.terms.shrink_to_fit();
        merged.ends.shrink_to_fit();
        merged.postings.shrink_to_fit();
        merged
    }

    /// Returns how many bytes of memory are held.
    pub(super) fn n_bytes(&self) -> usize {
        size_of::<u32>() * (self.terms.capacity() + self.ends.capacity() + self.postings.capacity())
    }
}

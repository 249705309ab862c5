//! A place where a word stands: a record and how often it has the word, in four bytes.

use mmw_core::rank::MAX_TIMES;

use crate::engine::SEQUENCE_BITS;

/// The bits of a count: what is left beside the sequence.
const TIMES_BITS: u32 = u32::BITS - SEQUENCE_BITS;

const _: () = assert!(
    MAX_TIMES as u32 == (1 << TIMES_BITS) - 1,
    "a count fits in its bits"
);

/// A record of a workspace and how often it has a word. Ordered by the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting(u32);

impl Posting {
    /// Returns the posting of a record. Counts above [`MAX_TIMES`] are kept as that.
    pub(super) fn new(sequence: u32, times: u16) -> Self {
        Self(sequence << TIMES_BITS | u32::from(times.min(MAX_TIMES)))
    }

    /// Returns what is before all postings of a record and behind those of the records before it.
    pub(super) const fn first_of(sequence: u32) -> Self {
        Self(sequence << TIMES_BITS)
    }

    /// Returns what is behind all postings of a record.
    pub(super) const fn last_of(sequence: u32) -> Self {
        Self(sequence << TIMES_BITS | MAX_TIMES as u32)
    }

    /// Returns the record.
    pub(super) const fn sequence(self) -> u32 {
        self.0 >> TIMES_BITS
    }

    /// Returns how often it has the word.
    pub(super) const fn times(self) -> u32 {
        self.0 & MAX_TIMES as u32
    }
}

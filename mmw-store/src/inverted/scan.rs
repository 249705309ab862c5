//! Every record of some lists, with what it reached: block by block, so that what is added up stays in the
//! processor's cache.

use mmw_core::rank::{bm25, length_norm};

use super::found::{Found, List, Part};
use super::posting::Posting;
use super::top::Top;
use crate::engine::Row;

/// Records of a block.
const BLOCK: u32 = 1 << 12;
/// Postings of a block from which on all of its records are gone through, and not these postings again.
const DENSE: usize = BLOCK as usize / 8;
/// Lengths for which what a word adds is looked up instead of reckoned.
const SHORT: usize = 128;

/// How a word is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sought {
    /// What it weighs.
    pub weight: f64,
    /// How many of its records are gone through, about: the newest of each workspace, as many of one as of
    /// another.
    pub most: usize,
}

/// What a record reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reached {
    /// The record.
    pub row: Row,
    /// The sum over those of the words that were found in it.
    pub bm25: f64,
    /// These words: a bit for each, the lowest for the first word.
    pub has: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    bm25: f64,
    has: u32,
}

/// What a search of lists keeps.
pub struct Keep<W, K> {
    /// At most so many records, the best.
    pub most: usize,
    /// What a record with these words (see [`Reached::has`]) and this sum is worth; 0 or more.
    pub worth: W,
    /// Whether a record is kept at all.
    pub is_wanted: K,
}

impl Found<'_> {
    /// Goes through the records that have one of the first 32 words and returns the best, in no order, of
    /// equals the latest, and whether there are more. Sums are of words in the order of the query, so that
    /// they are the same bit for bit however a record is reached.
    pub fn best<W, K>(
        &self,
        sought: &[Sought],
        mean_length: f64,
        keep: &Keep<W, K>,
    ) -> (Vec<Reached>, bool)
    where
        W: Fn(u32, f64) -> f64,
        K: Fn(Row) -> bool,
    {
        let weights = Weight::of_all(sought, mean_length);
        let mut sums = vec![Sum::default(); BLOCK as usize];
        let mut top = Top::new(keep.most);
        let n_parts = self.parts.len().max(1);
        let shares = sought.iter().map(|word| Sought {
            most: word.most.div_ceil(n_parts),
            ..*word
        });
        let shares: Vec<Sought> = shares.collect();
        for part in &self.parts {
            part.scan(&shares, &weights, &mut sums, keep, &mut top);
        }
        top.into_best()
    }
}

impl Part<'_> {
    fn scan<W, K>(
        &self,
        sought: &[Sought],
        weights: &[Weight],
        sums: &mut [Sum],
        keep: &Keep<W, K>,
        top: &mut Top,
    ) where
        W: Fn(u32, f64) -> f64,
        K: Fn(Row) -> bool,
    {
        let words = self.lists.iter().zip(sought).take(u32::BITS as usize);
        let mut cursors: Vec<Cursor<'_>> =
            words.map(|(list, word)| Cursor::new(list, word)).collect();
        let lengths = self.segment.lengths();
        while let Some(next) = cursors.iter().filter_map(Cursor::next).min() {
            let start = next - next % BLOCK;
            let mut n_here = 0;
            for (nth, cursor) in cursors.iter_mut().enumerate() {
                cursor.cut(start + BLOCK);
                let weight = &weights[nth];
                for here in cursor.here {
                    n_here += here.len();
                    for posting in here {
                        let sum = &mut sums[(posting.sequence() - start) as usize];
                        let length = lengths[posting.sequence() as usize];
                        sum.bm25 += weight.bm25(posting.times(), length);
                        sum.has |= 1 << nth;
                    }
                }
            }
            let mut look = |sequence: u32, sum: Sum| {
                // Hardly any is: what is asked first is foreseen by the processor.
                let worth = (keep.worth)(sum.has, sum.bm25);
                if top.takes(worth) && sum.has != 0 && lengths[sequence as usize] > 0 {
                    let row = self.first + Row::from(sequence);
                    if (keep.is_wanted)(row) {
                        let (bm25, has) = (sum.bm25, sum.has);
                        top.push(worth, Reached { row, bm25, has });
                    }
                }
            };
            if n_here > DENSE {
                for (sequence, sum) in (start..).zip(sums.iter()) {
                    look(sequence, *sum);
                }
                sums.fill(Sum::default());
            } else {
                for posting in cursors.iter().flat_map(|cursor| cursor.here).flatten() {
                    let sequence = posting.sequence();
                    let sum = std::mem::take(&mut sums[(sequence - start) as usize]);
                    look(sequence, sum);
                }
            }
        }
    }
}

/// What is still to be gone through of one list.
struct Cursor<'l> {
    rest: [&'l [Posting]; 2],
    here: [&'l [Posting]; 2],
}

impl<'l> Cursor<'l> {
    fn new(list: &'l List<'_>, word: &Sought) -> Self {
        Self {
            rest: list.newest(word.most),
            here: [&[], &[]],
        }
    }

    /// Returns the next record.
    fn next(&self) -> Option<u32> {
        let mut rest = self.rest.iter();
        rest.find_map(|rest| rest.first())
            .map(|first| first.sequence())
    }

    /// Takes the records before this one.
    fn cut(&mut self, end: u32) {
        for (rest, here) in self.rest.iter_mut().zip(&mut self.here) {
            // No more than a block has: the rest of a long list is not searched.
            let window = &rest[..rest.len().min(BLOCK as usize)];
            let n_here = window.partition_point(|one| one.sequence() < end);
            (*here, *rest) = rest.split_at(n_here);
        }
    }
}

/// What a word adds to records, by the lengths of these.
struct Weight {
    weight: f64,
    mean_length: f64,
    /// What it adds where it occurs once, by one more than the length, for short records.
    once: [f64; SHORT],
}

impl Weight {
    /// Returns what each word adds.
    fn of_all(sought: &[Sought], mean_length: f64) -> Vec<Self> {
        let norms: [f64; SHORT] = std::array::from_fn(|length| norm(length as u32, mean_length));
        let of_words = sought.iter().map(|word| Self {
            weight: word.weight,
            mean_length,
            once: norms.map(|norm| bm25(word.weight, 1.0, norm)),
        });
        of_words.collect()
    }

    /// Returns what the word adds to a record of one word less than this length. Of one that is not here it
    /// does not matter.
    fn bm25(&self, times: u32, length: u32) -> f64 {
        match self.once.get(length as usize) {
            Some(once) if times == 1 => *once,
            _ => bm25(
                self.weight,
                f64::from(times),
                norm(length, self.mean_length),
            ),
        }
    }
}

/// Returns the norm of a record of one word less than this length.
fn norm(length: u32, mean_length: f64) -> f64 {
    length_norm(f64::from(length.saturating_sub(1)), mean_length)
}

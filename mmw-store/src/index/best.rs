//! The nearest of many, kept while they are found one by one.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::engine::Row;

/// A record and how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The record.
    pub row: Row,
    /// The cosine of the angle between the query and the record's nearest piece, from -1 to 1.
    pub cosine: f32,
}

impl Near {
    /// The nearer first, then the later.
    fn order(&self, other: &Self) -> Ordering {
        let nearer = other.cosine.total_cmp(&self.cosine);
        nearer.then(other.row.cmp(&self.row))
    }
}

/// How many more are kept until they are cut.
const ROOM: usize = 1_024;

/// The nearest `k` records of those that were offered.
#[derive(Debug)]
pub(super) struct Best {
    k: usize,
    /// More than `k` until they are cut, so that an offer costs little.
    found: Vec<Near>,
    /// What is further off than that is not among the nearest.
    least: f32,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            found: Vec::new(),
            least: f32::NEG_INFINITY,
        }
    }

    /// Tells whether something so near would be kept.
    #[inline]
    pub(super) fn wants(&self, cosine: f32) -> bool {
        cosine >= self.least
    }

    pub(super) fn offer(&mut self, near: Near) {
        if self.wants(near.cosine) {
            self.found.push(near);
            if self.found.len() > self.k.saturating_mul(2).saturating_add(ROOM) {
                self.cut();
            }
        }
    }

    /// Keeps the nearest piece of each record, and the nearest records.
    fn cut(&mut self) {
        self.found.sort_unstable_by(Near::order);
        let mut seen = HashSet::new();
        self.found
            .retain(|near| seen.len() < self.k && seen.insert(near.row));
        if let (true, Some(last)) = (self.found.len() == self.k, self.found.last()) {
            self.least = last.cosine;
        }
    }

    /// Adds what somebody else kept of other offers.
    pub(super) fn join(&mut self, other: Self) {
        for near in other.found {
            self.offer(near);
        }
    }

    /// Returns the records, the nearest first.
    pub(super) fn finish(mut self) -> Vec<Near> {
        self.cut();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_the_order_and_the_parts_the_nearest_are_kept(
            offers in proptest::collection::vec((0_i64..60, -3_i8..4), 0..400),
            k in 0_usize..20,
            parts in 1_usize..4,
        ) {
            let offers: Vec<Near> = offers
                .into_iter()
                .map(|(row, cosine)| Near { row, cosine: f32::from(cosine) / 4.0 })
                .collect();
            let mut plain: Vec<Near> = Vec::new();
            for row in 0..60 {
                let of_row = offers.iter().filter(|near| near.row == row).copied();
                plain.extend(of_row.max_by(|a, b| a.cosine.total_cmp(&b.cosine)));
            }
            plain.sort_by(Near::order);
            plain.truncate(k);
            let mut best = Best::new(k);
            for part in offers.chunks(offers.len() / parts + 1) {
                let mut of_part = Best::new(k);
                for near in part {
                    of_part.offer(*near);
                }
                best.join(of_part);
            }
            prop_assert_eq!(best.finish(), plain);
        }
    }
}

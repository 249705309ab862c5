//! Which codes are near enough to look at their vectors: all up to the smallest distance within which
//! enough are.
//!
//! That distance is a property of all codes together. What is seen on the way can only bring it down,
//! so that parts of the codes may be looked at apart, in any order, and joined.

/// A code that may be near enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) distance: u32,
    /// The number of the block among those that are searched.
    pub(super) unit: u32,
    /// The place in the block.
    pub(super) at: u32,
}

/// The codes seen so far that may be near enough.
#[derive(Debug)]
pub(super) struct Cut {
    /// How many are wanted at least.
    wanted: usize,
    /// No code that is further off is needed.
    limit: u32,
    /// How many were seen at each distance; right up to the limit.
    seen: Vec<usize>,
    /// How many were seen up to the limit.
    n_within: usize,
    /// Those up to the limit, and some that were before it came down.
    candidates: Vec<Candidate>,
}

impl Cut {
    /// Expects distances up to `largest`.
    pub(super) fn new(wanted: usize, largest: u32) -> Self {
        Self {
            wanted: wanted.max(1),
            limit: largest,
            seen: vec![0; largest as usize + 1],
            n_within: 0,
            candidates: Vec::new(),
        }
    }

    /// Returns the largest distance that is of interest.
    #[inline]
    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    /// Tells whether as many as wanted were seen. If not, all were kept.
    pub(super) fn is_full(&self) -> bool {
        self.n_within >= self.wanted
    }

    pub(super) fn offer(&mut self, candidate: Candidate) {
        if candidate.distance > self.limit {
            return;
        }
        self.seen[candidate.distance as usize] += 1;
        self.n_within += 1;
        self.candidates.push(candidate);
        while self.n_within - self.seen[self.limit as usize] >= self.wanted {
            self.n_within -= self.seen[self.limit as usize];
            self.limit -= 1;
        }
        if self.candidates.len() >= 4 * self.n_within.max(self.wanted) {
            self.drop_beyond();
        }
    }

    fn drop_beyond(&mut self) {
        let limit = self.limit;
        self.candidates
            .retain(|candidate| candidate.distance <= limit);
    }

    /// Adds what was seen elsewhere.
    pub(super) fn join(&mut self, other: Self) {
        for candidate in other.candidates {
            self.offer(candidate);
        }
    }

    /// Returns all codes that are near enough.
    pub(super) fn finish(mut self) -> Vec<Candidate> {
        self.drop_beyond();
        self.candidates
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_the_order_and_the_parts_the_same_codes_are_near_enough(
            distances in proptest::collection::vec(0_u32..50, 0..300),
            wanted in 0_usize..40,
            parts in 1_usize..5,
        ) {
            let mut sorted = distances.clone();
            sorted.sort_unstable();
            let limit = sorted.get(wanted.max(1) - 1).copied().unwrap_or(50);
            let offers: Vec<Candidate> = distances
                .iter()
                .zip(0..)
                .map(|(distance, at)| Candidate { distance: *distance, unit: 0, at })
                .collect();
            let mut whole = Cut::new(wanted, 50);
            for part in offers.chunks(offers.len() / parts + 1).rev() {
                let mut cut = Cut::new(wanted, 50);
                for candidate in part {
                    cut.offer(*candidate);
                }
                whole.join(cut);
            }
            prop_assert_eq!(whole.is_full(), distances.len() >= wanted.max(1));
            let mut found = whole.finish();
            found.sort_unstable_by_key(|candidate| candidate.at);
            let plain: Vec<Candidate> = offers
                .into_iter()
                .filter(|candidate| candidate.distance <= limit)
                .collect();
            prop_assert_eq!(found, plain);
        }
    }
}

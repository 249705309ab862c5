//! The arithmetic of a search: distances of sign codes and products of whole numbers.
//!
//! One source for all kinds of instructions, see [`crate::embed`]. All sums are of whole numbers, so
//! that every kind gives the same. What is near enough is decided elsewhere.

use crate::embed::{Kernel, fetch_ahead};

/// Codes that lie together: the first words of all, then the second words of all, and so on. So many,
/// that compilers work on codes side by side and not on the words of each.
pub(super) const LANES: usize = 32;

/// Finds in how many dimensions each of many codes has another sign than a query's.
pub(super) struct Distances<'a> {
    /// The words of a query's code.
    pub(super) query: &'a [u64],
    /// Groups of codes: as many items each as the query has words.
    pub(super) codes: &'a [[u64; LANES]],
    /// What is found: an item for each group.
    pub(super) distances: &'a mut [[u32; LANES]],
}

impl Kernel for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let groups = self.codes.chunks_exact(self.query.len().max(1));
        for (distances, group) in self.distances.iter_mut().zip(groups) {
            // As wide as the words, or most of the time would go into making sums narrow.
            let mut sums = [0_u64; LANES];
            for (query, words) in self.query.iter().zip(group) {
                for (sum, word) in sums.iter_mut().zip(words) {
                    *sum += u64::from((query ^ word).count_ones());
                }
            }
            for (distance, sum) in distances.iter_mut().zip(sums) {
                *distance = sum as u32;
            }
        }
    }
}

/// Finds the places of the distances up to a limit.
pub(super) struct Within<'a> {
    pub(super) distances: &'a [u32],
    pub(super) limit: u32,
    /// Where the places are put; as long as the distances.
    pub(super) places: &'a mut [u32],
}

impl Kernel for Within<'_> {
    /// How many places there are.
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        const STRETCH: usize = 16;
        let mut n = 0;
        for (nth, stretch) in self.distances.chunks(STRETCH).enumerate() {
            // Most stretches have none, which is found out side by side.
            let has_any = stretch
                .iter()
                .fold(false, |any, distance| any | (*distance <= self.limit));
            if has_any {
                for (at, distance) in stretch.iter().enumerate() {
                    // Put down in any case: a jump that can't be foreseen costs more.
                    self.places[n] = (nth * STRETCH + at) as u32;
                    n += usize::from(*distance <= self.limit);
                }
            }
        }
        n
    }
}

/// Returns vectors that lie anywhere, and has those that come soon fetched.
pub(super) fn scattered<'v>(
    n: usize,
    vector: impl Fn(usize) -> &'v [i8],
) -> impl Iterator<Item = &'v [i8]> {
    const AHEAD: usize = 8;
    (0..n).map(move |nth| {
        if nth + AHEAD < n {
            fetch_ahead(vector(nth + AHEAD));
        }
        vector(nth)
    })
}

/// Multiplies a query with each of many vectors of its length.
pub(super) struct Products<'a, V> {
    pub(super) query: &'a [i16],
    pub(super) vectors: V,
    /// What is found, a number a vector; those that are there stay.
    pub(super) products: &'a mut Vec<i32>,
}

impl<'v, V: Iterator<Item = &'v [i8]>> Kernel for Products<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for vector in self.vectors {
            // The plainest form is the one that compilers find the instructions of processors for.
            let mut sum = 0;
            for (query, value) in self.query.iter().zip(vector) {
                sum += i32::from(*query) * i32::from(*value);
            }
            self.products.push(sum);
        }
    }
}

//! The arithmetic of a search: distances of sign codes and products of whole numbers.
//!
//! One source for all kinds of instructions, see [`crate::embed`]. All sums are of whole numbers, so
//! that every kind gives the same. What is near enough is decided elsewhere.

use crate::embed::Kernel;

/// Codes that lie together: the first words of all, then the second words of all, and so on.
pub(super) const LANES: usize = 8;

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
        // The usual widths of models, so that a code's sum is unrolled.
        match self.query.len() {
            4 => self.by_words::<4>(),
            6 => self.by_words::<6>(),
            8 => self.by_words::<8>(),
            12 => self.by_words::<12>(),
            16 => self.by_words::<16>(),
            0 => self.distances.fill([0; LANES]),
            _ => self.by_any_words(),
        }
    }
}

impl Distances<'_> {
    #[inline(always)]
    fn by_words<const WORDS: usize>(self) {
        let mut query = [0; WORDS];
        query.copy_from_slice(self.query);
        let (groups, _) = self.codes.as_chunks::<WORDS>();
        for (distances, group) in self.distances.iter_mut().zip(groups) {
            *distances = distance(&query, group);
        }
    }

    #[inline(always)]
    fn by_any_words(self) {
        let groups = self.codes.chunks_exact(self.query.len());
        for (distances, group) in self.distances.iter_mut().zip(groups) {
            *distances = distance(self.query, group);
        }
    }
}

#[inline(always)]
fn distance(query: &[u64], group: &[[u64; LANES]]) -> [u32; LANES] {
    let mut sums = [0_u64; LANES];
    for (query, words) in query.iter().zip(group) {
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum += u64::from((query ^ word).count_ones());
        }
    }
    sums.map(|sum| sum as u32)
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
            self.products.push(product(self.query, vector));
        }
    }
}

/// Numbers that are worked on in a step.
const STEP: usize = 64;

#[inline(always)]
fn product(query: &[i16], vector: &[i8]) -> i32 {
    let (queries, query_rest) = query.as_chunks::<STEP>();
    let (vectors, vector_rest) = vector.as_chunks::<STEP>();
    let mut sums = [0; STEP / 2];
    for (query, vector) in queries.iter().zip(vectors) {
        // Pairs, because most processors have an instruction for just that.
        for (nth, sum) in sums.iter_mut().enumerate() {
            let product = |at: usize| i32::from(query[at]) * i32::from(vector[at]);
            *sum += product(2 * nth) + product(2 * nth + 1);
        }
    }
    let rest = query_rest.iter().zip(vector_rest);
    let rest: i32 = rest
        .map(|(query, value)| i32::from(*query) * i32::from(*value))
        .sum();
    sums.iter().sum::<i32>() + rest
}

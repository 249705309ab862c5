//! A block of vectors: it grows to a fixed size and then another is begun, so that nothing large is
//! ever moved.

use super::kernel::LANES;
use super::query::{code, inverse_length};

/// Vectors in a full block: 1.8 MB at 384 dimensions.
pub(super) const BLOCK: usize = 4_096;

/// The place of a vector: the number of its block times [`BLOCK`], and where it is in there.
pub(super) type Slot = u32;

/// The record that a vector is of, and whether it has other vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(u32);

/// A bit that no sequence has.
const HAS_OTHERS: u32 = 1 << 31;

impl Owner {
    pub(super) fn new(sequence: u32, has_others: bool) -> Self {
        Self(if has_others {
            sequence | HAS_OTHERS
        } else {
            sequence
        })
    }

    pub(super) fn sequence(self) -> u32 {
        self.0 & !HAS_OTHERS
    }

    pub(super) fn has_others(self) -> bool {
        self.0 & HAS_OTHERS != 0
    }
}

/// Some vectors of one workspace, in any order and without gaps.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The signs of each [`LANES`] vectors: the first words of all, then the second words of all.
    codes: Vec<[u64; LANES]>,
    /// The values, vector after vector.
    values: Vec<i8>,
    /// One over the length of each vector.
    factors: Vec<f32>,
    /// The record of each vector.
    owners: Vec<Owner>,
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(super) fn codes(&self) -> &[[u64; LANES]] {
        &self.codes
    }

    pub(super) fn values(&self) -> &[i8] {
        &self.values
    }

    pub(super) fn value(&self, at: usize, dimensions: usize) -> &[i8] {
        &self.values[at * dimensions..][..dimensions]
    }

    pub(super) fn factors(&self) -> &[f32] {
        &self.factors
    }

    pub(super) fn owners(&self) -> &[Owner] {
        &self.owners
    }

    /// Adds a vector at the end.
    pub(super) fn push(&mut self, owner: Owner, values: &[i8]) {
        let at = self.len();
        let words = values.len().div_ceil(64);
        self.make_room(values.len(), words);
        if at.is_multiple_of(LANES) {
            self.codes.resize(self.codes.len() + words, [0; LANES]);
        }
        self.values.extend_from_slice(values);
        self.factors.push(0.0);
        self.owners.push(owner);
        self.set(at, owner, values);
    }

    /// Puts a vector in the place of another.
    pub(super) fn set(&mut self, at: usize, owner: Owner, values: &[i8]) {
        let words = values.len().div_ceil(64);
        self.values[at * values.len()..][..values.len()].copy_from_slice(values);
        let squares = values.iter().map(|v| i64::from(*v) * i64::from(*v)).sum();
        self.factors[at] = inverse_length(squares);
        self.owners[at] = owner;
        let group = &mut self.codes[at / LANES * words..][..words];
        for (words, word) in group.iter_mut().zip(code(values.iter().map(|v| *v > 0))) {
            words[at % LANES] = word;
        }
    }

    /// Takes away the last vector and returns it with its record.
    pub(super) fn pop(&mut self, dimensions: usize) -> Option<(Owner, Vec<i8>)> {
        let owner = self.owners.pop()?;
        self.factors.pop();
        let at = self.len();
        let values = self.values.split_off(at * dimensions);
        let groups = at.div_ceil(LANES);
        self.codes.truncate(groups * dimensions.div_ceil(64));
        Some((owner, values))
    }

    /// Doubles the room, never beyond a full block.
    fn make_room(&mut self, dimensions: usize, words: usize) {
        let has = self.len();
        if has < self.owners.capacity() {
            return;
        }
        let more = has.clamp(LANES, BLOCK.saturating_sub(has).max(LANES));
        self.owners.reserve_exact(more);
        self.factors.reserve_exact(more);
        self.values.reserve_exact(more * dimensions);
        self.codes.reserve_exact(more.div_ceil(LANES) * words);
    }

    /// Returns how many bytes of memory are held.
    pub(super) fn n_bytes(&self) -> usize {
        self.codes.capacity() * size_of::<[u64; LANES]>()
            + self.values.capacity()
            + self.factors.capacity() * size_of::<f32>()
            + self.owners.capacity() * size_of::<Owner>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Not a multiple of the bits of a word.
    const DIMENSIONS: usize = 70;

    #[derive(Debug, Clone)]
    enum Step {
        Push(Vec<i8>),
        /// At some place, if there is one.
        Set(usize, Vec<i8>),
        Pop,
    }

    fn step() -> impl Strategy<Value = Step> {
        let values = || proptest::collection::vec(any::<i8>(), DIMENSIONS);
        prop_oneof![
            4 => values().prop_map(Step::Push),
            2 => (any::<usize>(), values()).prop_map(|(at, values)| Step::Set(at, values)),
            2 => Just(Step::Pop),
        ]
    }

    proptest! {
        // Answers hardly show a code that was left behind: it only makes some of them worse.
        #[test]
        fn after_any_steps_every_code_is_that_of_the_vector_in_its_place(
            steps in proptest::collection::vec(step(), 0..200),
        ) {
            let mut block = Block::default();
            let mut plain: Vec<(Owner, Vec<i8>)> = Vec::new();
            for (step, sequence) in steps.into_iter().zip(0..) {
                let owner = Owner::new(sequence, sequence % 3 == 0);
                match step {
                    Step::Push(values) => {
                        block.push(owner, &values);
                        plain.push((owner, values));
                    }
                    Step::Set(at, values) => {
                        if let Some(at) = at.checked_rem(plain.len()) {
                            block.set(at, owner, &values);
                            plain[at] = (owner, values);
                        }
                    }
                    Step::Pop => prop_assert_eq!(block.pop(DIMENSIONS), plain.pop()),
                }
            }
            prop_assert_eq!(block.len(), plain.len());
            let words = DIMENSIONS.div_ceil(64);
            prop_assert_eq!(block.codes().len(), plain.len().div_ceil(LANES) * words);
            for (at, (owner, values)) in plain.iter().enumerate() {
                prop_assert_eq!(block.owners()[at], *owner);
                prop_assert_eq!(block.value(at, DIMENSIONS), &values[..]);
                let group = &block.codes()[at / LANES * words..][..words];
                let found: Vec<u64> = group.iter().map(|words| words[at % LANES]).collect();
                let expected: Vec<u64> = code(values.iter().map(|v| *v > 0)).collect();
                prop_assert_eq!(found, expected, "{}", at);
            }
        }
    }
}

//! The vectors of one workspace.
//!
//! They lie in blocks without gaps: what is taken away leaves its place to the last one, so that
//! nothing dead is ever scanned, no cleaning is due at a bad time, and memory is given back.

use super::block::{BLOCK, Block, Owner, Slot};
use super::kernel::LANES;
use super::table::Table;

/// The vectors of one workspace. Records go by their sequence, the lowest bits of their row.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// All full but the last, which has at least one vector.
    blocks: Vec<Block>,
    table: Table,
    n_vectors: usize,
    /// Whether everything that the store had was put here.
    pub(super) is_loaded: bool,
}

impl Segment {
    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns a vector and one over its length.
    pub(super) fn vector(&self, slot: Slot, dimensions: usize) -> (&[i8], f32) {
        let block = &self.blocks[slot as usize / BLOCK];
        let at = slot as usize % BLOCK;
        (block.value(at, dimensions), block.factors()[at])
    }

    /// Returns the words of a vector's code.
    pub(super) fn code(&self, slot: Slot, dimensions: usize) -> impl Iterator<Item = u64> {
        let at = slot as usize % BLOCK;
        let words = dimensions.div_ceil(64);
        let group = &self.blocks[slot as usize / BLOCK].codes()[at / LANES * words..][..words];
        group.iter().map(move |words| words[at % LANES])
    }

    /// Puts the vectors of a record in place of those it had. Returns `false` and changes nothing if
    /// their number is not higher.
    pub(super) fn put<'v>(
        &mut self,
        sequence: u32,
        number: i64,
        vectors: impl ExactSizeIterator<Item = &'v [i8]>,
        dimensions: usize,
    ) -> bool {
        if self
            .table
            .number_of(sequence)
            .is_some_and(|had| had >= number)
        {
            return false;
        }
        self.remove(sequence, dimensions);
        let first = self.n_vectors as Slot;
        let slots: Vec<Slot> = (first..first + vectors.len() as Slot).collect();
        let owner = Owner::new(sequence, slots.len() > 1);
        for vector in vectors {
            if self.n_vectors.is_multiple_of(BLOCK) {
                self.blocks.push(Block::default());
            }
            if let Some(block) = self.blocks.last_mut() {
                block.push(owner, vector);
            }
            self.n_vectors += 1;
        }
        self.table.insert(sequence, number, &slots);
        true
    }

    /// Forgets a record. Returns `false` if it was not known.
    pub(super) fn remove(&mut self, sequence: u32, dimensions: usize) -> bool {
        let Some(slots) = self.table.remove(sequence) else {
            return false;
        };
        // The last place first: what moves there is then never of this record.
        for slot in slots {
            self.take(slot, dimensions);
        }
        true
    }

    fn take(&mut self, slot: Slot, dimensions: usize) {
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        let Some((owner, values)) = block.pop(dimensions) else {
            return;
        };
        if block.len() == 0 {
            self.blocks.pop();
        }
        self.n_vectors -= 1;
        let last = self.n_vectors as Slot;
        if last != slot {
            self.blocks[slot as usize / BLOCK].set(slot as usize % BLOCK, owner, &values);
            self.table.moved(owner.sequence(), last, slot);
        }
    }

    /// Returns how many bytes of memory are held, about.
    pub(super) fn n_bytes(&self) -> usize {
        let blocks = self
            .blocks
            .iter()
            .map(|block| block.n_bytes() + size_of::<Block>());
        blocks.sum::<usize>() + self.table.n_bytes()
    }
}

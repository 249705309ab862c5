//! The hash of a word, the same when the table is built and when a text is read.
//!
//! Letters of either case hash alike. What hashes alike need not be the same word: who looks a
//! word up compares it.

/// Makes letters small; what it does to other bytes is the same on both sides.
const SMALL: u64 = 0x2020_2020_2020_2020;
/// How many numbers of 64 bits tell whether a word may be known.
pub(super) const PERHAPS_WORDS: usize = 1024;
const MIX_FRONT: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_BACK: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Returns the hash of a word. Words of any length cost the same: its ends and length count.
#[inline]
pub(super) fn of(word: &[u8]) -> u64 {
    let n = word.len();
    let (front, back) = if let (Some(front), Some(back)) =
        (word.first_chunk::<8>(), word.last_chunk::<8>())
    {
        (u64::from_le_bytes(*front), u64::from_le_bytes(*back))
    } else if let (Some(front), Some(back)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (
            u64::from(u32::from_le_bytes(*front)),
            u64::from(u32::from_le_bytes(*back)),
        )
    } else if let (Some(front), Some(back)) = (word.first_chunk::<2>(), word.last_chunk::<2>()) {
        (
            u64::from(u16::from_le_bytes(*front)),
            u64::from(u16::from_le_bytes(*back)),
        )
    } else {
        (word.first().copied().map_or(0, u64::from), 0)
    };
    let mixed = ((front | SMALL).wrapping_mul(MIX_FRONT))
        ^ ((back | SMALL).wrapping_add(n as u64)).wrapping_mul(MIX_BACK);
    mixed ^ (mixed >> 29)
}

/// Returns where the search for a word begins in a table; the caller cuts it to the table's size.
#[inline]
pub(super) const fn slot(hashed: u64) -> usize {
    // Cut off on purpose.
    hashed as u32 as usize
}

/// Returns the part of a hash that a table keeps.
#[inline]
pub(super) const fn tag(hashed: u64) -> u32 {
    (hashed >> 32) as u32
}

/// Returns the number and the bit that tell whether a word may be known.
#[inline]
pub(super) const fn perhaps(hashed: u64) -> (usize, u32) {
    let bit = (hashed >> 12) as usize & (PERHAPS_WORDS * 64 - 1);
    (bit / 64, (bit % 64) as u32)
}

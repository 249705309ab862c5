//! Looks words up in the vocabulary, whichever way they are written, and tells where words end.

use super::hash;
use super::tables::{PERHAPS, RESPELLED_SLOTS, SLOTS, UNSPACED_BEGINS, Word};

/// The longest word of a script without spaces, in bytes.
const MAX_UNSPACED_BYTES: usize = 24;

pub(super) const LETTER: u8 = 1;
pub(super) const DIGIT: u8 = 2;
pub(super) const HIGH: u8 = 4;
pub(super) const LOW_LINE: u8 = 8;
pub(super) const WORD: u8 = LETTER | DIGIT | HIGH | LOW_LINE;
pub(super) const SPACE: u8 = 16;
const OTHER: u8 = 32;

static KINDS: [u8; 256] = {
    let mut kinds = [OTHER; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        kinds[at] = if byte >= 0x80 {
            HIGH
        } else if byte.is_ascii_alphabetic() {
            LETTER
        } else if byte.is_ascii_digit() {
            DIGIT
        } else if byte == b'_' {
            LOW_LINE
        } else if byte == b' ' || byte == b'\t' || byte == b'\r' {
            SPACE
        } else {
            OTHER
        };
        at += 1;
    }
    kinds
};

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns the high bit of each byte that lies between two, of bytes below 0x80.
#[inline]
const fn between(bytes: u64, first: u8, last: u8) -> u64 {
    (bytes.wrapping_add(each(0x80 - first)) & !bytes.wrapping_add(each(0x7f - last))) & each(0x80)
}

/// Returns where a word ends, and what kinds of characters it has: eight bytes are read at a time.
#[inline]
pub(super) fn word_end(bytes: &[u8], start: usize) -> (usize, u8) {
    let (mut end, mut kinds) = (start, 0);
    while let Some(eight) = bytes.get(end..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let high = eight & each(0x80);
        let low = eight & each(0x7f);
        let digits = between(low, b'0', b'9') & !high;
        let lines = between(low, b'_', b'_') & !high;
        let letters = between(low | each(0x20), b'a', b'z') & !high;
        let outside = !(high | digits | lines | letters) & each(0x80);
        let n = outside.trailing_zeros() / 8;
        let inside = if n >= 8 { u64::MAX } else { (1 << (n * 8)) - 1 };
        if letters & inside != 0 {
            kinds |= LETTER;
        }
        if (high | digits | lines) & inside != 0 {
            kinds |= if high & inside != 0 { HIGH } else { 0 };
            kinds |= if digits & inside != 0 { DIGIT } else { 0 };
            kinds |= if lines & inside != 0 { LOW_LINE } else { 0 };
        }
        end += n as usize;
        if n < 8 {
            return (end, kinds);
        }
    }
    while let Some(byte) = bytes.get(end)
        && kind(*byte) & WORD != 0
    {
        kinds |= kind(*byte);
        end += 1;
    }
    (end, kinds)
}

#[inline]
pub(super) const fn kind(byte: u8) -> u8 {
    KINDS[byte as usize]
}

#[inline]
fn looked_up(slots: &[(u32, u16)], hashed: u64, is_it: impl Fn(&str) -> bool) -> Option<u16> {
    let mask = slots.len() - 1;
    let mut at = hash::slot(hashed) & mask;
    loop {
        let (tag, number) = slots[at];
        let index = number.checked_sub(1)?;
        if tag == hash::tag(hashed) && is_it(Word::at(index).text()) {
            return Some(index);
        }
        at = (at + 1) & mask;
    }
}

#[inline(always)]
fn may_be_known(hashed: u64) -> bool {
    let (number, bit) = hash::perhaps(hashed);
    PERHAPS[number] >> bit & 1 != 0
}

/// Returns the place of a word in the vocabulary.
#[inline(always)]
pub(super) fn place(word: &[u8]) -> Option<u16> {
    let hashed = hash::of(word);
    if !may_be_known(hashed) {
        return None;
    }
    looked_up(&SLOTS, hashed, |text| {
        text.len() == word.len() && text.as_bytes().eq_ignore_ascii_case(word)
    })
}

/// Returns the place of a stem with which a word begins.
pub(super) fn stem(word: &str) -> Option<u16> {
    let ends = word.char_indices().map(|(at, _)| at).skip(3);
    let ends: Vec<usize> = ends.chain([word.len()]).collect();
    ends.into_iter().rev().find_map(|end| {
        let hashed = hash::of(&word.as_bytes()[..end]);
        if !may_be_known(hashed) {
            return None;
        }
        looked_up(&SLOTS, hashed, |text| {
            text.strip_suffix('*').unwrap_or(text) == &word[..end]
        })
        .filter(|index| Word::at(*index).is_stem)
    })
}

/// Returns the place of a word that is written with digits, signs or look-alikes for letters. The
/// key has an `i` for each `l`: a digit one may stand for either.
pub(super) fn respelled_place(key: &str) -> Option<u16> {
    looked_up(&RESPELLED_SLOTS, hash::of(key.as_bytes()), |text| {
        text.len() == key.len()
            && text
                .bytes()
                .map(|b| if b == b'l' { b'i' } else { b })
                .eq(key.bytes())
    })
}

/// Returns the place and length of the longest word without spaces that a text begins with.
pub(super) fn unspaced_place(text: &str) -> Option<(u16, usize)> {
    let pair = text.as_bytes().get(..6)?;
    let bit = hash::slot(hash::of(pair)) & 4095;
    if UNSPACED_BEGINS[bit / 64] >> (bit % 64) & 1 == 0 {
        return None;
    }
    // Each character of these scripts has three bytes.
    let longest = text.len().min(MAX_UNSPACED_BYTES);
    (2..=longest / 3).rev().find_map(|n| {
        let word = text.as_bytes().get(..n * 3)?;
        place(word).map(|index| (index, n * 3))
    })
}

//! One pass over a text that tells where keywords stand.
//!
//! The index is built by the compiler, so that a program which screens one text and ends (a hook)
//! pays nothing for it. An automaton of the same words takes longer to build than a hook may live
//! (`docs/decisions/` has the figures). Four bytes at a time are looked up in a bitmap; only where
//! it says "perhaps" are words compared.

use std::ops::Range;

/// The shortest keyword, in bytes.
pub(crate) const MIN_WORD_BYTES: usize = 3;
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
const BITMAP_BITS: u32 = 17;
const BITMAP_WORDS: usize = 1 << (BITMAP_BITS - 6);
const END: u16 = u16::MAX;

/// A keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    text: &'static str,
    is_exact: bool,
}

impl Word {
    /// Makes a keyword; one that is not exact is compared without regard to the case of ASCII letters.
    pub(crate) const fn new(text: &'static str, is_exact: bool) -> Self {
        Self { text, is_exact }
    }
}

/// An index of `N` keywords.
pub(crate) struct Index<const N: usize> {
    words: &'static [Word; N],
    /// One bit for each value that four folded bytes at the start of a word hash to.
    perhaps: [u64; BITMAP_WORDS],
    /// For each value that three folded bytes hash to: the first word.
    heads: [u16; BUCKETS],
    /// For each word the next one of its bucket.
    next: [u16; N],
}

impl<const N: usize> std::fmt::Debug for Index<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

/// Folds four bytes: letters of either case become the same.
const fn folded(quad: u32) -> u32 {
    quad | 0x2020_2020
}

const fn bit(folded_quad: u32) -> usize {
    (folded_quad.wrapping_mul(0x9e37_79b1) >> (32 - BITMAP_BITS)) as usize
}

const fn bucket(folded_quad: u32) -> usize {
    ((folded_quad & 0x00ff_ffff).wrapping_mul(0x85eb_ca6b) >> (32 - BUCKET_BITS)) as usize
}

impl<const N: usize> Index<N> {
    /// Builds the index. Meant for a `static`: the compiler does the work.
    ///
    /// # Panics
    /// If a word is shorter than [`MIN_WORD_BYTES`] or there are too many: then the build fails.
    pub(crate) const fn new(words: &'static [Word; N]) -> Self {
        assert!(N < END as usize, "too many keywords");
        let mut index = Self {
            words,
            perhaps: [0; BITMAP_WORDS],
            heads: [END; BUCKETS],
            next: [END; N],
        };
        let mut n = N;
        while n > 0 {
            n -= 1;
            let bytes = words[n].text.as_bytes();
            assert!(bytes.len() >= MIN_WORD_BYTES, "a keyword is too short");
            let three = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            if bytes.len() == MIN_WORD_BYTES {
                let mut last = 0_u32;
                while last < 256 {
                    index.mark(folded(three | last << 24));
                    last += 1;
                }
            } else {
                index.mark(folded(three | (bytes[3] as u32) << 24));
            }
            let bucket = bucket(folded(three));
            index.next[n] = index.heads[bucket];
            index.heads[bucket] = n as u16;
        }
        index
    }

    const fn mark(&mut self, folded_quad: u32) {
        let bit = bit(folded_quad);
        self.perhaps[bit >> 6] |= 1 << (bit & 63);
    }

    /// Tells of each keyword in the text, in the order of their first bytes, overlaps included.
    ///
    /// `any_case` compares exact words without regard to case too.
    pub(crate) fn find(
        &self,
        text: &[u8],
        any_case: bool,
        mut found: impl FnMut(usize, Range<usize>),
    ) {
        let mut look = |quad: u32, at: usize| {
            let quad = folded(quad);
            let bit = bit(quad);
            if self.perhaps[bit >> 6] >> (bit & 63) & 1 == 0 {
                return;
            }
            let mut n = self.heads[bucket(quad)];
            while n != END {
                let word = &self.words[usize::from(n)];
                let bytes = word.text.as_bytes();
                if let Some(stands) = text.get(at..at + bytes.len())
                    && (stands == bytes
                        || (any_case || !word.is_exact) && stands.eq_ignore_ascii_case(bytes))
                {
                    found(usize::from(n), at..at + bytes.len());
                }
                n = self.next[usize::from(n)];
            }
        };
        for (at, quad) in text.array_windows().enumerate() {
            look(u32::from_le_bytes(*quad), at);
        }
        let last = text.len().saturating_sub(MIN_WORD_BYTES);
        if let [a, b, c] = text[last..] {
            look(u32::from_le_bytes([a, b, c, 0]), last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static WORDS: [Word; 7] = [
        Word::new("key", false),
        Word::new("api_key", false),
        Word::new("ghp_", true),
        Word::new("пароль", true),
        Word::new("AKIA", true),
        Word::new("keys", false),
        Word::new("://", false),
    ];
    static INDEX: Index<7> = Index::new(&WORDS);

    fn found(text: &str, any_case: bool) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        INDEX.find(text.as_bytes(), any_case, |word, at| all.push((word, at)));
        all.sort_by_key(|(word, at)| (at.start, *word));
        all
    }

    fn plainly(text: &str, any_case: bool) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        for at in 0..text.len() {
            for (n, word) in WORDS.iter().enumerate() {
                let bytes = word.text.as_bytes();
                let Some(stands) = text.as_bytes().get(at..at + bytes.len()) else {
                    continue;
                };
                let same = if word.is_exact && !any_case {
                    stands == bytes
                } else {
                    stands.eq_ignore_ascii_case(bytes)
                };
                if same {
                    all.push((n, at..at + bytes.len()));
                }
            }
        }
        all
    }

    #[test]
    fn keywords_are_found_wherever_they_stand() {
        assert_eq!(found("key", false), [(0, 0..3)]);
        assert_eq!(found("my API_KEY", false), [(1, 3..10), (0, 7..10)]);
        assert_eq!(found("GHP_x ghp_x", false), [(2, 6..10)]);
        assert_eq!(found("GHP_x", true), [(2, 0..4)]);
        assert_eq!(found("http://", false), [(6, 4..7)]);
        assert_eq!(found("ke", false), []);
        assert_eq!(found("", false), []);
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_plain_search_finds(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["key", "KEYS", "api_", "ghp", "_", "AKI", "A", "паро", "ль", ":", "//", " ", "k", "э"]),
                0..40,
            ),
            any_case in any::<bool>(),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(found(&text, any_case), plainly(&text, any_case));
        }
    }
}

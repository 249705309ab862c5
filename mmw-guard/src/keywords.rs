//! One pass over a text that tells where keywords stand.
//!
//! The index is built by the compiler, so that a program which screens one text and ends (a hook)
//! pays nothing for it. An automaton of the same words takes longer to build than a hook may live
//! (`docs/decisions/` has the figures). Four bytes at a time are looked up in a bitmap; only where
//! it says "perhaps" are words compared, eight bytes at once.

use std::ops::Range;

/// The shortest keyword, in bytes.
pub(crate) const MIN_WORD_BYTES: usize = 3;
/// How many bytes are compared at once.
const KEY_BYTES: usize = 8;
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
const QUAD_BITS: u32 = 16;
const TRIPLE_BITS: u32 = 14;
const END: u16 = u16::MAX;
/// Makes letters of either case the same.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// A keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    text: &'static str,
    is_exact: bool,
    begins_a_word: bool,
}

impl Word {
    /// Makes a keyword; one that is not exact is compared without regard to the case of ASCII letters.
    pub(crate) const fn new(text: &'static str, is_exact: bool) -> Self {
        Self {
            text,
            is_exact,
            begins_a_word: false,
        }
    }

    /// Makes it one that counts only where a word begins: after no letter or digit, or with a
    /// capital after a small letter.
    pub(crate) const fn beginning_a_word(self) -> Self {
        Self {
            begins_a_word: true,
            ..self
        }
    }
}

/// Two bits for each value of a hash: whether a word that counts anywhere, and whether one that
/// counts where a word begins, may have it.
struct Flags<const BYTES: usize>([u8; BYTES]);

const ANYWHERE: u8 = 1;
const BEGINNING: u8 = 2;

impl<const BYTES: usize> Flags<BYTES> {
    const fn set(&mut self, hash: usize, flag: u8) {
        self.0[hash >> 2] |= flag << ((hash & 3) * 2);
    }

    const fn get(&self, hash: usize) -> u8 {
        self.0[hash >> 2] >> ((hash & 3) * 2) & 3
    }
}

/// An index of `N` keywords.
pub(crate) struct Index<const N: usize> {
    words: &'static [Word; N],
    /// What words of four bytes and more may begin with.
    quads: Flags<{ 1 << (QUAD_BITS - 2) }>,
    /// What words of three bytes may be.
    triples: Flags<{ 1 << (TRIPLE_BITS - 2) }>,
    /// For each value that three folded bytes hash to: the first word that counts anywhere.
    anywhere: [u16; BUCKETS],
    /// The first word that counts where a word begins.
    beginning: [u16; BUCKETS],
    /// For each word its first bytes, folded, and which of the eight it has.
    keys: [(u64, u64); N],
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

const fn quad_hash(folded_quad: u32) -> usize {
    (folded_quad.wrapping_mul(0x9e37_79b1) >> (32 - QUAD_BITS)) as usize
}

const fn triple_hash(folded_quad: u32) -> usize {
    ((folded_quad & 0x00ff_ffff).wrapping_mul(0x9e37_79b1) >> (32 - TRIPLE_BITS)) as usize
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
            quads: Flags([0; 1 << (QUAD_BITS - 2)]),
            triples: Flags([0; 1 << (TRIPLE_BITS - 2)]),
            anywhere: [END; BUCKETS],
            beginning: [END; BUCKETS],
            keys: [(0, 0); N],
            next: [END; N],
        };
        let mut n = N;
        while n > 0 {
            n -= 1;
            let bytes = words[n].text.as_bytes();
            assert!(bytes.len() >= MIN_WORD_BYTES, "a keyword is too short");
            let (mut key, mut mask, mut at) = (0_u64, 0_u64, 0);
            while at < bytes.len() && at < KEY_BYTES {
                key |= (bytes[at] as u64) << (8 * at);
                mask |= 0xff << (8 * at);
                at += 1;
            }
            let key = (key | FOLD) & mask;
            index.keys[n] = (key, mask);
            let quad = key as u32;
            let (heads, flag) = if words[n].begins_a_word {
                (&mut index.beginning, BEGINNING)
            } else {
                (&mut index.anywhere, ANYWHERE)
            };
            if bytes.len() == MIN_WORD_BYTES {
                index.triples.set(triple_hash(quad), flag);
            } else {
                index.quads.set(quad_hash(quad), flag);
            }
            let bucket = bucket(quad);
            index.next[n] = heads[bucket];
            heads[bucket] = n as u16;
        }
        index
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
        let mut before = b' ';
        for (at, eight) in text.array_windows::<KEY_BYTES>().enumerate() {
            self.look(
                text,
                u64::from_le_bytes(*eight),
                before,
                at,
                any_case,
                &mut found,
            );
            before = eight[0];
        }
        // The last places have fewer bytes behind them.
        let rest = (text.len() + 1).saturating_sub(KEY_BYTES);
        for at in rest..text.len().saturating_sub(MIN_WORD_BYTES - 1) {
            let mut eight = [0; KEY_BYTES];
            eight[..text.len() - at].copy_from_slice(&text[at..]);
            self.look(
                text,
                u64::from_le_bytes(eight),
                before,
                at,
                any_case,
                &mut found,
            );
            before = text[at];
        }
    }

    #[inline]
    fn look(
        &self,
        text: &[u8],
        eight: u64,
        before: u8,
        at: usize,
        any_case: bool,
        found: &mut impl FnMut(usize, Range<usize>),
    ) {
        let folded = eight | FOLD;
        let quad = folded as u32;
        let flags = self.quads.get(quad_hash(quad)) | self.triples.get(triple_hash(quad));
        if flags == 0 {
            return;
        }
        if flags & ANYWHERE != 0 {
            self.compare(&self.anywhere, text, folded, at, any_case, found);
        }
        if flags & BEGINNING != 0 {
            let first = eight as u8;
            let begins = !before.is_ascii_alphanumeric()
                || !first.is_ascii_alphanumeric()
                || before.is_ascii_lowercase() && first.is_ascii_uppercase();
            if begins {
                self.compare(&self.beginning, text, folded, at, any_case, found);
            }
        }
    }

    fn compare(
        &self,
        heads: &[u16; BUCKETS],
        text: &[u8],
        folded: u64,
        at: usize,
        any_case: bool,
        found: &mut impl FnMut(usize, Range<usize>),
    ) {
        let mut n = heads[bucket(folded as u32)];
        while n != END {
            let (key, mask) = self.keys[usize::from(n)];
            if folded & mask == key {
                let word = &self.words[usize::from(n)];
                let bytes = word.text.as_bytes();
                if let Some(stands) = text.get(at..at + bytes.len())
                    && (stands == bytes
                        || (any_case || !word.is_exact) && stands.eq_ignore_ascii_case(bytes))
                {
                    found(usize::from(n), at..at + bytes.len());
                }
            }
            n = self.next[usize::from(n)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static WORDS: [Word; 8] = [
        Word::new("data", false).beginning_a_word(),
        Word::new("key", false),
        Word::new("api_key", false),
        Word::new("ghp_", true),
        Word::new("пароль", true),
        Word::new("AKIA", true),
        Word::new("keys", false),
        Word::new("://", false),
    ];
    static INDEX: Index<8> = Index::new(&WORDS);

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
                let begins = at.checked_sub(1).is_none_or(|before| {
                    let (before, first) = (text.as_bytes()[before], text.as_bytes()[at]);
                    !before.is_ascii_alphanumeric()
                        || !first.is_ascii_alphanumeric()
                        || before.is_ascii_lowercase() && first.is_ascii_uppercase()
                });
                if same && (begins || !word.begins_a_word) {
                    all.push((n, at..at + bytes.len()));
                }
            }
        }
        all
    }

    #[test]
    fn keywords_are_found_wherever_they_stand() {
        assert_eq!(found("key", false), [(1, 0..3)]);
        assert_eq!(found("my API_KEY", false), [(2, 3..10), (1, 7..10)]);
        assert_eq!(found("GHP_x ghp_x", false), [(3, 6..10)]);
        assert_eq!(found("GHP_x", true), [(3, 0..4)]);
        assert_eq!(found("http://", false), [(7, 4..7)]);
        assert_eq!(
            found("metadata myData data_x", false),
            [(0, 11..15), (0, 16..20)]
        );
        assert_eq!(found("ke", false), []);
        assert_eq!(found("", false), []);
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_plain_search_finds(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["key", "KEYS", "api_", "ghp", "_", "AKI", "A", "паро", "ль", "data", "Data", ":", "//", " ", "k", "э"]),
                0..40,
            ),
            any_case in any::<bool>(),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(found(&text, any_case), plainly(&text, any_case));
        }
    }
}

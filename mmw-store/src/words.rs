//! From text to words: the one path for records and for queries.
//!
//! | what | how |
//! |---|---|
//! | spelling | NFKC, lower case, no invisible characters, no diacritics (`café` is `cafe`, `ё` is `е`, `й` stays) |
//! | inflection | Snowball stems: Latin as English, Cyrillic as Russian; never for words with digits or identifiers as wholes |
//! | scripts without spaces | overlapping pairs of characters, single characters too in the index |
//! | identifiers | as wholes and by their parts, see `identifier.rs` |
//! | long words | above [`MAX_WORD_BYTES`] their beginning and a hash |
//!
//! A word is never empty and has letters, digits, marks and [`WORD_PUNCTUATION`], never white
//! space or control characters. Symbols and emoji are no words. Engines take words as they are.
//!
//! Nothing here scores or ranks, and nothing here fails: any text has words, if only none.

mod facet;
mod identifier;
mod normal;
mod pieces;
mod scan;
mod stems;

pub use self::facet::Facet;
use crate::engine::{LexicalDoc, TermId};
use mmw_core::text::cut_at_char;
use pieces::{Pieces, Purpose, Role};

/// The version of the path from record to words. Raised when it changes: an index of an older version
/// is made again when its store is opened.
pub const ANALYSIS_VERSION: u32 = 2;
/// The longest word, in bytes.
pub const MAX_WORD_BYTES: usize = 64;
/// The most words of a query; further ones are cut.
pub const MAX_QUERY_WORDS: usize = 32;
/// The longest part of a query that is looked at, in bytes.
pub const MAX_QUERY_BYTES: usize = 4096;
/// The ASCII characters that words have beside letters and digits. `~` only stands before the
/// hash of a long word.
pub const WORD_PUNCTUATION: &str = "#+-./:@_~";

/// The words of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Distinct words in the order of the query, at most [`MAX_QUERY_WORDS`]. Stop words are left
    /// out unless nothing else would be left. An identifier comes as a whole and then as its
    /// parts.
    pub words: Vec<String>,
    /// The positions in `words`, ascending, of identifiers as wholes. Their parts stand in
    /// `words` too, and a record that has the whole has the parts: ask for all `words` first, then
    /// for all but these. As they are rare, their weight puts the exact name first; in a measure
    /// of how much of the query a record covers they would count twice, and for nothing where the
    /// parts stand apart.
    pub wholes: Vec<usize>,
    /// The positions in `words`, ascending, of names: identifiers as wholes, `camelCase` words, and words
    /// of letters and digits. Whoever writes one means that one.
    pub names: Vec<usize>,
    /// The query was longer than what is looked at.
    pub is_cut: bool,
}

impl Query {
    /// Returns the words that make up the query, each counted once: all but the wholes.
    pub fn leaves(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().enumerate();
        words
            .filter(|(nth, _)| self.wholes.binary_search(nth).is_err())
            .map(|(_, word)| word.as_str())
    }
}

/// Returns the words of a record's texts: all forms under which it is found.
///
/// `text` has each distinct word once, in the order of first appearance. `length` counts the words
/// as they were written: an identifier counts as its parts, a character of a script without
/// spaces as one; the further forms under which the same place is found do not count.
#[must_use]
pub fn document(texts: &[&str]) -> LexicalDoc {
    let mut found = Pieces::new(Purpose::Index, texts.iter().map(|text| text.len()).sum());
    for text in texts {
        scan::text(text, &mut found);
    }
    let mut length = 0_u32;
    let mut terms = Vec::with_capacity(found.all().len());
    for (nth, piece) in found.all().iter().enumerate() {
        length = length.saturating_add(u32::from(piece.role == Role::Leaf));
        terms.push((fingerprint(found.text(piece)), nth));
    }
    terms.sort_unstable();

    let mut counts: Vec<(TermId, u16)> = Vec::with_capacity(terms.len());
    let mut firsts: Vec<usize> = Vec::with_capacity(terms.len());
    for of_one_term in terms.chunk_by(|a, b| a.0 == b.0) {
        let n_times = u16::try_from(of_one_term.len()).unwrap_or(u16::MAX);
        counts.push((of_one_term[0].0, n_times));
        // Two different words may share a fingerprint: both stay findable.
        let distinct_from = firsts.len();
        for (_, nth) in of_one_term {
            let word = found.text(&found.all()[*nth]);
            let is_known = firsts[distinct_from..]
                .iter()
                .any(|known| found.text(&found.all()[*known]) == word);
            if !is_known {
                firsts.push(*nth);
            }
        }
    }
    firsts.sort_unstable();
    let mut text = String::with_capacity(firsts.len() * 8);
    for nth in firsts {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(found.text(&found.all()[nth]));
    }
    LexicalDoc {
        text,
        counts,
        length,
    }
}

/// Returns the words that a query asks for. Costs no more for 50 kB than for
/// [`MAX_QUERY_BYTES`].
#[must_use]
pub fn query(text: &str) -> Query {
    let looked_at = beginning(text);
    let mut found = Pieces::new(Purpose::Query, looked_at.len());
    scan::text(looked_at, &mut found);
    let has_content = found.all().iter().any(|piece| piece.role == Role::Leaf);
    let mut query = Query {
        is_cut: looked_at.len() < text.len(),
        ..Query::default()
    };
    for piece in found.all() {
        let word = found.text(piece);
        if piece.role == Role::Stop && has_content {
            continue;
        }
        if let Some(known) = query.words.iter().position(|known| known == word) {
            if piece.role != Role::Whole {
                query.wholes.retain(|nth| *nth != known);
            }
            continue;
        }
        if query.words.len() == MAX_QUERY_WORDS {
            query.is_cut = true;
            break;
        }
        if piece.role == Role::Whole {
            query.wholes.push(query.words.len());
        }
        if piece.is_name {
            query.names.push(query.words.len());
        }
        query.words.push(word.to_owned());
    }
    query
}

/// Returns the beginning of a query that is looked at, cut between words where it has any.
fn beginning(text: &str) -> &str {
    if text.len() <= MAX_QUERY_BYTES {
        return text;
    }
    let cut = cut_at_char(text, MAX_QUERY_BYTES);
    cut.rfind(char::is_whitespace).map_or(cut, |at| &cut[..at])
}

/// Returns the number under which a word is counted: FNV-1a with 32 bits. It is stored, so it
/// never changes.
#[must_use]
pub fn fingerprint(word: &str) -> TermId {
    word.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn fnv1a_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;

//! How often records have the words of a query: from memory, or from the store.

use mmw_core::rank::MAX_TIMES;

use crate::engine::{EngineResult, LexicalDoc, Row, Snapshot, TermId};
use crate::inverted::{Counted, Found};

/// Where counts come from.
pub(in crate::memory::search) enum Counts<'s> {
    /// The words are in memory.
    Held(Found<'s>),
    /// Counts of these words are read from the store.
    Stored(Vec<TermId>),
}

impl Counts<'_> {
    /// Returns how these records have the words, in any order; forgotten ones are left out.
    pub(in crate::memory::search) fn of(
        &self,
        snapshot: &dyn Snapshot,
        rows: &[Row],
    ) -> EngineResult<Vec<(Row, Counted)>> {
        match self {
            Self::Held(found) => Ok(found.count(rows)),
            Self::Stored(words) => {
                let docs = snapshot.lexical_docs(rows)?.into_iter();
                Ok(docs.map(|(row, doc)| (row, counted(&doc, words))).collect())
            }
        }
    }
}

fn counted(doc: &LexicalDoc, words: &[TermId]) -> Counted {
    let times = words.iter().map(|word| {
        let found = doc.counts.binary_search_by_key(word, |(id, _)| *id);
        found.map_or(0, |at| doc.counts[at].1.min(MAX_TIMES))
    });
    Counted {
        length: doc.length,
        times: times.collect(),
    }
}

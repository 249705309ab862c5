//! The words of records in SQLite's full-text index.
//!
//! Words come ready-made; the index only splits at spaces. Every word of a query is quoted, so that
//! none of them is syntax. ASCII letters are found in either case.

use std::ops::Range;

use mmw_core::ids::ProjectId;
use mmw_core::place::WorkspaceChoice;

use super::SqliteTxn;
use super::columns as col;
use super::records::{AROUND, STORED, stored};
use crate::engine::{
    Analysis, ChangeNumber, EngineError, EngineResult, Lexical, LexicalDoc, Lexicon, LexiconWrites,
    Row, Stored, TermId,
};

/// The names under which the state of the index is kept.
const VERSION: &str = "analysis_version";
const DONE_TO: &str = "analysis_done_to";

/// The bytes of one word in kept counts: its fingerprint and its number.
const COUNT_BYTES: usize = 6;

/// Returns counts as they are kept.
pub(super) fn kept_counts(words: &LexicalDoc) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.counts.len() * COUNT_BYTES);
    for (term, count) in &words.counts {
        bytes.extend_from_slice(&term.to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes
}

fn read_counts(bytes: &[u8]) -> Option<Vec<(TermId, u16)>> {
    if !bytes.len().is_multiple_of(COUNT_BYTES) {
        return None;
    }
    let counts = bytes.chunks_exact(COUNT_BYTES).map(|pair| {
        (
            TermId::from_le_bytes([pair[0], pair[1], pair[2], pair[3]]),
            u16::from_le_bytes([pair[4], pair[5]]),
        )
    });
    Some(counts.collect())
}

/// Reads a row, how many words it has, and its counts.
fn doc(row: &rusqlite::Row<'_>) -> rusqlite::Result<(Row, LexicalDoc)> {
    let counts = read_counts(row.get_ref(2)?.as_blob()?)
        .ok_or_else(|| col::unreadable(2, "counts of words"))?;
    let doc = LexicalDoc {
        text: String::new(),
        counts,
        length: row.get(1)?,
    };
    Ok((row.get(0)?, doc))
}

/// Returns the query for rows that have all of these words; `None` if no row can.
fn query(words: &[&str]) -> Option<String> {
    let mut query = String::new();
    for word in words {
        // What separates words is in none of them.
        if word.is_empty() || word.bytes().any(|b| b <= b' ' || b == 0x7f) {
            return None;
        }
        if !query.is_empty() {
            query.push_str(" AND ");
        }
        query.push('"');
        query.push_str(&word.replace('"', "\"\""));
        query.push('"');
    }
    (!query.is_empty()).then_some(query)
}

impl SqliteTxn<'_> {
    /// Replaces the words of an unforgotten record, and keeps the counters of its workspace right.
    pub(super) fn replace_words(&self, row: Row, words: &LexicalDoc) -> EngineResult<bool> {
        let before: Option<i64> = self.one(
            "SELECT n_words FROM record_terms WHERE row = ?1",
            [row],
            |row| row.get(0),
        )?;
        let Some(before) = before else {
            return Ok(false);
        };
        self.run(
            "UPDATE record_terms SET n_words = ?2, counts = ?3 WHERE row = ?1",
            (row, words.length, kept_counts(words)),
        )?;
        self.run("DELETE FROM record_words WHERE rowid = ?1", [row])?;
        self.run(
            "INSERT INTO record_words (rowid, words) VALUES (?1, ?2)",
            (row, &words.text),
        )?;
        self.run(
            "UPDATE workspaces SET n_words = n_words + ?2 WHERE number = ?1",
            (col::workspace_of(row), i64::from(words.length) - before),
        )?;
        Ok(true)
    }

    fn meta_number(&self, name: &str) -> EngineResult<i64> {
        let text: Option<String> =
            self.one("SELECT value FROM meta WHERE name = ?1", [name], |row| {
                row.get(0)
            })?;
        let number = text.and_then(|text| text.parse().ok());
        number.ok_or_else(|| EngineError::Corrupt(format!("`{name}` is no number")))
    }
}

impl LexiconWrites for SqliteTxn<'_> {
    fn put_words(&mut self, row: Row, words: &LexicalDoc) -> EngineResult<()> {
        self.replace_words(row, words).map(|_| ())
    }

    fn set_analysis(&mut self, analysis: Analysis) -> EngineResult<()> {
        for (name, value) in [
            (VERSION, i64::from(analysis.version)),
            (DONE_TO, analysis.done_to),
        ] {
            self.run(
                "UPDATE meta SET value = ?2 WHERE name = ?1",
                (name, value.to_string()),
            )?;
        }
        Ok(())
    }
}

impl Lexicon for SqliteTxn<'_> {
    fn analysis(&self) -> EngineResult<Analysis> {
        Ok(Analysis {
            version: u32::try_from(self.meta_number(VERSION)?).unwrap_or(0),
            done_to: self.meta_number(DONE_TO)?,
        })
    }

    fn indexed_after(&self, row: Row, limit: usize) -> EngineResult<Vec<Stored>> {
        let found = self.many(
            &format!(
                "SELECT {STORED} FROM records r {AROUND}
                 WHERE r.row > ?1 AND r.forgotten_at IS NULL ORDER BY r.row LIMIT ?2"
            ),
            (row, col::limit(limit)),
            stored,
        )?;
        self.with_sources(found)
    }

    fn lexica(&self, project: ProjectId, chosen: &WorkspaceChoice) -> EngineResult<Vec<Lexical>> {
        let name = match chosen {
            WorkspaceChoice::One(name) => Some(name.as_str()),
            WorkspaceChoice::All => None,
        };
        self.many(
            "SELECT w.number, w.name, w.n_records, w.n_words, w.next_seq
             FROM projects p JOIN workspaces w ON w.project = p.number
             WHERE p.id = ?1 AND (?2 IS NULL OR w.name = ?2) ORDER BY w.name",
            (project.as_bytes(), name),
            |row| {
                let first = col::first_row(row.get(0)?);
                Ok(Lexical {
                    workspace: col::workspace(row, 1)?,
                    rows: first..first + row.get::<_, i64>(4)?,
                    n_records: col::count(row, 2)?,
                    n_words: col::count(row, 3)?,
                })
            },
        )
    }

    fn rows_with(&self, rows: &Range<Row>, words: &[&str], limit: usize) -> EngineResult<Vec<Row>> {
        let Some(query) = query(words) else {
            return Ok(Vec::new());
        };
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.many(
            "SELECT rowid FROM record_words
             WHERE record_words MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid DESC LIMIT ?4",
            (query, rows.start, rows.end - 1, col::limit(limit)),
            |row| row.get(0),
        )
    }

    fn lexical_docs(&self, rows: &[Row]) -> EngineResult<Vec<(Row, LexicalDoc)>> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        self.many(
            "SELECT t.row, t.n_words, t.counts
             FROM rarray(?1) wanted CROSS JOIN record_terms t ON t.row = wanted.value",
            [col::numbers(rows)],
            doc,
        )
    }

    fn lexical_docs_in(
        &self,
        rows: &Range<Row>,
        limit: usize,
    ) -> EngineResult<Vec<(Row, LexicalDoc)>> {
        self.many(
            "SELECT row, n_words, counts FROM record_terms
             WHERE row >= ?1 AND row < ?2 ORDER BY row LIMIT ?3",
            (rows.start, rows.end, col::limit(limit)),
            doc,
        )
    }

    fn last_change_of_words(&self) -> EngineResult<ChangeNumber> {
        let last = self.one(
            "SELECT seq FROM sqlite_sequence WHERE name = 'changed_words'",
            [],
            |row| row.get(0),
        )?;
        Ok(last.unwrap_or(0))
    }

    fn changed_words_after(
        &self,
        after: ChangeNumber,
        limit: usize,
    ) -> EngineResult<Vec<(ChangeNumber, Row)>> {
        self.many(
            "SELECT seq, row FROM changed_words WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            (after, col::limit(limit)),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_back_as_they_were_kept() {
        let words = LexicalDoc {
            text: String::new(),
            counts: vec![(0, 1), (7, 65_535), (u32::MAX, 2)],
            length: 3,
        };
        assert_eq!(read_counts(&kept_counts(&words)), Some(words.counts));
        assert_eq!(read_counts(&[1, 2, 3]), None);
    }

    #[test]
    fn no_word_of_a_query_is_syntax() {
        assert_eq!(
            query(&["a", "OR", "\"x\"*"]).unwrap(),
            "\"a\" AND \"OR\" AND \"\"\"x\"\"*\""
        );
        for nothing in [&[][..], &[""], &["a", "b c"], &["a\u{0}"]] {
            assert_eq!(query(nothing), None);
        }
    }
}

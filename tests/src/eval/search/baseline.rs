//! The baseline: what SQLite's full-text search gives out of the box, BM25 over stems.
//!
//! It indexes the text of a record and nothing else, and asks for any of the question's words.

use std::collections::HashMap;

use mmw_store::words;
use rusqlite::Connection;

use super::set::Doc;

/// How many records are taken of an answer.
const DEPTH: usize = 50;

/// An index of a set, in memory, each group in a table of its own.
pub(crate) struct Baseline {
    connection: Connection,
    tables: HashMap<String, usize>,
}

impl Baseline {
    /// Makes the index of the documents that became records, under their records' numbers.
    pub(crate) fn of(docs: &[Doc], records: &[Option<usize>]) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        let mut tables: HashMap<String, usize> = HashMap::new();
        connection.execute_batch("BEGIN")?;
        for (nth, (doc, record)) in docs.iter().zip(records).enumerate() {
            // Equal documents are one record, which is indexed once.
            if record.is_none_or(|record| record != nth) {
                continue;
            }
            let next = tables.len();
            let table = *tables.entry(doc.group.clone()).or_insert(next);
            if table == next {
                connection.execute_batch(&format!(
                    "CREATE VIRTUAL TABLE t{table} USING fts5(text, tokenize = 'porter unicode61')"
                ))?;
            }
            connection
                .prepare_cached(&format!(
                    "INSERT INTO t{table}(rowid, text) VALUES (?1, ?2)"
                ))?
                .execute((nth as i64, &doc.text))?;
        }
        connection.execute_batch("COMMIT")?;
        Ok(Self { connection, tables })
    }

    /// Searches a group for any word of the question, best first.
    pub(crate) fn rank(
        &self,
        group: &str,
        question: &str,
        keeps_stop_words: bool,
    ) -> rusqlite::Result<Vec<usize>> {
        let asked = asked(question, keeps_stop_words);
        let Some(table) = self.tables.get(group).filter(|_| !asked.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT rowid FROM t{table} WHERE t{table} MATCH ?1 ORDER BY bm25(t{table}), rowid LIMIT {DEPTH}"
        ))?;
        let rows = statement.query_map([asked], |row| row.get::<_, i64>(0))?;
        rows.map(|row| Ok(row? as usize)).collect()
    }
}

/// Returns the words of a question as FTS5 wants them: each in quotes, any of them.
fn asked(question: &str, keeps_stop_words: bool) -> String {
    let all: Vec<&str> = question
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut words: Vec<&str> = all.clone();
    if !keeps_stop_words {
        words.retain(|word| !is_stop_word(word));
        if words.is_empty() {
            words = all;
        }
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(" OR ")
}

/// Tells what is a stop word by the product's own list, so that lists make no difference: beside
/// another word, a stop word is left out of a query. What an apostrophe leaves behind is one too.
fn is_stop_word(word: &str) -> bool {
    matches!(word, "s" | "t") || words::query(&format!("zyx {word}")).words == ["zyx"]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let doc = |group: &str, text: &str| Doc {
            group: group.into(),
            text: text.into(),
            ..Doc::default()
        };
        let docs = [
            doc("a", "cats sleep all day"),
            doc("a", "what is the day of the week"),
            doc("a", "cats sleep all day"),
            doc("b", "dogs sleep"),
            doc("b", "refused sleep"),
        ];
        Baseline::of(&docs, &[Some(0), Some(1), Some(0), Some(3), None]).unwrap()
    }

    #[test]
    fn stems_are_found_in_the_group_that_is_asked() {
        let found = |group, question| baseline().rank(group, question, true).unwrap();
        assert_eq!(found("a", "sleeping cat"), [0]);
        assert_eq!(found("b", "who sleeps?"), [3]);
        assert!(found("c", "sleep").is_empty());
        assert!(found("a", "?! \"").is_empty());
    }

    #[test]
    fn stop_words_are_left_out_on_demand_unless_nothing_else_is_left() {
        assert_eq!(asked("What is the cat's day?", false), r#""cat" OR "day""#);
        assert_eq!(asked("what is the", false), r#""what" OR "is" OR "the""#);
        assert_eq!(asked("the cat", true), r#""the" OR "cat""#);
        assert_eq!(baseline().rank("a", "what is the cat", false).unwrap(), [0]);
    }
}

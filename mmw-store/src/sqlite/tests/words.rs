//! Whatever a word is made of, it is found, and nothing in it is syntax.

use proptest::prelude::*;

use super::open;
use crate::engine::{Row, read, write};
use crate::testing::build::{World, put, record};

/// A word of the index: anything printable without a space; ASCII letters, digits and punctuation
/// most of all.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[!-~]{1,6}",
        "[a-c\"'*^:+(){}-]{1,3}",
        "[^ \\p{C}]{1,12}",
        Just("AND".to_owned()),
        Just("NEAR".to_owned()),
    ]
}

fn finds(documents: &[Vec<String>], rows: &[Row], query: &[String]) -> Vec<Row> {
    let lower = |word: &String| word.to_ascii_lowercase();
    let mut found: Vec<Row> = documents
        .iter()
        .zip(rows)
        .filter(|(document, _)| {
            let words: Vec<String> = document.iter().map(lower).collect();
            query.iter().all(|word| words.contains(&lower(word)))
        })
        .map(|(_, row)| *row)
        .collect();
    found.reverse();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_word_is_found_where_it_is_and_nowhere_else(
        documents in prop::collection::vec(prop::collection::vec(word(), 1..6), 1..20),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 5),
        strangers in prop::collection::vec(word(), 5),
        anything in prop::collection::vec("\\PC{0,8}|.{0,8}", 5),
    ) {
        let (engine, _folder) = open();
        let world = World::found(&engine);
        let rows: Vec<Row> = write(&engine, |txn| {
            (1..)
                .zip(&documents)
                .map(|(n, document)| {
                    // The words are joined by spaces alone: other white space belongs to them.
                    let mut doc = crate::testing::build::words("");
                    doc.text = document.join(" ");
                    let record = record(&world.here, n, "x");
                    txn.insert_record(&crate::engine::NewRecord {
                        record: &record,
                        digest: mmw_core::text::ContentDigest::of("x"),
                        words: &doc,
                        replaced: &[],
                        approval: None,
                        screened: 7,
                    })
                })
                .collect()
        }).unwrap();
        let mut queries: Vec<Vec<String>> = Vec::new();
        for document in &documents {
            queries.extend(document.iter().map(|word| vec![word.clone()]));
            queries.push(document.clone());
        }
        for (document, word) in picks {
            let document = document.get(&documents);
            let other = word.get(document).clone();
            queries.extend(strangers.iter().map(|word| vec![other.clone(), word.clone()]));
        }
        for query in queries {
            let words: Vec<&str> = query.iter().map(String::as_str).collect();
            let found = read(&engine, |snapshot| snapshot.rows_with(&(0..Row::MAX), &words, 999)).unwrap();
            prop_assert_eq!(found, finds(&documents, &rows, &query), "{:?}", query);
        }
        // Not a word at all: nothing is promised but that it is no error.
        let anything: Vec<&str> = anything.iter().map(String::as_str).collect();
        for words in [&anything[..], &anything[..1]] {
            prop_assert!(read(&engine, |snapshot| snapshot.rows_with(&(0..Row::MAX), words, 9)).is_ok());
        }
    }
}

#[test]
fn a_common_word_is_read_from_the_newest_record_on_without_sorting() {
    let (engine, _folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| put(txn, &record(&world.here, 1, "word"))).unwrap();
    let conn = engine.writer.borrow().unwrap();
    let plan: Vec<String> = conn
        .prepare(
            "EXPLAIN QUERY PLAN SELECT rowid FROM record_words
             WHERE record_words MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4",
        )
        .unwrap()
        .query_map(("\"word\"", 0, 9, 9), |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(plan.len(), 1, "{plan:?}");
    assert!(
        plan[0].starts_with("SCAN record_words VIRTUAL TABLE INDEX"),
        "{plan:?}"
    );
}

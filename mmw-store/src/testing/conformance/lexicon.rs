//! The words of records.

use mmw_core::place::WorkspaceChoice;

use crate::engine::{Analysis, Engine, Row, read, write};
use crate::testing::build::{World, put, record, record_id, words};

fn everything() -> std::ops::Range<Row> {
    0..Row::MAX
}

/// Every printable ASCII character, alone, doubled and inside a word, and words that are syntax in
/// some query language.
fn odd_words() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for c in ('!'..='~').map(|c| c.to_ascii_lowercase()) {
        all.extend([format!("{c}"), format!("{c}{c}"), format!("x{c}y")]);
    }
    for word in [
        "c++",
        "foo/bar.rs",
        "gpt-4o",
        "#tag",
        "and",
        "or",
        "not",
        "near(",
        "a*",
        "^a",
        "col:a",
        "-a",
        "ключ",
        "日本",
        "é",
        "👩‍👩‍👧",
        "\u{a0}",
        "\u{3000}x",
    ] {
        all.push(word.to_owned());
    }
    all.sort();
    all.dedup();
    all
}

pub fn words_are_taken_as_they_are(engine: &dyn Engine) {
    let world = World::found(engine);
    let all = odd_words();
    let rows: Vec<Row> = write(engine, |txn| {
        let mut rows = Vec::new();
        for (n, word) in (1..).zip(&all) {
            let record = record(&world.here, n, "x");
            let mut doc = words("x");
            doc.text.clone_from(word);
            rows.push(txn.insert_record(&crate::engine::NewRecord {
                record: &record,
                digest: mmw_core::text::ContentDigest::of("x"),
                words: &doc,
                replaced: &[],
                approval: None,
                screened: 7,
            })?);
        }
        Ok(rows)
    })
    .unwrap();
    for (word, row) in all.iter().zip(rows) {
        let found = read(engine, |snapshot| {
            snapshot.rows_with(&everything(), &[word], 9)
        });
        assert_eq!(found.unwrap(), [row], "{word:?}");
    }
}

pub fn rows_have_all_of_the_words(engine: &dyn Engine) {
    let world = World::found(engine);
    let rows = write(engine, |txn| {
        Ok([
            put(txn, &record(&world.here, 1, "staging runs systemd"))?,
            put(txn, &record(&world.here, 2, "staging runs docker"))?,
            put(txn, &record(&world.here, 3, "runs"))?,
        ])
    })
    .unwrap();
    let check = |words: &[&str], expected: &[Row]| {
        let found = read(engine, |snapshot| {
            snapshot.rows_with(&everything(), words, 9)
        });
        assert_eq!(found.unwrap(), expected, "{words:?}");
    };
    check(&["staging", "systemd"], &[rows[0]]);
    check(&["systemd", "staging", "runs", "runs"], &[rows[0]]);
    check(&["staging"], &[rows[1], rows[0]]);
    check(&["runs"], &[rows[2], rows[1], rows[0]]);
    check(&["systemd", "docker"], &[]);
    check(&["stag"], &[]);
    check(&["staging runs"], &[]);
    check(&["absent"], &[]);
    check(&[""], &[]);
    check(&["staging", ""], &[]);
    check(&["a\u{0}b"], &[]);
    check(&[], &[]);
}

pub fn rows_come_highest_first_from_the_range(engine: &dyn Engine) {
    let world = World::found(engine);
    let places = [&world.here, &world.backend, &world.elsewhere];
    let mut rows = vec![Vec::new(); places.len()];
    write(engine, |txn| {
        for (nth, place) in places.iter().enumerate() {
            rows_of(txn, place, nth)?;
        }
        Ok(())
    })
    .unwrap();
    let lexica = |place: &mmw_core::place::Place| {
        let choice = WorkspaceChoice::One(place.workspace.clone());
        read(engine, |snapshot| snapshot.lexica(place.project, &choice)).unwrap()
    };
    for (nth, place) in places.iter().enumerate() {
        rows[nth] = lexica(place)[0].rows.clone().rev().collect();
    }
    let found = |range: &std::ops::Range<Row>, limit: usize| {
        read(engine, |snapshot| {
            snapshot.rows_with(range, &["word"], limit)
        })
        .unwrap()
    };
    for (place, rows) in places.iter().zip(&rows) {
        let range = lexica(place)[0].rows.clone();
        assert_eq!(&found(&range, 99), rows);
        assert_eq!(found(&range, 2), rows[..2]);
        assert!(found(&range, 0).is_empty());
        assert_eq!(found(&(range.start..range.end - 1), 1), rows[1..2]);
        assert!(found(&(range.start..range.start), 9).is_empty());
    }
    let highest: Vec<Row> = rows.concat();
    assert_eq!(found(&everything(), 99).len(), highest.len());
}

fn rows_of(
    txn: &mut dyn crate::engine::Txn,
    place: &mmw_core::place::Place,
    nth: usize,
) -> crate::engine::EngineResult<()> {
    for n in 0..5 {
        let number = 1 + n + 10 * u64::try_from(nth).unwrap();
        put(txn, &record(place, number, "word other"))?;
    }
    Ok(())
}

pub fn statistics_are_those_of_the_workspace(engine: &dyn Engine) {
    let world = World::found(engine);
    write(engine, |txn| {
        put(txn, &record(&world.here, 1, "a b c"))?;
        put(txn, &record(&world.here, 2, "a b"))?;
        put(txn, &record(&world.backend, 3, "a"))?;
        put(txn, &record(&world.elsewhere, 4, "a a a a"))
    })
    .unwrap();
    write(engine, |txn| {
        txn.forget(
            &[record_id(2)],
            crate::testing::build::minute(9),
            world.person,
            None,
        )
    })
    .unwrap();
    let check = |choice: &WorkspaceChoice, expected: &[(&str, u64, u64, Row)]| {
        let found = read(engine, |snapshot| {
            snapshot.lexica(world.here.project, choice)
        })
        .unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|lexical| {
                let span = lexical.rows.end - lexical.rows.start;
                (
                    lexical.workspace.as_str(),
                    lexical.n_records,
                    lexical.n_words,
                    span,
                )
            })
            .collect();
        assert_eq!(found, expected);
    };
    check(
        &WorkspaceChoice::All,
        &[("backend", 1, 1, 1), ("default", 1, 3, 2)],
    );
    check(
        &WorkspaceChoice::One(world.backend.workspace.clone()),
        &[("backend", 1, 1, 1)],
    );
    check(
        &WorkspaceChoice::One(crate::testing::build::workspace("none")),
        &[],
    );
}

pub fn word_counts_read_back_as_they_were_written(engine: &dyn Engine) {
    let world = World::found(engine);
    let rows = write(engine, |txn| {
        Ok([
            put(txn, &record(&world.here, 1, "to be or not to be"))?,
            put(txn, &record(&world.elsewhere, 2, "ключ"))?,
        ])
    })
    .unwrap();
    let wanted = [rows[1], rows[0], rows[1], 7];
    let mut found = read(engine, |snapshot| snapshot.lexical_docs(&wanted)).unwrap();
    found.sort_by_key(|(row, _)| *row);
    let bare = |text: &str| crate::engine::LexicalDoc {
        text: String::new(),
        ..words(text)
    };
    assert_eq!(
        found,
        [
            (rows[0], bare("to be or not to be")),
            (rows[1], bare("ключ"))
        ]
    );
}

pub fn word_counts_of_a_range_come_in_its_order(engine: &dyn Engine) {
    let world = World::found(engine);
    let rows = write(engine, |txn| {
        let mut rows = Vec::new();
        for n in 1..6 {
            rows.push(put(txn, &record(&world.here, n, "to be"))?);
        }
        put(txn, &record(&world.elsewhere, 6, "to be"))?;
        txn.forget(
            &[record_id(2)],
            crate::testing::build::minute(9),
            world.person,
            None,
        )?;
        Ok(rows)
    })
    .unwrap();
    let found = |range: std::ops::Range<Row>, limit| {
        let docs = read(engine, |snapshot| snapshot.lexical_docs_in(&range, limit)).unwrap();
        assert!(
            docs.iter()
                .all(|(_, doc)| doc.length == 2 && doc.counts.len() == 2)
        );
        docs.into_iter().map(|(row, _)| row).collect::<Vec<_>>()
    };
    let (first, end) = (rows[0], rows[4] + 1);
    assert_eq!(found(first..end, 9), [rows[0], rows[2], rows[3], rows[4]]);
    assert_eq!(found(first + 1..end - 1, 9), rows[2..4]);
    assert_eq!(found(first + 1..end, 2), rows[2..4]);
    assert!(found(first..first, 9).is_empty());
}

pub fn changes_of_words_are_told_in_their_order(engine: &dyn Engine) {
    let world = World::found(engine);
    let last = || read(engine, |snapshot| snapshot.last_change_of_words()).unwrap();
    let rows = write(engine, |txn| {
        let mut rows = Vec::new();
        for n in 1..4 {
            rows.push(put(txn, &record(&world.here, n, "x"))?);
        }
        Ok(rows)
    })
    .unwrap();
    assert_eq!(last(), 0, "a new record changes nothing");
    write(engine, |txn| {
        txn.forget(
            &[record_id(3)],
            crate::testing::build::minute(9),
            world.person,
            None,
        )?;
        txn.put_words(rows[0], &words("y"))?;
        txn.put_words(rows[2], &words("of a forgotten record"))
    })
    .unwrap();
    assert_eq!(last(), 2);
    let changes = |after, limit| {
        read(engine, |snapshot| {
            snapshot.changed_words_after(after, limit)
        })
        .unwrap()
    };
    assert_eq!(changes(0, 9), [(1, rows[2]), (2, rows[0])]);
    assert_eq!(changes(0, 1), [(1, rows[2])]);
    assert_eq!(changes(1, 9), [(2, rows[0])]);
    assert_eq!(changes(2, 9), []);
}

pub fn replaced_words_are_found_instead_of_the_old_ones(engine: &dyn Engine) {
    let world = World::found(engine);
    let (kept, gone) = write(engine, |txn| {
        let kept = put(txn, &record(&world.here, 1, "staging runs systemd"))?;
        let gone = put(txn, &record(&world.here, 2, "staging"))?;
        txn.forget(
            &[record_id(2)],
            crate::testing::build::START,
            world.person,
            None,
        )?;
        txn.put_words(kept, &words("production runs docker here"))?;
        txn.put_words(gone, &words("production"))?;
        Ok((kept, gone))
    })
    .unwrap();
    read(engine, |snapshot| {
        let found = |word| snapshot.rows_with(&everything(), &[word], 9);
        assert_eq!(found("production")?, [kept]);
        assert_eq!(found("staging")?, Vec::<Row>::new());
        let docs = snapshot.lexical_docs(&[kept, gone])?;
        assert_eq!((docs.len(), docs[0].1.length), (1, 4));
        let choice = WorkspaceChoice::One(world.here.workspace.clone());
        assert_eq!(snapshot.lexica(world.here.project, &choice)?[0].n_words, 4);
        let indexed = snapshot.indexed_after(0, 9)?;
        assert_eq!(
            indexed.iter().map(|stored| stored.row).collect::<Vec<_>>(),
            [kept]
        );
        assert_eq!(snapshot.indexed_after(kept, 9)?, []);
        Ok(())
    })
    .unwrap();
}

pub fn the_state_of_the_index_reads_back(engine: &dyn Engine) {
    let analysis = Analysis {
        version: 7,
        done_to: 1 << 50,
    };
    write(engine, |txn| {
        txn.set_analysis(analysis)?;
        assert_eq!(txn.analysis()?, analysis);
        Ok(())
    })
    .unwrap();
    let found = read(engine, |snapshot| snapshot.analysis()).unwrap();
    assert_eq!(found, analysis);
}

//! Damage is found, named, and told apart from "busy".

use std::io::{Seek as _, SeekFrom, Write as _};

use mmw_core::audit::{Deed, Entry};

use super::super::Sqlite;
use super::open;
use crate::engine::{Engine as _, EngineError, write};
use crate::testing::build::{World, minute, put, record, record_id, version};

fn filled() -> (Sqlite, tempfile::TempDir) {
    let (engine, folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| {
        put(txn, &record(&world.here, 1, "one"))?;
        put(txn, &version(&world.here, 2, "key", "two"))?;
        for n in 1..=3 {
            txn.append_audit(&Entry {
                at: minute(n),
                account: world.account,
                project: None,
                principal: world.person,
                key: None,
                way: "mcp",
                deed: Deed::Remember,
                ids: vec![record_id(1).to_string()],
                why: None,
            })?;
        }
        Ok(())
    })
    .unwrap();
    (engine, folder)
}

fn check(sql: &str, expected: &str) {
    let (engine, _folder) = filled();
    let conn = engine.writer.borrow().unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    conn.execute_batch(sql).unwrap();
    drop(conn);
    let problems = engine.verify().unwrap();
    assert!(
        problems.iter().any(|problem| problem.contains(expected)),
        "{sql}: {problems:?}"
    );
}

#[test]
fn each_kind_of_disagreement_is_found() {
    check("DELETE FROM record_words", "can not be found by its words");
    check("DELETE FROM record_terms", "can not be found by its words");
    check(
        "INSERT INTO record_words (rowid, words) VALUES (77, 'x')",
        "still found by its words",
    );
    check(
        "UPDATE records SET forgotten_at = 1",
        "still found by its words",
    );
    check(
        "UPDATE workspaces SET n_records = 7",
        "counters of workspaces",
    );
    check(
        "UPDATE workspaces SET n_words = 7",
        "counters of workspaces",
    );
    check(
        "UPDATE workspaces SET next_seq = 1",
        "number a new record like an old one",
    );
    check("UPDATE projects SET n_records = 7", "counters of projects");
    check("UPDATE projects SET n_source_reports = 7", "source reports");
    check(
        "INSERT INTO links (from_row, kind, to_row, created_at) VALUES (1, 'refines', 2, 0)",
        "missing row of records",
    );
    check("UPDATE records SET purged = 1", "still has content");
}

#[test]
fn a_content_that_was_changed_by_hand_is_found() {
    check(
        "UPDATE records SET content = 'won' WHERE content = 'one'",
        &format!("record {} does not say what was saved", record_id(1)),
    );
    check("UPDATE records SET content = ''", "contents of records");
    check(
        "UPDATE records SET digest = zeroblob(16) WHERE content = 'two'",
        &format!("record {} does not say what was saved", record_id(2)),
    );
}

#[test]
fn of_many_changed_contents_a_few_are_named_and_the_others_counted() {
    let (engine, _folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| {
        for n in 1..=25 {
            put(txn, &record(&world.here, n, &format!("statement {n}")))?;
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    let conn = engine.writer.borrow().unwrap();
    conn.execute_batch("UPDATE records SET content = 'changed'")
        .unwrap();
    drop(conn);
    let problems = engine.verify().unwrap();
    assert_eq!(problems.len(), 21, "{problems:?}");
    assert_eq!(
        problems[20],
        "contents of records: 5 more records do not say what was saved"
    );
}

#[test]
fn the_audit_can_only_be_added_to() {
    let (engine, _folder) = filled();
    let conn = engine.writer.borrow().unwrap();
    for sql in [
        "UPDATE audit SET why = 'other' WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 3",
        "DELETE FROM audit",
    ] {
        let told = conn.execute(sql, []).unwrap_err().to_string();
        assert!(told.contains("can only be added to"), "{sql}: {told}");
    }
}

#[test]
fn a_forged_audit_is_found() {
    let forge = |sql: &str| {
        format!(
            "DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_deleted;
             DELETE FROM audit_records; {sql}"
        )
    };
    check(
        &forge("UPDATE audit SET why = 'other' WHERE seq = 2"),
        "row 2 was changed",
    );
    check(
        &forge("DELETE FROM audit WHERE seq = 2"),
        "row 2 is missing",
    );
    check(
        &forge("DELETE FROM audit WHERE seq = 1"),
        "row 1 is missing",
    );
    check(
        &forge("UPDATE audit SET deed = 'nonsense' WHERE seq = 3"),
        "the audit",
    );
}

#[test]
fn overwritten_pages_are_damage_and_not_a_failure_to_look() {
    let (engine, folder) = filled();
    engine.compact().unwrap();
    drop(engine);
    let path = folder.path().join("store.db");
    let n_pages = std::fs::metadata(&path).unwrap().len() / 4096;
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // The first pages hold the schema; without them it is no store that could be checked.
    for page in n_pages / 2..n_pages {
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xA5; 4096]).unwrap();
    }
    drop(file);
    match Sqlite::open(&path).and_then(|engine| engine.verify()) {
        Ok(problems) => assert!(!problems.is_empty()),
        Err(error) => assert!(matches!(error, EngineError::Corrupt(_)), "{error:?}"),
    }
}

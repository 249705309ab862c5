//! Tests of the steps.

use std::path::Path;

use super::*;
use crate::sqlite::connection::{Role, connect, prepare_file};

const WAIT: Duration = Duration::from_secs(10);

fn opened(file: &Path) -> Connection {
    prepare_file(file).unwrap();
    connect(file, Role::Writer, WAIT).unwrap()
}

fn version(conn: &Connection) -> i64 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

fn n_tables(conn: &Connection) -> i64 {
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap()
}

fn step(number: u32, sql: &'static str, version: (u16, u16)) -> Migration {
    Migration {
        number,
        name: "step.sql",
        sql,
        version,
    }
}

fn first() -> Migration {
    step(1, MIGRATIONS[0].sql, (1, 0))
}

#[test]
fn the_steps_are_the_frozen_ones() {
    let frozen: Vec<&str> = include_str!("../../migrations/frozen.txt")
        .lines()
        .collect();
    let steps: Vec<String> = MIGRATIONS
        .iter()
        .map(|step| format!("{}  {}", step.checksum(), step.name))
        .collect();
    assert_eq!(steps, frozen, "a step is added, never edited");
}

#[test]
fn steps_are_numbered_and_versions_rise() {
    for (number, step) in (1..).zip(MIGRATIONS) {
        assert_eq!(step.number, number);
        assert!(
            step.name.starts_with(&format!("{number:04}_")),
            "{}",
            step.name
        );
    }
    assert!(MIGRATIONS.is_sorted_by(|a, b| a.version < b.version));
}

#[test]
fn opening_again_applies_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let conn = opened(&file);
    apply(&conn, MIGRATIONS, WAIT).unwrap();
    let before = (version(&conn), n_tables(&conn));
    drop(conn);
    let conn = opened(&file);
    apply(&conn, MIGRATIONS, WAIT).unwrap();
    assert_eq!((version(&conn), n_tables(&conn)), before);
}

#[test]
fn a_step_that_fails_leaves_the_store_as_it_was_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let conn = opened(&folder.path().join("store.db"));
    apply(&conn, &[first()], WAIT).unwrap();
    let before = (version(&conn), n_tables(&conn));
    let broken = "CREATE TABLE extra (a) STRICT; SELECT nonsense FROM nowhere;";
    let failed = apply(&conn, &[first(), step(2, broken, (1, 1))], WAIT);
    assert!(failed.is_err());
    assert!(conn.is_autocommit());
    assert_eq!((version(&conn), n_tables(&conn)), before);
    let mended = "CREATE TABLE extra (a INTEGER) STRICT;";
    apply(&conn, &[first(), step(2, mended, (1, 1))], WAIT).unwrap();
    assert_eq!(version(&conn), packed((1, 1)));
    assert_eq!(n_tables(&conn), before.1 + 1);
}

#[test]
fn a_newer_minor_version_is_used_and_a_newer_major_one_refused() {
    let folder = tempfile::tempdir().unwrap();
    let conn = opened(&folder.path().join("store.db"));
    let minor = step(2, "CREATE TABLE added (a INTEGER) STRICT;", (1, 1));
    let major = step(3, "DROP TABLE added;", (2, 0));
    apply(&conn, &[first(), minor], WAIT).unwrap();
    apply(&conn, &[first()], WAIT).unwrap();
    assert_eq!(version(&conn), packed((1, 1)), "it is left as it is");
    let minor = step(2, "CREATE TABLE added (a INTEGER) STRICT;", (1, 1));
    apply(&conn, &[first(), minor, major], WAIT).unwrap();
    let before = n_tables(&conn);
    assert!(matches!(
        apply(&conn, &[first()], WAIT),
        Err(EngineError::NewerSchema { found: 2, known: 1 })
    ));
    assert_eq!(n_tables(&conn), before);
}

#[test]
fn a_step_that_was_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let conn = opened(&folder.path().join("store.db"));
    apply(&conn, &[first()], WAIT).unwrap();
    let edited = step(1, "CREATE TABLE meta (a INTEGER) STRICT;", (1, 0));
    let told = apply(&conn, &[edited], WAIT).unwrap_err().to_string();
    assert!(told.contains("differs from this program's"), "{told}");
}

#[test]
fn how_lines_end_makes_no_difference() {
    let unix = step(1, "a\nb\n", (1, 0));
    let dos = step(1, "a\r\nb\r\n", (1, 0));
    assert_eq!(unix.checksum(), dos.checksum());
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    for (sql, case) in [
        ("CREATE TABLE theirs (a)", "tables"),
        ("PRAGMA application_id = 7", "application id"),
        ("PRAGMA user_version = 7", "user version"),
    ] {
        let _ = std::fs::remove_file(&file);
        let theirs = Connection::open(&file).unwrap();
        theirs.execute_batch(sql).unwrap();
        drop(theirs);
        let before = std::fs::read(&file).unwrap();
        let told = crate::sqlite::Sqlite::open(&file)
            .err()
            .unwrap()
            .to_string();
        assert!(told.contains("another program"), "{case}: {told}");
        assert_eq!(std::fs::read(&file).unwrap(), before, "{case}");
    }
}

#[test]
fn a_store_of_the_first_step_is_brought_up_to_date_with_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let conn = opened(&folder.path().join("store.db"));
    apply(&conn, &[first()], WAIT).unwrap();
    conn.execute_batch(
        "INSERT INTO audit (seq, at, account, principal, way, deed, ids, why, hash)
         VALUES (1, 1, zeroblob(16), zeroblob(16), 'command', 'forget', '[]', 'why', zeroblob(32)),
             (2, 1, zeroblob(16), zeroblob(16), 'command', 'forget', '[]', 'why', zeroblob(32));
         INSERT INTO accounts (id, name, state, created_at) VALUES (zeroblob(16), 'a', 'active', 1);
         INSERT INTO projects (number, id, account, name, created_at)
         VALUES (1, zeroblob(16), zeroblob(16), 'p', 1);
         INSERT INTO workspaces (number, project, name, n_records, next_seq)
         VALUES (16384, 1, 'default', 1, 1);
         INSERT INTO records (row, id, workspace, digest, kind, created_at, received_at, confidence,
             author, visibility, scope, content)
         VALUES (16384 << 27, zeroblob(16), 16384, zeroblob(16), 'fact', 1, 1, 0.5, zeroblob(16),
             'project', 'shared', 'said before');",
    )
    .unwrap();
    apply(&conn, MIGRATIONS, WAIT).unwrap();
    let screened: i64 = conn
        .query_row("SELECT screened FROM records", [], |row| row.get(0))
        .unwrap();
    assert_eq!(screened, 0, "it was screened before there was a number");
    // Only a reason can be changed, and only of a row that is noted down as redacted.
    let change = |sql: &str| conn.execute_batch(sql);
    assert!(change("UPDATE audit SET why = 'clean' WHERE seq = 1").is_err());
    change("INSERT INTO audit_redactions (seq, at) VALUES (1, 2)").unwrap();
    change("UPDATE audit SET why = 'clean' WHERE seq = 1").unwrap();
    assert!(change("UPDATE audit SET why = 'clean' WHERE seq = 2").is_err());
    for other in [
        "ids = '[1]'",
        "at = 2",
        "why = NULL",
        "way = 'mcp'",
        "hash = zeroblob(33)",
    ] {
        assert!(
            change(&format!("UPDATE audit SET {other} WHERE seq = 1")).is_err(),
            "{other}"
        );
    }
    assert!(change("DELETE FROM audit WHERE seq = 1").is_err());
    assert!(change("DELETE FROM audit_redactions").is_err());
}

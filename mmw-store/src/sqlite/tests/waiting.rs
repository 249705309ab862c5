//! Waiting for others, and what happens when no space is left.

use std::time::Duration;

use rusqlite::Connection;

use super::super::{Options, Sqlite};
use super::open;
use crate::engine::{Engine as _, EngineError, read, write};
use crate::testing::build::{World, put, record, record_id};

fn impatient(folder: &tempfile::TempDir) -> Sqlite {
    let options = Options {
        max_wait: Duration::from_millis(30),
        max_readers: 1,
    };
    Sqlite::open_with(&folder.path().join("store.db"), &options).unwrap()
}

#[test]
fn a_store_that_another_program_holds_is_busy_for_writing_only() {
    let (engine, folder) = open();
    let world = World::found(&engine);
    let engine = impatient(&folder);
    let other = Connection::open(folder.path().join("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = write(&engine, |txn| put(txn, &record(&world.here, 1, "one")));
    assert!(matches!(told, Err(EngineError::Busy)), "{told:?}");
    assert!(
        read(&engine, |snapshot| snapshot.project(world.here.project))
            .unwrap()
            .is_some()
    );
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    other.execute_batch("ROLLBACK").unwrap();
    write(&engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
}

#[test]
fn a_store_that_another_program_holds_whole_is_busy_and_not_damaged() {
    let (engine, folder) = open();
    drop(engine);
    let file = folder.path().join("store.db");
    let other = Connection::open(&file).unwrap();
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;")
        .unwrap();
    let options = Options {
        max_wait: Duration::from_millis(30),
        max_readers: 1,
    };
    let told = Sqlite::open_with(&file, &options).err();
    assert!(matches!(told, Some(EngineError::Busy)), "{told:?}");
}

#[test]
fn a_reader_waits_for_a_free_connection_and_is_told_when_there_is_none() {
    let (_, folder) = open();
    let engine = impatient(&folder);
    engine
        .read(&mut |_| {
            let told = engine.read(&mut |_| Ok(()));
            assert!(matches!(told, Err(EngineError::Busy)), "{told:?}");
            Ok(())
        })
        .unwrap();
    engine.read(&mut |_| Ok(())).unwrap();
}

#[test]
fn a_writer_waits_for_its_turn_and_is_told_when_it_does_not_come() {
    let (_, folder) = open();
    let engine = impatient(&folder);
    engine
        .write(&mut |_| {
            let told = engine.write(&mut |_| Ok(()));
            assert!(matches!(told, Err(EngineError::Busy)), "{told:?}");
            Ok(())
        })
        .unwrap();
    engine.write(&mut |_| Ok(())).unwrap();
}

#[test]
fn a_full_disk_is_told_as_that_and_nothing_is_half_written() {
    let (engine, _folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
    let allow = |n_pages: i64| {
        let conn = engine.writer.borrow().unwrap();
        conn.pragma_update(None, "max_page_count", n_pages).unwrap();
    };
    // No more pages than there are now.
    allow(1);
    let long = "long ".repeat(3000);
    let told = write(&engine, |txn| {
        for n in 2..20 {
            put(txn, &record(&world.here, n, &long))?;
        }
        Ok(())
    });
    assert!(matches!(told, Err(EngineError::DiskFull)), "{told:?}");
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    let n_records = read(&engine, |snapshot| snapshot.n_records(world.here.project));
    assert_eq!(n_records.unwrap(), 1);
    allow(1 << 30);
    write(&engine, |txn| put(txn, &record(&world.here, 2, &long))).unwrap();
    assert!(
        read(&engine, |snapshot| snapshot.record(record_id(2)))
            .unwrap()
            .is_some()
    );
}

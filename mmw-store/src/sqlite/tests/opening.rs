//! What a file has to be to be opened, and what an opened one is.

use std::fs;
use std::path::Path;

use super::super::Sqlite;
use super::open;
use crate::engine::{Engine as _, EngineError, read, write};
use crate::testing::build::{World, put, record, record_id};

#[test]
fn what_was_written_is_there_after_reopening() {
    let (engine, folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
    drop(engine);
    let engine = Sqlite::open(&folder.path().join("store.db")).unwrap();
    assert!(
        read(&engine, |snapshot| snapshot.record(record_id(1)))
            .unwrap()
            .is_some()
    );
}

#[test]
fn the_last_one_to_close_leaves_one_file() {
    let (engine, folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
    // Leaves a reading connection on the shelf.
    read(&engine, |snapshot| snapshot.record(record_id(1))).unwrap();
    drop(engine);
    assert!(!folder.path().join("store.db-wal").exists());
}

#[test]
fn two_engines_on_one_file_see_each_others_writes() {
    let (one, folder) = open();
    let two = Sqlite::open(&folder.path().join("store.db")).unwrap();
    let world = World::found(&one);
    write(&two, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
    assert!(
        read(&one, |snapshot| snapshot.record(record_id(1)))
            .unwrap()
            .is_some()
    );
}

#[test]
fn many_first_openings_at_once_make_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep").join("er").join("store.db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| World::found(&Sqlite::open(&file).unwrap()));
        }
    });
    let engine = Sqlite::open(&file).unwrap();
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    let names: Vec<_> = fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !name.to_string_lossy().starts_with("store.db"))
        .collect();
    assert!(names.is_empty(), "nothing is left lying about: {names:?}");
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    for content in ["short".to_owned(), "not a database at all\n".repeat(500)] {
        fs::write(&file, &content).unwrap();
        let error = Sqlite::open(&file).err().unwrap();
        assert!(matches!(error, EngineError::Corrupt(_)), "{error}");
        assert!(error.to_string().contains("not a database"), "{error}");
        names(&error, &file);
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    names(&Sqlite::open(folder.path()).err().unwrap(), folder.path());
}

/// Checks that a message says which file or folder it is about.
fn names(error: &EngineError, path: &Path) {
    let path = path.display().to_string();
    assert!(error.to_string().contains(&path), "{error}");
}

#[test]
fn a_file_where_the_folder_should_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken");
    fs::write(&file, "not a folder").unwrap();
    for below in ["store.db", "deeper/store.db"] {
        names(&Sqlite::open(&file.join(below)).err().unwrap(), &file);
    }
}

#[test]
fn a_newer_schema_is_refused_in_plain_words() {
    let (engine, folder) = open();
    let conn = engine.writer.borrow().unwrap();
    conn.pragma_update(None, "user_version", 9 << 16).unwrap();
    drop(conn);
    drop(engine);
    let error = Sqlite::open(&folder.path().join("store.db")).err().unwrap();
    assert!(
        matches!(error, EngineError::NewerSchema { found: 9, known: 1 }),
        "{error}"
    );
    assert!(error.to_string().contains("update this program"));
}

#[cfg(unix)]
#[test]
fn the_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("data").join("mmw");
    let engine = Sqlite::open(&home.join("store.db")).unwrap();
    World::found(&engine);
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    assert_eq!(mode(home.parent().unwrap()), 0o700);
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&home.join(name)), 0o600, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_told_as_that() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let file = home.join("store.db");
    drop(Sqlite::open(&file).unwrap());
    let allow = |mode| fs::set_permissions(&home, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // The superuser writes everywhere: nothing to see then.
    if fs::write(home.join("probe"), "").is_err() {
        for name in ["store.db", "other.db"] {
            let error = Sqlite::open(&home.join(name)).err().unwrap();
            assert!(matches!(error, EngineError::ReadOnly), "{name}: {error}");
        }
    }
    allow(0o755);
    drop(Sqlite::open(&file).unwrap());
}

#[test]
fn the_log_is_flushed_on_every_commit() {
    let (engine, _folder) = open();
    let conn = engine.writer.borrow().unwrap();
    let pragma = |name: &str| {
        conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(pragma("synchronous"), 2);
    assert_eq!(pragma("foreign_keys"), 1);
    assert_eq!(pragma("secure_delete"), 1);
    let mode: String = conn
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}

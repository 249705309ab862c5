//! Tests of the engine as a whole.

mod damage;
mod erasing;
mod opening;
mod waiting;
mod words;

use super::*;

fn open() -> (Sqlite, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let engine = Sqlite::open(&folder.path().join("store.db")).unwrap();
    (engine, folder)
}

crate::conformance!(conforms, super::open);

//! Reads a SQLite database that somebody else made, and trusts nothing in it.
//!
//! It is opened read-only and as a file that does not change, so that nothing is written beside it, not even
//! a lock. Its schema may name no functions, extensions can't be loaded, views, virtual tables and generated
//! columns are not read: nothing of what it says is run.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde_json::{Map, Value};

/// The most rows of one table that are read.
const MAX_ROWS: usize = 200_000;

/// The longest text of a column that is taken, in bytes; no statement is as long.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The longest value that the database may make at all, in bytes.
const MAX_VALUE_BYTES: i32 = 16 << 20;

/// What stays as it is in the name of a file in a URI.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// A database of another program.
pub(crate) struct Database(Connection);

impl Database {
    /// Tells whether a file begins as a database does.
    pub(crate) fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(b"SQLite format 3\0")
    }

    /// Opens a database.
    ///
    /// # Errors
    /// If it can't be opened as one.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let path = path
            .canonicalize()
            .map_err(|_| rusqlite::Error::InvalidPath(path.to_owned()))?;
        let name = path
            .to_str()
            .ok_or_else(|| rusqlite::Error::InvalidPath(path.clone()))?;
        let uri = format!("file:{}?immutable=1", utf8_percent_encode(name, IN_PATH));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
        connection.execute_batch("PRAGMA cell_size_check = 1; PRAGMA query_only = 1;")?;
        Ok(Self(connection))
    }

    /// Tells whether there is a plain table of that name with these columns.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        self.columns(table).is_ok_and(|known| {
            columns
                .iter()
                .all(|column| known.iter().any(|name| name == column))
        })
    }

    /// Returns the columns of a plain table, without those that are computed; none if there is no such table.
    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let made: Option<String> = self
            .0
            .query_row(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1",
                [table],
                |row| row.get(0),
            )
            .optional()?;
        let is_plain = made.is_some_and(|sql| {
            let words: Vec<String> = sql
                .split_whitespace()
                .take(2)
                .map(str::to_ascii_uppercase)
                .collect();
            words == ["CREATE", "TABLE"]
        });
        if !is_plain {
            return Ok(Vec::new());
        }
        let mut statement = self.0.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        names.collect()
    }

    /// Reads those of the columns that there are, of every row, in the order of rows. A value that is no text
    /// and no number is left out, and so is a text that is longer than [`MAX_TEXT_BYTES`].
    ///
    /// `table` and `columns` are names from the code, never from the file.
    ///
    /// # Errors
    /// If the database is damaged.
    pub(crate) fn rows(
        &self,
        table: &'static str,
        columns: &[&'static str],
    ) -> rusqlite::Result<Vec<Value>> {
        let known = self.columns(table)?;
        let wanted: Vec<&str> = columns
            .iter()
            .copied()
            .filter(|column| known.iter().any(|name| name == column))
            .collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let list = wanted.join("\", \"");
        let query = format!("SELECT \"{list}\" FROM \"{table}\" LIMIT {MAX_ROWS}");
        let mut statement = self.0.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let mut entry = Map::new();
            for (at, column) in wanted.iter().enumerate() {
                let value = match row.get_ref(at)? {
                    ValueRef::Integer(number) => Value::from(number),
                    ValueRef::Real(number) => Value::from(number),
                    ValueRef::Text(text) if text.len() <= MAX_TEXT_BYTES => {
                        Value::from(String::from_utf8_lossy(text))
                    }
                    ValueRef::Text(_) | ValueRef::Blob(_) | ValueRef::Null => continue,
                };
                entry.insert((*column).to_owned(), value);
            }
            found.push(Value::Object(entry));
        }
        Ok(found)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Databases as other programs make them.

    use super::*;

    /// Makes a database in a folder, and returns its file.
    pub(crate) fn made(folder: &Path, sql: &str) -> std::path::PathBuf {
        let file = folder.join("their #1 memory?.db");
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        file
    }
}

#[cfg(test)]
mod tests {
    use super::testing::made;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn plain_tables_are_read_and_nothing_is_written_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = made(
            folder.path(),
            "CREATE TABLE t (a INTEGER, b TEXT, c BLOB); INSERT INTO t VALUES (1, 'x', x'00'), (2, NULL, 1.5)",
        );
        let before = std::fs::read(&file).unwrap();
        let database = Database::open(&file).unwrap();
        assert!(database.has("t", &["a", "b"]) && !database.has("t", &["d"]));
        let rows = database.rows("t", &["a", "b", "c", "d"]).unwrap();
        assert_eq!(rows, [json!({"a": 1, "b": "x"}), json!({"a": 2, "c": 1.5})]);
        assert!(database.0.execute_batch("DELETE FROM t").is_err());
        drop(database);
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn views_virtual_tables_and_computed_columns_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = made(
            folder.path(),
            "CREATE TABLE plain (a TEXT, b TEXT GENERATED ALWAYS AS (upper(a)));
             INSERT INTO plain VALUES ('x');
             CREATE VIEW seen AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS a FROM n;
             CREATE VIRTUAL TABLE found USING fts5(a);",
        );
        let database = Database::open(&file).unwrap();
        assert_eq!(
            database.rows("plain", &["a", "b"]).unwrap(),
            [json!({"a": "x"})]
        );
        for table in ["seen", "found", "absent"] {
            assert!(!database.has(table, &["a"]), "{table}");
            assert_eq!(database.rows(table, &["a"]).unwrap(), Vec::<Value>::new());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn a_damaged_database_never_panics(spots in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
            let folder = tempfile::tempdir().unwrap();
            let file = made(folder.path(), "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), ('y')");
            let mut bytes = std::fs::read(&file).unwrap();
            for (spot, byte) in spots {
                let at = spot.index(bytes.len());
                bytes[at] = byte;
            }
            std::fs::write(&file, bytes).unwrap();
            if let Ok(database) = Database::open(&file) {
                let _ = (database.has("t", &["a"]), database.rows("t", &["a"]));
            }
        }
    }
}

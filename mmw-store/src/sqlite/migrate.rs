//! Brings a file to the schema of this program, one numbered step at a time.
//!
//! A step is a file in `migrations/`: added, never edited. Its checksum is kept in the store and in
//! `migrations/frozen.txt`. A version is (major, minor): an older program may use a store with a
//! newer minor version, and refuses one with a newer major.

use std::fmt::Write as _;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

use super::connection::patiently;
use super::fault::failure;
use crate::engine::{EngineError, EngineResult};

/// Marks the file as a store of MMW: "MMW1".
const APPLICATION_ID: i32 = 0x4D4D_5731;

/// One step.
struct Migration {
    number: u32,
    name: &'static str,
    sql: &'static str,
    /// The version of the schema after the step.
    version: (u16, u16),
}

/// All steps, in order.
const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "0001_first.sql",
        sql: include_str!("../migrations/0001_first.sql"),
        version: (1, 0),
    },
    Migration {
        number: 2,
        name: "0002_guard.sql",
        sql: include_str!("../migrations/0002_guard.sql"),
        version: (1, 1),
    },
    Migration {
        number: 3,
        name: "0003_meaning.sql",
        sql: include_str!("../migrations/0003_meaning.sql"),
        version: (1, 2),
    },
    Migration {
        number: 4,
        name: "0004_words.sql",
        sql: include_str!("../migrations/0004_words.sql"),
        version: (1, 3),
    },
];

impl Migration {
    /// Returns the SHA-256 of the step as hexadecimal digits; how lines end makes no difference.
    fn checksum(&self) -> String {
        let digest = Sha256::digest(self.sql.replace("\r\n", "\n").as_bytes());
        digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Brings the store behind a writing connection up to date and returns the connection.
pub(super) fn bring_up_to_date(conn: Connection, max_wait: Duration) -> EngineResult<Connection> {
    apply(&conn, MIGRATIONS, max_wait)?;
    Ok(conn)
}

fn apply(conn: &Connection, steps: &[Migration], max_wait: Duration) -> EngineResult<()> {
    // Look first: a file of somebody else or of a newer program is left as it is.
    let n_applied = patiently(max_wait, || {
        conn.execute_batch("BEGIN")?;
        let n_applied = applied(conn, steps);
        conn.execute_batch("ROLLBACK")?;
        n_applied
    })?;
    // Taking the write-ahead log into use needs the file for itself for a moment.
    let mode: String = patiently(max_wait, || {
        Ok(conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?)
    })?;
    if mode != "wal" {
        return Err(failure(format!(
            "a write-ahead log can't be used here (the journal mode is `{mode}`); keep the store \
             on a local disk"
        )));
    }
    for step in steps.iter().skip(n_applied) {
        patiently(max_wait, || apply_one(conn, steps, step))?;
    }
    Ok(())
}

/// Applies one step in one transaction, unless another program has done it in the meantime.
fn apply_one(conn: &Connection, steps: &[Migration], step: &Migration) -> EngineResult<()> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let done = (|| {
        let is_next = steps
            .get(applied(conn, steps)?)
            .is_some_and(|next| next.number == step.number);
        if is_next {
            conn.execute_batch(step.sql)?;
            note(conn, step)?;
        }
        conn.execute_batch("COMMIT")?;
        Ok(())
    })();
    if !conn.is_autocommit() {
        conn.execute_batch("ROLLBACK")?;
    }
    done
}

fn note(conn: &Connection, step: &Migration) -> EngineResult<()> {
    let (major, minor) = step.version;
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_history (
            number INTEGER PRIMARY KEY,
            name   TEXT NOT NULL,
            sha256 TEXT NOT NULL
        ) STRICT;",
    )?;
    conn.execute(
        "INSERT INTO schema_history (number, name, sha256) VALUES (?1, ?2, ?3)",
        (step.number, step.name, step.checksum()),
    )?;
    conn.execute(
        "INSERT INTO meta (name, value) VALUES ('schema_major', ?1), ('schema_minor', ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (major.to_string(), minor.to_string()),
    )?;
    conn.pragma_update(None, "user_version", packed(step.version))?;
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(())
}

fn packed((major, minor): (u16, u16)) -> i64 {
    i64::from(major) << 16 | i64::from(minor)
}

/// Returns the version that a store says it has, major and minor.
pub(super) fn version(conn: &Connection) -> EngineResult<(u16, u16)> {
    let packed: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let part = |bits: i64| u16::try_from(bits & 0xffff).unwrap_or_default();
    Ok((part(packed >> 16), part(packed)))
}

/// Returns how many of the steps have been applied, after checking that they are these steps.
fn applied(conn: &Connection, steps: &[Migration]) -> EngineResult<usize> {
    let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application_id = pragma("application_id")?;
    let version = pragma("user_version")?;
    if application_id != i64::from(APPLICATION_ID) {
        let is_empty = conn
            .query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(()))
            .optional()?
            .is_none();
        return if application_id == 0 && version == 0 && is_empty {
            Ok(0)
        } else {
            Err(failure(
                "the file is a database of another program, not a store of MMW; name another file",
            ))
        };
    }
    let known = steps.last().map_or((0, 0), |step| step.version);
    let found = u32::try_from(version >> 16).unwrap_or(u32::MAX);
    if found > u32::from(known.0) {
        return Err(EngineError::NewerSchema {
            found,
            known: u32::from(known.0),
        });
    }
    check_history(conn, steps)
}

fn check_history(conn: &Connection, steps: &[Migration]) -> EngineResult<usize> {
    let mut statement =
        conn.prepare("SELECT number, name, sha256 FROM schema_history ORDER BY number")?;
    let mut rows = statement.query([])?;
    let mut n_applied = 0;
    while let Some(row) = rows.next()? {
        let (number, name, checksum): (u32, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        // A step that this program does not know is of a newer minor version: it only added.
        let Some(step) = steps.iter().find(|step| step.number == number) else {
            continue;
        };
        if step.checksum() != checksum {
            return Err(EngineError::Corrupt(format!(
                "the schema was made by a step {name} that differs from this program's {}",
                step.name
            )));
        }
        n_applied += 1;
    }
    Ok(n_applied)
}

#[cfg(test)]
mod tests;

//! The embedded engine: one SQLite file that several threads and processes share.
//!
//! One connection writes, a few read; the journal is a write-ahead log that is flushed to the disk
//! on every commit, so an `Ok` survives a crash. What must be decided is decided above; here it is
//! only found and kept. The files have the names of the traits that they implement.

mod access;
mod audit;
mod columns;
mod connection;
mod fault;
mod guard;
mod lane;
mod lexicon;
mod migrate;
mod records;
mod turns;
mod vectors;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use self::connection::{Lender, Role, connect, prepare_file};
use crate::engine::{Engine, EngineError, EngineResult, Look, Snapshot, Txn, Work};

/// How an embedded store is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long a call waits for other threads and other programs before it is told
    /// [`EngineError::Busy`].
    pub max_wait: Duration,
    /// The most connections that read at one time.
    pub max_readers: usize,
}

impl Options {
    /// Returns the options of a usual store: ten seconds, four readers.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            max_wait: Duration::from_secs(10),
            max_readers: 4,
        }
    }
}

/// The embedded engine on one file.
pub struct Sqlite {
    file: PathBuf,
    // Closed in this order: only a connection that may write carries the log over and removes it.
    readers: Lender,
    writer: Lender,
}

impl Sqlite {
    /// Opens the store in a file. The file (readable by its owner alone) and its folder are made if
    /// they are missing; an older schema is brought up to date.
    ///
    /// # Errors
    /// [`EngineError::ReadOnly`] if nothing can be written there, [`EngineError::NewerSchema`] if a
    /// newer program has written it, [`EngineError::Corrupt`] if the file is no database,
    /// [`EngineError::Busy`] if another program keeps it locked. Nothing has been changed then.
    pub fn open(file: &Path) -> EngineResult<Self> {
        Self::open_with(file, &Options::standard())
    }

    /// Opens the store in a file with other options.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_with(file: &Path, options: &Options) -> EngineResult<Self> {
        prepare_file(file)?;
        let writer = connect(file, Role::Writer, options.max_wait)
            .and_then(|conn| migrate::bring_up_to_date(conn, options.max_wait))
            .map_err(|error| connection::refine(file, error))?;
        Ok(Self {
            file: file.to_owned(),
            readers: Lender::opening(file, options.max_readers.max(1), options.max_wait),
            writer: Lender::holding(writer, options.max_wait),
        })
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl Engine for Sqlite {
    fn write(&self, work: &mut Work<'_>) -> EngineResult<()> {
        let conn = self.writer.borrow()?;
        conn.execute_batch("BEGIN IMMEDIATE")?;
        // A borrowed connection rolls back what is still open when it is given back.
        work(&mut SqliteTxn { conn: &conn })?;
        conn.execute_batch("COMMIT")?;
        Ok(())
    }

    fn read(&self, look: &mut Look<'_>) -> EngineResult<()> {
        let conn = self.readers.borrow()?;
        conn.execute_batch("BEGIN")?;
        look(&SqliteTxn { conn: &conn })
    }

    fn verify(&self) -> EngineResult<Vec<String>> {
        let conn = self.readers.borrow()?;
        conn.execute_batch("BEGIN")?;
        verify::problems(&SqliteTxn { conn: &conn })
    }

    /// Rewrites the whole file without its free pages, and empties the write-ahead log.
    fn compact(&self) -> EngineResult<()> {
        let conn = self.writer.borrow()?;
        conn.execute_batch("INSERT INTO record_words (record_words) VALUES ('optimize');")?;
        // The copy may be larger than memory: for once it goes to a temporary file.
        conn.execute_batch("PRAGMA temp_store = FILE")?;
        let rewritten = conn.execute_batch("VACUUM");
        conn.execute_batch("PRAGMA temp_store = MEMORY")?;
        rewritten?;
        // A reader that still looks at an old snapshot holds the log back; the answer says so.
        let held_back: i64 =
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if held_back == 0 {
            Ok(())
        } else {
            Err(EngineError::Busy)
        }
    }

    fn size_bytes(&self) -> EngineResult<u64> {
        let mut log = self.file.clone().into_os_string();
        log.push("-wal");
        let bytes = |file: &Path| match std::fs::metadata(file) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(EngineError::Backend(Box::new(error))),
        };
        Ok(bytes(&self.file)? + bytes(Path::new(&log))?)
    }

    fn schema_version(&self) -> EngineResult<(u16, u16)> {
        let conn = self.readers.borrow()?;
        migrate::version(&conn)
    }
}

/// A transaction, or a snapshot: whoever gets it as the latter sees no writes in its trait.
pub(crate) struct SqliteTxn<'c> {
    conn: &'c Connection,
}

impl Txn for SqliteTxn<'_> {
    fn snapshot(&self) -> &dyn Snapshot {
        self
    }
}

impl SqliteTxn<'_> {
    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> EngineResult<Option<T>> {
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row(params, read).optional()?)
    }

    fn many<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> EngineResult<Vec<T>> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement.query_map(params, read)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    fn run(&self, sql: &str, params: impl Params) -> EngineResult<usize> {
        Ok(self.conn.prepare_cached(sql)?.execute(params)?)
    }
}

#[cfg(test)]
mod tests;

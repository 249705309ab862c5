//! Connections: how they are opened, how long they wait for others, and who may use which.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, process};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::vtab::array;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fault::failure;
use crate::engine::{EngineError, EngineResult};

/// The longest single wait between two tries for a lock, in milliseconds.
const MAX_PAUSE_MS: u64 = 4;

/// How many prepared statements a connection keeps.
const N_STATEMENTS: usize = 256;

/// The longest text or blob that a statement may carry, in bytes: far above every limit of the
/// domain, far below what would exhaust memory.
const MAX_VALUE_BYTES: i32 = 64 * 1024 * 1024;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Changes the store.
    Writer,
    /// Only reads it.
    Reader,
}

/// Makes the file, empty and readable by its owner alone, and its folder, if they are missing.
///
/// The file is made beside its place and then linked there: closing a file that SQLite has open in
/// the same process would drop SQLite's locks, so it is never opened under its name here.
pub(super) fn prepare_file(file: &Path) -> EngineResult<()> {
    if file.try_exists().map_err(|error| not_made(file, &error))? {
        if file.is_dir() {
            return Err(failure(format!(
                "there is a folder where the store's file should be: {}",
                file.display()
            )));
        }
        return Ok(());
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    make_folder(folder).map_err(|error| not_made(folder, &error))?;
    let mut beside = file.to_owned().into_os_string();
    beside.push(format!(
        ".new-{}-{:?}",
        process::id(),
        std::thread::current().id()
    ));
    let beside = PathBuf::from(beside);
    let made = make_private(&beside)
        .and_then(|()| match fs::hard_link(&beside, file) {
            // Somebody else was faster: theirs is as good.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Some file systems have no links; there, two first openings at once are not told apart.
            Err(_) => fs::rename(&beside, file),
            Ok(()) => Ok(()),
        })
        .map_err(|error| not_made(file, &error));
    let _ = fs::remove_file(&beside);
    made
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    // The new folder's name must survive a crash as well; not every system can flush a folder.
    #[cfg(unix)]
    if let Some(parent) = folder.parent()
        && let Ok(parent) = fs::File::open(parent)
    {
        let _ = parent.sync_all();
    }
    Ok(())
}

fn make_private(file: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

fn not_made(what: &Path, error: &io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            EngineError::ReadOnly
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => EngineError::DiskFull,
        _ => failure(format!("{} could not be made: {error}", what.display())),
    }
}

/// Names the file in an error of opening it, and tells a folder that can't be written to from other
/// reasons for which it can't be opened.
pub(super) fn refine(file: &Path, error: EngineError) -> EngineError {
    match told_as_read_only(file, error) {
        EngineError::Corrupt(text) => EngineError::Corrupt(format!("{}: {text}", file.display())),
        EngineError::Backend(source) => {
            let (path, text) = (file.display().to_string(), source.to_string());
            if text.contains(&path) {
                EngineError::Backend(source)
            } else {
                failure(format!("{path}: {text}"))
            }
        }
        other => other,
    }
}

fn told_as_read_only(file: &Path, error: EngineError) -> EngineError {
    let cant_open = match &error {
        EngineError::Backend(source) => matches!(
            source.downcast_ref(),
            Some(rusqlite::Error::SqliteFailure(code, _)) if code.code == ErrorCode::CannotOpen
        ),
        _ => false,
    };
    if !cant_open {
        return error;
    }
    let mut probe = file.to_owned().into_os_string();
    probe.push(format!(".probe-{}", process::id()));
    let probe = PathBuf::from(probe);
    match make_private(&probe) {
        Ok(()) => {
            let _ = fs::remove_file(&probe);
            error
        }
        Err(reason) => match not_made(&probe, &reason) {
            EngineError::Backend(_) => error,
            told => told,
        },
    }
}

/// Opens a connection to a file that is there.
pub(super) fn connect(file: &Path, role: Role, max_wait: Duration) -> EngineResult<Connection> {
    let access = match role {
        Role::Writer => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Role::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let mut conn = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let mut patience = Patience::new(max_wait);
    conn.busy_handler(Some(move |attempt| patience.wait(attempt)))?;
    if role == Role::Writer && conn.is_readonly("main")? {
        return Err(EngineError::ReadOnly);
    }
    conn.set_prepared_statement_cache_capacity(N_STATEMENTS);
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    // Rewriting the file attaches the copy; nothing else may be attached.
    let max_attached = i32::from(role == Role::Writer);
    conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, max_attached)?;
    // A plan must not depend on bound values: without this, statements are compiled anew whenever
    // another value is bound (a third of a search's time).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    array::load_module(&conn)?;
    // `trusted_schema`: a planted file can't call functions through its schema.
    conn.execute_batch(
        "PRAGMA trusted_schema = OFF;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;",
    )?;
    match role {
        // Freed text is overwritten in its pages; `compact` clears free pages as well.
        Role::Writer => conn.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA secure_delete = ON;
             PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 2000;
             PRAGMA journal_size_limit = 16777216;",
        )?,
        // Pages that were looked at once, as all vectors are at the start, stay in a process's memory: a
        // larger window made it half as large again and no search measurably faster.
        Role::Reader => conn.execute_batch(
            "PRAGMA query_only = ON;
             PRAGMA cache_size = -8192;
             PRAGMA mmap_size = 33554432;",
        )?,
    }
    Ok(conn)
}

/// Repeats a step that is told "busy" without having been waited for, until the time is up.
pub(super) fn patiently<T>(
    max_wait: Duration,
    mut step: impl FnMut() -> EngineResult<T>,
) -> EngineResult<T> {
    let mut patience = Patience::new(max_wait);
    // Not 0: the time counts from here, whatever the step itself has waited.
    let mut attempt = 1;
    loop {
        match step() {
            Err(EngineError::Busy) if patience.wait(attempt) => attempt += 1,
            done => return done,
        }
    }
}

/// Waits for a lock of another process: short pauses that grow and differ between processes, up to a
/// total.
struct Patience {
    max_wait: Duration,
    since: Instant,
    jitter: u64,
}

impl Patience {
    fn new(max_wait: Duration) -> Self {
        Self {
            max_wait,
            since: Instant::now(),
            // Only has to differ between processes; predicting it harms nobody.
            jitter: u64::from(process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    /// Waits a little; tells whether to try again.
    #[expect(
        clippy::disallowed_methods,
        reason = "another process's lock tells nobody when it is free: it can only be asked again"
    )]
    fn wait(&mut self, attempt: i32) -> bool {
        if attempt == 0 {
            self.since = Instant::now();
        }
        let left = self.max_wait.saturating_sub(self.since.elapsed());
        if left.is_zero() {
            return false;
        }
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 7;
        self.jitter ^= self.jitter << 17;
        let most_us = (1_u64 << attempt.clamp(0, 10)).min(MAX_PAUSE_MS) * 1000;
        let pause = Duration::from_micros(most_us / 4 + self.jitter % most_us);
        std::thread::sleep(pause.min(left));
        true
    }
}

/// Lends connections of one kind to one thread at a time each, and waits when all are out.
pub(super) struct Lender {
    shelf: Mutex<Shelf>,
    given_back: Condvar,
    file: PathBuf,
    max_open: usize,
    max_wait: Duration,
}

struct Shelf {
    idle: Vec<Connection>,
    n_open: usize,
}

impl Lender {
    /// Returns a lender of this one connection.
    pub(super) fn holding(conn: Connection, max_wait: Duration) -> Self {
        Self {
            shelf: Mutex::new(Shelf {
                idle: vec![conn],
                n_open: 1,
            }),
            given_back: Condvar::new(),
            file: PathBuf::new(),
            max_open: 1,
            max_wait,
        }
    }

    /// Returns a lender of reading connections that are opened when they are first needed.
    pub(super) fn opening(file: &Path, max_open: usize, max_wait: Duration) -> Self {
        Self {
            shelf: Mutex::new(Shelf {
                idle: Vec::new(),
                n_open: 0,
            }),
            given_back: Condvar::new(),
            file: file.to_owned(),
            max_open,
            max_wait,
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // What lies on the shelf is whole at any moment, whoever panicked.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Borrows a connection; it comes back, rolled back, when it is dropped.
    pub(super) fn borrow(&self) -> EngineResult<Lent<'_>> {
        let (mut shelf, _) = self
            .given_back
            .wait_timeout_while(self.shelf(), self.max_wait, |shelf| {
                shelf.idle.is_empty() && shelf.n_open >= self.max_open
            })
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(conn) = shelf.idle.pop() {
            return Ok(Lent {
                conn: Some(conn),
                lender: self,
            });
        }
        if shelf.n_open >= self.max_open {
            return Err(EngineError::Busy);
        }
        shelf.n_open += 1;
        drop(shelf);
        match connect(&self.file, Role::Reader, self.max_wait) {
            Ok(conn) => Ok(Lent {
                conn: Some(conn),
                lender: self,
            }),
            Err(error) => {
                self.shelf().n_open -= 1;
                self.given_back.notify_one();
                Err(error)
            }
        }
    }
}

/// A borrowed connection.
pub(super) struct Lent<'l> {
    conn: Option<Connection>,
    lender: &'l Lender,
}

impl Deref for Lent<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn
            .as_ref()
            .expect("the connection is there until it is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else {
            return;
        };
        if !conn.is_autocommit() {
            // A transaction that failed to end is ended by closing the connection at the latest.
            let _ = conn.execute_batch("ROLLBACK");
        }
        self.lender.shelf().idle.push(conn);
        self.lender.given_back.notify_one();
    }
}

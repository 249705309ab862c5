//! What an error of SQLite means to whoever called the engine.

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::engine::EngineError;

/// A failure that only has a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Said(pub(super) String);

/// Returns the engine's own failure with that sentence.
pub(super) fn failure(text: impl Into<String>) -> EngineError {
    EngineError::Backend(Box::new(Said(text.into())))
}

impl From<rusqlite::Error> for EngineError {
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(code, _) => match code.code {
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                // Gave up after many tries for a lock on the write-ahead log.
                | ErrorCode::FileLockingProtocolFailed => Self::Busy,
                ErrorCode::DiskFull => Self::DiskFull,
                // The index of the log could not grow.
                ErrorCode::SystemIoFailure if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                    Self::DiskFull
                }
                ErrorCode::ReadOnly => Self::ReadOnly,
                ErrorCode::NotADatabase => Self::Corrupt("the file is not a database".to_owned()),
                ErrorCode::DatabaseCorrupt => Self::Corrupt(error.to_string()),
                _ => Self::Backend(Box::new(error)),
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..) => {
                Self::Corrupt(format!("a value could not be read back: {error}"))
            }
            _ => Self::Backend(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(extended_code: i32, expected: &str) {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), None);
        let found = format!("{:?}", EngineError::from(error));
        assert!(found.starts_with(expected), "{extended_code}: {found}");
    }

    #[test]
    fn each_failure_gets_the_name_by_which_a_caller_can_act() {
        check(ffi::SQLITE_BUSY, "Busy");
        check(ffi::SQLITE_BUSY_SNAPSHOT, "Busy");
        check(ffi::SQLITE_BUSY_RECOVERY, "Busy");
        check(ffi::SQLITE_LOCKED, "Busy");
        check(ffi::SQLITE_PROTOCOL, "Busy");
        check(ffi::SQLITE_FULL, "DiskFull");
        check(ffi::SQLITE_IOERR_SHMSIZE, "DiskFull");
        check(ffi::SQLITE_READONLY, "ReadOnly");
        check(ffi::SQLITE_READONLY_DIRECTORY, "ReadOnly");
        check(ffi::SQLITE_READONLY_CANTINIT, "ReadOnly");
        check(ffi::SQLITE_CORRUPT, "Corrupt");
        check(ffi::SQLITE_CORRUPT_INDEX, "Corrupt");
        check(ffi::SQLITE_NOTADB, "Corrupt");
        check(ffi::SQLITE_IOERR_READ, "Backend");
        check(ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "Backend");
    }
}

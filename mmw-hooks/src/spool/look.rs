//! How a queue is: for a status, and for a search that has to answer from what waits. Changes nothing and
//! waits for nobody.

use std::fs;

use mmw_core::time::Timestamp;

use super::Spool;
use super::aside::Found;
use super::entry::Entry;
use super::error::SpoolError;
use super::outcome::is_answer;
use super::pace::Note;
use super::place::{EntryName, Tray};

/// The most dead letters and the most damaged files that a state lists, oldest first. All are counted.
pub const MAX_LISTED: usize = 100;

/// After so many attempts in a row a person is told that the oldest entry may be what is in the way. A server
/// that is only restarted or overrun is back before.
pub const STUCK_AFTER: u32 = 4;

/// The longest reason that is read from a file, in bytes.
const MAX_WHY_BYTES: usize = 1024;

/// How a queue is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The endpoint that the entries are meant for.
    pub endpoint: String,
    /// How many entries wait.
    pub n_waiting: usize,
    /// How many bytes those have.
    pub n_waiting_bytes: u64,
    /// The one that has waited longest.
    pub oldest: Option<Oldest>,
    /// How many the server refused.
    pub n_dead: usize,
    /// The first [`MAX_LISTED`] of them.
    pub dead: Vec<DeadLetter>,
    /// How many files could not be read.
    pub n_corrupt: usize,
    /// The first [`MAX_LISTED`] of them.
    pub corrupt: Vec<Damaged>,
    /// Why nothing is sent until [`Spool::resume`], if so.
    pub paused: Option<Note>,
    /// Attempts that failed in a row.
    pub n_failed: u32,
    /// The entry at which sending failed last, if it still waits.
    pub failed_at: Option<EntryName>,
    /// When it is tried again, while it is waited.
    pub next_attempt_at: Option<Timestamp>,
    /// Why the last attempt that failed did.
    pub last_error: Option<Note>,
    /// When the server last took an entry.
    pub last_success_at: Option<Timestamp>,
}

/// The entry that has waited longest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oldest {
    /// Its name.
    pub name: EntryName,
    /// When it was queued; `None` if it can't be read.
    pub queued_at: Option<Timestamp>,
}

/// An entry that the server refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its name; its file is in `dead`.
    pub name: EntryName,
    /// What was to be done; empty if the file can't be read.
    pub action: String,
    /// Why and when it was refused; `None` if there was no room to write that down.
    pub refused: Option<Note>,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Its name; its file is in `corrupt`.
    pub name: EntryName,
    /// Why; empty if there was no room to write that down.
    pub why: String,
}

impl State {
    /// Returns for how long the oldest entry has waited, in milliseconds; 0 if the clock went back since.
    #[must_use]
    pub fn oldest_age_ms(&self, now: Timestamp) -> Option<i64> {
        let queued_at = self.oldest.as_ref()?.queued_at?;
        Some((now.as_ms() - queued_at.as_ms()).max(0))
    }

    /// Returns the entry at which sending fails if the server is there and did not take it in the last `n_attempts` in a row: it
    /// may never, and everything else waits behind it. A person can [set it aside](Spool::set_aside).
    #[must_use]
    pub fn stuck(&self, n_attempts: u32) -> Option<EntryName> {
        let was_answered = self
            .last_error
            .as_ref()
            .is_some_and(|note| is_answer(&note.why));
        (self.n_failed >= n_attempts.max(1) && was_answered).then(|| {
            self.failed_at
                .or(self.oldest.as_ref().map(|oldest| oldest.name))
        })?
    }
}

impl Spool {
    /// Returns how the queue is. While it is sent or added to, the figures are of about the same moment.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if a folder can't be read.
    pub fn state(&self, now: Timestamp) -> Result<State, SpoolError> {
        let names = self.waiting()?;
        let size = |name: &EntryName| {
            let path = self.place.file(Tray::Waiting, *name);
            fs::symlink_metadata(path).map_or(0, |metadata| metadata.len())
        };
        let oldest = match names.first() {
            None => None,
            Some(name) => Some(Oldest {
                name: *name,
                queued_at: self.read(*name)?.map(|entry| entry.queued_at),
            }),
        };
        let (dead, corrupt) = (self.listed(Tray::Dead)?, self.listed(Tray::Corrupt)?);
        let pace = self.pace();
        Ok(State {
            endpoint: self.endpoint.clone(),
            n_waiting: names.len(),
            n_waiting_bytes: names.iter().map(size).sum(),
            oldest,
            n_dead: dead.len(),
            dead: dead
                .iter()
                .take(MAX_LISTED)
                .map(|name| self.dead_letter(*name))
                .collect::<Result<_, _>>()?,
            n_corrupt: corrupt.len(),
            corrupt: corrupt
                .iter()
                .take(MAX_LISTED)
                .map(|name| self.damaged(*name))
                .collect(),
            next_attempt_at: pace.wait_until(now),
            paused: pace.paused,
            n_failed: pace.n_failed,
            failed_at: pace
                .failed_at
                .map(EntryName)
                .filter(|name| names.contains(name)),
            last_error: pace.last_error,
            last_success_at: pace.last_success_at,
        })
    }

    /// Tells whether nothing waits. As long as something does, a new write has to queue behind it. It is asked
    /// before every write and costs the same however much waits.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder can't be read.
    pub fn is_empty(&self) -> Result<bool, SpoolError> {
        let has_any = self.place.has_any(Tray::Waiting);
        let folder = || self.place.tray(Tray::Waiting);
        has_any
            .map(|has_any| !has_any)
            .map_err(|error| self.failed("read", &folder(), error))
    }

    /// Returns the names of what waits, oldest first.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder can't be read.
    pub fn waiting(&self) -> Result<Vec<EntryName>, SpoolError> {
        self.listed(Tray::Waiting)
    }

    /// Reads an entry that waits; `None` if it is gone by now or can't be read.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that is this process's fault, not the file's.
    pub fn read(&self, name: EntryName) -> Result<Option<Entry>, SpoolError> {
        Ok(match self.find(name)? {
            Found::Entry(stored) => Some(stored.entry),
            Found::Gone | Found::Unreadable(_) => None,
        })
    }

    fn dead_letter(&self, name: EntryName) -> Result<DeadLetter, SpoolError> {
        let found = self.find_in(Tray::Dead, name)?;
        let (action, refused) = match found {
            Found::Entry(stored) => (stored.entry.action, stored.refused),
            Found::Gone | Found::Unreadable(_) => (String::new(), None),
        };
        Ok(DeadLetter {
            name,
            action,
            refused,
        })
    }

    fn damaged(&self, name: EntryName) -> Damaged {
        let mut why = fs::read_to_string(self.place.why(name)).unwrap_or_default();
        if why.len() > MAX_WHY_BYTES {
            why.clear();
        }
        why.truncate(why.trim_end().len());
        Damaged { name, why }
    }
}

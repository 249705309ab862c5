//! Entries that leave the queue: sent, refused by the server, or not readable; and the way back.
//!
//! A refused entry is written anew with its reason before it is removed from those that wait. If both are
//! there, the refusal had been decided, and the removal is finished later. Every step back is one renaming.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use mmw_core::time::Timestamp;

use super::drain::Draining;
use super::entry::Stored;
use super::error::SpoolError;
use super::ledger::Limits;
use super::pace::{Note, Pace};
use super::place::{EntryName, Tray};
use super::{Changing, Spool};

/// How much longer a file may be than an entry, in bytes: a reason was added to it.
const MORE_BYTES: u64 = 16 * 1024;

/// What is found where an entry should be.
pub(super) enum Found {
    Entry(Box<Stored>),
    /// Nothing: it was removed since it was listed.
    Gone,
    /// A file that is no entry, with the reason.
    Unreadable(String),
}

impl Spool {
    /// Puts all dead letters back, each at its old place, to be sent again; returns how many.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if one can't be put back; those before it are.
    pub fn retry_dead(&self) -> Result<usize, SpoolError> {
        let changing = self.change()?;
        let names = self.listed(Tray::Dead)?;
        for name in &names {
            self.rename(Tray::Dead, Tray::Waiting, *name)?;
        }
        self.renamed(&changing, Tray::Dead, Tray::Waiting)?;
        Ok(names.len())
    }

    /// Puts those back that could not be read and can be now, for example by a newer program; returns how
    /// many.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if one can't be put back; those before it are.
    pub fn retry_corrupt(&self) -> Result<usize, SpoolError> {
        let changing = self.change()?;
        let mut n_back = 0;
        for name in self.listed(Tray::Corrupt)? {
            if let Found::Entry(_) = self.find_in(Tray::Corrupt, name)? {
                self.rename(Tray::Corrupt, Tray::Waiting, name)?;
                let _ = self.disk.remove(&self.place.why(name));
                n_back += 1;
            }
        }
        self.renamed(&changing, Tray::Corrupt, Tray::Waiting)?;
        Ok(n_back)
    }

    /// Makes a waiting entry a dead letter, because a person says so; tells whether it was there. The next one
    /// may be tried at once.
    ///
    /// # Errors
    /// [`SpoolError::Busy`] while the queue is sent, [`SpoolError::Io`] if it can't be moved.
    pub fn set_aside(&self, name: EntryName, why: &str, at: Timestamp) -> Result<bool, SpoolError> {
        let draining = self.try_draining()?.ok_or(SpoolError::Busy)?;
        match self.find(name)? {
            Found::Gone => return Ok(false),
            Found::Unreadable(why) => self.quarantine(name, &why)?,
            Found::Entry(stored) => {
                self.lay_aside(&draining, name, &stored, &Note::new(why, at))?;
            }
        }
        self.keep_pace(Pace::cleared);
        Ok(true)
    }

    pub(super) fn find(&self, name: EntryName) -> Result<Found, SpoolError> {
        self.find_in(Tray::Waiting, name)
    }

    /// Reads a file. What is wrong with the file itself is not an error; that this process has too many
    /// files open, for example, is.
    pub(super) fn find_in(&self, tray: Tray, name: EntryName) -> Result<Found, SpoolError> {
        let path = self.place.file(tray, name);
        let unreadable = |why: &str| Ok(Found::Unreadable(why.to_owned()));
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Ok(Found::Gone),
            io::ErrorKind::PermissionDenied => unreadable("it may not be read"),
            _ => Err(self.failed("read", &path, error)),
        };
        // Not followed and not opened before it is known to be a file: a pipe would never end.
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) => return failed(error),
        };
        if !metadata.is_file() {
            return unreadable("it is not a file");
        }
        let longest = self.limits.entry_bytes.max(Limits::STANDARD.entry_bytes) + MORE_BYTES;
        if metadata.len() > longest {
            return unreadable("it is longer than an entry may be");
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) => return failed(error),
        };
        let mut bytes = Vec::new();
        if file.take(longest).read_to_end(&mut bytes).is_err() {
            return unreadable("the disk fails to read it");
        }
        Ok(match Stored::read(&bytes, &self.endpoint) {
            Ok(stored) => Found::Entry(Box::new(stored)),
            Err(why) => Found::Unreadable(why),
        })
    }

    /// Removes what the server has.
    pub(super) fn remove_sent(&self, name: EntryName) -> Result<(), SpoolError> {
        let path = self.place.file(Tray::Waiting, name);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("remove", &path, error))
            }
            _ => self.sync(Tray::Waiting),
        }
    }

    /// Makes an entry a dead letter.
    pub(super) fn lay_aside(
        &self,
        _draining: &Draining,
        name: EntryName,
        stored: &Stored,
        note: &Note,
    ) -> Result<(), SpoolError> {
        let changing = self.change()?;
        let (new, dead) = (self.place.new_file(), self.place.file(Tray::Dead, name));
        let written = self
            .disk
            .write_new(&new, &stored.to_refused(note))
            .and_then(|()| self.disk.rename(&new, &dead))
            .and_then(|()| self.disk.sync_folder(&self.place.tray(Tray::Dead)));
        if written.is_ok() {
            return self.remove_sent(name);
        }
        // A disk without room for the reason: rather without it than that the next one waits for ever.
        let _ = self.disk.remove(&new);
        self.rename(Tray::Waiting, Tray::Dead, name)?;
        self.renamed(&changing, Tray::Waiting, Tray::Dead)
    }

    /// Removes an entry that is a dead letter already; tells whether it was one.
    pub(super) fn finish_laying_aside(&self, name: EntryName) -> Result<bool, SpoolError> {
        let dead = self.place.file(Tray::Dead, name);
        if !is_there(&dead) {
            return Ok(false);
        }
        // It may just be on its way back.
        let _changing = self.change()?;
        if !is_there(&dead) {
            return Ok(false);
        }
        // Who wrote it may have ended before its name was on the disk.
        self.sync(Tray::Dead)?;
        self.remove_sent(name)?;
        Ok(true)
    }

    /// Puts a file away that is no entry. It keeps every byte.
    pub(super) fn quarantine(&self, name: EntryName, why: &str) -> Result<(), SpoolError> {
        let changing = self.change()?;
        let path = self.place.why(name);
        // A reason is good to have; without room for it the file is put away nevertheless.
        let _ = self.disk.write_new(&path, format!("{why}\n").as_bytes());
        self.rename(Tray::Waiting, Tray::Corrupt, name)?;
        self.renamed(&changing, Tray::Waiting, Tray::Corrupt)
    }

    pub(super) fn listed(&self, tray: Tray) -> Result<Vec<EntryName>, SpoolError> {
        let listed = self.place.list(tray);
        listed.map_err(|error| self.failed("read", &self.place.tray(tray), error))
    }

    fn rename(&self, from: Tray, to: Tray, name: EntryName) -> Result<(), SpoolError> {
        let (from, to) = (self.place.file(from, name), self.place.file(to, name));
        match self.disk.rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("move", &from, error))
            }
            _ => Ok(()),
        }
    }

    fn renamed(&self, _changing: &Changing, from: Tray, to: Tray) -> Result<(), SpoolError> {
        self.sync(to)?;
        self.sync(from)
    }

    fn sync(&self, tray: Tray) -> Result<(), SpoolError> {
        let folder = self.place.tray(tray);
        let synced = self.disk.sync_folder(&folder);
        synced.map_err(|error| self.failed("write", &folder, error))
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

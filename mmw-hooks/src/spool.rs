//! The queue of writes that a server could not take yet: on disk, in order, nothing lost, nothing twice.
//!
//! A write is acknowledged once [`Spool::put`] has returned: it is durable then, and keeps its id and its
//! idempotency key through every attempt. [`Spool::drain`] sends what waits through a closure, oldest first,
//! one process at a time. Between "the server has it" and "it is removed here" a crash leads to a second
//! sending with the same key, never to a loss. [`Spool::state`] tells how things are.
//!
//! Each endpoint has a queue of its own, so that what is meant for one server never goes to another.
//!
//! It is synchronous and knows files only. It sends nothing, replaces no secrets (what is put must have been
//! through the guard) and reads neither clock nor randomness by itself.
//!
//! | room | what it is for |
//! |---|---|
//! | `entry` | one write and the form of its file |
//! | `place` | names of files and folders |
//! | `ledger` | the next number, and the limits |
//! | `outcome` | what an answer of the server means |
//! | `pace` | waits, pauses and how sending went |
//! | `drain` | sending, in order |
//! | `aside` | entries that were refused or can't be read |
//! | `look` | the state, and entries for those who search them |
//! | `disk` | what is done to a disk, so that tests can make it fail |

mod aside;
mod disk;
mod drain;
mod entry;
mod error;
mod ledger;
mod look;
mod outcome;
mod pace;
mod place;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use disk::{Disk, Lock, RealDisk};
use ledger::Ledger;
use place::{Place, Tray};

pub use drain::{Drained, Ended};
pub use entry::{Entry, MAX_NAME_BYTES};
pub use error::SpoolError;
pub use ledger::Limits;
pub use look::{Damaged, DeadLetter, MAX_LISTED, Oldest, STUCK_AFTER, State};
pub use outcome::{Outcome, retry_after};
pub use pace::Note;
pub use place::EntryName;

/// The longest endpoint, in bytes.
pub const MAX_ENDPOINT_BYTES: usize = 2048;

/// The queue for one endpoint.
#[derive(Debug, Clone)]
pub struct Spool {
    place: Place,
    endpoint: String,
    limits: Limits,
    disk: Arc<dyn Disk>,
}

/// The proof that no other process changes the queue now.
struct Changing(#[expect(dead_code, reason = "it is held, not looked at")] Lock);

impl Spool {
    /// Opens the queue for an endpoint in the folder of all queues, and makes it if it is not there.
    /// Spaces around the endpoint and slashes at its end do not count.
    ///
    /// # Errors
    /// [`SpoolError::Invalid`] for an endpoint that is empty, longer than 2,048 bytes, or has a name or a
    /// password in it; [`SpoolError::Io`] if the folder can't be made or closed to others.
    pub fn open(base: &Path, endpoint: &str) -> Result<Self, SpoolError> {
        Self::open_with(base, endpoint, Limits::STANDARD)
    }

    /// Opens the queue with other limits than [`Limits::STANDARD`].
    ///
    /// # Errors
    /// As [`Spool::open`].
    pub fn open_with(base: &Path, endpoint: &str, limits: Limits) -> Result<Self, SpoolError> {
        Self::open_on(Arc::new(RealDisk), base, endpoint, limits)
    }

    fn open_on(
        disk: Arc<dyn Disk>,
        base: &Path,
        endpoint: &str,
        limits: Limits,
    ) -> Result<Self, SpoolError> {
        let endpoint = endpoint.trim().trim_end_matches('/');
        if endpoint.is_empty() || endpoint.len() > MAX_ENDPOINT_BYTES {
            return Err(SpoolError::Invalid(
                "an endpoint is an address of 1 to 2048 bytes",
            ));
        }
        let host = endpoint
            .split_once("://")
            .map_or(endpoint, |(_, rest)| rest);
        if host
            .split(['/', '?', '#'])
            .next()
            .unwrap_or(host)
            .contains('@')
        {
            return Err(SpoolError::Invalid(
                "the endpoint has a name or a password in it, which would be kept on disk; set a key instead",
            ));
        }
        let spool = Self {
            place: Place::of(base, endpoint),
            endpoint: endpoint.to_owned(),
            limits,
            disk,
        };
        spool.make()?;
        Ok(spool)
    }

    /// Opens every queue in the folder of all queues; folders that are none are left out.
    ///
    /// # Errors
    /// If the folder can't be read. One that is not there has no queues.
    pub fn all(base: &Path) -> Result<Vec<Self>, SpoolError> {
        let failed = |source| SpoolError::Io {
            doing: "read",
            file: "the folder of all queues".to_owned(),
            source,
        };
        let folders = match fs::read_dir(base) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut spools = Vec::new();
        for folder in folders {
            let root = folder.map_err(failed)?.path();
            let Ok(endpoint) = fs::read_to_string(Place { root: root.clone() }.endpoint()) else {
                continue;
            };
            let endpoint = endpoint.trim_end().to_owned();
            if Place::of(base, &endpoint).root == root {
                spools.push(Self {
                    place: Place { root },
                    endpoint,
                    limits: Limits::STANDARD,
                    disk: Arc::new(RealDisk),
                });
            }
        }
        spools.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
        Ok(spools)
    }

    /// Returns the endpoint that the entries are meant for.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns the folder of this queue.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.place.root
    }

    /// Queues an entry behind all others and returns its name once it is durable.
    ///
    /// Order is the order of the calls, across processes, restarts and clocks: numbers are taken under a
    /// lock that is held while one entry is written.
    ///
    /// # Errors
    /// Then the entry is not queued: [`SpoolError::Invalid`] without an idempotency key, [`SpoolError::TooLarge`]
    /// and [`SpoolError::Full`] at a limit, [`SpoolError::Io`] when the disk is full, can't be written to or
    /// fails. Only a disk that fails at the very last, and then also refuses to remove the file, may leave an entry
    /// that is sent nevertheless.
    pub fn put(&self, entry: &Entry) -> Result<EntryName, SpoolError> {
        let bytes = entry.to_bytes(&self.endpoint)?;
        let n_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if n_bytes > self.limits.entry_bytes {
            return Err(SpoolError::TooLarge {
                n_bytes,
                limit: self.limits.entry_bytes,
            });
        }
        let changing = self.change()?;
        if !self.place.tray(Tray::Waiting).is_dir() {
            // Somebody emptied the folder while the program ran.
            self.make()?;
        }
        let mut ledger = self.ledger(n_bytes)?;
        let name = ledger.take(n_bytes)?;
        self.put_as(&changing, name, &bytes, &ledger)?;
        Ok(name)
    }

    /// Queues an entry as [`Spool::put`] does, but waits no longer than that: for a hook, which holds up
    /// somebody's session while another process is stopped in the middle, or a disk does not answer.
    ///
    /// # Errors
    /// [`SpoolError::Late`] when the time is over; the entry may be queued a moment later, unless this process
    /// ends before. Otherwise as [`Spool::put`].
    pub fn put_within(&self, entry: &Entry, longest: Duration) -> Result<EntryName, SpoolError> {
        let (spool, entry) = (self.clone(), entry.clone());
        let (result, results) = mpsc::channel();
        let putting = move || result.send(spool.put(&entry));
        // A file system can't be asked to hurry: somebody else has to wait for it.
        if let Err(error) = thread::Builder::new().spawn(putting) {
            return Err(self.failed("queue in", &self.place.root, error));
        }
        results
            .recv_timeout(longest)
            .unwrap_or(Err(SpoolError::Late))
    }

    fn put_as(
        &self,
        _changing: &Changing,
        name: EntryName,
        bytes: &[u8],
        ledger: &Ledger,
    ) -> Result<(), SpoolError> {
        let (new, ledger_file) = (self.place.new_file(), self.place.ledger());
        let (file, folder) = (
            self.place.file(Tray::Waiting, name),
            self.place.tray(Tray::Waiting),
        );
        let is_first = !ledger_file.exists();
        // The number is used up before anybody can see the entry: it is never given twice.
        let steps = || {
            self.disk
                .write_new(&new, bytes)
                .map_err(|error| self.failed("write", &new, error))?;
            self.disk
                .overwrite(&ledger_file, ledger.line().as_bytes())
                .map_err(|error| self.failed("write", &ledger_file, error))?;
            if is_first {
                let root = &self.place.root;
                let synced = self.disk.sync_folder(root);
                synced.map_err(|error| self.failed("write", root, error))?;
            }
            self.disk
                .rename(&new, &file)
                .map_err(|error| self.failed("write", &file, error))
        };
        if let Err(error) = steps() {
            let _ = self.disk.remove(&new);
            return Err(error);
        }
        let Err(error) = self.disk.sync_folder(&folder) else {
            return Ok(());
        };
        match self.disk.remove(&file) {
            // It was sent already, or laid aside: it arrived where it should.
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(()),
            _ => {
                let _ = self.disk.sync_folder(&folder);
                Err(self.failed("write", &file, error))
            }
        }
    }

    /// Returns the ledger for one more entry.
    fn ledger(&self, n_bytes: u64) -> Result<Ledger, SpoolError> {
        let known = Ledger::read(&self.place).filter(|ledger| {
            ledger.has_room(n_bytes, &self.limits) && !ledger.is_behind(&self.place)
        });
        if let Some(ledger) = known {
            return Ok(ledger);
        }
        let mut counted = Ledger::count(&self.place)
            .map_err(|error| self.failed("read", &self.place.root, error))?;
        if let Some(read) = Ledger::read(&self.place) {
            counted.next = counted.next.max(read.next);
        }
        if counted.has_room(n_bytes, &self.limits) {
            return Ok(counted);
        }
        Err(SpoolError::Full {
            n_files: counted.n_files,
            n_bytes: counted.n_bytes,
            max_files: self.limits.entries,
            max_bytes: self.limits.total_bytes,
        })
    }

    /// Makes the folders that are not there. The file that names the endpoint is written last: where it is,
    /// the names of the folders are on the disk.
    fn make(&self) -> Result<(), SpoolError> {
        let (root, endpoint) = (&self.place.root, self.place.endpoint());
        let folders: Vec<PathBuf> = std::iter::once(root.clone())
            .chain(Tray::ALL.map(|tray| self.place.tray(tray)))
            .collect();
        let named = format!("{}\n", self.endpoint);
        let is_named = fs::read(&endpoint).is_ok_and(|found| found == named.as_bytes());
        let is_whole = is_named && folders.iter().all(|folder| folder.is_dir());
        if !is_whole && endpoint.exists() {
            match self.disk.remove(&endpoint) {
                // Another process makes the same queue.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.failed("remove", &endpoint, error));
                }
                _ => {}
            }
        }
        for folder in &folders {
            let made = self.disk.make_folder(folder);
            made.map_err(|error| self.failed("make", folder, error))?;
        }
        if is_whole {
            return Ok(());
        }
        for (nth, folder) in root.ancestors().enumerate() {
            let synced = self.disk.sync_folder(folder);
            // Folders further up were there before, as a rule, and need not be ours.
            if nth < 2 {
                synced.map_err(|error| self.failed("write", folder, error))?;
            }
        }
        self.disk
            .overwrite(&endpoint, named.as_bytes())
            .map_err(|error| self.failed("write", &endpoint, error))
    }

    /// Waits until no other process changes the queue.
    fn change(&self) -> Result<Changing, SpoolError> {
        let path = self.place.change_lock();
        let failed = |error| self.failed("lock", &path, error);
        match Lock::wait(&path) {
            Ok(lock) => Ok(Changing(lock)),
            // Somebody emptied the folder while the program ran.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make()?;
                Lock::wait(&path).map(Changing).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn failed(&self, doing: &'static str, path: &Path, source: io::Error) -> SpoolError {
        SpoolError::Io {
            doing,
            file: self.place.shown(path),
            source,
        }
    }
}

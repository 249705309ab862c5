//! Sends what waits: oldest first, strictly in order, one process at a time. The sending itself is a
//! closure of the caller's.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::Duration;

use mmw_core::env::{Clock, Entropy};
use mmw_core::time::Timestamp;

use super::aside::Found;
use super::disk::Lock;
use super::entry::Entry;
use super::error::SpoolError;
use super::outcome::Outcome;
use super::pace::{Note, Pace};
use super::place::{EntryName, Tray};
use super::{Changing, Spool};

/// Why a drain ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Nothing waits any more that is the sender's.
    Empty,
    /// Another process sends the queue.
    Busy,
    /// The oldest entry is to be sent again, not before this moment.
    Wait {
        /// When.
        until: Timestamp,
    },
    /// Nothing is sent until [`Spool::resume`].
    Paused(Note),
    /// The closure wanted to end, with [`Outcome::Leave`].
    Left,
}

/// What a drain did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drained {
    /// How many entries the server took.
    pub n_sent: usize,
    /// How many it refused: they are dead letters now.
    pub n_refused: usize,
    /// How many could not be read and were put away.
    pub n_corrupt: usize,
    /// Why it ended.
    pub ended: Ended,
}

/// The proof that no other process sends the queue now.
pub(super) struct Draining(#[expect(dead_code, reason = "it is held, not looked at")] Lock);

impl Spool {
    /// Sends what waits, oldest first, until nothing waits, also what is queued meanwhile.
    ///
    /// `send` gets one entry and says what became of it. It is called with the next entry only when the one
    /// before is durably removed or laid aside. It may wait for a network; nobody who queues is held up by
    /// that. An entry that can't be read is put into `corrupt` and the next one is sent.
    ///
    /// Call it again when [`Ended::Wait`] says so; called earlier it returns at once.
    ///
    /// # Errors
    /// [`SpoolError::Io`] when a file can't be read, removed or laid aside. Everything that was not removed
    /// still waits.
    pub fn drain(
        &self,
        send: &mut dyn FnMut(EntryName, &Entry) -> Outcome,
        clock: &dyn Clock,
        entropy: &dyn Entropy,
    ) -> Result<Drained, SpoolError> {
        let mut drained = Drained {
            n_sent: 0,
            n_refused: 0,
            n_corrupt: 0,
            ended: Ended::Busy,
        };
        let Some(draining) = self.try_draining()? else {
            return Ok(drained);
        };
        let pace = self.pace();
        if let Some(note) = pace.paused {
            drained.ended = Ended::Paused(note);
            return Ok(drained);
        }
        if let Some(until) = pace.wait_until(clock.now()) {
            drained.ended = Ended::Wait { until };
            return Ok(drained);
        }
        let mut turn = Turn {
            spool: self,
            draining: &draining,
            clock,
            entropy,
            is_after_failure: pace.n_failed > 0,
            drained: &mut drained,
        };
        let ended = turn.run(send);
        let took_some = drained.n_sent > 0;
        if took_some {
            self.keep_pace(|pace| pace.last_success_at = Some(clock.now()));
        }
        drained.ended = ended?;
        Ok(drained)
    }

    /// Lifts a pause, and a wait: the next [`Spool::drain`] tries at once.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that can't be written down.
    pub fn resume(&self) -> Result<(), SpoolError> {
        let changing = self.change()?;
        let mut pace = self.pace();
        pace.resumed();
        self.write_pace(&changing, &pace)
    }

    /// Takes the lock of the one who sends; `None` if somebody has it.
    pub(super) fn try_draining(&self) -> Result<Option<Draining>, SpoolError> {
        let path = self.place.drain_lock();
        let taken = match Lock::try_take(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make()?;
                Lock::try_take(&path)
            }
            taken => taken,
        };
        let lock = taken.map_err(|error| self.failed("lock", &path, error))?;
        Ok(lock.map(Draining))
    }

    /// Returns how sending went.
    pub(super) fn pace(&self) -> Pace {
        fs::read(self.place.sync()).map_or_else(|_| Pace::default(), |b| Pace::from_bytes(&b))
    }

    /// Changes how sending went. That it can't be written down stops nobody: at worst the server is asked
    /// once more than it should.
    pub(super) fn keep_pace<T>(&self, change: impl FnOnce(&mut Pace) -> T) -> T {
        let changing = self.change();
        let mut pace = self.pace();
        let result = change(&mut pace);
        if let Ok(changing) = changing {
            let _ = self.write_pace(&changing, &pace);
        }
        result
    }

    fn write_pace(&self, _changing: &Changing, pace: &Pace) -> Result<(), SpoolError> {
        let (new, file) = (self.place.new_file(), self.place.sync());
        self.disk
            .write_new(&new, &pace.to_bytes())
            .and_then(|()| self.disk.rename(&new, &file))
            .map_err(|error| {
                let _ = self.disk.remove(&new);
                self.failed("write", &file, error)
            })
    }
}

/// One drain.
struct Turn<'a> {
    spool: &'a Spool,
    draining: &'a Draining,
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    /// Whether the last that is known of the server is that it was not there.
    is_after_failure: bool,
    drained: &'a mut Drained,
}

impl Turn<'_> {
    fn run(
        &mut self,
        send: &mut dyn FnMut(EntryName, &Entry) -> Outcome,
    ) -> Result<Ended, SpoolError> {
        let mut not_ours = HashSet::new();
        loop {
            let mut names = self.waiting()?;
            names.retain(|name| !not_ours.contains(name));
            if names.is_empty() {
                return Ok(Ended::Empty);
            }
            for name in names {
                let stored = match self.spool.find(name)? {
                    Found::Entry(stored) => stored,
                    Found::Gone => continue,
                    Found::Unreadable(why) => {
                        self.spool.quarantine(name, &why)?;
                        self.drained.n_corrupt += 1;
                        continue;
                    }
                };
                if self.spool.finish_laying_aside(name)? {
                    continue;
                }
                match send(name, &stored.entry) {
                    Outcome::Done => {
                        self.drained.n_sent += 1;
                        self.went_on(true);
                        self.after(name, self.spool.remove_sent(name))?;
                    }
                    Outcome::Refused { why } => {
                        self.drained.n_refused += 1;
                        self.went_on(false);
                        let note = Note::new(&why, self.clock.now());
                        let laid = self.spool.lay_aside(self.draining, name, &stored, &note);
                        self.after(name, laid)?;
                    }
                    Outcome::NotOurs => {
                        // It says nothing of how the server takes ours: waits go on growing.
                        not_ours.insert(name);
                    }
                    Outcome::Retry { why, after } => {
                        return Ok(Ended::Wait {
                            until: self.failed(name, &why, after),
                        });
                    }
                    Outcome::Paused { why } => {
                        let note = Note::new(&why, self.clock.now());
                        self.spool.keep_pace(|pace| pace.paused(note.clone()));
                        return Ok(Ended::Paused(note));
                    }
                    Outcome::Leave => return Ok(Ended::Left),
                }
            }
        }
    }

    /// Lists what waits. Under the lock: a folder that is read while entries come may show a later one and
    /// not an earlier one.
    fn waiting(&self) -> Result<Vec<EntryName>, SpoolError> {
        let _changing = self.spool.change()?;
        let place = &self.spool.place;
        place
            .list(Tray::Waiting)
            .map_err(|error| self.spool.failed("read", &place.tray(Tray::Waiting), error))
    }

    /// Notes that the server is there, once it was not, or for the first time in this drain.
    fn went_on(&mut self, took: bool) {
        let is_first = took && self.drained.n_sent == 1;
        if is_first || self.is_after_failure {
            let now = self.clock.now();
            self.spool.keep_pace(|pace| pace.answered(now, took));
            self.is_after_failure = false;
        }
    }

    fn failed(&self, name: EntryName, why: &str, after: Option<Duration>) -> Timestamp {
        let now = self.clock.now();
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        let random = u64::from_le_bytes(bytes);
        self.spool.keep_pace(|pace| {
            pace.failed_at = Some(name.0);
            pace.failed(why, after, now, random)
        })
    }

    /// Passes a result on. If an answered entry could not be removed, it will be sent again: not at once.
    fn after(&self, name: EntryName, result: Result<(), SpoolError>) -> Result<(), SpoolError> {
        if let Err(error) = &result {
            self.failed(name, &error.to_string(), None);
        }
        result
    }
}

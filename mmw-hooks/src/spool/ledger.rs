//! The number that the next entry gets, and how much there is at most: one line in a file.
//!
//! Numbers never come from a clock. Removed entries are not subtracted: only when a limit seems to be
//! reached are the files counted, which also mends a ledger that was lost.

use std::fs;
use std::io;

use super::error::SpoolError;
use super::place::{EntryName, Place, Tray};

/// How much a queue may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one entry's file.
    pub entry_bytes: u64,
    /// The most entries, refused and damaged ones included.
    pub entries: u64,
    /// The most bytes of all of them.
    pub total_bytes: u64,
}

impl Limits {
    /// An entry of 1 MiB, 100,000 entries, 512 MiB.
    pub const STANDARD: Self = Self {
        entry_bytes: 1024 * 1024,
        entries: 100_000,
        total_bytes: 512 * 1024 * 1024,
    };
}

/// The next number and, at most, how many files there are and how many bytes they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) next: u64,
    pub(super) n_files: u64,
    pub(super) n_bytes: u64,
}

impl Ledger {
    /// Reads the line; `None` if it is not there or can't be read.
    pub(super) fn read(place: &Place) -> Option<Self> {
        Self::parse(&fs::read_to_string(place.ledger()).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
        let [next, n_files, n_bytes] = words.try_into().ok()?;
        // Half a line must not be taken for a smaller number.
        let number = |word: &str| (word.len() == 20).then(|| word.parse().ok())?;
        Some(Self {
            next: number(next)?,
            n_files: number(n_files)?,
            n_bytes: number(n_bytes)?,
        })
    }

    /// Returns the line, which always has the same length.
    pub(super) fn line(&self) -> String {
        format!(
            "{:020} {:020} {:020}\n",
            self.next, self.n_files, self.n_bytes
        )
    }

    /// Counts the files and finds a number above all of them.
    ///
    /// # Errors
    /// If a folder can't be read.
    pub(super) fn count(place: &Place) -> io::Result<Self> {
        let mut ledger = Self {
            next: 1,
            n_files: 0,
            n_bytes: 0,
        };
        for tray in Tray::ALL {
            for name in place.list(tray)? {
                ledger.next = ledger.next.max(name.0.saturating_add(1));
                // Sent and removed since it was listed.
                let Ok(metadata) = fs::symlink_metadata(place.file(tray, name)) else {
                    continue;
                };
                ledger.n_files += 1;
                ledger.n_bytes = ledger.n_bytes.saturating_add(metadata.len());
            }
        }
        Ok(ledger)
    }

    /// Tells whether the next number is taken: then the ledger is not that of these files.
    pub(super) fn is_behind(&self, place: &Place) -> bool {
        let name = EntryName(self.next);
        let is_there = |tray| fs::symlink_metadata(place.file(tray, name)).is_ok();
        Tray::ALL.into_iter().any(is_there)
    }

    /// Tells whether one more entry keeps within the limits.
    pub(super) fn has_room(&self, n_bytes: u64, limits: &Limits) -> bool {
        self.n_files < limits.entries && self.n_bytes.saturating_add(n_bytes) <= limits.total_bytes
    }

    /// Takes the next number for an entry of so many bytes.
    ///
    /// # Errors
    /// [`SpoolError::Invalid`] if there is no further number.
    pub(super) fn take(&mut self, n_bytes: u64) -> Result<EntryName, SpoolError> {
        let name = EntryName(self.next);
        self.next = self.next.checked_add(1).ok_or(SpoolError::Invalid(
            "a file with the highest number there is lies in the queue; move it away",
        ))?;
        self.n_files = self.n_files.saturating_add(1);
        self.n_bytes = self.n_bytes.saturating_add(n_bytes);
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_half_a_line_not_at_all() {
        let ledger = Ledger {
            next: 42,
            n_files: u64::MAX,
            n_bytes: 0,
        };
        let line = ledger.line();
        assert_eq!(Ledger::parse(&line), Some(ledger));
        for end in 0..line.len() {
            assert_eq!(Ledger::parse(&line[..end]), None);
        }
        for wrong in ["\n", "1 2 3\n", &line.replace('4', "x"), &line.repeat(2)] {
            assert_eq!(Ledger::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_hold_at_the_limit_and_not_one_past_it() {
        let limits = Limits {
            entry_bytes: 10,
            entries: 3,
            total_bytes: 100,
        };
        let has_room = |n_files, n_bytes, more| {
            let ledger = Ledger {
                next: 1,
                n_files,
                n_bytes,
            };
            ledger.has_room(more, &limits)
        };
        assert!(has_room(2, 0, 1) && !has_room(3, 0, 1));
        assert!(has_room(0, 90, 10) && !has_room(0, 90, 11));
        assert!(!has_room(0, u64::MAX, u64::MAX));
    }

    #[test]
    fn the_last_number_is_not_followed_by_the_first() {
        let mut ledger = Ledger {
            next: u64::MAX,
            n_files: 0,
            n_bytes: 0,
        };
        assert!(ledger.take(1).is_err());
        assert_eq!(ledger.next, u64::MAX);
    }
}

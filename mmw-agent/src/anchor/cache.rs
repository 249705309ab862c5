//! Files that were read already: what their hashes were, and what became of their parts.
//!
//! A file counts as the same if device, inode, size and both times are. A time that is so young that
//! the file could have been written again within it proves nothing: then the content decides, as git
//! has it for what it calls racily clean.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mmw_core::env::Clock;
use mmw_core::source::ContentHash;

use super::check::Checked;
use super::hashes::FileHashes;
use crate::roots::Opened;

/// The most files that are remembered.
const MAX_FILES: usize = 4_096;

/// The most parts of one file that are remembered.
const MAX_PARTS: usize = 256;

/// How old a file's times must be to be trusted, in milliseconds: the coarsest that a file system has.
const SETTLED_MS: i64 = 2_000;

/// What names a part: the source, its label, its hash.
pub(super) type PartKey = (String, String, ContentHash);

/// What was read.
pub(super) struct Cache {
    clock: Arc<dyn Clock>,
    files: Mutex<HashMap<PathBuf, Seen>>,
    #[cfg(test)]
    n_read: std::sync::atomic::AtomicUsize,
}

/// A file that was read.
#[derive(Debug, Clone)]
struct Seen {
    stamp: Stamp,
    hashes: FileHashes,
    parts: HashMap<PartKey, Checked>,
}

/// What tells a file from what it was before, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    place: (u64, u64),
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stamp {
    #[cfg(unix)]
    fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        const NS: i128 = 1_000_000_000;
        Self {
            place: (about.dev(), about.ino()),
            size: about.size(),
            modified_ns: i128::from(about.mtime()) * NS + i128::from(about.mtime_nsec()),
            changed_ns: i128::from(about.ctime()) * NS + i128::from(about.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn of(about: &Metadata) -> Self {
        let ns = |time: std::io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .and_then(|since| i128::try_from(since.as_nanos()).ok())
                .unwrap_or(i128::MAX)
        };
        Self {
            place: (0, 0),
            size: about.len(),
            modified_ns: ns(about.modified()),
            changed_ns: ns(about.created()),
        }
    }

    /// Tells whether everything that is written to the file from now on shows in its times.
    fn is_settled(&self, now_ms: i64) -> bool {
        let newest = self.modified_ns.max(self.changed_ns) / 1_000_000;
        i128::from(now_ms) - newest > i128::from(SETTLED_MS)
    }
}

impl Cache {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            files: Mutex::default(),
            #[cfg(test)]
            n_read: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// Returns the hashes of a file; `None` if it can't be read.
    pub(super) fn hashes(&self, opened: &mut Opened) -> Option<FileHashes> {
        if let Some(seen) = self.known(opened, |seen| Some(seen.hashes.clone())) {
            return Some(seen);
        }
        Some(self.read(opened)?.0.hashes)
    }

    /// Returns what became of a part of a file: what `look` finds in its content. `None` if the file can't
    /// be read.
    pub(super) fn part(
        &self,
        opened: &mut Opened,
        key: PartKey,
        look: impl FnOnce(&[u8]) -> Checked,
    ) -> Option<Checked> {
        if let Some(checked) = self.known(opened, |seen| seen.parts.get(&key).cloned()) {
            return Some(checked);
        }
        let (seen, bytes, is_settled) = self.read(opened)?;
        let checked = look(&bytes);
        if is_settled {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = files.get_mut(&opened.path)
                && known.stamp == seen.stamp
            {
                if known.parts.len() >= MAX_PARTS {
                    known.parts.clear();
                }
                known.parts.insert(key, checked.clone());
            }
        }
        Some(checked)
    }

    fn known<T>(&self, opened: &Opened, take: impl FnOnce(&Seen) -> Option<T>) -> Option<T> {
        let stamp = Stamp::of(&opened.about().ok()?);
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = files.get(&opened.path)?;
        (seen.stamp == stamp).then(|| take(seen))?
    }

    /// Reads a file, and remembers it if it can be told from what it may become. Tells whether it was.
    fn read(&self, opened: &mut Opened) -> Option<(Seen, Vec<u8>, bool)> {
        #[cfg(test)]
        self.n_read
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let now_ms = self.clock.now().as_ms();
        let stamp = Stamp::of(&opened.about().ok()?);
        let bytes = opened.read().ok()?;
        let seen = Seen {
            stamp,
            hashes: FileHashes::of(&bytes)?,
            parts: HashMap::new(),
        };
        let is_settled = stamp.is_settled(now_ms) && Stamp::of(&opened.about().ok()?) == stamp;
        if is_settled {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = files
                .get(&opened.path)
                .is_some_and(|known| known.stamp == stamp);
            if !is_known {
                if files.len() >= MAX_FILES {
                    files.clear();
                }
                files.insert(opened.path.clone(), seen.clone());
            }
        }
        Some((seen, bytes, is_settled))
    }

    #[cfg(test)]
    pub(super) fn n_read(&self) -> usize {
        self.n_read.load(std::sync::atomic::Ordering::SeqCst)
    }
}

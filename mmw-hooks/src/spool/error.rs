//! What can go wrong with the queue, in words that a person can act on. No word of what is queued is
//! in them: an entry is named by its file.

use std::io;

/// The queue could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The entry or the endpoint is not one that can be queued.
    #[error("queue the entry: {0}")]
    Invalid(&'static str),
    /// One entry is larger than an entry may be.
    #[error("queue the entry: it has {n_bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The size of its file.
        n_bytes: u64,
        /// The most that there may be.
        limit: u64,
    },
    /// There are as many entries, or as many bytes, as there may be.
    #[error(
        "queue the entry: the queue is full with {n_files} entries of {n_bytes} bytes together, refused and damaged \
         ones included (limits: {max_files} entries, {max_bytes} bytes); it empties when the server can be reached"
    )]
    Full {
        /// How many entries there are.
        n_files: u64,
        /// How many bytes they have together.
        n_bytes: u64,
        /// The most entries that there may be.
        max_files: u64,
        /// The most bytes that there may be.
        max_bytes: u64,
    },
    /// It can't be done while the queue is sent, and somebody sends it.
    #[error("change the queue: another process is sending it; try again in a moment")]
    Busy,
    /// The time was over before it was done.
    #[error(
        "queue the entry in time: the disk, or another process that writes to the queue, takes too long"
    )]
    Late,
    /// A file or folder could not be read or written.
    #[error("{doing} {file}: {source}")]
    Io {
        /// What was being done, such as `write`.
        doing: &'static str,
        /// The file, from the queue's folder on.
        file: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl SpoolError {
    /// Tells whether there is no room: of the queue, or on the disk.
    #[must_use]
    pub fn is_no_room(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            Self::Full { .. } => true,
            Self::Io { source, .. } => {
                matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge)
            }
            Self::Invalid(_) | Self::TooLarge { .. } | Self::Busy | Self::Late => false,
        }
    }
}

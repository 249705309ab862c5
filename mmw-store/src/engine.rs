//! What a storage engine must do, in the terms of the decisions that are made above it.
//!
//! An engine runs a closure in a transaction: `Ok` commits, `Err` rolls back. Reads and writes are
//! coarse; each fetches what one decision needs or writes one part of a plan. The `conformance!`
//! macro in [`crate::testing`] defines what "engine" means; `sqlite/` is the first, its files have
//! the names of the files here.

mod access;
mod audit;
mod guard;
mod lane;
mod lexicon;
mod records;
mod turns;
mod vectors;

pub use access::{Access, AccessWrites, AccountRow, KeyRow, ProjectKind, ProjectRow};
pub use audit::{AuditRow, AuditTrail, AuditWrites};
pub use guard::{GuardReads, GuardWrites, Kept, Loose, LooseText, PolicyRow, Rewritten, Spot};
pub use lane::{Lane, LaneFilter, LaneWrites};
pub use lexicon::{
    Analysis, ChangeNumber, Lexical, LexicalDoc, Lexicon, LexiconWrites, Row, SEQUENCE_BITS,
    TermId, WORKSPACE_BITS,
};
pub use records::{
    Answered, Gone, MAX_SOURCE_REPORTS, NewRecord, RecordWrites, Records, SourceMatch, Stored,
    Tombstone,
};
pub use turns::{Around, Turns};
pub use vectors::{
    KeptVector, ModelNumber, RemovalNumber, RemovedVector, VectorNumber, VectorReach, VectorWrites,
    Vectors,
};

/// What can go wrong in an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Another program holds the store longer than the engine waits.
    #[error("the store is busy; try again in a moment")]
    Busy,
    /// No space is left.
    #[error("no space is left where the store lies; nothing was saved")]
    DiskFull,
    /// The store can't be written to.
    #[error("the store can't be written to (read-only folder, file or disk); nothing was saved")]
    ReadOnly,
    /// The store is damaged.
    #[error("the store is damaged: {0}. Restore a backup, or run `verify` for details")]
    Corrupt(String),
    /// A newer program has written the store.
    #[error(
        "the store was written by a newer MMW (schema {found}, this program knows {known}); \
         update this program"
    )]
    NewerSchema {
        /// The schema's major version.
        found: u32,
        /// The newest major version that this program knows.
        known: u32,
    },
    /// The work asked for its own transaction to be rolled back: a dry run.
    #[error("the transaction was rolled back, as asked")]
    RolledBack,
    /// The engine's own error.
    #[error("the store failed: {0}")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The result of an engine's work.
pub type EngineResult<T> = Result<T, EngineError>;

/// A closure that reads and writes in one transaction. It may be run again if the transaction had
/// to be repeated, so it must overwrite whatever it hands out.
pub type Work<'a> = dyn FnMut(&mut dyn Txn) -> EngineResult<()> + 'a;

/// A closure that reads in one snapshot. It may be run again.
pub type Look<'a> = dyn FnMut(&dyn Snapshot) -> EngineResult<()> + 'a;

/// A storage engine. Both calls block; neither waits for a network while it holds a transaction.
pub trait Engine: Send + Sync {
    /// Runs the work in one transaction. When it returns `Ok`, everything is on the disk.
    ///
    /// # Errors
    /// Whatever the work returned, or that the transaction could not begin or commit. Nothing was
    /// written then.
    fn write(&self, work: &mut Work<'_>) -> EngineResult<()>;

    /// Runs the look in one snapshot.
    ///
    /// # Errors
    /// Whatever the look returned, or that the snapshot could not be taken.
    fn read(&self, look: &mut Look<'_>) -> EngineResult<()>;

    /// Checks the store from end to end: the engine's own check, and that indexes agree with rows.
    /// Returns what is wrong, nothing if all is well.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if it could not look, which is not the same as damaged.
    fn verify(&self) -> EngineResult<Vec<String>>;

    /// Rewrites the store so that what was purged is nowhere on the disk any more. Takes as long as
    /// copying the store does and needs as much free space; other writers wait.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if somebody else still holds what would have to go: nothing is lost
    /// then, and purged content may still lie on the disk. [`EngineError::DiskFull`].
    fn compact(&self) -> EngineResult<()>;

    /// Returns how many bytes the store takes on disk.
    ///
    /// # Errors
    /// If that can't be found out.
    fn size_bytes(&self) -> EngineResult<u64>;

    /// Returns the version of the schema that the store has, major and minor.
    ///
    /// # Errors
    /// If the store can't be read.
    fn schema_version(&self) -> EngineResult<(u16, u16)>;
}

/// Everything that can be read in one snapshot.
pub trait Snapshot:
    Records + Lexicon + Turns + Vectors + Lane + Access + AuditTrail + GuardReads
{
}
impl<T: Records + Lexicon + Turns + Vectors + Lane + Access + AuditTrail + GuardReads> Snapshot
    for T
{
}

/// Everything that can be written in one transaction, and read in it.
pub trait Txn:
    Snapshot
    + RecordWrites
    + LexiconWrites
    + VectorWrites
    + LaneWrites
    + AccessWrites
    + AuditWrites
    + GuardWrites
{
    /// Returns the transaction as the snapshot that it also is.
    fn snapshot(&self) -> &dyn Snapshot;
}

/// Reads a value in one snapshot.
///
/// # Errors
/// As [`Engine::read`].
pub fn read<T>(
    engine: &dyn Engine,
    look: impl Fn(&dyn Snapshot) -> EngineResult<T>,
) -> EngineResult<T> {
    let mut found = None;
    engine.read(&mut |snapshot| {
        found = Some(look(snapshot)?);
        Ok(())
    })?;
    Ok(found.expect("an engine runs the look before it returns Ok"))
}

/// Does work in a transaction and rolls it back: tells exactly what would happen.
///
/// # Errors
/// As [`Engine::write`].
pub fn rehearse<T>(
    engine: &dyn Engine,
    work: impl Fn(&mut dyn Txn) -> EngineResult<T>,
) -> EngineResult<T> {
    let mut done = None;
    let ended = engine.write(&mut |txn| {
        done = Some(work(txn)?);
        Err(EngineError::RolledBack)
    });
    match (ended, done) {
        (Err(EngineError::RolledBack), Some(done)) => Ok(done),
        (Err(error), _) => Err(error),
        (Ok(()), _) => unreachable!("the work never returns Ok"),
    }
}

/// Decides and writes in one transaction.
///
/// # Errors
/// As [`Engine::write`].
pub fn write<T>(
    engine: &dyn Engine,
    work: impl Fn(&mut dyn Txn) -> EngineResult<T>,
) -> EngineResult<T> {
    let mut done = None;
    engine.write(&mut |txn| {
        done = Some(work(txn)?);
        Ok(())
    })?;
    Ok(done.expect("an engine runs the work before it returns Ok"))
}

//! Erases the content of what was forgotten.

use mmw_core::audit::Deed;
use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Scope};

use super::Memory;
use super::failure::Failure;
use super::remember::entry;
use crate::engine::{EngineError, Txn, rehearse, write};

/// What a purge erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purged {
    /// The records whose content was erased; with `dry_run`, those whose content would be.
    pub ids: Vec<RecordId>,
    /// Whether nothing of that content is left in the files of the store. `false` if another process
    /// still held the log: the text leaves the disk when that process ends, or with the next purge
    /// that erases something. `true` as well if there was nothing to erase, or with `dry_run`.
    pub is_compacted: bool,
}

impl Memory {
    /// Erases the content of records of the caller's project that were forgotten at least
    /// `min_age_ms` milliseconds ago. Ids and hashes stay, and who forgot when. Needs the scope
    /// `admin`. With `dry_run` nothing is erased.
    ///
    /// If something was erased, the store is rewritten so that it leaves the disk, too: that takes as
    /// long as copying the store does.
    ///
    /// # Errors
    /// [`Failure`]. If the store could not be rewritten for another reason than that it is busy, the
    /// purge stands all the same.
    pub fn purge(
        &self,
        caller: &Caller,
        min_age_ms: i64,
        dry_run: bool,
    ) -> Result<Purged, Failure> {
        self.need(caller, Scope::Admin)?;
        let now = self.clock.now();
        let work = |txn: &mut dyn Txn| {
            let ids = txn.purge(caller.project, now.plus_ms(1 - min_age_ms.max(0)))?;
            if !ids.is_empty() {
                let shown = ids.iter().map(ToString::to_string).collect();
                txn.append_audit(&entry(caller, Deed::Purge, shown, None, now))?;
            }
            Ok(ids)
        };
        let ids = if dry_run {
            rehearse(self.engine(), work)?
        } else {
            write(self.engine(), work)?
        };
        let is_compacted = if dry_run || ids.is_empty() {
            true
        } else {
            match self.engine().compact() {
                Ok(()) => true,
                Err(EngineError::Busy) => false,
                Err(other) => return Err(other.into()),
            }
        };
        Ok(Purged { ids, is_compacted })
    }
}

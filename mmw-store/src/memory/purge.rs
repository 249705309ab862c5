//! Erases the content of what was forgotten.

use mmw_core::audit::Deed;
use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Scope};

use super::Memory;
use super::failure::Failure;
use super::remember::entry;
use crate::engine::{Txn, rehearse, write};

impl Memory {
    /// Erases the content of records of the caller's project that were forgotten at least
    /// `min_age_ms` milliseconds ago. Ids and hashes stay, and who forgot when. Needs the scope
    /// `admin`. Returns the records; with `dry_run` nothing is erased.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn purge(
        &self,
        caller: &Caller,
        min_age_ms: i64,
        dry_run: bool,
    ) -> Result<Vec<RecordId>, Failure> {
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
        Ok(ids)
    }
}

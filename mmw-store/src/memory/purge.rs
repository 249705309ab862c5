//! Erases the content of what was forgotten.
use mmw_core::ids::RecordId;
use mmw_core::place::Caller;
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Erases the content of records of the caller's project that were forgotten more than
    /// `min_age_ms` ago. Needs the scope `admin`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn purge(&self, caller: &Caller, min_age_ms: i64, dry_run: bool) -> Result<Vec<RecordId>, Failure> { let _ = (caller, min_age_ms, dry_run); todo!() }
}

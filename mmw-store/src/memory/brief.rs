//! What a session should know at its start.
use mmw_core::place::Caller;
use mmw_core::wire::Hit;
use super::Memory;
use super::failure::Failure;
/// What is in force in a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// Facts in conflict, as (workspace, fact key).
    pub conflicts: Vec<(String, String)>,
    /// Items that wait for review.
    pub waiting: u64,
    /// The newest records in force, the person's own preferences first.
    pub hits: Vec<Hit>,
    /// Records of the workspace in all.
    pub n_records: u64,
}
impl Memory {
    /// Returns what a session should know at its start, at most `limit` records.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn brief(&self, caller: &Caller, workspace: Option<&str>, limit: usize) -> Result<Brief, Failure> { let _ = (caller, workspace, limit); todo!() }
}

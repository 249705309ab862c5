//! Resolves a conflict, by a person's decision.
use mmw_core::place::{Caller, Reviewer};
use mmw_core::wire::{ResolveAnswer, ResolveArgs, VersionView};
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Returns the versions of a fact as the caller sees them, newest first.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is none.
    pub fn versions(&self, caller: &Caller, workspace: Option<&str>, fact_key: &str) -> Result<Vec<VersionView>, Failure> { let _ = (caller, workspace, fact_key); todo!() }
    /// Closes the claims that stand against the winner.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn resolve(&self, caller: &Caller, reviewer: Reviewer, args: &ResolveArgs) -> Result<ResolveAnswer, Failure> { let _ = (caller, reviewer, args); todo!() }
    /// Returns the facts that are in conflict: workspace and key, at most `limit`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn open_conflicts(&self, caller: &Caller, limit: usize) -> Result<Vec<(String, String)>, Failure> { let _ = (caller, limit); todo!() }
}

//! The review lane.
use mmw_core::capture::Proposal;
use mmw_core::ids::CandidateId;
use mmw_core::place::{Caller, Reviewer};
use mmw_core::wire::{ReviewAnswer, ReviewArgs};
use super::Memory;
use super::failure::{Failure, RememberError};
impl Memory {
    /// Lists the items of the lane (`action` `list`, the default).
    ///
    /// # Errors
    /// [`Failure`].
    pub fn lane(&self, caller: &Caller, args: &ReviewArgs) -> Result<ReviewAnswer, Failure> { let _ = (caller, args); todo!() }
    /// Decides on items (`approve`, `edit`, `reject`, `never`, `release`).
    ///
    /// # Errors
    /// [`RememberError`]; nothing was decided then.
    pub fn decide(&self, caller: &Caller, reviewer: Reviewer, args: &ReviewArgs) -> Result<ReviewAnswer, RememberError> { let _ = (caller, reviewer, args); todo!() }
    /// Puts a proposal into the lane; `None` if it does not enter.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn propose(&self, caller: &Caller, proposal: &Proposal) -> Result<Option<CandidateId>, Failure> { let _ = (caller, proposal); todo!() }
}

//! The receipt of a record.
use mmw_core::place::Caller;
use mmw_core::wire::{ExplainAnswer, ExplainArgs};
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Answers "why do you remember this?".
    ///
    /// # Errors
    /// [`Failure`].
    pub fn explain(&self, caller: &Caller, args: &ExplainArgs) -> Result<ExplainAnswer, Failure> { let _ = (caller, args); todo!() }
}

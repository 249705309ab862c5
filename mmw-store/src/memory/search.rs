//! Finds statements.
use mmw_core::place::Caller;
use mmw_core::wire::{SearchAnswer, SearchArgs};
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Finds statements by words.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn search(&self, caller: &Caller, args: &SearchArgs) -> Result<SearchAnswer, Failure> { let _ = (caller, args); todo!() }
}

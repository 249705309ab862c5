//! Saves a statement.
use mmw_core::place::Caller;
use mmw_core::wire::{EnvelopeArgs, RememberAnswer, RememberArgs};
use super::Memory;
use super::failure::RememberError;
impl Memory {
    /// Saves a statement: screens it, decides what it comes to, writes it durably.
    ///
    /// # Errors
    /// [`RememberError`]; nothing was saved then.
    pub fn remember(&self, caller: &Caller, args: RememberArgs, envelope: &EnvelopeArgs) -> Result<RememberAnswer, RememberError> { let _ = (caller, args, envelope); todo!() }
}

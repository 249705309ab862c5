//! Compares records with the current hash of their source.
use mmw_core::place::Caller;
use mmw_core::wire::{ValidateAnswer, ValidateArgs};
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Tells which records rest on another state of a source.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn validate(&self, caller: &Caller, args: &ValidateArgs) -> Result<ValidateAnswer, Failure> { let _ = (caller, args); todo!() }
}

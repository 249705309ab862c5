//! Forgets.
use mmw_core::place::Caller;
use mmw_core::wire::{ForgetAnswer, ForgetArgs};
use super::Memory;
use super::failure::Failure;
impl Memory {
    /// Forgets one record, or everything from a source.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn forget(&self, caller: &Caller, args: &ForgetArgs) -> Result<ForgetAnswer, Failure> { let _ = (caller, args); todo!() }
}

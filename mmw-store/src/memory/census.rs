//! Counts and completions.
use mmw_core::place::Caller;
use super::Memory;
use super::failure::Failure;
/// How much there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// Workspaces of the project with the number of their records.
    pub workspaces: Vec<(String, u64)>,
    /// Records of the project.
    pub n_records: u64,
    /// Records of the person's own workspace.
    pub n_user_records: u64,
    /// Items that wait for review.
    pub waiting: u64,
    /// Bytes of the whole store on disk.
    pub size_bytes: u64,
}
impl Memory {
    /// Counts what the caller can see.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn census(&self, caller: &Caller) -> Result<Census, Failure> { let _ = caller; todo!() }
    /// Returns workspaces that start with a prefix.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn complete_workspace(&self, caller: &Caller, prefix: &str, limit: usize) -> Result<Vec<String>, Failure> { let _ = (caller, prefix, limit); todo!() }
    /// Returns fact keys of a workspace that start with a prefix.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn complete_fact_key(&self, caller: &Caller, workspace: Option<&str>, prefix: &str, limit: usize) -> Result<Vec<String>, Failure> { let _ = (caller, workspace, prefix, limit); todo!() }
}

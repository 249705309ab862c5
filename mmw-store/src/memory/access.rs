//! Accounts, projects and keys.
use mmw_core::ids::{KeyId, ProjectId};
use mmw_core::place::{Caller, Scopes, Way};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;
use super::Memory;
use super::failure::Failure;
/// A key as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// The public half.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// The name of the project that it is bound to.
    pub project: String,
    /// Whose key it is.
    pub principal: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends to work.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
}
/// A key that was just made: the only time that it is seen whole.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// How it is listed.
    pub info: KeyInfo,
    /// `mmw_<id>_<secret>`.
    pub secret: String,
}
/// A project as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The id.
    pub id: ProjectId,
    /// The name.
    pub name: String,
    /// Unforgotten records.
    pub n_records: u64,
    /// Its limits.
    pub limits: Limits,
    /// When it was made.
    pub created_at: Timestamp,
}
/// What the first start of a server made.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstStart {
    /// The default project.
    pub project: ProjectInfo,
    /// Its first key (an agent's scopes).
    pub key: NewKey,
}
/// What a new key shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOrder {
    /// The project's name.
    pub project: String,
    /// Whose key it is; made if there is no such principal.
    pub principal: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it ends to work.
    pub expires_at: Option<Timestamp>,
}
impl Memory {
    /// Makes the default account, project `default` and a key if the store has no account yet.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn first_start(&self) -> Result<Option<FirstStart>, Failure> { todo!() }
    /// Returns who a bearer key speaks for, and the account's state and limits; `None` for a wrong,
    /// revoked or expired key. Compared in constant time.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn authenticate(&self, key: &str, way: Way) -> Result<Option<(Caller, AccountState, Limits)>, Failure> { let _ = (key, way); todo!() }
    /// Returns the local person as the caller in the project of that name (a repository's
    /// identity); both are made on first use. Scopes are an agent's.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn local_caller(&self, project: &str, way: Way) -> Result<Caller, Failure> { let _ = (project, way); todo!() }
    /// Makes a key.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is no such project.
    pub fn create_key(&self, order: &KeyOrder) -> Result<NewKey, Failure> { let _ = order; todo!() }
    /// Lists the keys.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, Failure> { todo!() }
    /// Revokes a key, at once.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is no such key.
    pub fn revoke_key(&self, id: &str) -> Result<KeyInfo, Failure> { let _ = id; todo!() }
    /// Makes a project.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is taken or no name.
    pub fn create_project(&self, name: &str, limits: Limits) -> Result<ProjectInfo, Failure> { let _ = (name, limits); todo!() }
    /// Lists the projects.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn list_projects(&self) -> Result<Vec<ProjectInfo>, Failure> { todo!() }
}

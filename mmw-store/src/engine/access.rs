//! Accounts, projects, principals and keys.

use mmw_core::ids::{AccountId, KeyId, PrincipalId, ProjectId};
use mmw_core::place::Scopes;
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;

use super::EngineResult;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    /// The id.
    pub id: AccountId,
    /// The name.
    pub name: String,
    /// The state.
    pub state: AccountState,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What sort of project a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectKind {
    /// A project as people know it.
    Shared,
    /// The hidden project that holds one person's `@user` workspace.
    Person(PrincipalId),
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// The id.
    pub id: ProjectId,
    /// The account that it belongs to.
    pub account: AccountId,
    /// The name, unique in the account: on one computer the repository's identity.
    pub name: String,
    /// What sort of project it is.
    pub kind: ProjectKind,
    /// Its limits.
    pub limits: Limits,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An access key as it is kept: never the secret, only its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// The public half.
    pub id: KeyId,
    /// SHA-256 of the whole key.
    pub secret_hash: [u8; 32],
    /// The account.
    pub account: AccountId,
    /// The project that it is bound to.
    pub project: ProjectId,
    /// The person's hidden project.
    pub user_project: ProjectId,
    /// Whose key it is.
    pub principal: PrincipalId,
    /// What it may do.
    pub scopes: Scopes,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends to work.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// Reads of accounts, projects and keys.
pub trait Access {
    /// Returns an account.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn account(&self, id: AccountId) -> EngineResult<Option<AccountRow>>;

    /// Returns all accounts, oldest first.
    ///
    /// # Errors
    /// If the store can't be read.
    fn accounts(&self) -> EngineResult<Vec<AccountRow>>;

    /// Returns a project.
    ///
    /// # Errors
    /// If the store can't be read.
    fn project(&self, id: ProjectId) -> EngineResult<Option<ProjectRow>>;

    /// Returns the shared project of that name.
    ///
    /// # Errors
    /// If the store can't be read.
    fn project_named(&self, account: AccountId, name: &str) -> EngineResult<Option<ProjectRow>>;

    /// Returns the person's hidden project.
    ///
    /// # Errors
    /// If the store can't be read.
    fn project_of_person(
        &self,
        account: AccountId,
        principal: PrincipalId,
    ) -> EngineResult<Option<ProjectRow>>;

    /// Returns the shared projects of an account, by name.
    ///
    /// # Errors
    /// If the store can't be read.
    fn projects(&self, account: AccountId) -> EngineResult<Vec<ProjectRow>>;

    /// Returns the principal of that name in an account.
    ///
    /// # Errors
    /// If the store can't be read.
    fn principal_named(&self, account: AccountId, name: &str) -> EngineResult<Option<PrincipalId>>;

    /// Returns the name of a principal.
    ///
    /// # Errors
    /// If the store can't be read.
    fn principal_name(&self, id: PrincipalId) -> EngineResult<Option<String>>;

    /// Returns a key, revoked and expired ones too.
    ///
    /// # Errors
    /// If the store can't be read.
    fn key(&self, id: &KeyId) -> EngineResult<Option<KeyRow>>;

    /// Returns the keys of an account, oldest first.
    ///
    /// # Errors
    /// If the store can't be read.
    fn keys(&self, account: AccountId) -> EngineResult<Vec<KeyRow>>;
}

/// Writes of accounts, projects and keys.
pub trait AccessWrites {
    /// Writes a new account.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn insert_account(&mut self, account: &AccountRow) -> EngineResult<()>;

    /// Changes the state of an account.
    ///
    /// # Errors
    /// If it can't be written.
    fn set_account_state(&mut self, id: AccountId, state: AccountState) -> EngineResult<()>;

    /// Writes a new principal.
    ///
    /// # Errors
    /// If it can't be written.
    fn insert_principal(
        &mut self,
        id: PrincipalId,
        account: AccountId,
        name: &str,
        at: Timestamp,
    ) -> EngineResult<()>;

    /// Writes a new project.
    ///
    /// # Errors
    /// If it can't be written.
    fn insert_project(&mut self, project: &ProjectRow) -> EngineResult<()>;

    /// Changes the limits of a project.
    ///
    /// # Errors
    /// If it can't be written.
    fn set_limits(&mut self, id: ProjectId, limits: &Limits) -> EngineResult<()>;

    /// Writes a new key.
    ///
    /// # Errors
    /// If it can't be written.
    fn insert_key(&mut self, key: &KeyRow) -> EngineResult<()>;

    /// Revokes a key. Returns whether it was there and not revoked before.
    ///
    /// # Errors
    /// If it can't be written.
    fn revoke_key(&mut self, id: &KeyId, at: Timestamp) -> EngineResult<bool>;

    /// Notes that keys were used.
    ///
    /// # Errors
    /// If it can't be written.
    fn touch_keys(&mut self, used: &[(KeyId, Timestamp)]) -> EngineResult<()>;
}

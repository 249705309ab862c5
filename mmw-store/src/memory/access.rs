//! Accounts, projects and keys.
//!
//! A key reads `mmw_<key id>_<32 random bytes and a checksum, base62>`. It is shown once and kept as
//! a hash; it is looked up by its id and compared in constant time.

mod keys;
mod policy;
mod projects;
mod secret;

use mmw_core::audit::{Deed, Entry};
use mmw_core::ids::{AccountId, PrincipalId, ProjectId};
use mmw_core::place::{Scopes, Way};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;

use self::keys::make_key;
pub use self::keys::{Authenticated, KeyInfo, KeyOrder, NewKey};
pub use self::policy::PolicyInfo;
pub use self::projects::ProjectInfo;
use self::projects::project_info;
use super::Memory;
use super::failure::Failure;
use crate::engine::{
    AccountRow, EngineResult, ProjectKind, ProjectRow, Snapshot, Txn, read, write,
};

/// The name of the account, project and person that are there from the first start.
pub const DEFAULT_NAME: &str = "default";

/// What the first start of a server made.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstStart {
    /// The default project.
    pub project: ProjectInfo,
    /// Its first key, with an agent's scopes.
    pub key: NewKey,
}

/// The ids and the secret that making things may need, taken before the transaction.
struct Fresh {
    now: Timestamp,
    account: AccountId,
    principal: PrincipalId,
    project: ProjectId,
    user_project: ProjectId,
    key: secret::FreshKey,
}

impl Memory {
    /// Makes the default account and project, as far as they are missing, and a key, if the store has
    /// none yet.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn first_start(&self) -> Result<Option<FirstStart>, Failure> {
        if read(self.engine(), has_keys)? {
            return Ok(None);
        }
        let fresh = self.fresh();
        let made = write(self.engine(), |txn| {
            if has_keys(txn.snapshot())? {
                return Ok(None);
            }
            let account = ensure_account(txn, &fresh)?;
            let project = ensure_project(txn, account, DEFAULT_NAME, Limits::default(), &fresh)?;
            let order = KeyOrder {
                project: DEFAULT_NAME.to_owned(),
                principal: DEFAULT_NAME.to_owned(),
                name: "first key".to_owned(),
                scopes: Scopes::agent(),
                expires_at: None,
            };
            let key = make_key(txn, &project, &order, &fresh)?;
            let project = project_info(txn.snapshot(), project)?;
            Ok(Some((project, key)))
        })?;
        Ok(made.map(|(project, info)| FirstStart {
            project,
            key: NewKey {
                info,
                secret: fresh.key.whole,
            },
        }))
    }

    /// Draws everything that making things may need.
    fn fresh(&self) -> Fresh {
        let now = self.clock.now();
        let entropy = self.entropy.as_ref();
        Fresh {
            now,
            account: AccountId::from_parts(now, entropy.id_bytes()),
            principal: PrincipalId::from_parts(now, entropy.id_bytes()),
            project: ProjectId::from_parts(now, entropy.id_bytes()),
            user_project: ProjectId::from_parts(now, entropy.id_bytes()),
            key: secret::FreshKey::draw(entropy),
        }
    }
}

/// Tells whether a key has ever been made, revoked and expired ones included.
fn has_keys(snapshot: &dyn Snapshot) -> EngineResult<bool> {
    for account in snapshot.accounts()? {
        if !snapshot.keys(account.id)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ensure_account(txn: &mut dyn Txn, fresh: &Fresh) -> EngineResult<AccountId> {
    if let Some(account) = txn.accounts()?.first() {
        return Ok(account.id);
    }
    txn.insert_account(&AccountRow {
        id: fresh.account,
        name: DEFAULT_NAME.to_owned(),
        state: AccountState::Active,
        created_at: fresh.now,
    })?;
    Ok(fresh.account)
}

fn ensure_principal(
    txn: &mut dyn Txn,
    account: AccountId,
    name: &str,
    fresh: &Fresh,
) -> EngineResult<PrincipalId> {
    if let Some(principal) = txn.principal_named(account, name)? {
        return Ok(principal);
    }
    txn.insert_principal(fresh.principal, account, name, fresh.now)?;
    Ok(fresh.principal)
}

fn ensure_user_project(
    txn: &mut dyn Txn,
    account: AccountId,
    principal: PrincipalId,
    fresh: &Fresh,
) -> EngineResult<ProjectId> {
    if let Some(project) = txn.project_of_person(account, principal)? {
        return Ok(project.id);
    }
    txn.insert_project(&ProjectRow {
        id: fresh.user_project,
        account,
        name: format!("@{principal}"),
        kind: ProjectKind::Person(principal),
        limits: Limits::default(),
        created_at: fresh.now,
    })?;
    Ok(fresh.user_project)
}

fn ensure_project(
    txn: &mut dyn Txn,
    account: AccountId,
    name: &str,
    limits: Limits,
    fresh: &Fresh,
) -> EngineResult<ProjectRow> {
    if let Some(project) = txn.project_named(account, name)? {
        return Ok(project);
    }
    let project = ProjectRow {
        id: fresh.project,
        account,
        name: name.to_owned(),
        kind: ProjectKind::Shared,
        limits,
        created_at: fresh.now,
    };
    txn.insert_project(&project)?;
    let principal = ensure_principal(txn, account, DEFAULT_NAME, fresh)?;
    let done = deed(
        account,
        Some(project.id),
        principal,
        Deed::ProjectCreate,
        &[&project.id],
        fresh.now,
    );
    txn.append_audit(&done)?;
    Ok(project)
}

/// What was done at the server's own console, where no key is used.
fn deed(
    account: AccountId,
    project: Option<ProjectId>,
    principal: PrincipalId,
    deed: Deed,
    ids: &[&dyn ToString],
    at: Timestamp,
) -> Entry {
    Entry {
        at,
        account,
        project,
        principal,
        key: None,
        way: Way::Command.name(),
        deed,
        ids: ids.iter().map(|id| id.to_string()).collect(),
        why: None,
    }
}

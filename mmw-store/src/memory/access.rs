//! Accounts, projects and keys.
//!
//! A key reads `mmw_<key id>_<32 random bytes and a checksum, base62>`. It is shown once and kept as
//! a hash; it is looked up by its id and compared in constant time.

mod secret;

use mmw_core::audit::{Deed, Entry};
use mmw_core::ids::{AccountId, KeyId, PrincipalId, ProjectId};
use mmw_core::place::{Caller, Scopes, Way};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use subtle::ConstantTimeEq as _;

use super::Memory;
use super::failure::Failure;
use crate::engine::{
    AccountRow, EngineResult, KeyRow, ProjectKind, ProjectRow, Snapshot, Txn, read, write,
};

/// The name of the account, project and person that are there from the first start.
pub const DEFAULT_NAME: &str = "default";

/// How much time passes before another use of a key is noted, in milliseconds.
const TOUCH_EVERY_MS: i64 = 60_000;

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
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A key that was just made: the only time that it is seen whole.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// How it is listed.
    pub info: KeyInfo,
    /// The whole key.
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
    /// Its first key, with an agent's scopes.
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

/// Whom a key speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// Who calls, and what they may do.
    pub caller: Caller,
    /// The state of their account.
    pub state: AccountState,
    /// The limits of their project.
    pub limits: Limits,
    /// The key's use was noted less than a minute ago.
    pub is_use_noted: bool,
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
    /// Makes the default account, project and a key if the store has no account yet.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn first_start(&self) -> Result<Option<FirstStart>, Failure> {
        if !read(self.engine(), |snapshot| snapshot.accounts())?.is_empty() {
            return Ok(None);
        }
        let fresh = self.fresh();
        let made = write(self.engine(), |txn| {
            if !txn.accounts()?.is_empty() {
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

    /// Returns who a bearer key speaks for; `None` for a wrong, revoked or expired key. Only reads,
    /// so that it is quick: [`Memory::note_key_use`] is for afterwards.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn authenticate(&self, key: &str, way: Way) -> Result<Option<Authenticated>, Failure> {
        let Some(id) = secret::key_id(key) else {
            return Ok(None);
        };
        let now = self.clock.now();
        let presented = secret::hash(key);
        let found = read(self.engine(), |snapshot| {
            let Some(row) = snapshot.key(&id)? else {
                return Ok(None);
            };
            let account = snapshot.account(row.account)?;
            let project = snapshot.project(row.project)?;
            Ok(account
                .zip(project)
                .map(|(account, project)| (row, account.state, project.limits)))
        })?;
        // Compared even when there is no such key, so that both take the same time.
        let expected = found
            .as_ref()
            .map_or([0; 32], |(row, _, _)| row.secret_hash);
        let is_right = bool::from(expected.ct_eq(&presented));
        let Some((row, state, limits)) = found.filter(|_| is_right) else {
            return Ok(None);
        };
        let is_over = row.revoked_at.is_some() || row.expires_at.is_some_and(|end| end <= now);
        if is_over {
            return Ok(None);
        }
        let is_use_noted = row
            .last_used_at
            .is_some_and(|last| now < last.plus_ms(TOUCH_EVERY_MS));
        let caller = Caller {
            account: row.account,
            project: row.project,
            user_project: row.user_project,
            principal: row.principal,
            key: Some(row.id),
            scopes: row.scopes,
            way,
        };
        Ok(Some(Authenticated {
            caller,
            state,
            limits,
            is_use_noted,
        }))
    }

    /// Notes that a key was used just now. At most one use a minute is worth noting.
    ///
    /// # Errors
    /// [`Failure`]; nothing depends on the note.
    pub fn note_key_use(&self, id: &KeyId) -> Result<(), Failure> {
        let now = self.clock.now();
        write(self.engine(), |txn| txn.touch_keys(&[(id.clone(), now)]))?;
        Ok(())
    }

    /// Returns the local person as the caller in the project of that name (a repository's
    /// identity); both are made on first use. The scopes are an agent's.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is no name.
    pub fn local_caller(&self, project: &str, way: Way) -> Result<Caller, Failure> {
        let name = validation::label("project", project)?;
        let known = read(self.engine(), |snapshot| local_caller(snapshot, &name, way))?;
        if let Some(caller) = known {
            return Ok(caller);
        }
        let fresh = self.fresh();
        let caller = write(self.engine(), |txn| {
            let account = ensure_account(txn, &fresh)?;
            let project = ensure_project(txn, account, &name, Limits::default(), &fresh)?;
            let principal = ensure_principal(txn, account, DEFAULT_NAME, &fresh)?;
            let user_project = ensure_user_project(txn, account, principal, &fresh)?;
            Ok(Caller {
                account,
                project: project.id,
                user_project,
                principal,
                key: None,
                scopes: Scopes::agent(),
                way,
            })
        })?;
        Ok(caller)
    }

    /// Makes a key.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is no such project, `Invalid` for a bad name or no scope.
    pub fn create_key(&self, order: &KeyOrder) -> Result<NewKey, Failure> {
        let order = KeyOrder {
            project: validation::label("project", &order.project)?,
            principal: validation::label("principal", &order.principal)?,
            name: validation::label("name", &order.name)?,
            ..order.clone()
        };
        if order.scopes == Scopes::default() {
            return Err(
                Invalid::new("scopes", "may not be empty: the key could do nothing").into(),
            );
        }
        let fresh = self.fresh();
        let info = write(self.engine(), |txn| {
            let Some(account) = txn.accounts()?.first().map(|account| account.id) else {
                return Ok(None);
            };
            match txn.project_named(account, &order.project)? {
                Some(project) => make_key(txn, &project, &order, &fresh).map(Some),
                None => Ok(None),
            }
        })?;
        let info = info.ok_or(Failure::NotFound("project"))?;
        Ok(NewKey {
            info,
            secret: fresh.key.whole,
        })
    }

    /// Lists the keys, oldest first, revoked and expired ones too.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, Failure> {
        let keys = read(self.engine(), |snapshot| {
            let mut keys = Vec::new();
            for account in snapshot.accounts()? {
                for row in snapshot.keys(account.id)? {
                    keys.push(key_info(snapshot, row)?);
                }
            }
            Ok(keys)
        })?;
        Ok(keys)
    }

    /// Revokes a key, at once: the next request with it is refused. The whole key is taken too.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is no such key.
    pub fn revoke_key(&self, id: &str) -> Result<KeyInfo, Failure> {
        let id = secret::key_id(id)
            .or_else(|| KeyId::new(id.trim()))
            .ok_or(Failure::NotFound("key"))?;
        let now = self.clock.now();
        let revoked = write(self.engine(), |txn| {
            if txn.revoke_key(&id, now)? {
                let row = txn.key(&id)?;
                if let Some(row) = &row {
                    let (account, principal) = (row.account, row.principal);
                    let done = deed(
                        account,
                        Some(row.project),
                        principal,
                        Deed::KeyRevoke,
                        &[&id],
                        now,
                    );
                    txn.append_audit(&done)?;
                }
            }
            match txn.key(&id)? {
                Some(row) => key_info(txn.snapshot(), row).map(Some),
                None => Ok(None),
            }
        })?;
        revoked.ok_or(Failure::NotFound("key"))
    }

    /// Makes a project in the default account.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is taken or no name.
    pub fn create_project(&self, name: &str, limits: Limits) -> Result<ProjectInfo, Failure> {
        let name = validation::label("name", name)?;
        let fresh = self.fresh();
        let made = write(self.engine(), |txn| {
            let account = ensure_account(txn, &fresh)?;
            if txn.project_named(account, &name)?.is_some() {
                return Ok(None);
            }
            let project = ensure_project(txn, account, &name, limits, &fresh)?;
            project_info(txn.snapshot(), project).map(Some)
        })?;
        made.ok_or_else(|| Invalid::new("name", "is taken by another project").into())
    }

    /// Lists the projects, by name.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn list_projects(&self) -> Result<Vec<ProjectInfo>, Failure> {
        let projects = read(self.engine(), |snapshot| {
            let mut projects = Vec::new();
            for account in snapshot.accounts()? {
                for project in snapshot.projects(account.id)? {
                    projects.push(project_info(snapshot, project)?);
                }
            }
            Ok(projects)
        })?;
        Ok(projects)
    }

    /// Changes the limits of a project. `None` if there is no such project.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn set_limits(&self, project: ProjectId, limits: Limits) -> Result<(), Failure> {
        write(self.engine(), |txn| txn.set_limits(project, &limits))?;
        Ok(())
    }

    /// Changes the state of an account.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn set_account_state(
        &self,
        account: AccountId,
        state: AccountState,
    ) -> Result<(), Failure> {
        write(self.engine(), |txn| txn.set_account_state(account, state))?;
        Ok(())
    }

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

fn local_caller(snapshot: &dyn Snapshot, name: &str, way: Way) -> EngineResult<Option<Caller>> {
    let Some(account) = snapshot.accounts()?.first().map(|account| account.id) else {
        return Ok(None);
    };
    let project = snapshot.project_named(account, name)?;
    let principal = snapshot.principal_named(account, DEFAULT_NAME)?;
    let (Some(project), Some(principal)) = (project, principal) else {
        return Ok(None);
    };
    let user_project = snapshot.project_of_person(account, principal)?;
    Ok(user_project.map(|user_project| Caller {
        account,
        project: project.id,
        user_project: user_project.id,
        principal,
        key: None,
        scopes: Scopes::agent(),
        way,
    }))
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

fn make_key(
    txn: &mut dyn Txn,
    project: &ProjectRow,
    order: &KeyOrder,
    fresh: &Fresh,
) -> EngineResult<KeyInfo> {
    let principal = ensure_principal(txn, project.account, &order.principal, fresh)?;
    let user_project = ensure_user_project(txn, project.account, principal, fresh)?;
    let row = KeyRow {
        id: fresh.key.id.clone(),
        secret_hash: secret::hash(&fresh.key.whole),
        account: project.account,
        project: project.id,
        user_project,
        principal,
        scopes: order.scopes,
        name: order.name.clone(),
        created_at: fresh.now,
        expires_at: order.expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    txn.insert_key(&row)?;
    let done = deed(
        project.account,
        Some(project.id),
        principal,
        Deed::KeyCreate,
        &[&row.id],
        fresh.now,
    );
    txn.append_audit(&done)?;
    key_info(txn.snapshot(), row)
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

fn key_info(snapshot: &dyn Snapshot, row: KeyRow) -> EngineResult<KeyInfo> {
    let project = snapshot.project(row.project)?;
    let principal = snapshot.principal_name(row.principal)?;
    Ok(KeyInfo {
        id: row.id,
        name: row.name,
        project: project.map(|project| project.name).unwrap_or_default(),
        principal: principal.unwrap_or_default(),
        scopes: row.scopes,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    })
}

fn project_info(snapshot: &dyn Snapshot, project: ProjectRow) -> EngineResult<ProjectInfo> {
    Ok(ProjectInfo {
        n_records: snapshot.n_records(project.id)?,
        id: project.id,
        name: project.name,
        limits: project.limits,
        created_at: project.created_at,
    })
}

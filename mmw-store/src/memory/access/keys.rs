//! Keys: made, listed, revoked, and asked whom they speak for.

use mmw_core::audit::Deed;
use mmw_core::ids::{KeyId, ProjectId};
use mmw_core::place::{Caller, Scopes, Way};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use subtle::ConstantTimeEq as _;

use super::{Fresh, deed, ensure_principal, ensure_user_project, secret};
use crate::engine::{EngineResult, KeyRow, ProjectRow, Snapshot, Txn, read, write};
use crate::memory::Memory;
use crate::memory::failure::Failure;

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

impl Memory {
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

    /// Checks the name of a person. A placeholder would make one person of two, so a secret is refused.
    fn name_of_a_person(&self, name: &str) -> Result<String, Invalid> {
        let name = validation::label("principal", name)?;
        match self.guard.redact(&name).1.first() {
            Some(found) => Err(Invalid::new(
                "principal",
                format!("holds a secret ({}): choose another name", found.rule),
            )),
            None => Ok(name),
        }
    }

    /// Makes a key.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is no such project, `Invalid` for a bad name or no scope.
    pub fn create_key(&self, order: &KeyOrder) -> Result<NewKey, Failure> {
        let order = KeyOrder {
            // As projects were named when they were made: without secrets.
            project: self
                .guard
                .redact(&validation::label("project", &order.project)?)
                .0,
            principal: self.name_of_a_person(&order.principal)?,
            name: self
                .guard
                .redact(&validation::label("name", &order.name)?)
                .0,
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

    /// Returns the project that a key, revoked or not, is bound to; `None` if there is no such key.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn project_of_key(&self, id: &KeyId) -> Result<Option<ProjectId>, Failure> {
        let row = read(self.engine(), |snapshot| snapshot.key(id))?;
        Ok(row.map(|row| row.project))
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
}

pub(super) fn make_key(
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

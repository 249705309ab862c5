//! Accounts, projects, principals and keys.

use mmw_core::ids::{AccountId, KeyId, PrincipalId, ProjectId};
use mmw_core::place::Scopes;
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;
use rusqlite::Row;

use super::SqliteTxn;
use super::columns as col;
use super::fault::failure;
use crate::engine::{
    Access, AccessWrites, AccountRow, EngineResult, KeyRow, ProjectKind, ProjectRow,
};

const ACCOUNT: &str = "id, name, state, created_at";
const PROJECT: &str = "id, account, name, person, max_records, max_calls_per_minute, created_at";
const KEY: &str = "id, secret_hash, account, project, user_project, principal, scopes, name,
    created_at, expires_at, revoked_at, last_used_at";

fn account(row: &Row<'_>) -> rusqlite::Result<AccountRow> {
    Ok(AccountRow {
        id: col::id(row, 0)?,
        name: row.get(1)?,
        state: col::choice(row, 2, AccountState::named)?,
        created_at: col::moment(row, 3)?,
    })
}

fn project(row: &Row<'_>) -> rusqlite::Result<ProjectRow> {
    let max_records: Option<i64> = row.get(4)?;
    Ok(ProjectRow {
        id: col::id(row, 0)?,
        account: col::id(row, 1)?,
        name: row.get(2)?,
        kind: col::optional_id(row, 3)?.map_or(ProjectKind::Shared, ProjectKind::Person),
        limits: Limits {
            max_records: max_records.map(|limit| u64::try_from(limit).unwrap_or(0)),
            max_calls_per_minute: row.get(5)?,
        },
        created_at: col::moment(row, 6)?,
    })
}

fn key(row: &Row<'_>) -> rusqlite::Result<KeyRow> {
    Ok(KeyRow {
        id: KeyId::new(row.get_ref(0)?.as_str()?).ok_or_else(|| col::unreadable(0, "a key id"))?,
        secret_hash: row.get(1)?,
        account: col::id(row, 2)?,
        project: col::id(row, 3)?,
        user_project: col::id(row, 4)?,
        principal: col::id(row, 5)?,
        scopes: col::choice(row, 6, |text| Scopes::parse(text).ok())?,
        name: row.get(7)?,
        created_at: col::moment(row, 8)?,
        expires_at: col::optional_moment(row, 9)?,
        revoked_at: col::optional_moment(row, 10)?,
        last_used_at: col::optional_moment(row, 11)?,
    })
}

impl Access for SqliteTxn<'_> {
    fn account(&self, id: AccountId) -> EngineResult<Option<AccountRow>> {
        self.one(
            &format!("SELECT {ACCOUNT} FROM accounts WHERE id = ?1"),
            [id.as_bytes()],
            account,
        )
    }

    fn accounts(&self) -> EngineResult<Vec<AccountRow>> {
        self.many(
            &format!("SELECT {ACCOUNT} FROM accounts ORDER BY created_at, id"),
            [],
            account,
        )
    }

    fn project(&self, id: ProjectId) -> EngineResult<Option<ProjectRow>> {
        self.one(
            &format!("SELECT {PROJECT} FROM projects WHERE id = ?1"),
            [id.as_bytes()],
            project,
        )
    }

    fn project_named(&self, account: AccountId, name: &str) -> EngineResult<Option<ProjectRow>> {
        self.one(
            &format!(
                "SELECT {PROJECT} FROM projects
                 WHERE account = ?1 AND name = ?2 AND person IS NULL"
            ),
            (account.as_bytes(), name),
            project,
        )
    }

    fn project_of_person(
        &self,
        account: AccountId,
        principal: PrincipalId,
    ) -> EngineResult<Option<ProjectRow>> {
        self.one(
            &format!("SELECT {PROJECT} FROM projects WHERE account = ?1 AND person = ?2"),
            (account.as_bytes(), principal.as_bytes()),
            project,
        )
    }

    fn projects(&self, account: AccountId) -> EngineResult<Vec<ProjectRow>> {
        self.many(
            &format!(
                "SELECT {PROJECT} FROM projects WHERE account = ?1 AND person IS NULL ORDER BY name"
            ),
            [account.as_bytes()],
            project,
        )
    }

    fn principal_named(&self, account: AccountId, name: &str) -> EngineResult<Option<PrincipalId>> {
        self.one(
            "SELECT id FROM principals WHERE account = ?1 AND name = ?2",
            (account.as_bytes(), name),
            |row| col::id(row, 0),
        )
    }

    fn principal_name(&self, id: PrincipalId) -> EngineResult<Option<String>> {
        self.one(
            "SELECT name FROM principals WHERE id = ?1",
            [id.as_bytes()],
            |row| row.get(0),
        )
    }

    fn key(&self, id: &KeyId) -> EngineResult<Option<KeyRow>> {
        self.one(
            &format!("SELECT {KEY} FROM keys WHERE id = ?1"),
            [id.as_str()],
            key,
        )
    }

    fn keys(&self, account: AccountId) -> EngineResult<Vec<KeyRow>> {
        self.many(
            &format!("SELECT {KEY} FROM keys WHERE account = ?1 ORDER BY created_at, id"),
            [account.as_bytes()],
            key,
        )
    }
}

impl AccessWrites for SqliteTxn<'_> {
    fn insert_account(&mut self, account: &AccountRow) -> EngineResult<()> {
        self.run(
            "INSERT INTO accounts (id, name, state, created_at) VALUES (?1, ?2, ?3, ?4)",
            (
                account.id.as_bytes(),
                &account.name,
                account.state.name(),
                account.created_at.as_ms(),
            ),
        )?;
        Ok(())
    }

    fn set_account_state(&mut self, id: AccountId, state: AccountState) -> EngineResult<()> {
        let changed = self.run(
            "UPDATE accounts SET state = ?2 WHERE id = ?1",
            (id.as_bytes(), state.name()),
        )?;
        if changed == 0 {
            return Err(failure(format!("there is no account {id}")));
        }
        Ok(())
    }

    fn insert_principal(
        &mut self,
        id: PrincipalId,
        account: AccountId,
        name: &str,
        at: Timestamp,
    ) -> EngineResult<()> {
        self.run(
            "INSERT INTO principals (id, account, name, created_at) VALUES (?1, ?2, ?3, ?4)",
            (id.as_bytes(), account.as_bytes(), name, at.as_ms()),
        )?;
        Ok(())
    }

    fn insert_project(&mut self, project: &ProjectRow) -> EngineResult<()> {
        let person = match &project.kind {
            ProjectKind::Shared => None,
            ProjectKind::Person(principal) => Some(principal.as_bytes()),
        };
        self.run(
            "INSERT INTO projects (number, id, account, name, person, max_records,
                 max_calls_per_minute, created_at)
             VALUES ((SELECT coalesce(max(number), 0) + 1 FROM projects),
                 ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                project.id.as_bytes(),
                project.account.as_bytes(),
                &project.name,
                person,
                project.limits.max_records.map(col::kept_count),
                project.limits.max_calls_per_minute,
                project.created_at.as_ms(),
            ),
        )?;
        Ok(())
    }

    fn set_limits(&mut self, id: ProjectId, limits: &Limits) -> EngineResult<()> {
        let changed = self.run(
            "UPDATE projects SET max_records = ?2, max_calls_per_minute = ?3 WHERE id = ?1",
            (
                id.as_bytes(),
                limits.max_records.map(col::kept_count),
                limits.max_calls_per_minute,
            ),
        )?;
        if changed == 0 {
            return Err(failure(format!("there is no project {id}")));
        }
        Ok(())
    }

    fn insert_key(&mut self, key: &KeyRow) -> EngineResult<()> {
        self.run(
            "INSERT INTO keys (id, secret_hash, account, project, user_project, principal, scopes,
                 name, created_at, expires_at, revoked_at, last_used_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            (
                key.id.as_str(),
                key.secret_hash,
                key.account.as_bytes(),
                key.project.as_bytes(),
                key.user_project.as_bytes(),
                key.principal.as_bytes(),
                key.scopes.to_string(),
                &key.name,
                key.created_at.as_ms(),
                col::ms(key.expires_at),
                col::ms(key.revoked_at),
                col::ms(key.last_used_at),
            ),
        )?;
        Ok(())
    }

    fn revoke_key(&mut self, id: &KeyId, at: Timestamp) -> EngineResult<bool> {
        let changed = self.run(
            "UPDATE keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
            (id.as_str(), at.as_ms()),
        )?;
        Ok(changed > 0)
    }

    fn touch_keys(&mut self, used: &[(KeyId, Timestamp)]) -> EngineResult<()> {
        for (id, at) in used {
            self.run(
                "UPDATE keys SET last_used_at = ?2
                 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
                (id.as_str(), at.as_ms()),
            )?;
        }
        Ok(())
    }
}

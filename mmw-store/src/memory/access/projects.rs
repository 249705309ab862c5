//! Projects and their limits, and the local person's place in one.

use mmw_core::audit::Deed;
use mmw_core::ids::{AccountId, ProjectId};
use mmw_core::place::{Caller, Scopes, Way};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};

use super::{
    DEFAULT_NAME, deed, ensure_account, ensure_principal, ensure_project, ensure_user_project,
};
use crate::engine::{EngineResult, LaneFilter, ProjectRow, Snapshot, read, write};
use crate::memory::Memory;
use crate::memory::failure::Failure;

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

impl Memory {
    /// Returns the local person as the caller in the project of that name (a repository's
    /// identity); both are made on first use. The scopes are an agent's.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is no name.
    pub fn local_caller(&self, project: &str, way: Way) -> Result<Caller, Failure> {
        // A repository's address may carry a secret in its path.
        let name = self.guard.redact(&validation::label("project", project)?).0;
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

    /// Returns how much the local project of that name holds: records, and what waits for review. A name
    /// that nothing was ever saved under holds nothing, and is not made by asking.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is no name.
    pub fn local_holdings(&self, project: &str) -> Result<u64, Failure> {
        let name = self.guard.redact(&validation::label("project", project)?).0;
        let now = self.clock.now();
        let held = read(self.engine(), |snapshot| {
            let Some(caller) = local_caller(snapshot, &name, Way::Library)? else {
                return Ok(0);
            };
            let filter = LaneFilter {
                waiting_at: Some(now),
                ..LaneFilter::default()
            };
            let n_waiting = snapshot.n_lane_items(&[caller.project], &filter)?;
            Ok(snapshot.n_records(caller.project)? + n_waiting)
        })?;
        Ok(held)
    }

    /// Makes a project in the default account.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` if the name is taken or no name.
    pub fn create_project(&self, name: &str, limits: Limits) -> Result<ProjectInfo, Failure> {
        let name = self.guard.redact(&validation::label("name", name)?).0;
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

    /// Changes the limits of a project, with a row in the audit. An unknown project is an error of the
    /// store.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn set_limits(&self, project: ProjectId, limits: Limits) -> Result<(), Failure> {
        let fresh = self.fresh();
        write(self.engine(), |txn| {
            txn.set_limits(project, &limits)?;
            let Some(row) = txn.project(project)? else {
                return Ok(());
            };
            let principal = ensure_principal(txn, row.account, DEFAULT_NAME, &fresh)?;
            let done = deed(
                row.account,
                Some(project),
                principal,
                Deed::Policy,
                &[&project],
                fresh.now,
            );
            txn.append_audit(&done)
        })?;
        Ok(())
    }

    /// Changes the state of an account, with a row in the audit.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn set_account_state(
        &self,
        account: AccountId,
        state: AccountState,
    ) -> Result<(), Failure> {
        let fresh = self.fresh();
        write(self.engine(), |txn| {
            txn.set_account_state(account, state)?;
            let principal = ensure_principal(txn, account, DEFAULT_NAME, &fresh)?;
            let done = deed(
                account,
                None,
                principal,
                Deed::Policy,
                &[&account],
                fresh.now,
            );
            txn.append_audit(&done)
        })?;
        Ok(())
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

pub(super) fn project_info(
    snapshot: &dyn Snapshot,
    project: ProjectRow,
) -> EngineResult<ProjectInfo> {
    Ok(ProjectInfo {
        n_records: snapshot.n_records(project.id)?,
        id: project.id,
        name: project.name,
        limits: project.limits,
        created_at: project.created_at,
    })
}

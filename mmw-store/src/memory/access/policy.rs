//! What a project asks of the guard. A person sets it at the computer that has the store; no tool, no
//! key and no file of a repository can: an agent must not be able to switch its own guard off.

use mmw_core::audit::Deed;
use mmw_core::ids::{PrincipalId, ProjectId};
use mmw_core::time::Timestamp;
use mmw_core::validation::Invalid;
use mmw_guard::Policy;
use sha2::{Digest as _, Sha256};

use super::{DEFAULT_NAME, deed, ensure_principal};
use crate::engine::{PolicyRow, read, write};
use crate::memory::Memory;
use crate::memory::failure::Failure;

/// A project's policy as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyInfo {
    /// The text, as it was given.
    pub text: String,
    /// When it was set.
    pub set_at: Timestamp,
    /// By whom.
    pub set_by: PrincipalId,
    /// The beginning of the SHA-256 of the text, as the audit names it.
    pub fingerprint: String,
    /// Why it can't be used, if it can't: writes are refused until that is mended.
    pub problem: Option<String>,
}

impl PolicyInfo {
    fn of(row: PolicyRow) -> Self {
        Self {
            fingerprint: fingerprint(&row.text),
            problem: Policy::parse(&row.text)
                .err()
                .map(|wrong| wrong.to_string()),
            text: row.text,
            set_at: row.set_at,
            set_by: row.set_by,
        }
    }
}

fn fingerprint(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Memory {
    /// Returns the policy of a project, `None` if it has none.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn policy(&self, project: ProjectId) -> Result<Option<PolicyInfo>, Failure> {
        let row = read(self.engine(), |snapshot| snapshot.policy(project))?;
        Ok(row.map(PolicyInfo::of))
    }

    /// Refuses a policy in which a secret stands that it does not allow itself: in a comment, say.
    fn check_for_secrets(&self, policy: &Policy, text: &str) -> Result<(), Invalid> {
        let (_, found) = self.guard.redact_under(&policy.that_only_allows(), text);
        match found.first() {
            Some(found) => Err(Invalid::new(
                "policy",
                format!(
                    "has a secret in it ({}): leave it out, or allow a form in place of the value",
                    found.rule
                ),
            )),
            None => Ok(()),
        }
    }

    /// Sets the policy of a project, or takes it away (`None`), with a row in the audit that names
    /// its fingerprint and nothing that stands in it. It holds from the next call on, in every
    /// program on the store. Returns whether anything changed.
    ///
    /// # Errors
    /// [`Failure`]: `Invalid` with the line and the field if the text is no policy. An unknown project
    /// is an error of the store.
    pub fn set_policy(&self, project: ProjectId, text: Option<&str>) -> Result<bool, Failure> {
        if let Some(text) = text {
            let policy =
                Policy::parse(text).map_err(|wrong| Invalid::new("policy", wrong.to_string()))?;
            self.check_for_secrets(&policy, text)?;
        }
        let fresh = self.fresh();
        let changed = write(self.engine(), |txn| {
            let before = txn.policy(project)?;
            if before.as_ref().map(|row| row.text.as_str()) == text {
                return Ok(false);
            }
            let Some(row) = txn.project(project)? else {
                txn.set_policy(project, None)?;
                return Ok(false);
            };
            let principal = ensure_principal(txn, row.account, DEFAULT_NAME, &fresh)?;
            let policy = text.map(|text| PolicyRow {
                text: text.to_owned(),
                set_at: fresh.now,
                set_by: principal,
            });
            txn.set_policy(project, policy.as_ref())?;
            let mut done = deed(
                row.account,
                Some(project),
                principal,
                Deed::Policy,
                &[&project],
                fresh.now,
            );
            done.why = Some(match text {
                Some(text) => format!("guard policy set: {}", fingerprint(text)),
                None => "guard policy taken away".to_owned(),
            });
            txn.append_audit(&done)?;
            Ok(true)
        })?;
        Ok(changed)
    }
}

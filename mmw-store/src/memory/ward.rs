//! The guard as one project has it: the rules, its policy, and the number of both together.
//!
//! A stored policy that can't be read closes the door: nothing is written until a person mends it.
//! Reading goes on, with the rules alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mmw_core::draft::{Draft, Replacement};
use mmw_core::ids::ProjectId;
use mmw_core::time::Timestamp;
use mmw_guard::policy::POLICY_RULE;
use mmw_guard::{Guard, Policy, Rejection, Verdict};

use super::Memory;
use crate::engine::{EngineResult, Snapshot};

/// The most policies that are kept read; beyond it all are read anew.
const MAX_READ: usize = 256;

/// A stored policy after reading it: what it asks, or why it can't be used.
type Read = Result<Policy, String>;

/// Policies that were read, by their project, each with the text that it was read from.
#[derive(Debug, Default)]
pub(super) struct ReadPolicies(Mutex<HashMap<ProjectId, (String, Arc<Read>)>>);

impl ReadPolicies {
    fn read(&self, project: ProjectId, text: String) -> Arc<Read> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, policy)) = read.get(&project)
            && *known == text
        {
            return Arc::clone(policy);
        }
        if read.len() >= MAX_READ {
            read.clear();
        }
        let policy = Arc::new(Policy::parse(&text).map_err(|wrong| wrong.to_string()));
        read.insert(project, (text, Arc::clone(&policy)));
        policy
    }
}

/// The guard of one project at one moment.
#[derive(Debug, Clone)]
pub(super) struct Ward {
    guard: Arc<Guard>,
    policy: Policy,
    refusal: Option<Rejection>,
    revision: u64,
}

impl Ward {
    /// Returns the guard under a policy.
    pub(super) fn under(guard: Arc<Guard>, policy: Policy) -> Self {
        let revision = guard.revision_under(&policy);
        Self {
            guard,
            policy,
            refusal: None,
            revision,
        }
    }

    /// Returns the number of the rules and the policy: what a record was screened with.
    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Refuses if the policy can't be read.
    ///
    /// # Errors
    /// The refusal, which names the mistake.
    pub(super) fn check(&self) -> Result<(), Rejection> {
        self.refusal.clone().map_or(Ok(()), Err)
    }

    /// Screens what is to be written.
    pub(super) fn screen(&self, draft: Draft) -> Verdict {
        match &self.refusal {
            Some(refusal) => Verdict::Reject(refusal.clone()),
            None => self.guard.screen_under(&self.policy, draft),
        }
    }

    /// Screens what is stored and about to be shown or looked over.
    pub(super) fn look_at(&self, draft: Draft) -> Verdict {
        let mild = self.policy.that_only_redacts();
        self.guard.screen_under(&mild, draft)
    }

    /// Returns a text without secrets, and what was replaced.
    pub(super) fn redact(&self, text: &str) -> (String, Vec<Replacement>) {
        self.guard.redact_under(&self.policy, text)
    }

    /// Returns what is found in a name, which can't be redacted.
    pub(super) fn secret_in_name(&self, name: &str) -> Option<Replacement> {
        let rule = self.guard.secret_in_name(&self.policy, name)?;
        Some(Replacement {
            field: mmw_guard::TEXT_FIELD,
            rule,
            count: 1,
        })
    }

    /// Tells whether a name that is stored may be shown.
    pub(super) fn is_clean(&self, name: &str) -> bool {
        self.guard.secret_in_name(&self.policy, name).is_none()
    }

    /// Returns a note that is to be written, without secrets.
    ///
    /// # Errors
    /// If the policy can't be read, or refuses what is in the note.
    pub(super) fn note(&self, field: &str, text: &str) -> Result<String, Rejection> {
        self.check()?;
        let (clean, replaced) = self.redact(text);
        for Replacement { rule, .. } in &replaced {
            if self.policy.refuses(rule) {
                return Err(Rejection {
                    rule: rule.clone(),
                    reason: format!("was found in {field}. Say it without that part"),
                });
            }
        }
        Ok(clean)
    }
}

impl Memory {
    /// Returns the guard of a project.
    pub(super) fn ward(
        &self,
        snapshot: &dyn Snapshot,
        project: ProjectId,
        now: Timestamp,
    ) -> EngineResult<Ward> {
        let Some(row) = snapshot.policy(project)? else {
            return Ok(Ward::under(Arc::clone(&self.guard), Policy::default()));
        };
        let guard = Arc::clone(&self.guard);
        Ok(match &*self.policies.read(project, row.text) {
            Ok(policy) => Ward::under(guard, policy.at(now)),
            Err(wrong) => Ward {
                refusal: Some(Rejection {
                    rule: POLICY_RULE.to_owned(),
                    reason: format!(
                        "the policy of this project can't be read ({wrong}). Nothing is saved \
                         until a person mends it with `mmw-server project policy` or `mmw-agent \
                         policy`"
                    ),
                }),
                ..Ward::under(guard, Policy::default())
            },
        })
    }
}

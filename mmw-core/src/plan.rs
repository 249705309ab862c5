//! Plans: what an account in a given state may do, and the limits of a project.
//!
//! "At a limit writes are refused with a clear error naming the limit; reads go on."

use crate::place::Scope;
use crate::record::named_choices;

named_choices! {
    /// The state of an account.
    AccountState {
        /// Everything works.
        Active = "active",
        /// Search and forget, no saving.
        Grace = "grace",
        /// Nothing.
        Suspended = "suspended",
    }
}

/// The limits of a project. `None` is unlimited, the default of a self-hosted store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The most unforgotten records.
    pub max_records: Option<u64>,
    /// The most calls in a minute.
    pub max_calls_per_minute: Option<u32>,
}

/// Why a plan does not allow a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The account is in its grace period.
    #[error("this account is in its grace period: searching and forgetting work, saving does not")]
    ReadOnly,
    /// The account is suspended.
    #[error("this account is suspended")]
    Suspended,
    /// The project is full.
    #[error(
        "the project holds {max_records} records, its limit; forget some or raise the limit \
         (nothing was saved, reading goes on)"
    )]
    RecordLimit {
        /// The limit.
        max_records: u64,
    },
}

/// Decides whether an account in that state may use a right.
///
/// # Errors
/// [`Refusal::ReadOnly`] for saving in grace, [`Refusal::Suspended`] for anything when suspended.
pub const fn may_use(state: AccountState, scope: Scope) -> Result<(), Refusal> {
    match (state, scope) {
        (AccountState::Suspended, _) => Err(Refusal::Suspended),
        (AccountState::Grace, Scope::Write | Scope::Capture) => Err(Refusal::ReadOnly),
        (AccountState::Active | AccountState::Grace, _) => Ok(()),
    }
}

/// Decides whether one record more fits into a project that holds `n_records`.
///
/// # Errors
/// [`Refusal::RecordLimit`] at the limit.
pub const fn may_grow(limits: &Limits, n_records: u64) -> Result<(), Refusal> {
    match limits.max_records {
        Some(max_records) if n_records >= max_records => Err(Refusal::RecordLimit { max_records }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_allows_searching_and_forgetting_but_no_saving() {
        for (scope, allowed) in [
            (Scope::Read, true),
            (Scope::Forget, true),
            (Scope::Review, true),
            (Scope::Admin, true),
            (Scope::Write, false),
            (Scope::Capture, false),
        ] {
            assert_eq!(
                may_use(AccountState::Grace, scope).is_ok(),
                allowed,
                "{}",
                scope.name()
            );
            assert!(may_use(AccountState::Active, scope).is_ok());
            assert_eq!(
                may_use(AccountState::Suspended, scope),
                Err(Refusal::Suspended)
            );
        }
    }

    #[test]
    fn a_project_is_full_at_its_limit_and_not_before() {
        let limits = Limits {
            max_records: Some(2),
            ..Limits::default()
        };
        assert!(may_grow(&limits, 1).is_ok());
        assert_eq!(
            may_grow(&limits, 2),
            Err(Refusal::RecordLimit { max_records: 2 })
        );
        assert!(may_grow(&Limits::default(), u64::MAX).is_ok());
    }
}

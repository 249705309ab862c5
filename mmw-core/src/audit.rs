//! The audit chain: every row carries the hash of the row before it.
//!
//! A row says who, by which key and way, when, what, which ids and why; never content. Changing,
//! removing or reordering a row breaks every hash after it.

use sha2::{Digest, Sha256};

use crate::ids::{AccountId, KeyId, PrincipalId, ProjectId};
use crate::record::named_choices;
use crate::time::Timestamp;

/// The hash of a row.
pub type ChainHash = [u8; 32];

/// The hash before the first row.
pub const CHAIN_START: ChainHash = [0; 32];

named_choices! {
    /// What was done.
    Deed {
        /// A record was saved.
        Remember = "remember",
        /// Records were forgotten.
        Forget = "forget",
        /// Content of forgotten records was erased.
        Purge = "purge",
        /// A conflict was resolved.
        Resolve = "resolve",
        /// The guard put a write into the review lane.
        Quarantine = "quarantine",
        /// The guard rejected a write.
        Reject = "reject",
        /// A candidate became memory.
        Promote = "promote",
        /// A candidate was turned down.
        TurnDown = "turn_down",
        /// A key was made.
        KeyCreate = "key_create",
        /// A key was revoked.
        KeyRevoke = "key_revoke",
        /// A project was made.
        ProjectCreate = "project_create",
        /// A limit, an account state or another policy was changed.
        Policy = "policy",
    }
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// For which account.
    pub account: AccountId,
    /// In which project, if in one.
    pub project: Option<ProjectId>,
    /// By whom.
    pub principal: PrincipalId,
    /// By which key, if by one.
    pub key: Option<KeyId>,
    /// How the call came in.
    pub way: &'static str,
    /// What.
    pub deed: Deed,
    /// Which ids it touched, as they are shown.
    pub ids: Vec<String>,
    /// Why: a reason, a rule, a note that was screened.
    pub why: Option<String>,
}

/// Returns the hash of a row that follows the row with the hash `before`.
///
/// Every field goes in with its length in front, so that no two rows look alike.
#[must_use]
pub fn seal(before: &ChainHash, entry: &Entry) -> ChainHash {
    let mut hasher = Sha256::new();
    hasher.update(before);
    let mut put = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    put(&entry.at.as_ms().to_be_bytes());
    put(entry.account.as_bytes());
    put(entry
        .project
        .as_ref()
        .map_or(&[][..], |id| &id.as_bytes()[..]));
    put(entry.principal.as_bytes());
    put(entry.key.as_ref().map_or("", KeyId::as_str).as_bytes());
    put(entry.way.as_bytes());
    put(entry.deed.name().as_bytes());
    put(&(entry.ids.len() as u64).to_be_bytes());
    for id in &entry.ids {
        put(id.as_bytes());
    }
    put(&[u8::from(entry.why.is_some())]);
    put(entry.why.as_deref().unwrap_or("").as_bytes());
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ids: &[&str], why: Option<&str>) -> Entry {
        let at = Timestamp::from_ms(1);
        Entry {
            at,
            account: AccountId::from_parts(at, [1; 10]),
            project: None,
            principal: PrincipalId::from_parts(at, [2; 10]),
            key: None,
            way: "mcp",
            deed: Deed::Remember,
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            why: why.map(str::to_owned),
        }
    }

    #[test]
    fn no_two_rows_look_alike() {
        let rows = [
            entry(&["a", "b"], None),
            entry(&["ab"], None),
            entry(&["b", "a"], None),
            entry(&["a"], Some("b")),
            entry(&["a"], None),
            entry(&["a"], Some("")),
            entry(&[], Some("a")),
        ];
        for (n, one) in rows.iter().enumerate() {
            for other in &rows[n + 1..] {
                assert_ne!(seal(&CHAIN_START, one), seal(&CHAIN_START, other));
            }
        }
    }

    #[test]
    fn a_row_depends_on_all_rows_before_it() {
        let row = entry(&["a"], None);
        let first = seal(&CHAIN_START, &row);
        assert_ne!(first, seal(&first, &row));
    }
}

//! The audit chain: every row carries the hash of the row before it.
//!
//! A row says who, by which key and way, when, what, which ids and why; never content. Changing,
//! removing or reordering a row breaks every hash after it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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
        /// What was stored was screened again by the guard's newer rules, and changed.
        Rescan = "rescan",
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

/// Returns the id by which a later row of the audit vouches for a row whose reason the guard had to
/// redact: `before` is the hash of the row before it, `entry` the row as it stands now.
#[must_use]
pub fn voucher(seq: u64, before: &ChainHash, entry: &Entry) -> String {
    let mut text = format!("audit:{seq}:");
    for byte in seal(before, entry) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Walks along the chain, row by row.
///
/// A row may differ from its hash in one case: a later row of the deed [`Deed::Rescan`] names it by
/// its [`voucher`], because a secret was taken out of its reason. That later row is in the chain, so
/// nothing else can have changed.
#[derive(Debug, Clone)]
pub struct Walk {
    before: ChainHash,
    next: u64,
    unvouched: BTreeMap<u64, String>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            before: CHAIN_START,
            next: 1,
            unvouched: BTreeMap::new(),
        }
    }
}

impl Walk {
    /// Returns the number of the row that comes next.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the hash of the row before that.
    #[must_use]
    pub const fn before(&self) -> &ChainHash {
        &self.before
    }

    /// Takes the next row. Returns whether it is the next one.
    #[must_use]
    pub fn step(&mut self, seq: u64, entry: &Entry, hash: &ChainHash) -> bool {
        if seq != self.next {
            return false;
        }
        if seal(&self.before, entry) != *hash {
            self.unvouched
                .insert(seq, voucher(seq, &self.before, entry));
        }
        if entry.deed == Deed::Rescan {
            self.unvouched
                .retain(|_, wanted| !entry.ids.contains(wanted));
        }
        self.before = *hash;
        self.next += 1;
        true
    }

    /// Returns the first row that differs from its hash and that no later row vouches for.
    #[must_use]
    pub fn broken_at(&self) -> Option<u64> {
        self.unvouched.keys().next().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(rows: &[(Entry, ChainHash)]) -> Option<u64> {
        let mut walk = Walk::default();
        for (seq, (entry, hash)) in (1..).zip(rows) {
            assert!(walk.step(seq, entry, hash));
        }
        walk.broken_at()
    }

    fn chain(entries: Vec<Entry>) -> Vec<(Entry, ChainHash)> {
        let mut before = CHAIN_START;
        let sealed = entries.into_iter().map(|entry| {
            before = seal(&before, &entry);
            (entry, before)
        });
        sealed.collect()
    }

    #[test]
    fn a_redacted_reason_needs_a_later_row_that_vouches_for_exactly_that() {
        let first = entry(&["a"], Some("pw: x"));
        let mut clean = first.clone();
        clean.why = Some("pw: [REDACTED:password]".into());
        let mut vouching = entry(&[], None);
        vouching.deed = Deed::Rescan;
        vouching.ids = vec![voucher(1, &CHAIN_START, &clean)];
        let mut rows = chain(vec![first, entry(&["b"], None), vouching.clone()]);
        assert_eq!(walked(&rows), None);
        rows[0].0 = clean.clone();
        assert_eq!(walked(&rows), None);
        assert_eq!(walked(&rows[..2]), Some(1));
        rows[0].0.ids = vec!["c".into()];
        assert_eq!(walked(&rows), Some(1));
        // Another deed vouches for nothing, and a row can't vouch for itself afterwards.
        rows[0].0 = clean;
        vouching.deed = Deed::Forget;
        rows[2].0 = vouching;
        assert_eq!(walked(&rows), Some(1));
    }

    #[test]
    fn a_missing_row_is_noticed() {
        let rows = chain(vec![entry(&["a"], None), entry(&["b"], None)]);
        let mut walk = Walk::default();
        assert!(!walk.step(2, &rows[1].0, &rows[1].1));
        assert_eq!(walk.next(), 1);
    }

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

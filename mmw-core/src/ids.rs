//! Identifiers: one type per kind of thing, so that a project's id is never passed for a record's.
//!
//! All of them are UUIDv7 made from a moment and random bytes that the caller brings in through
//! [`crate::env`]; nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use uuid::{Builder, Uuid};

use crate::time::Timestamp;

/// Random bytes that one id takes beside its moment.
pub const ID_ENTROPY_BYTES: usize = 10;

/// The text was not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id (expected a UUID such as 0192f0c1-8a6b-7c3d-9e4f-0123456789ab)")]
pub struct IdError(String);

/// How much of a rejected id is repeated in its error, in characters.
const ECHOED_CHARS: usize = 60;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Returns the id for a moment and random bytes; ids of later moments sort later.
            #[must_use]
            pub fn from_parts(moment: Timestamp, random: [u8; ID_ENTROPY_BYTES]) -> Self {
                let ms = u64::try_from(moment.as_ms()).unwrap_or(0);
                Self(Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
            }

            /// Returns the id with these sixteen bytes, as storage keeps them.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the sixteen bytes of the id.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0.as_hyphenated())
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::try_parse(text.trim())
                    .map(Self)
                    .map_err(|_| IdError(text.chars().take(ECHOED_CHARS).collect()))
            }
        }
    )+};
}

ids! {
    /// Names an account: whoever owns projects and is limited by a plan.
    AccountId;
    /// Names a project: the border that no record crosses.
    ProjectId;
    /// Names a principal: the person (or service) that keys belong to and records are authored by.
    PrincipalId;
    /// Names a record. An agent may propose it, so that a queued write keeps its id.
    RecordId;
    /// Names a resolution of a conflict.
    ResolutionId;
    /// Names a waiting item of the review lane; printed with [`CANDIDATE_PREFIX`] on the outside.
    CandidateId;
    /// Names a background job.
    JobId;
}

/// The prefix of a candidate's id wherever it is shown.
pub const CANDIDATE_PREFIX: &str = "mem_cand_";

impl CandidateId {
    /// Returns the id as it is shown: `mem_cand_<uuid>`.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{CANDIDATE_PREFIX}{}", self.0.as_hyphenated())
    }

    /// Reads the shown form; the bare UUID is accepted too.
    ///
    /// # Errors
    /// [`IdError`] if what follows the prefix is no UUID.
    pub fn parse_shown(text: &str) -> Result<Self, IdError> {
        text.trim()
            .strip_prefix(CANDIDATE_PREFIX)
            .unwrap_or(text)
            .parse()
    }
}

/// Names an access key: the public half, by which it is looked up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(String);

/// The longest key id, in bytes.
pub const MAX_KEY_ID_BYTES: usize = 32;

impl KeyId {
    /// Returns the key id if the text is 1 to [`MAX_KEY_ID_BYTES`] ASCII letters and digits.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= MAX_KEY_ID_BYTES
            && text.bytes().all(|b| b.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_later_moments_sort_later() {
        let early = RecordId::from_parts(Timestamp::from_ms(1_000), [255; 10]);
        let late = RecordId::from_parts(Timestamp::from_ms(1_001), [0; 10]);
        assert!(early < late);
    }

    #[test]
    fn an_id_reads_back_as_it_was_printed() {
        let id = RecordId::from_parts(Timestamp::from_ms(1_700_000_000_000), [7; 10]);
        assert_eq!(id.to_string().parse::<RecordId>().unwrap(), id);
        assert!("nope".parse::<RecordId>().is_err());
    }

    #[test]
    fn a_candidate_is_shown_with_its_prefix() {
        let id = CandidateId::from_parts(Timestamp::from_ms(5), [1; 10]);
        assert!(id.shown().starts_with(CANDIDATE_PREFIX));
        assert_eq!(CandidateId::parse_shown(&id.shown()).unwrap(), id);
        assert_eq!(CandidateId::parse_shown(&id.to_string()).unwrap(), id);
    }

    #[test]
    fn a_key_id_is_short_and_plain() {
        assert!(KeyId::new("a1B2").is_some());
        for bad in ["", "a b", "a/b", "ключ", &"x".repeat(33)] {
            assert!(KeyId::new(bad).is_none(), "{bad}");
        }
    }
}

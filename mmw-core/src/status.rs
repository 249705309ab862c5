//! The status of a record: `unverified`, `stale` or `conflict`, always with the reasons.
//!
//! "A status is always derived when read." There is no `verified`: nothing here can make a record
//! better than `unverified`, and adding trouble never quiets it.

use crate::ids::RecordId;
use crate::record::{Record, named_choices};
use crate::source::{ContentHash, Freshness, SourceId};
use crate::time::Timestamp;

named_choices! {
    /// How loud a status is; later is louder.
    Level {
        /// Nothing speaks against it, nothing proves it.
        Unverified = "unverified",
        /// What it rests on has changed.
        Stale = "stale",
        /// Something else in memory says otherwise.
        Conflict = "conflict",
    }
}

/// One reason for a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Other open versions of its fact say something else.
    VersionsDisagree {
        /// The versions.
        with: Vec<RecordId>,
    },
    /// The source's current hash differs from the recorded one.
    SourceChanged {
        /// The source.
        source_id: SourceId,
        /// The hash that was given as current.
        current: ContentHash,
    },
    /// Records that it was derived from were forgotten.
    SourceForgotten {
        /// Those records.
        ids: Vec<RecordId>,
    },
    /// A person decided against records that it was derived from.
    SourceResolvedAway {
        /// Those records.
        ids: Vec<RecordId>,
    },
    /// Its period is over.
    Expired {
        /// When it ended.
        since: Timestamp,
    },
    /// A record that it was derived from is in trouble.
    Inherited {
        /// The way to the trouble: direct source first, troubled record last.
        chain: Vec<RecordId>,
        /// The trouble.
        cause: Box<Reason>,
    },
}

impl Reason {
    /// Returns how loud the reason is.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::VersionsDisagree { .. } => Level::Conflict,
            Self::SourceChanged { .. }
            | Self::SourceForgotten { .. }
            | Self::SourceResolvedAway { .. }
            | Self::Expired { .. } => Level::Stale,
            Self::Inherited { cause, .. } => cause.level(),
        }
    }

    /// Returns the machine-readable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::VersionsDisagree { .. } => "versions_disagree",
            Self::SourceChanged { .. } => "source_changed",
            Self::SourceForgotten { .. } => "source_forgotten",
            Self::SourceResolvedAway { .. } => "source_resolved_away",
            Self::Expired { .. } => "expired",
            Self::Inherited { .. } => "inherited",
        }
    }

    /// Returns the reason in words.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::VersionsDisagree { with } => {
                format!(
                    "other versions of this fact say something else: {}",
                    listed(with)
                )
            }
            Self::SourceChanged { source_id, .. } => {
                format!("{source_id} has changed since this was saved")
            }
            Self::SourceForgotten { ids } => {
                format!("it was derived from {}, since forgotten", listed(ids))
            }
            Self::SourceResolvedAway { ids } => {
                format!(
                    "it was derived from {}, which a person decided against",
                    listed(ids)
                )
            }
            Self::Expired { since } => format!("it was valid until {since}"),
            Self::Inherited { chain, cause } => {
                format!("derived from {}: {}", arrows(chain), cause.sentence())
            }
        }
    }
}

fn joined(ids: &[RecordId], between: &str) -> String {
    let texts: Vec<String> = ids.iter().map(RecordId::to_string).collect();
    texts.join(between)
}

/// The most ids that a sentence names.
const MAX_NAMED: usize = 8;

/// Names records, of many the last: where order is time, they are the newest.
fn listed(ids: &[RecordId]) -> String {
    let n_more = ids.len().saturating_sub(MAX_NAMED);
    let named = joined(&ids[n_more..], ", ");
    if n_more == 0 {
        named
    } else {
        format!("{named} and {n_more} more")
    }
}

/// Tells a way, of a long one its two ends.
fn arrows(ids: &[RecordId]) -> String {
    const ARROW: &str = " ← ";
    let n_left_out = ids.len().saturating_sub(MAX_NAMED);
    if n_left_out == 0 {
        return joined(ids, ARROW);
    }
    let (start, end) = (&ids[..MAX_NAMED / 2], &ids[ids.len() - MAX_NAMED / 2..]);
    let (start, end) = (joined(start, ARROW), joined(end, ARROW));
    format!("{start}{ARROW}({n_left_out} more){ARROW}{end}")
}

/// A status with its reasons, the loudest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    reasons: Vec<Reason>,
}

impl Status {
    /// Returns the status that follows from these reasons.
    #[must_use]
    pub fn from_reasons(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level()));
        Self { reasons }
    }

    /// Returns the level: the loudest of the reasons, `unverified` without any.
    #[must_use]
    pub fn level(&self) -> Level {
        self.reasons
            .iter()
            .map(Reason::level)
            .max()
            .unwrap_or(Level::Unverified)
    }

    /// Returns the reasons, the loudest first.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Returns the status with what it inherits added.
    #[must_use]
    pub fn inheriting(mut self, inherited: Vec<Reason>) -> Self {
        self.reasons.extend(inherited);
        Self::from_reasons(self.reasons)
    }
}

/// What speaks against a record, as far as it is known. Only what the reader may see belongs here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence<'a> {
    /// Open versions of its fact that say something else.
    pub disagrees_with: Vec<RecordId>,
    /// Those of its direct sources that were forgotten.
    pub forgotten_sources: Vec<RecordId>,
    /// Those of its direct sources that a resolution closed.
    pub resolved_away_sources: Vec<RecordId>,
    /// Current hashes that were given, by source.
    pub current_hashes: &'a [(SourceId, ContentHash)],
    /// The present moment.
    pub now: Timestamp,
}

/// Judges a record by its own evidence. What it inherits is added with [`Status::inheriting`].
#[must_use]
pub fn judge(record: &Record, evidence: Evidence<'_>) -> Status {
    let mut reasons = Vec::new();
    if !evidence.disagrees_with.is_empty() {
        reasons.push(Reason::VersionsDisagree {
            with: evidence.disagrees_with,
        });
    }
    if let Some((source_id, current)) = evidence
        .current_hashes
        .iter()
        .find(|(named, current)| record.origin.compare(named, current) == Freshness::Changed)
    {
        reasons.push(Reason::SourceChanged {
            source_id: source_id.clone(),
            current: current.clone(),
        });
    }
    if !evidence.forgotten_sources.is_empty() {
        reasons.push(Reason::SourceForgotten {
            ids: evidence.forgotten_sources,
        });
    }
    if !evidence.resolved_away_sources.is_empty() {
        reasons.push(Reason::SourceResolvedAway {
            ids: evidence.resolved_away_sources,
        });
    }
    if let Some(end) = record.valid_until
        && end <= evidence.now
    {
        reasons.push(Reason::Expired { since: end });
    }
    Status::from_reasons(reasons)
}

#[cfg(test)]
mod tests;

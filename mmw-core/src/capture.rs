//! The lane in front of memory: candidates and quarantined writes wait here for a person.
//!
//! An item of the lane is not a record: it makes no conflict, no version, no link and no rank, and
//! takes no place in a record limit. It becomes memory only by decision.

use crate::draft::{Draft, Replacement};
use crate::ids::{CandidateId, PrincipalId, ProjectId, RecordId};
use crate::place::ReviewWay;
use crate::record::named_choices;
use crate::text::ContentDigest;
use crate::time::{DAY_MS, Timestamp};

/// How long an item waits before it expires, in days.
pub const WAITING_DAYS: i64 = 30;

named_choices! {
    /// Why an item is in the lane.
    LaneKind {
        /// Distilled from captured events.
        Candidate = "candidate",
        /// A direct write that the guard did not let into memory.
        Quarantined = "quarantined",
        /// Proposed by an archivist.
        Suggestion = "suggestion",
    }
}

named_choices! {
    /// What sort of statement a candidate is.
    Classification {
        /// Something that holds.
        Fact = "fact",
        /// Something that was decided.
        Decision = "decision",
        /// How somebody wants things done.
        Preference = "preference",
        /// Where a task stands.
        TaskState = "task_state",
        /// Background.
        Context = "context",
        /// Nothing worth keeping.
        Noise = "noise",
    }
}

named_choices! {
    /// Where an item stands. What is *shown* as in force or superseded is computed from the record
    /// that it became, and never stored twice.
    LaneState {
        /// Waits for a decision.
        Waiting = "waiting",
        /// Became a record.
        Promoted = "promoted",
        /// Was turned down.
        Rejected = "rejected",
        /// Was turned down for good: neither it nor its topic is to be proposed again.
        Never = "never",
    }
}

/// Why the guard did not let a write into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule.
    pub rule: String,
    /// The reason in words, without the payload.
    pub reason: String,
}

/// A statement proposed for memory, before it has an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Why it is in the lane.
    pub kind: LaneKind,
    /// The clean draft that approving would save.
    pub draft: Draft,
    /// What the guard replaced in it.
    pub replaced: Vec<Replacement>,
    /// What sort of statement it is.
    pub classification: Classification,
    /// Why it is worth keeping. Required of a candidate.
    pub why_durable: Option<String>,
    /// Ids of the captured events that it rests on.
    pub evidence: Vec<String>,
    /// What the guard found, for a quarantined write.
    pub finding: Option<Finding>,
}

/// An item of the lane.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneItem {
    /// The id.
    pub id: CandidateId,
    /// The project it waits in.
    pub project: ProjectId,
    /// Who wrote it, or whose session it was distilled from.
    pub author: PrincipalId,
    /// What is proposed.
    pub proposal: Proposal,
    /// Where it stands.
    pub state: LaneState,
    /// When it came into the lane.
    pub created_at: Timestamp,
    /// How a person decided, if they did.
    pub decision: Option<Decision>,
}

/// A person's decision on an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// By whom.
    pub by: PrincipalId,
    /// How they showed that they decide.
    pub way: ReviewWay,
    /// When.
    pub at: Timestamp,
    /// What they noted.
    pub note: Option<String>,
    /// The record that the item became.
    pub record: Option<RecordId>,
}

impl LaneItem {
    /// Returns the moment at which a waiting item expires.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.created_at.plus_ms(WAITING_DAYS * DAY_MS)
    }

    /// Tells whether the item still waits for a decision at that moment.
    #[must_use]
    pub fn waits_at(&self, now: Timestamp) -> bool {
        self.state == LaneState::Waiting && now < self.expires_at()
    }

    /// Returns the fingerprint by which repeated proposals are recognised.
    #[must_use]
    pub fn digest(&self) -> ContentDigest {
        ContentDigest::of(&self.proposal.draft.content)
    }
}

/// Why a proposal does not enter the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
    /// Nothing says why it is worth keeping, or it is noise: it stays evidence.
    #[error("nothing says why it would be worth keeping")]
    NotDurable,
    /// A person turned the same statement down before.
    #[error("the same statement was turned down before")]
    TurnedDownBefore,
    /// The same statement is waiting already.
    #[error("the same statement is waiting already")]
    WaitingAlready,
}

/// Decides whether a proposal enters the lane, given the item of the same content that is there.
///
/// # Errors
/// [`NotAdmitted`] with the reason; the events that it rests on are kept as evidence either way.
pub fn admit(
    proposal: &Proposal,
    same: Option<&LaneItem>,
    now: Timestamp,
) -> Result<(), NotAdmitted> {
    if proposal.kind != LaneKind::Quarantined {
        let durable = proposal
            .why_durable
            .as_deref()
            .is_some_and(|why| !why.trim().is_empty());
        if !durable || proposal.classification == Classification::Noise {
            return Err(NotAdmitted::NotDurable);
        }
    }
    match same {
        Some(item) if item.waits_at(now) => Err(NotAdmitted::WaitingAlready),
        Some(item) if matches!(item.state, LaneState::Rejected | LaneState::Never) => {
            Err(NotAdmitted::TurnedDownBefore)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(
        kind: LaneKind,
        why_durable: Option<&str>,
        classification: Classification,
    ) -> Proposal {
        Proposal {
            kind,
            draft: Draft::new("tests run with `cargo nextest`").unwrap(),
            replaced: Vec::new(),
            classification,
            why_durable: why_durable.map(str::to_owned),
            evidence: Vec::new(),
            finding: None,
        }
    }

    fn item(state: LaneState) -> LaneItem {
        LaneItem {
            id: CandidateId::from_bytes([1; 16]),
            project: ProjectId::from_bytes([1; 16]),
            author: PrincipalId::from_bytes([1; 16]),
            proposal: proposal(
                LaneKind::Candidate,
                Some("said twice"),
                Classification::Fact,
            ),
            state,
            created_at: Timestamp::from_ms(0),
            decision: None,
        }
    }

    const NOW: Timestamp = Timestamp::from_ms(DAY_MS);

    #[test]
    fn nothing_enters_without_a_reason_to_keep_it() {
        for why in [None, Some("  ")] {
            assert_eq!(
                admit(
                    &proposal(LaneKind::Candidate, why, Classification::Fact),
                    None,
                    NOW
                ),
                Err(NotAdmitted::NotDurable)
            );
        }
        assert_eq!(
            admit(
                &proposal(LaneKind::Suggestion, Some("x"), Classification::Noise),
                None,
                NOW
            ),
            Err(NotAdmitted::NotDurable)
        );
        assert_eq!(
            admit(
                &proposal(LaneKind::Quarantined, None, Classification::Fact),
                None,
                NOW
            ),
            Ok(())
        );
    }

    #[test]
    fn what_was_turned_down_is_not_proposed_again() {
        let again = proposal(LaneKind::Candidate, Some("x"), Classification::Fact);
        assert_eq!(
            admit(&again, Some(&item(LaneState::Rejected)), NOW),
            Err(NotAdmitted::TurnedDownBefore)
        );
        assert_eq!(
            admit(&again, Some(&item(LaneState::Never)), NOW),
            Err(NotAdmitted::TurnedDownBefore)
        );
        assert_eq!(
            admit(&again, Some(&item(LaneState::Waiting)), NOW),
            Err(NotAdmitted::WaitingAlready)
        );
    }

    #[test]
    fn an_item_expires_after_its_days() {
        let waiting = item(LaneState::Waiting);
        assert!(waiting.waits_at(waiting.expires_at().plus_ms(-1)));
        assert!(!waiting.waits_at(waiting.expires_at()));
        let again = proposal(LaneKind::Candidate, Some("x"), Classification::Fact);
        assert_eq!(admit(&again, Some(&waiting), waiting.expires_at()), Ok(()));
    }
}

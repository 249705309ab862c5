//! Facts: the versions of one topic, which of them stand, and what a decision closed.
//!
//! "`remember` never edits or deletes: saving again under a `fact_key` adds a version." Versions are
//! ordered by when they were said, then by id. A version is an *open* claim until a person's
//! resolution closes it; open claims that say different things at one time are in conflict.

pub mod difference;
pub mod plan;

use std::collections::HashMap;

use crate::ids::{PrincipalId, RecordId, ResolutionId};
use crate::place::{Place, ReviewWay};
use crate::record::{FactKey, Record};
use crate::source::SourceId;
use crate::text::ContentDigest;
use crate::time::Timestamp;

/// What the rules need to know of one version, without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The record.
    pub id: RecordId,
    /// When it was said.
    pub created_at: Timestamp,
    /// What it says, as a fingerprint.
    pub digest: ContentDigest,
    /// The first moment at which it holds.
    pub valid_from: Option<Timestamp>,
    /// The moment from which it no longer holds.
    pub valid_until: Option<Timestamp>,
    /// What it rests on, as a fingerprint of its source and of what it was derived from; none if it
    /// names neither.
    pub evidence: Option<ContentDigest>,
}

impl Version {
    /// Returns the version that a record is.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            id: record.id,
            created_at: record.said.created_at,
            digest: ContentDigest::of(&record.content),
            valid_from: record.valid_from,
            valid_until: record.valid_until,
            evidence: evidence_of(record.origin.id.as_ref(), &record.derived_from),
        }
    }

    /// Tells whether the version held at that moment.
    #[must_use]
    pub fn holds_at(&self, moment: Timestamp) -> bool {
        holds_at(self.valid_from, self.valid_until, self.created_at, moment)
    }

    /// Tells whether nothing is lost if this version is shown and the earlier one is not: it says
    /// the same, holds whenever the other does, and rests on the same evidence if the other has any.
    /// Without the last, saying a stale fact again without its source would wash it clean.
    fn repeats(&self, earlier: &Self) -> bool {
        let begins_in_time = match (self.valid_from, earlier.valid_from) {
            (None, _) => true,
            (Some(own), Some(other)) => own <= other,
            (Some(_), None) => false,
        };
        let lasts = match (self.valid_until, earlier.valid_until) {
            (None, _) => true,
            (Some(own), Some(other)) => own >= other,
            (Some(_), None) => false,
        };
        self.digest == earlier.digest
            && begins_in_time
            && lasts
            && (earlier.evidence.is_none() || earlier.evidence == self.evidence)
    }

    fn overlaps(&self, other: &Self) -> bool {
        let ends_before = |a: &Self, b: &Self| match (a.valid_until, b.valid_from) {
            (Some(end), Some(start)) => end <= start,
            _ => false,
        };
        !ends_before(self, other) && !ends_before(other, self)
    }

    const fn order(&self) -> (Timestamp, RecordId) {
        (self.created_at, self.id)
    }
}

/// Tells whether what has this period held at a moment: from `valid_from` (else from when it was said)
/// up to, not including, `valid_until`.
pub(crate) fn holds_at(
    valid_from: Option<Timestamp>,
    valid_until: Option<Timestamp>,
    created_at: Timestamp,
    moment: Timestamp,
) -> bool {
    valid_from.unwrap_or(created_at) <= moment && valid_until.is_none_or(|end| moment < end)
}

/// Returns the fingerprint of what a version rests on.
#[must_use]
pub fn evidence_of(source: Option<&SourceId>, derived_from: &[RecordId]) -> Option<ContentDigest> {
    if source.is_none() && derived_from.is_empty() {
        return None;
    }
    let mut text = source.map(SourceId::to_string).unwrap_or_default();
    for id in derived_from {
        text.push('\n');
        text.push_str(&id.to_string());
    }
    Some(ContentDigest::of(&text))
}

/// A person's decision on a conflict: the winner, and the claims that stood and lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The id.
    pub id: ResolutionId,
    /// Where the fact lives.
    pub place: Place,
    /// The fact.
    pub fact_key: FactKey,
    /// The version that was chosen.
    pub winner: RecordId,
    /// The other claims that stood at that time.
    pub closed: Vec<RecordId>,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// How the person showed that they decide.
    pub way: ReviewWay,
    /// What they noted.
    pub note: Option<String>,
}

/// The versions of one fact as one reader sees them, oldest first.
#[derive(Debug, Clone)]
pub struct Versions {
    versions: Vec<Version>,
    /// For each version, the winner of the latest resolution that closed it.
    closed_by: Vec<Option<RecordId>>,
    positions: HashMap<RecordId, usize>,
}

impl Versions {
    /// Puts visible, unforgotten versions and the fact's resolutions together, in any order.
    #[must_use]
    pub fn assemble(mut versions: Vec<Version>, resolutions: &[Resolution]) -> Self {
        versions.sort_by_key(Version::order);
        versions.dedup_by_key(|version| version.id);
        let mut by_time: Vec<&Resolution> = resolutions.iter().collect();
        by_time.sort_by_key(|resolution| (resolution.at, resolution.id));
        let mut last_word: HashMap<RecordId, Option<RecordId>> = HashMap::new();
        for resolution in by_time {
            for loser in &resolution.closed {
                last_word.insert(*loser, Some(resolution.winner));
            }
            last_word.insert(resolution.winner, None);
        }
        let closed_by = versions
            .iter()
            .map(|version| last_word.get(&version.id).copied().flatten())
            .collect();
        let positions = versions
            .iter()
            .enumerate()
            .map(|(at, version)| (version.id, at))
            .collect();
        Self {
            versions,
            closed_by,
            positions,
        }
    }

    /// Returns all versions, oldest first.
    #[must_use]
    pub fn all(&self) -> &[Version] {
        &self.versions
    }

    /// Returns the open claims, oldest first.
    pub fn open(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.versions
            .iter()
            .zip(&self.closed_by)
            .filter_map(|(version, closed_by)| closed_by.is_none().then_some(version))
    }

    /// Returns the newest version: the last open claim, or if none is open the last one that did
    /// not lose to another that can still be seen.
    #[must_use]
    pub fn newest(&self) -> Option<&Version> {
        let is_beaten = |version: &&Version| {
            self.winner_over(version.id)
                .is_some_and(|winner| self.position(winner).is_some())
        };
        self.open()
            .next_back()
            .or_else(|| self.versions.iter().rev().find(|one| !is_beaten(one)))
            .or(self.versions.last())
    }

    /// Tells whether a resolution closed this version.
    #[must_use]
    pub fn is_closed(&self, id: RecordId) -> bool {
        self.winner_over(id).is_some()
    }

    /// Tells whether a version is history: a resolution closed it, or a later open claim repeats it.
    #[must_use]
    pub fn is_history(&self, id: RecordId) -> bool {
        let Some(at) = self.position(id) else {
            return false;
        };
        let own = &self.versions[at];
        self.closed_by[at].is_some()
            || self
                .open()
                .rev()
                .take_while(|later| later.order() > own.order())
                .any(|later| later.repeats(own))
    }

    fn winner_over(&self, id: RecordId) -> Option<RecordId> {
        self.position(id).and_then(|at| self.closed_by[at])
    }

    fn position(&self, id: RecordId) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// Returns the id that took the place of this version: the winner that it lost to if that is
    /// visible, else the newest version; none for the newest version itself.
    #[must_use]
    pub fn superseded_by(&self, id: RecordId) -> Option<RecordId> {
        let newest = self.newest().map(|version| version.id);
        let mut successor = id;
        // Each step goes to the winner of a later resolution; the bound guards against a cycle.
        for _ in 0..self.versions.len() {
            match self.winner_over(successor) {
                Some(winner) if self.position(winner).is_some() => successor = winner,
                _ => break,
            }
        }
        if successor == id {
            newest.filter(|newest| *newest != id)
        } else {
            Some(successor)
        }
    }

    /// Returns the versions that this one is in conflict with, oldest first: open claims of other
    /// content whose validity overlaps. Empty for a closed version.
    #[must_use]
    pub fn disagreeing_with(&self, id: RecordId) -> Vec<RecordId> {
        let Some(own) = self.position(id).filter(|at| self.closed_by[*at].is_none()) else {
            return Vec::new();
        };
        let own = &self.versions[own];
        self.open()
            .filter(|other| other.digest != own.digest && other.overlaps(own))
            .map(|other| other.id)
            .collect()
    }

    /// Tells whether any two open claims are in conflict.
    #[must_use]
    pub fn in_conflict(&self) -> bool {
        self.open()
            .any(|version| !self.disagreeing_with(version.id).is_empty())
    }

    /// Returns what a resolution in favour of `winner` would close: every other open claim. `None`
    /// if the winner is no version of this fact.
    #[must_use]
    pub fn closed_if_won_by(&self, winner: RecordId) -> Option<Vec<RecordId>> {
        self.position(winner)?;
        Some(
            self.open()
                .map(|version| version.id)
                .filter(|id| *id != winner)
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ProjectId;
    use crate::place::WorkspaceName;

    fn id(n: u8) -> RecordId {
        RecordId::from_bytes([n; 16])
    }

    fn version(n: u8, said_at: i64, content: &str) -> Version {
        Version {
            id: id(n),
            created_at: Timestamp::from_ms(said_at),
            digest: ContentDigest::of(content),
            valid_from: None,
            valid_until: None,
            evidence: None,
        }
    }

    fn resolution(at: i64, winner: u8, closed: &[u8]) -> Resolution {
        Resolution {
            id: ResolutionId::from_bytes([u8::try_from(at).unwrap_or(255); 16]),
            place: Place {
                project: ProjectId::from_bytes([0; 16]),
                workspace: WorkspaceName::default(),
            },
            fact_key: FactKey::new("k").unwrap(),
            winner: id(winner),
            closed: closed.iter().map(|n| id(*n)).collect(),
            at: Timestamp::from_ms(at),
            by: PrincipalId::from_bytes([0; 16]),
            way: ReviewWay::Key,
            note: None,
        }
    }

    #[test]
    fn a_then_b_then_a_is_three_versions_in_conflict() {
        let versions = Versions::assemble(
            vec![version(3, 3, "A"), version(1, 1, "A"), version(2, 2, "B")],
            &[],
        );
        assert_eq!(
            versions.all().iter().map(|v| v.id).collect::<Vec<_>>(),
            [id(1), id(2), id(3)]
        );
        assert_eq!(versions.disagreeing_with(id(1)), [id(2)]);
        assert_eq!(versions.disagreeing_with(id(2)), [id(1), id(3)]);
        assert_eq!(versions.disagreeing_with(id(3)), [id(2)]);
        assert_eq!(versions.superseded_by(id(1)), Some(id(3)));
        assert_eq!(versions.superseded_by(id(2)), Some(id(3)));
        assert_eq!(versions.superseded_by(id(3)), None);
    }

    #[test]
    fn white_space_is_no_disagreement() {
        let versions =
            Versions::assemble(vec![version(1, 1, "a  b"), version(2, 2, " a b\n")], &[]);
        assert!(!versions.in_conflict());
        assert_eq!(versions.superseded_by(id(1)), Some(id(2)));
    }

    #[test]
    fn the_losers_point_at_the_winner_even_if_it_is_older() {
        let versions = Versions::assemble(
            vec![version(1, 1, "A"), version(2, 2, "B")],
            &[resolution(3, 1, &[2])],
        );
        assert!(!versions.in_conflict());
        assert_eq!(versions.newest().unwrap().id, id(1));
        assert_eq!(versions.superseded_by(id(2)), Some(id(1)));
        assert_eq!(versions.superseded_by(id(1)), None);
    }

    #[test]
    fn something_newer_reopens_the_conflict_with_the_winner_only() {
        let versions = Versions::assemble(
            vec![version(1, 1, "A"), version(2, 2, "B"), version(3, 5, "C")],
            &[resolution(3, 1, &[2])],
        );
        assert_eq!(versions.disagreeing_with(id(3)), [id(1)]);
        assert_eq!(versions.disagreeing_with(id(2)), []);
        assert_eq!(versions.superseded_by(id(1)), Some(id(3)));
        assert_eq!(versions.superseded_by(id(2)), Some(id(1)));
    }

    #[test]
    fn forgetting_the_winner_does_not_reopen_the_losers() {
        let versions = Versions::assemble(
            vec![version(2, 2, "B"), version(4, 4, "D")],
            &[resolution(5, 9, &[2, 4])],
        );
        assert!(!versions.in_conflict());
        assert_eq!(versions.open().count(), 0);
        assert_eq!(versions.superseded_by(id(2)), Some(id(4)));
        assert_eq!(versions.superseded_by(id(4)), None);
    }

    #[test]
    fn two_losers_never_take_the_place_of_each_other() {
        // 1 won over 4, then 5 over 1; then 5 was forgotten.
        let versions = Versions::assemble(
            vec![version(1, 1, "A"), version(4, 4, "D")],
            &[resolution(10, 1, &[4]), resolution(11, 5, &[1])],
        );
        assert_eq!(versions.newest().unwrap().id, id(1));
        assert_eq!(versions.superseded_by(id(4)), Some(id(1)));
        assert_eq!(versions.superseded_by(id(1)), None);
    }

    #[test]
    fn a_late_arrival_of_an_earlier_time_was_not_decided_on() {
        let versions = Versions::assemble(
            vec![version(1, 10, "A"), version(2, 20, "B"), version(3, 5, "C")],
            &[resolution(30, 2, &[1])],
        );
        assert_eq!(versions.disagreeing_with(id(3)), [id(2)]);
        assert_eq!(versions.superseded_by(id(3)), Some(id(2)));
    }

    #[test]
    fn periods_that_do_not_overlap_do_not_conflict() {
        let mut before = version(1, 1, "A");
        before.valid_until = Some(Timestamp::from_ms(100));
        let mut after = version(2, 2, "B");
        after.valid_from = Some(Timestamp::from_ms(100));
        assert!(!Versions::assemble(vec![before, after], &[]).in_conflict());
        after.valid_from = Some(Timestamp::from_ms(99));
        assert!(Versions::assemble(vec![before, after], &[]).in_conflict());
    }

    #[test]
    fn a_repetition_folds_only_what_loses_nothing_by_it() {
        let folds = |later: fn(&mut Version), earlier: fn(&mut Version)| {
            let (mut one, mut two) = (version(1, 1, "A"), version(2, 2, "A"));
            earlier(&mut one);
            later(&mut two);
            Versions::assemble(vec![one, two], &[]).is_history(id(1))
        };
        assert!(folds(|_| {}, |_| {}));
        assert!(folds(
            |_| {},
            |earlier| earlier.valid_until = Some(Timestamp::from_ms(9))
        ));
        // A renewal that lies ahead does not hide what holds now, nor does one that is over.
        assert!(!folds(
            |later| later.valid_from = Some(Timestamp::from_ms(9)),
            |_| {}
        ));
        assert!(!folds(
            |later| later.valid_until = Some(Timestamp::from_ms(9)),
            |_| {}
        ));
        // Words without their source do not take the place of words with it.
        assert!(!folds(
            |_| {},
            |earlier| earlier.evidence = Some(ContentDigest::of("a.md"))
        ));
    }

    #[test]
    fn a_second_decision_may_revive_a_loser() {
        let versions = Versions::assemble(
            vec![version(1, 1, "A"), version(2, 2, "B")],
            &[resolution(4, 1, &[2]), resolution(3, 2, &[1])],
        );
        assert!(!versions.is_closed(id(1)) && versions.is_closed(id(2)));
    }

    fn histories() -> impl Strategy<Value = (Vec<Version>, Vec<Resolution>)> {
        let versions = prop::collection::vec((0_i64..6, 0_u8..3), 0..7).prop_map(|rows| {
            rows.into_iter()
                .enumerate()
                .map(|(n, (at, say))| version(u8::try_from(n + 1).unwrap(), at, &say.to_string()))
                .collect::<Vec<_>>()
        });
        let resolutions =
            prop::collection::vec((1_u8..8, prop::collection::vec(1_u8..8, 0..5)), 0..4).prop_map(
                |rows| {
                    rows.into_iter()
                        .enumerate()
                        .map(|(n, (winner, mut closed))| {
                            closed.retain(|loser| *loser != winner);
                            resolution(i64::try_from(n).unwrap() + 10, winner, &closed)
                        })
                        .collect::<Vec<_>>()
                },
            );
        (versions, resolutions)
    }

    proptest! {
        #[test]
        fn only_the_newest_version_has_no_successor((versions, resolutions) in histories()) {
            let seen = Versions::assemble(versions, &resolutions);
            for version in seen.all() {
                let newest = seen.newest().map(|newest| newest.id);
                let successor = seen.superseded_by(version.id);
                prop_assert_eq!(successor.is_none(), newest == Some(version.id));
                prop_assert_ne!(successor, Some(version.id));
            }
        }

        #[test]
        fn disagreement_is_mutual_and_never_touches_closed_claims((versions, resolutions) in histories()) {
            let seen = Versions::assemble(versions, &resolutions);
            for version in seen.all() {
                for other in seen.disagreeing_with(version.id) {
                    prop_assert!(seen.disagreeing_with(other).contains(&version.id));
                    prop_assert!(!seen.is_closed(version.id) && !seen.is_closed(other));
                }
            }
        }

        #[test]
        fn resolving_leaves_no_conflict((versions, resolutions) in histories(), pick in any::<prop::sample::Index>()) {
            let before = Versions::assemble(versions.clone(), &resolutions);
            if before.all().is_empty() { return Ok(()); }
            let winner = before.all()[pick.index(before.all().len())].id;
            let closed = before.closed_if_won_by(winner).unwrap();
            let mut resolutions = resolutions;
            resolutions.push(Resolution { winner, closed, ..resolution(99, 1, &[]) });
            let after = Versions::assemble(versions, &resolutions);
            prop_assert!(!after.in_conflict());
            prop_assert_eq!(after.newest().unwrap().id, winner);
        }

        #[test]
        fn the_order_in_which_rows_are_read_changes_nothing((versions, resolutions) in histories()) {
            let (mut backwards, mut decided) = (versions.clone(), resolutions.clone());
            backwards.reverse();
            decided.reverse();
            let one = Versions::assemble(versions, &resolutions);
            let other = Versions::assemble(backwards, &decided);
            for version in one.all() {
                prop_assert_eq!(one.superseded_by(version.id), other.superseded_by(version.id));
                prop_assert_eq!(one.disagreeing_with(version.id), other.disagreeing_with(version.id));
            }
        }
    }
}

//! Statuses keep what they promise, for any evidence.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::draft::Draft;
use crate::fact::plan::{Plan, plan};
use crate::wire::samples::{caller, clean, drafts, hashes, moments, record_ids, source_ids};

const NOW: Timestamp = Timestamp::from_ms(1_773_480_600_000);

fn id(n: u8) -> RecordId {
    RecordId::from_bytes([n; 16])
}

fn saved(draft: Draft) -> Record {
    match plan(&clean(draft), &caller(), id(1), NOW, None) {
        Plan::New(record) => record,
        Plan::Existing(_) => unreachable!("nothing was there"),
    }
}

fn nothing(now: Timestamp) -> Evidence<'static> {
    Evidence {
        disagrees_with: Vec::new(),
        forgotten_sources: Vec::new(),
        resolved_away_sources: Vec::new(),
        current_hashes: &[],
        now,
    }
}

fn codes(status: &Status) -> Vec<&'static str> {
    status.reasons().iter().map(Reason::code).collect()
}

#[test]
fn without_evidence_a_record_is_unverified() {
    let status = judge(&saved(Draft::new("a").unwrap()), nothing(NOW));
    assert_eq!(
        (status.level(), status.reasons()),
        (Level::Unverified, &[][..])
    );
}

#[test]
fn a_source_that_is_as_it_was_gives_unverified_again() {
    let (source, was, is) = (
        SourceId::new("docs/deploy.md").unwrap(),
        ContentHash::new("git:1").unwrap(),
        ContentHash::new("git:2").unwrap(),
    );
    let mut draft = Draft::new("a").unwrap();
    draft.origin.id = Some(source.clone());
    draft.origin.hash = Some(was.clone());
    let record = saved(draft);
    let at = |hash: &ContentHash| {
        let current_hashes = &[(source.clone(), hash.clone())];
        judge(
            &record,
            Evidence {
                current_hashes,
                ..nothing(NOW)
            },
        )
    };
    assert_eq!(at(&was).level(), Level::Unverified);
    assert_eq!(at(&is).level(), Level::Stale);
    assert_eq!(codes(&at(&is)), ["source_changed"]);
    assert_eq!(at(&was).level(), Level::Unverified);
}

#[test]
fn a_period_ends_at_its_end_and_not_before() {
    let mut draft = Draft::new("a").unwrap();
    draft.valid_until = Some(NOW);
    let record = saved(draft);
    assert_eq!(
        judge(&record, nothing(NOW.plus_ms(-1))).level(),
        Level::Unverified
    );
    assert_eq!(codes(&judge(&record, nothing(NOW))), ["expired"]);
}

#[test]
fn every_trouble_is_told_the_loudest_first() {
    let mut draft = Draft::new("a").unwrap();
    draft.origin.id = SourceId::new("docs/a.md");
    draft.origin.hash = ContentHash::new("git:1").ok();
    draft.valid_until = Some(NOW);
    let current_hashes = &[(
        SourceId::new("docs/a.md").unwrap(),
        ContentHash::new("git:2").unwrap(),
    )];
    let evidence = Evidence {
        disagrees_with: vec![id(2)],
        forgotten_sources: vec![id(3)],
        resolved_away_sources: vec![id(4)],
        current_hashes,
        now: NOW,
    };
    let status = judge(&saved(draft), evidence);
    assert_eq!(
        codes(&status),
        [
            "versions_disagree",
            "source_changed",
            "source_forgotten",
            "source_resolved_away",
            "expired"
        ]
    );
    assert_eq!(status.level(), Level::Conflict);
}

#[test]
fn a_summary_inherits_the_loudest_status() {
    let inherited = |cause: Reason| Reason::Inherited {
        chain: vec![id(2), id(3)],
        cause: Box::new(cause),
    };
    let stale = Status::from_reasons(vec![Reason::Expired { since: NOW }]);
    let disagree = Reason::VersionsDisagree { with: vec![id(9)] };
    let status = stale.inheriting(vec![inherited(disagree)]);
    assert_eq!(status.level(), Level::Conflict);
    assert_eq!(codes(&status), ["inherited", "expired"]);
}

/// What may be known against a record, with its hashes beside it.
#[derive(Debug, Clone)]
struct Known {
    disagrees_with: Vec<RecordId>,
    forgotten: Vec<RecordId>,
    resolved_away: Vec<RecordId>,
    hashes: Vec<(SourceId, ContentHash)>,
    late_ms: i64,
}

impl Known {
    fn judge(&self, record: &Record) -> Status {
        let evidence = Evidence {
            disagrees_with: self.disagrees_with.clone(),
            forgotten_sources: self.forgotten.clone(),
            resolved_away_sources: self.resolved_away.clone(),
            current_hashes: &self.hashes,
            now: NOW.plus_ms(self.late_ms),
        };
        judge(record, evidence)
    }

    /// Returns what is known when more comes to light.
    fn and(&self, more: &Self) -> Self {
        let mut all = self.clone();
        all.disagrees_with.extend(&more.disagrees_with);
        all.forgotten.extend(&more.forgotten);
        all.resolved_away.extend(&more.resolved_away);
        all.hashes.extend(more.hashes.iter().cloned());
        all.late_ms = self.late_ms.saturating_add(more.late_ms);
        all
    }
}

fn known() -> impl Strategy<Value = Known> {
    let ids = || prop::collection::vec(record_ids(), 0..3);
    let hashes = prop::collection::vec((source_ids(), hashes()), 0..4);
    (ids(), ids(), ids(), hashes, 0_i64..i64::MAX).prop_map(
        |(disagrees_with, forgotten, resolved_away, hashes, late_ms)| Known {
            disagrees_with,
            forgotten,
            resolved_away,
            hashes,
            late_ms,
        },
    )
}

fn reasons() -> impl Strategy<Value = Reason> {
    let ids = || prop::collection::vec(record_ids(), 1..3);
    let own = prop_oneof![
        ids().prop_map(|with| Reason::VersionsDisagree { with }),
        (source_ids(), hashes())
            .prop_map(|(source_id, current)| Reason::SourceChanged { source_id, current }),
        ids().prop_map(|ids| Reason::SourceForgotten { ids }),
        ids().prop_map(|ids| Reason::SourceResolvedAway { ids }),
        moments().prop_map(|since| Reason::Expired { since }),
    ];
    own.prop_recursive(3, 4, 1, move |cause| {
        (prop::collection::vec(record_ids(), 1..4), cause).prop_map(|(chain, cause)| {
            Reason::Inherited {
                chain,
                cause: Box::new(cause),
            }
        })
    })
}

#[test]
fn a_sentence_names_a_few_of_many_and_counts_the_others() {
    let ids = |n: u8| (1..=n).map(id).collect::<Vec<_>>();
    let few = Reason::VersionsDisagree { with: ids(8) }.sentence();
    assert!(few.ends_with(&id(8).to_string()), "{few}");
    let many = Reason::VersionsDisagree { with: ids(100) }.sentence();
    assert!(many.contains(&id(100).to_string()), "the newest: {many}");
    assert!(many.ends_with(" and 92 more") && many.len() < 500, "{many}");
    let cause = Box::new(Reason::Expired { since: NOW });
    let way = Reason::Inherited {
        chain: ids(100),
        cause,
    }
    .sentence();
    assert!(way.contains("(92 more)") && way.len() < 600, "{way}");
    assert!(way.contains(&id(1).to_string()) && way.contains(&id(100).to_string()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn adding_trouble_never_quiets_it(draft in drafts(), known in known(), more in known()) {
        let record = saved(draft);
        let (before, after) = (known.judge(&record), known.and(&more).judge(&record));
        prop_assert!(before.level() <= after.level());
        for code in codes(&before) {
            prop_assert!(codes(&after).contains(&code), "{code} was silenced");
        }
    }

    #[test]
    fn the_order_in_which_evidence_comes_changes_nothing(draft in drafts(), one in known(), other in known()) {
        let record = saved(draft);
        let (ab, ba) = (one.and(&other).judge(&record), other.and(&one).judge(&record));
        prop_assert_eq!(ab.level(), ba.level());
        prop_assert_eq!(codes(&ab), codes(&ba));
    }

    #[test]
    fn inheriting_never_quiets_and_keeps_every_reason(
        own in prop::collection::vec(reasons(), 0..5),
        inherited in prop::collection::vec(reasons(), 0..5),
    ) {
        let before = Status::from_reasons(own.clone());
        let after = before.clone().inheriting(inherited.clone());
        prop_assert!(after.level() >= before.level());
        prop_assert!(after.level() >= Status::from_reasons(inherited.clone()).level());
        prop_assert_eq!(after.reasons().len(), own.len() + inherited.len());
        for reason in own.iter().chain(&inherited) {
            prop_assert!(after.reasons().contains(reason));
        }
    }

    #[test]
    fn the_level_is_the_loudest_reason_and_stands_first(own in prop::collection::vec(reasons(), 0..6)) {
        let status = Status::from_reasons(own.clone());
        let loudest = own.iter().map(Reason::level).max().unwrap_or(Level::Unverified);
        prop_assert_eq!(status.level(), loudest);
        prop_assert!(status.reasons().is_sorted_by_key(|reason| std::cmp::Reverse(reason.level())));
        prop_assert_eq!(status.reasons().is_empty(), status.level() == Level::Unverified);
    }

    #[test]
    fn what_is_inherited_is_as_loud_as_its_cause(reason in reasons(), depth in select(vec![1_usize, 2, 40])) {
        let wrapped = (0..depth).fold(reason.clone(), |cause, _| Reason::Inherited {
            chain: vec![id(7)],
            cause: Box::new(cause),
        });
        prop_assert_eq!(wrapped.level(), reason.level());
        prop_assert!(wrapped.sentence().ends_with(&reason.sentence()));
    }

    #[test]
    fn an_unknown_source_says_nothing(draft in drafts(), hashes in prop::collection::vec((source_ids(), hashes()), 0..4)) {
        let mut record = saved(draft);
        record.origin.id = SourceId::new("somewhere/else");
        record.valid_until = None;
        let status = judge(&record, Evidence { current_hashes: &hashes, ..nothing(NOW) });
        prop_assert_eq!(status.level(), Level::Unverified);
    }
}

//! What saving comes to, for any input.

use proptest::prelude::*;

use super::*;
use crate::record::{Confidence, FactKey, Kind, Visibility};
use crate::source::{ContentHash, Origin, SourceId, Span};
use crate::text::comparable;
use crate::wire::samples::{caller, clean, drafts, moments, record_ids};

const NOW: Timestamp = Timestamp::from_ms(1_773_480_600_000);

fn id(n: u8) -> RecordId {
    RecordId::from_bytes([n; 16])
}

fn saved(draft: Draft, id: RecordId, now: Timestamp, newest: Option<&Record>) -> Record {
    match plan(&clean(draft), &caller(), id, now, newest) {
        Plan::New(record) => record,
        Plan::Existing(id) => panic!("{id} was there already"),
    }
}

fn full_draft() -> Draft {
    let mut draft = Draft::new("staging is `app-staging`").unwrap();
    draft.fact_key = FactKey::new("deploy-staging").ok();
    draft.label = Some("codex".into());
    draft.origin = Origin {
        id: SourceId::new("docs/deploy.md"),
        hash: ContentHash::new("git:1").ok(),
        text_hash: ContentHash::new("git:2").ok(),
        revision: Some("4c53699".into()),
        span: Some(Span {
            kind: "heading".into(),
            label: "Staging".into(),
            hash: ContentHash::new("x:1").unwrap(),
        }),
    };
    draft.derived_from = vec![id(8), id(9)];
    draft.tags = vec!["ops".into(), "unit".into()];
    draft.valid_from = Some(NOW);
    draft.valid_until = Some(NOW.plus_ms(1000));
    draft
}

#[test]
fn what_was_said_before_is_there_already() {
    let first = saved(full_draft(), id(1), NOW, None);
    let repeats: [fn(&mut Draft); 6] = [
        |_| {},
        |draft| draft.content = "  staging  is\n`app-staging` ".into(),
        |draft| draft.tags.reverse(),
        |draft| draft.envelope.session = Some("another".into()),
        |draft| draft.envelope.branch = Some("feature".into()),
        |draft| draft.envelope.recorded_at = Some(NOW.plus_ms(-5)),
    ];
    for (nth, change) in repeats.into_iter().enumerate() {
        let mut draft = full_draft();
        change(&mut draft);
        let again = plan(
            &clean(draft),
            &caller(),
            id(2),
            NOW.plus_ms(9),
            Some(&first),
        );
        assert_eq!(again, Plan::Existing(id(1)), "{nth}");
    }
}

#[test]
fn every_difference_makes_a_record_of_its_own() {
    let first = saved(full_draft(), id(1), NOW, None);
    let changes: [fn(&mut Draft); 20] = [
        |draft| draft.content = "staging is `app-stage`".into(),
        |draft| draft.content = "Staging is `app-staging`".into(),
        |draft| draft.workspace = crate::place::WorkspaceName::new("backend").unwrap(),
        |draft| draft.workspace = crate::place::WorkspaceName::new("@user").unwrap(),
        |draft| draft.fact_key = None,
        |draft| draft.kind = Kind::Decision,
        |draft| draft.label = None,
        |draft| draft.origin.id = SourceId::new("docs/deploy.md#Staging"),
        |draft| draft.origin.hash = ContentHash::new("git:3").ok(),
        |draft| draft.origin.text_hash = None,
        |draft| draft.origin.revision = Some("4c53700".into()),
        |draft| draft.origin.span = None,
        |draft| draft.confidence = Confidence::new(0.51).unwrap(),
        |draft| draft.derived_from.truncate(1),
        |draft| draft.scope = "own".into(),
        |draft| draft.tags.truncate(1),
        |draft| draft.tags.push("ops".into()),
        |draft| draft.valid_from = None,
        |draft| draft.valid_until = Some(NOW.plus_ms(1001)),
        |draft| draft.visibility = Visibility::Author,
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        let mut draft = full_draft();
        change(&mut draft);
        let record = saved(draft, id(2), NOW.plus_ms(9), Some(&first));
        assert_eq!(record.id, id(2), "{nth}");
    }
    let mut other = caller();
    other.principal = PrincipalId::from_bytes([9; 16]);
    let by_another = plan(&clean(full_draft()), &other, id(2), NOW, Some(&first));
    assert!(matches!(by_another, Plan::New(record) if record.said.author == other.principal));
}

#[test]
fn two_saves_in_one_millisecond_stay_in_order() {
    // The later save has the lower id: random bytes decide within a millisecond.
    let first = saved(Draft::new("a").unwrap(), id(9), NOW, None);
    let second = saved(Draft::new("b").unwrap(), id(1), NOW, Some(&first));
    assert!(first.order() < second.order());
    assert_eq!(second.said.created_at, NOW.plus_ms(1));
    assert_eq!(second.said.received_at, NOW);
}

#[test]
fn what_an_agent_says_of_the_time_is_believed_for_a_month() {
    let check = |said_at: Timestamp, kept: Timestamp| {
        let mut draft = Draft::new("a").unwrap();
        draft.envelope.recorded_at = Some(said_at);
        let record = saved(draft, id(1), NOW, None);
        assert_eq!(record.said.created_at, kept);
        assert_eq!(record.said.received_at, NOW);
    };
    let earliest = NOW.plus_ms(-MAX_BACKDATED_DAYS * DAY_MS);
    check(NOW, NOW);
    check(NOW.plus_ms(-1), NOW.plus_ms(-1));
    check(NOW.plus_ms(1), NOW);
    check(earliest, earliest);
    check(earliest.plus_ms(-1), earliest);
    check(Timestamp::from_ms(i64::MIN), earliest);
    check(Timestamp::from_ms(i64::MAX), NOW);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_was_said_is_kept_field_by_field(draft in drafts(), new in record_ids(), now in moments()) {
        let record = saved(draft.clone(), new, now, None);
        prop_assert_eq!(record.id, new);
        prop_assert_eq!(record.place, caller().place(draft.workspace));
        prop_assert_eq!(record.content, draft.content);
        prop_assert_eq!(record.fact_key, draft.fact_key);
        prop_assert_eq!((record.kind, record.label), (draft.kind, draft.label));
        prop_assert_eq!(record.origin, draft.origin);
        prop_assert_eq!(record.derived_from, draft.derived_from);
        prop_assert_eq!((record.scope, record.tags), (draft.scope, draft.tags));
        prop_assert_eq!(record.confidence, draft.confidence);
        prop_assert_eq!((record.valid_from, record.valid_until), (draft.valid_from, draft.valid_until));
        prop_assert_eq!(record.visibility, draft.visibility);
        prop_assert_eq!(record.said.author, caller().principal);
        prop_assert_eq!(record.said.received_at, now);
        prop_assert_eq!(record.said.agent, draft.envelope.agent);
        prop_assert_eq!(record.said.client, draft.envelope.client);
        prop_assert_eq!(record.said.session, draft.envelope.session);
        prop_assert_eq!(record.said.branch, draft.envelope.branch);
    }

    #[test]
    fn a_repeat_plans_the_same(draft in drafts(), new in record_ids(), now in moments(), newest in drafts()) {
        let newest = saved(newest, id(1), now, None);
        let once = plan(&clean(draft.clone()), &caller(), new, now, Some(&newest));
        prop_assert_eq!(once, plan(&clean(draft), &caller(), new, now, Some(&newest)));
    }

    #[test]
    fn nothing_that_was_said_is_folded_into_something_else(one in drafts(), other in drafts(), mix in 0_u32..32) {
        // Take some of the fields of another draft, so that drafts often differ in one alone.
        let mut draft = one.clone();
        if mix & 1 != 0 { draft.content = other.content; }
        if mix & 2 != 0 { draft.origin = other.origin; }
        if mix & 4 != 0 { draft.tags = other.tags; }
        if mix & 8 != 0 { draft.fact_key = other.fact_key; }
        if mix & 16 != 0 { draft.envelope = other.envelope; }
        let first = saved(one.clone(), id(1), NOW, None);
        let is_same = comparable(&draft.content) == comparable(&one.content)
            && draft.origin == one.origin
            && draft.fact_key == one.fact_key
            && { let (mut a, mut b) = (draft.tags.clone(), one.tags.clone()); a.sort(); b.sort(); a == b };
        let planned = plan(&clean(draft.clone()), &caller(), id(2), NOW.plus_ms(1), Some(&first));
        match planned {
            Plan::Existing(known) => prop_assert!(is_same && known == id(1)),
            Plan::New(record) => prop_assert!(!is_same && record.content == draft.content),
        }
    }

    #[test]
    fn a_time_that_was_told_lies_in_the_last_month(draft in drafts(), now in moments()) {
        let said_at = draft.envelope.recorded_at;
        let record = saved(draft, id(1), now, None);
        let earliest = now.plus_ms(-MAX_BACKDATED_DAYS * DAY_MS);
        prop_assert!((earliest..=now).contains(&record.said.created_at));
        if let Some(said_at) = said_at && (earliest..=now).contains(&said_at) {
            prop_assert_eq!(record.said.created_at, said_at);
        }
    }

    #[test]
    fn what_was_kept_elsewhere_keeps_its_moments_but_for_the_future(
        draft in drafts(), created in moments(), received in moments(), now in moments(),
    ) {
        let moment = Moment { author: PrincipalId::from_bytes([7; 16]), created_at: created, received_at: received };
        let place = caller().place(draft.workspace.clone());
        let record = moved(&clean(draft.clone()), place, id(1), moment, now);
        prop_assert_eq!(record.said.created_at, created.min(now));
        prop_assert_eq!(record.said.received_at, received.min(now));
        prop_assert_eq!(record.said.author, moment.author);
        prop_assert_eq!(record.content, draft.content);
    }

    #[test]
    fn saves_stay_in_order_whatever_the_clock_does(
        saves in prop::collection::vec((-5_i64..5, record_ids()), 1..12),
    ) {
        let mut now = NOW;
        let mut newest: Option<Record> = None;
        for (nth, (step, id)) in saves.into_iter().enumerate() {
            now = now.plus_ms(step);
            let draft = Draft::new(&format!("statement {nth}")).unwrap();
            let record = saved(draft, id, now, newest.as_ref());
            if let Some(before) = &newest {
                prop_assert!(before.order() < record.order());
            }
            prop_assert!(record.said.created_at >= now);
            newest = Some(record);
        }
    }
}

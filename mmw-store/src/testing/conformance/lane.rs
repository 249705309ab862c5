//! The review lane.

use mmw_core::capture::{
    Classification, Decision, Finding, LaneItem, LaneKind, LaneState, Proposal, WAITING_DAYS,
};
use mmw_core::draft::{Draft, Envelope, Replacement};
use mmw_core::ids::CandidateId;
use mmw_core::place::{Place, ReviewWay};
use mmw_core::record::{Confidence, Kind};
use mmw_core::source::{Origin, Span};
use mmw_core::text::ContentDigest;
use mmw_core::time::DAY_MS;

use crate::engine::{Engine, LaneFilter, read, write};
use crate::testing::build::{
    World, candidate_id, fact_key, minute, put, record, record_id, sha, source_id, workspace,
};

fn item(world: &World, place: &Place, n: u64, content: &str) -> LaneItem {
    let mut draft = Draft::new(content).unwrap();
    draft.workspace = place.workspace.clone();
    LaneItem {
        id: candidate_id(n),
        project: place.project,
        author: world.person,
        proposal: Proposal {
            kind: LaneKind::Candidate,
            draft,
            replaced: Vec::new(),
            classification: Classification::Fact,
            why_durable: Some("said twice".to_owned()),
            evidence: vec!["evt_1".to_owned()],
            finding: None,
        },
        state: LaneState::Waiting,
        created_at: minute(i64::try_from(n).unwrap()),
        decision: None,
    }
}

fn put_items(engine: &dyn Engine, items: &[LaneItem]) {
    write(engine, |txn| {
        items.iter().try_for_each(|item| txn.insert_lane_item(item))
    })
    .unwrap();
}

fn found(engine: &dyn Engine, n: u64) -> LaneItem {
    read(engine, |snapshot| snapshot.lane_item(candidate_id(n)))
        .unwrap()
        .unwrap()
}

fn decision(world: &World, at: i64) -> Decision {
    Decision {
        by: world.person,
        way: ReviewWay::Terminal,
        at: minute(at),
        note: Some("not ours".to_owned()),
        record: None,
    }
}

pub fn an_item_reads_back_as_it_was_written(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut full = item(&world, &world.backend, 1, "the port is 8081");
    full.proposal.draft = Draft {
        fact_key: Some(fact_key("port")),
        kind: Kind::Decision,
        label: Some("claude-code".to_owned()),
        origin: Origin {
            id: Some(source_id("a.md#S")),
            hash: Some(sha('1')),
            text_hash: Some(sha('2')),
            revision: Some("r1".to_owned()),
            span: Some(Span {
                kind: "heading".to_owned(),
                label: "S".to_owned(),
                hash: sha('3'),
            }),
        },
        confidence: Confidence::new(0.1 + 0.2).unwrap(),
        derived_from: vec![record_id(2), record_id(1)],
        scope: "team".to_owned(),
        tags: vec!["a".to_owned(), "b".to_owned()],
        valid_from: Some(minute(1)),
        valid_until: Some(minute(2)),
        envelope: Envelope {
            idempotency_key: Some("k".to_owned()),
            proposed_id: Some(record_id(5)),
            recorded_at: Some(minute(0)),
            agent: Some("a".to_owned()),
            client: Some("c".to_owned()),
            session: Some("s".to_owned()),
            branch: Some("b".to_owned()),
        },
        ..full.proposal.draft
    };
    full.proposal.kind = LaneKind::Quarantined;
    full.proposal.replaced = vec![Replacement {
        field: "tags",
        rule: "r".to_owned(),
        count: 1,
    }];
    full.proposal.finding = Some(Finding {
        rule: "planted".to_owned(),
        reason: "speaks to the reader".to_owned(),
    });
    let mut decided = item(&world, &world.own, 2, "two");
    decided.state = LaneState::Promoted;
    decided.decision = Some(Decision {
        record: Some(record_id(7)),
        note: None,
        ..decision(&world, 5)
    });
    put_items(engine, &[full.clone(), decided.clone()]);
    assert_eq!(found(engine, 1), full);
    assert_eq!(found(engine, 2), decided);
    let none = read(engine, |snapshot| snapshot.lane_item(candidate_id(9))).unwrap();
    assert_eq!(none, None);
}

pub fn items_are_filtered_and_come_oldest_first(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut quarantined = item(&world, &world.here, 1, "one");
    quarantined.proposal.kind = LaneKind::Quarantined;
    let mut rejected = item(&world, &world.here, 2, "two");
    rejected.state = LaneState::Rejected;
    put_items(
        engine,
        &[
            item(&world, &world.backend, 5, "five"),
            item(&world, &world.here, 4, "four"),
            item(&world, &world.elsewhere, 3, "three"),
            rejected,
            quarantined,
        ],
    );
    let check = |projects: &[_], filter: &LaneFilter, limit: usize, expected: &[u64]| {
        let (items, n_items) = read(engine, |snapshot| {
            Ok((
                snapshot.lane_items(projects, filter, limit)?,
                snapshot.n_lane_items(projects, filter)?,
            ))
        })
        .unwrap();
        let items: Vec<CandidateId> = items.iter().map(|item| item.id).collect();
        let expected: Vec<CandidateId> = expected.iter().copied().map(candidate_id).collect();
        assert_eq!(items, expected, "{filter:?}");
        if expected.len() < limit {
            assert_eq!(n_items, expected.len() as u64, "{filter:?}");
        }
    };
    let here = [world.here.project];
    let any = LaneFilter::default();
    check(&here, &any, 9, &[1, 2, 4, 5]);
    check(&here, &any, 2, &[1, 2]);
    check(
        &[world.elsewhere.project, here[0], here[0]],
        &any,
        9,
        &[1, 2, 3, 4, 5],
    );
    check(&[], &any, 9, &[]);
    let waiting_at = |at| LaneFilter {
        waiting_at: Some(at),
        ..LaneFilter::default()
    };
    check(&here, &waiting_at(minute(9)), 9, &[1, 4, 5]);
    // At its last moment an item still waits, at the next it does not.
    let ends = minute(4).plus_ms(WAITING_DAYS * DAY_MS);
    check(&here, &waiting_at(ends.plus_ms(-1)), 9, &[4, 5]);
    check(&here, &waiting_at(ends), 9, &[5]);
    check(
        &here,
        &LaneFilter {
            kind: Some(LaneKind::Quarantined),
            ..LaneFilter::default()
        },
        9,
        &[1],
    );
    check(
        &here,
        &LaneFilter {
            workspace: Some(workspace("backend")),
            ..LaneFilter::default()
        },
        9,
        &[5],
    );
}

pub fn a_decision_moves_an_item_and_may_erase_it(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut never = item(&world, &world.here, 2, "two");
    never.proposal.draft.fact_key = Some(fact_key("topic"));
    let mut rejected = item(&world, &world.here, 3, "three");
    rejected.proposal.draft.fact_key = Some(fact_key("topic"));
    rejected.proposal.draft.tags = vec!["tag".to_owned()];
    put_items(
        engine,
        &[item(&world, &world.here, 1, "one"), never, rejected],
    );
    let how = decision(&world, 9);
    write(engine, |txn| {
        txn.decide_lane_item(candidate_id(1), LaneState::Promoted, &how, false)?;
        txn.decide_lane_item(candidate_id(2), LaneState::Never, &how, true)?;
        txn.decide_lane_item(candidate_id(3), LaneState::Rejected, &how, true)
    })
    .unwrap();
    let kept = found(engine, 1);
    assert_eq!(
        (kept.state, kept.decision.as_ref()),
        (LaneState::Promoted, Some(&how))
    );
    assert_eq!(kept.proposal.draft.content, "one");
    for (n, state, topic) in [
        (2, LaneState::Never, Some(fact_key("topic"))),
        (3, LaneState::Rejected, None),
    ] {
        let erased = found(engine, n);
        assert_eq!(
            (erased.state, &erased.decision),
            (state, &Some(how.clone()))
        );
        assert_eq!(erased.proposal.draft.content, "");
        assert_eq!(erased.proposal.draft.fact_key, topic);
        assert_eq!(erased.proposal.draft.tags, Vec::<String>::new());
        assert_eq!(erased.proposal.why_durable, None);
    }
    let missing = write(engine, |txn| {
        txn.decide_lane_item(candidate_id(99), LaneState::Rejected, &how, true)
    });
    assert!(missing.is_err());
}

pub fn the_newest_item_of_a_content_is_found_after_erasing(engine: &dyn Engine) {
    let world = World::found(engine);
    put_items(
        engine,
        &[
            item(&world, &world.here, 1, "same"),
            item(&world, &world.backend, 3, " same "),
            item(&world, &world.here, 2, "same"),
            item(&world, &world.elsewhere, 4, "same"),
        ],
    );
    write(engine, |txn| {
        let how = decision(&world, 9);
        txn.decide_lane_item(candidate_id(3), LaneState::Rejected, &how, true)
    })
    .unwrap();
    let same = |content: &str| {
        let digest = ContentDigest::of(content);
        read(engine, |snapshot| {
            snapshot.lane_same(world.here.project, digest)
        })
        .unwrap()
    };
    let newest = same("same").unwrap();
    assert_eq!(
        (newest.id, newest.state),
        (candidate_id(3), LaneState::Rejected)
    );
    assert_eq!(same("other"), None);
}

pub fn evidence_is_added_once(engine: &dyn Engine) {
    let world = World::found(engine);
    put_items(engine, &[item(&world, &world.here, 1, "one")]);
    let evidence = |all: &[&str]| {
        all.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    write(engine, |txn| {
        txn.add_lane_evidence(candidate_id(1), &evidence(&["evt_2", "evt_1", "evt_3"]))
    })
    .unwrap();
    assert_eq!(
        found(engine, 1).proposal.evidence,
        evidence(&["evt_1", "evt_2", "evt_3"])
    );
}

pub fn expired_items_lose_their_text(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut promoted = item(&world, &world.here, 1, "promoted");
    promoted.state = LaneState::Promoted;
    put_items(
        engine,
        &[
            promoted,
            item(&world, &world.here, 2, "old"),
            item(&world, &world.elsewhere, 3, "old too"),
            item(&world, &world.here, 4, "new"),
        ],
    );
    let expire = || write(engine, |txn| txn.expire_lane_items(minute(4))).unwrap();
    assert_eq!(expire(), 2);
    assert_eq!(expire(), 0, "they are counted once");
    for (n, content) in [(1, "promoted"), (2, ""), (3, ""), (4, "new")] {
        assert_eq!(found(engine, n).proposal.draft.content, content);
    }
}

pub fn an_item_loses_its_text_with_the_record_that_it_became(engine: &dyn Engine) {
    let world = World::found(engine);
    put_items(engine, &[item(&world, &world.here, 1, "one")]);
    write(engine, |txn| {
        put(txn, &record(&world.here, 7, "one"))?;
        let promoted = Decision {
            record: Some(record_id(7)),
            ..decision(&world, 9)
        };
        txn.decide_lane_item(candidate_id(1), LaneState::Promoted, &promoted, false)?;
        txn.forget(&[record_id(7)], minute(10), world.person, None)
    })
    .unwrap();
    assert_eq!(found(engine, 1).proposal.draft.content, "");
}

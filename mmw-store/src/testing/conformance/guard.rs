//! Policies, and looking over everything that is stored.

use mmw_core::audit::{Deed, Entry};
use mmw_core::capture::{Classification, Decision, LaneItem, LaneKind, LaneState, Proposal};
use mmw_core::draft::{Draft, Replacement};
use mmw_core::fact::Resolution;
use mmw_core::ids::ResolutionId;
use mmw_core::place::ReviewWay;
use mmw_core::record::Record;
use mmw_core::text::ContentDigest;

use crate::engine::{Engine, Loose, PolicyRow, Rewritten, read, write};
use crate::testing::build::{
    World, candidate_id, fact_key, minute, project_id, put, record, record_id, sha, source_id,
};
use crate::words;

pub fn a_policy_is_of_one_project_and_can_be_taken_away(engine: &dyn Engine) {
    let world = World::found(engine);
    let policy = |text: &str| PolicyRow {
        text: text.into(),
        set_at: minute(3),
        set_by: world.person,
    };
    let kept = |project| read(engine, |snapshot| snapshot.policy(project)).unwrap();
    assert_eq!(kept(world.here.project), None);
    for text in ["one", "two"] {
        let row = policy(text);
        write(engine, |txn| txn.set_policy(world.here.project, Some(&row))).unwrap();
        assert_eq!(kept(world.here.project), Some(row));
    }
    assert_eq!(kept(project_id(99)), None);
    let unknown = write(engine, |txn| {
        txn.set_policy(project_id(99), Some(&policy("one")))
    });
    assert!(unknown.is_err());
    write(engine, |txn| txn.set_policy(world.here.project, None)).unwrap();
    assert_eq!(kept(world.here.project), None);
    let projects = read(engine, |snapshot| snapshot.every_project()).unwrap();
    assert!(projects.contains(&world.here.project));
}

pub fn kept_records_come_with_forgotten_ones_and_without_purged_ones(engine: &dyn Engine) {
    let world = World::found(engine);
    let rows = write(engine, |txn| {
        (1..=5)
            .map(|n| put(txn, &record(&world.here, n, "word")))
            .collect::<Result<Vec<_>, _>>()
    })
    .unwrap();
    write(engine, |txn| {
        txn.forget(&[record_id(2), record_id(3)], minute(9), world.person, None)?;
        txn.purge_records(&[record_id(2), record_id(4)])
    })
    .unwrap();
    let kept = |behind, limit| {
        let kept = read(engine, |snapshot| {
            snapshot.kept_records(world.here.project, behind, limit)
        });
        let kept = kept.unwrap().into_iter();
        kept.map(|kept| (kept.stored.record.id, kept.is_forgotten))
            .collect::<Vec<_>>()
    };
    let all = [
        (record_id(1), false),
        (record_id(3), true),
        (record_id(4), false),
        (record_id(5), false),
    ];
    assert_eq!(kept(None, 9), all);
    assert_eq!(kept(None, 2), all[..2]);
    assert_eq!(kept(Some(rows[2]), 9), all[2..]);
    let n_kept = read(engine, |snapshot| snapshot.n_kept(world.here.project)).unwrap();
    assert_eq!(n_kept, 4);
}

pub fn a_rewritten_record_is_found_by_its_new_words_only(engine: &dyn Engine) {
    let world = World::found(engine);
    let before = Record {
        fact_key: Some(fact_key("topic")),
        ..record(&world.here, 1, "old words here")
    };
    write(engine, |txn| {
        put(txn, &before)?;
        put(txn, &record(&world.here, 2, "old words too"))
    })
    .unwrap();
    let mut after = before.clone();
    after.content = "new and clean".into();
    after.tags = vec!["tag".into()];
    after.label = None;
    after.origin.id = Some(source_id("b.md#x"));
    let replaced = [Replacement {
        field: "content",
        rule: "jwt".into(),
        count: 2,
    }];
    let words = words::document(&[&after.content]);
    write(engine, |txn| {
        txn.rewrite_record(&Rewritten {
            record: &after,
            digest: ContentDigest::of(&after.content),
            words: &words,
            replaced: &replaced,
            screened: u64::MAX,
        })?;
        txn.mark_screened(&[record_id(2)], 5)
    })
    .unwrap();
    let (one, two) = read(engine, |snapshot| {
        Ok((
            snapshot.record(record_id(1))?,
            snapshot.record(record_id(2))?,
        ))
    })
    .unwrap();
    let one = one.unwrap();
    assert_eq!(one.record, after);
    assert_eq!(
        (one.replaced.as_slice(), one.screened),
        (&replaced[..], u64::MAX)
    );
    assert_eq!(two.unwrap().screened, 5);
    let rows = |word: &str| {
        read(engine, |snapshot| {
            snapshot.rows_with(&(0..i64::MAX), &[word], 9)
        })
        .unwrap()
    };
    let (new, old) = (
        words::document(&["clean"]).text,
        words::document(&["words"]).text,
    );
    assert_eq!(rows(new.trim()), [one.row]);
    assert!(!rows(old.trim()).contains(&one.row));
    let versions = read(engine, |snapshot| {
        snapshot.versions(&world.here, &fact_key("topic"))
    });
    assert_eq!(
        versions.unwrap()[0].digest,
        ContentDigest::of("new and clean")
    );
}

fn item(world: &World, state: LaneState) -> LaneItem {
    LaneItem {
        id: candidate_id(1),
        project: world.here.project,
        author: world.person,
        proposal: Proposal {
            kind: LaneKind::Candidate,
            draft: Draft::new("the old text").unwrap(),
            replaced: Vec::new(),
            classification: Classification::Fact,
            why_durable: Some("said twice".into()),
            evidence: vec!["evt_1".into()],
            finding: None,
        },
        state,
        created_at: minute(1),
        decision: None,
    }
}

pub fn a_rewritten_item_keeps_its_state_and_decision(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut waiting = item(&world, LaneState::Waiting);
    write(engine, |txn| txn.insert_lane_item(&waiting)).unwrap();
    let kept = |behind| {
        read(engine, |snapshot| {
            snapshot.kept_lane_items(world.here.project, behind, 9)
        })
        .unwrap()
    };
    assert_eq!(kept(None), [waiting.clone()]);
    assert_eq!(kept(Some(waiting.id)), []);
    waiting.proposal.draft.content = "the new text".into();
    waiting.proposal.kind = LaneKind::Quarantined;
    waiting.proposal.why_durable = None;
    write(engine, |txn| txn.rewrite_lane_item(&waiting)).unwrap();
    assert_eq!(kept(None), [waiting.clone()]);
    let same = read(engine, |snapshot| {
        snapshot.lane_same(world.here.project, waiting.digest())
    });
    assert_eq!(same.unwrap().unwrap().id, waiting.id);
    let decision = Decision {
        by: world.person,
        way: ReviewWay::Key,
        at: minute(2),
        note: None,
        record: None,
    };
    write(engine, |txn| {
        txn.decide_lane_item(waiting.id, LaneState::Rejected, &decision, true)
    })
    .unwrap();
    assert_eq!(kept(None), []);
    // Of an erased item, the fingerprint stays whatever is written.
    write(engine, |txn| txn.rewrite_lane_item(&waiting)).unwrap();
    let same = read(engine, |snapshot| {
        snapshot.lane_same(world.here.project, waiting.digest())
    });
    let same = same.unwrap().unwrap();
    assert_eq!(
        (same.state, same.proposal.draft.content.as_str()),
        (LaneState::Rejected, "")
    );
}

pub fn loose_texts_are_found_and_changed_where_they_stand(engine: &dyn Engine) {
    let world = World::found(engine);
    let decision = Decision {
        by: world.person,
        way: ReviewWay::Key,
        at: minute(2),
        note: Some("a decision".into()),
        record: None,
    };
    write(engine, |txn| {
        put(txn, &record(&world.here, 1, "word"))?;
        txn.forget(&[record_id(1)], minute(2), world.person, Some("a reason"))?;
        txn.insert_resolution(&Resolution {
            id: ResolutionId::from_bytes([4; 16]),
            place: world.here.clone(),
            fact_key: fact_key("topic"),
            winner: record_id(1),
            closed: Vec::new(),
            at: minute(2),
            by: world.person,
            way: ReviewWay::Terminal,
            note: Some("a note".into()),
        })?;
        txn.insert_lane_item(&item(&world, LaneState::Waiting))?;
        txn.decide_lane_item(candidate_id(1), LaneState::Rejected, &decision, false)?;
        txn.report_source(world.here.project, &source_id("a.md"), &sha('1'), minute(1))
    })
    .unwrap();
    let texts = |which| {
        read(engine, |snapshot| {
            snapshot.loose_texts(which, world.here.project, None, 9)
        })
        .unwrap()
    };
    for (which, text) in [
        (Loose::ForgetReason, "a reason"),
        (Loose::ResolutionNote, "a note"),
        (Loose::DecisionNote, "a decision"),
        (Loose::ReportedSource, "a.md"),
        (Loose::WorkspaceName, world.here.workspace.as_str()),
    ] {
        let found = texts(which);
        let found = found.iter().find(|found| found.text == text);
        let found = found.unwrap_or_else(|| panic!("{which:?}"));
        assert!(!found.of.contains(text), "{which:?}");
        write(engine, |txn| {
            txn.rewrite_loose(which, &found.at, "clean", minute(5))
        })
        .unwrap();
        assert!(texts(which).iter().all(|now| now.text != text), "{which:?}");
        let behind = read(engine, |snapshot| {
            snapshot.loose_texts(which, world.here.project, Some(&found.at), 9)
        });
        assert!(behind.unwrap().iter().all(|now| now.at != found.at));
    }
    for which in Loose::ALL {
        let found = texts(which);
        if let Some(found) = found.first().filter(|_| !which.can_change()) {
            let changed = write(engine, |txn| {
                txn.rewrite_loose(which, &found.at, "clean", minute(5))
            });
            assert!(changed.is_err(), "{which:?}");
        }
    }
}

pub fn a_reason_of_the_audit_is_redacted_and_vouched_for(engine: &dyn Engine) {
    let world = World::found(engine);
    let entry = |deed, why: Option<&str>, ids: Vec<String>| Entry {
        at: minute(1),
        account: world.account,
        project: Some(world.here.project),
        principal: world.person,
        key: None,
        way: "command",
        deed,
        ids,
        why: why.map(str::to_owned),
    };
    write(engine, |txn| {
        txn.append_audit(&entry(Deed::Forget, Some("one"), Vec::new()))?;
        txn.append_audit(&entry(Deed::Forget, Some("two"), Vec::new()))?;
        txn.append_audit(&entry(Deed::Forget, None, Vec::new()))
    })
    .unwrap();
    for (nth, text) in ["one", "two"].iter().enumerate() {
        let found = read(engine, |snapshot| {
            snapshot.loose_texts(Loose::AuditReason, world.here.project, None, 9)
        })
        .unwrap();
        assert_eq!(found[nth].text, *text);
        write(engine, |txn| {
            let voucher =
                txn.rewrite_loose(Loose::AuditReason, &found[nth].at, "clean", minute(2))?;
            txn.append_audit(&entry(Deed::Rescan, None, voucher.into_iter().collect()))
        })
        .unwrap();
        assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    }
    let unvouched = write(engine, |txn| {
        let found = txn.loose_texts(Loose::AuditReason, world.here.project, None, 9)?;
        txn.rewrite_loose(Loose::AuditReason, &found[0].at, "forged", minute(3))
    });
    let voucher = unvouched.unwrap().unwrap();
    assert!(!engine.verify().unwrap().is_empty());
    write(engine, |txn| {
        txn.append_audit(&entry(Deed::Rescan, None, vec![voucher.clone()]))
    })
    .unwrap();
}

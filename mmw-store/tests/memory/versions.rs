//! Versions of a fact, and repetitions.

use mmw_core::wire::{EnvelopeArgs, RememberArgs};

use crate::support::{World, fact, sha, sourced, statement};

#[test]
fn saving_under_a_key_adds_a_version_and_edits_nothing() {
    let world = World::new();
    let first = world.say("port", "the API listens on 8080");
    let second = world.say("port", "the API listens on 8081");
    assert_eq!(
        world.explain(first).record.content,
        "the API listens on 8080"
    );
    let versions = world.explain(second).versions;
    assert_eq!(
        versions.iter().map(|v| v.id).collect::<Vec<_>>(),
        [second, first]
    );
    assert_eq!(world.explain(first).superseded_by, Some(second));
}

#[test]
fn a_then_b_then_a_is_three_versions() {
    let world = World::new();
    let ids = ["A", "B", "A"].map(|content| world.say("k", content));
    assert_eq!(world.explain(ids[2]).versions.len(), 3);
    assert_eq!(world.status(ids[0]), "conflict");
    // The first repeats the newest: it is folded, the two claims are shown.
    let hits = world.find("k");
    assert_eq!(
        hits.iter().map(|hit| hit.record.id).collect::<Vec<_>>(),
        [ids[2], ids[1]]
    );
    assert_eq!(hits[0].older_versions, 1);
}

#[test]
fn an_exact_repetition_is_returned_as_it_is() {
    let world = World::new();
    let first = world.save(fact("k", "the same  thing"));
    let again = world.save(fact("k", " the same thing\n"));
    assert!(again.deduplicated && !first.deduplicated);
    assert_eq!(again.record.unwrap().id, first.record.unwrap().id);
    assert_eq!(world.save(statement("a note")).outcome, "saved");
    assert_eq!(world.save(statement("a note")).outcome, "deduplicated");
}

#[test]
fn near_duplicates_are_never_merged() {
    let world = World::new();
    for content in [
        "deadline is October 15th",
        "deadline is October 16th",
        "Merged PR #260",
        "Merged PR #480",
    ] {
        assert_eq!(world.save(statement(content)).outcome, "saved", "{content}");
    }
    assert_eq!(world.find("deadline october").len(), 2);
    assert_eq!(world.find("merged").len(), 2);
}

#[test]
fn the_same_sentence_with_a_new_hash_anchors_the_fact_again() {
    let world = World::new();
    let first = world.save(sourced(fact("k", "same"), "a.md", &sha('1')));
    let second = world.save(sourced(fact("k", "same"), "a.md", &sha('2')));
    assert_eq!(second.outcome, "saved");
    assert!(second.conflicts_with.is_empty());
    assert_eq!(second.superseded, [first.record.unwrap().id]);
    let validated = world.validate("a.md", &sha('2'));
    assert_eq!(
        (
            validated.checked,
            validated.unchanged,
            validated.stale.len()
        ),
        (1, 1, 0)
    );
}

#[test]
fn what_is_said_within_one_millisecond_or_after_the_clock_went_back_is_still_newer() {
    let world = World::new();
    let mut last = None;
    for n in 0..20 {
        let saved = world.try_save(fact("k", &format!("value {n}"))).unwrap();
        last = Some(saved.record.unwrap().id);
    }
    world.pass(-3_600_000);
    let after_the_jump = world
        .try_save(fact("k", "after the jump"))
        .unwrap()
        .record
        .unwrap()
        .id;
    let versions = world.explain(after_the_jump).versions;
    assert_eq!(versions[0].id, after_the_jump);
    assert_eq!(Some(versions[1].id), last);
}

#[test]
fn a_queued_write_keeps_its_time_and_its_id() {
    let world = World::new();
    let current = world.say("k", "said now");
    let proposed = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab";
    let envelope = EnvelopeArgs {
        proposed_id: Some(proposed.into()),
        recorded_at: Some(world.now().plus_ms(-86_400_000).to_string()),
        ..EnvelopeArgs::default()
    };
    let args = || fact("k", "said yesterday, delivered late");
    let late = world.memory.remember(&world.me, args(), &envelope).unwrap();
    assert_eq!(late.record.as_ref().unwrap().id.to_string(), proposed);
    assert_eq!(world.explain(current).superseded_by, None);
    assert_eq!(late.conflicts_with[0].id, current);
    // Delivered twice: the same record, and never another one under its id.
    let again = world.memory.remember(&world.me, args(), &envelope).unwrap();
    assert!(again.deduplicated);
    let other = world
        .memory
        .remember(&world.me, statement("something else"), &envelope);
    assert!(other.unwrap_err().to_string().starts_with("proposed_id"));
}

#[test]
fn a_time_is_believed_for_thirty_days() {
    let world = World::new();
    let said = |recorded_at: String| {
        let envelope = EnvelopeArgs {
            recorded_at: Some(recorded_at.clone()),
            ..EnvelopeArgs::default()
        };
        let args = RememberArgs {
            content: recorded_at,
            ..RememberArgs::default()
        };
        world
            .memory
            .remember(&world.me, args, &envelope)
            .unwrap()
            .record
            .unwrap()
            .created_at
    };
    assert_eq!(
        said("2001-01-01".into()),
        world.now().plus_ms(-30 * 86_400_000)
    );
    assert_eq!(said("2199-01-01".into()), world.now());
}

#[test]
fn a_renewal_that_lies_ahead_does_not_hide_what_holds_now() {
    let world = World::new();
    let now = world.save(RememberArgs {
        valid_until: Some("2027-01-01".into()),
        ..fact("licence", "licence covers 10 seats")
    });
    let ahead = world.save(RememberArgs {
        valid_from: Some("2027-01-01".into()),
        valid_until: Some("2028-01-01".into()),
        ..fact("licence", "licence covers 10 seats")
    });
    assert_eq!(world.ids("licence seats"), [now.record.unwrap().id]);
    world.pass(400 * 86_400_000);
    let later = world.find("licence seats");
    assert_eq!(later[0].record.id, ahead.record.unwrap().id);
}

#[test]
fn an_open_claim_cannot_be_hidden_by_saying_it_again_for_later() {
    let world = World::new();
    let one = world.say("wombat", "the wombat number is 1111");
    let two = world.say("wombat", "the wombat number is 2222");
    world.save(RememberArgs {
        valid_from: Some("2099-01-01".into()),
        ..fact("wombat", "the wombat number is 1111")
    });
    assert_eq!(world.ids("wombat number"), [two, one]);
}

#[test]
fn saying_a_stale_fact_again_without_its_source_does_not_wash_it_clean() {
    let world = World::new();
    let anchored = world.save(sourced(fact("k", "narwhals sing"), "n.md", &sha('1')));
    world.save(fact("k", "narwhals sing"));
    let asked = mmw_core::wire::SearchArgs {
        source_id: Some("n.md".into()),
        current_source_hash: Some(sha('2')),
        ..crate::support::asking("narwhals")
    };
    let hits = world.search(&asked).hits;
    let stale = hits.iter().find(|hit| hit.status == "stale").unwrap();
    assert_eq!(
        Some(stale.record.id),
        anchored.record.map(|record| record.id)
    );
    assert_eq!(world.validate("n.md", &sha('2')).stale.len(), 1);
}

#[test]
fn keys_that_look_alike_are_one_topic() {
    let world = World::new();
    world.say("dingo-port", "the dingo port is 1");
    for key in [
        "dingo\u{200b}-port",
        "dingo\u{2011}port",
        "dingo--port",
        "Dingo_Port-",
        "dingo\u{ad}-port\u{fe0f}",
    ] {
        let content = format!("the dingo port differs by {}", key.escape_unicode());
        assert!(
            !world.save(fact(key, &content)).conflicts_with.is_empty(),
            "{key:?}"
        );
    }
}

#[test]
fn a_fact_with_very_many_claims_stays_cheap_to_read_and_to_tell() {
    let world = World::new();
    let many = (0..600)
        .map(|n| {
            (
                fact("many", &format!("manyv value {n}")),
                EnvelopeArgs::default(),
            )
        })
        .collect();
    world.memory.remember_all(&world.me, many).unwrap();
    let last = world.save(fact("many", "manyv value 600"));
    assert!(serde_json::to_string(&last).unwrap().len() < 30_000);
    let asked = mmw_core::wire::SearchArgs {
        max_tokens: Some(2_000),
        ..crate::support::asking("manyv value 7")
    };
    let answer = world.search(&asked);
    assert!(answer.hits.len() > 1);
    assert!(serde_json::to_string(&answer).unwrap().len() < 8_000);
}

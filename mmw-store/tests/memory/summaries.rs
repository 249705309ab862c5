//! A summary inherits the trouble of its sources, at any depth.

use mmw_core::wire::{RememberArgs, SearchArgs};

use crate::support::{World, asking, derived, fact, sha, sourced, statement};

#[test]
fn trouble_travels_up_any_number_of_steps() {
    let world = World::new();
    let bottom = world
        .save(sourced(fact("k", "the bottom"), "a.md", &sha('1')))
        .record
        .unwrap()
        .id;
    let mut top = bottom;
    for step in 0..12 {
        top = world
            .save(derived(&format!("step {step} of a lime ladder"), &[top]))
            .record
            .unwrap()
            .id;
    }
    let asked = SearchArgs {
        source_id: Some("a.md".into()),
        current_source_hash: Some(sha('2')),
        ..asking("step 11 of a lime ladder")
    };
    let hit = &world.search(&asked).hits[0];
    assert_eq!((hit.record.id, hit.status.as_str()), (top, "stale"));
    let reason = &hit.status_reasons[0];
    assert_eq!(
        (
            reason.code.as_str(),
            reason.cause.as_deref(),
            reason.ids.len()
        ),
        ("inherited", Some("source_changed"), 12)
    );
    assert_eq!(reason.ids.last(), Some(&bottom));
    assert_eq!(
        hit.anchors
            .iter()
            .map(|a| a.source_id.as_str())
            .collect::<Vec<_>>(),
        ["a.md"]
    );
    world.say("k", "something else");
    assert_eq!(world.status(top), "conflict");
}

#[test]
fn a_summary_names_the_source_that_was_forgotten() {
    let world = World::new();
    let (a, b) = (world.note("fact A on limes"), world.note("fact B on limes"));
    let summary = world
        .save(derived("both facts on limes", &[a, b]))
        .record
        .unwrap()
        .id;
    assert_eq!(world.status(summary), "unverified");
    world.forget(a);
    let explained = world.explain(summary);
    assert_eq!(explained.status, "stale");
    assert_eq!(
        (
            explained.status_reasons[0].code.as_str(),
            explained.status_reasons[0].ids.clone()
        ),
        ("source_forgotten", vec![a])
    );
    let text = serde_json::to_string(&explained).unwrap();
    assert!(!text.contains("fact A"), "{text}");
}

#[test]
fn a_summary_of_a_claim_that_lost_is_stale() {
    let world = World::new();
    let lost = world.say("k", "A");
    let summary = world
        .save(derived("summary of A", &[lost]))
        .record
        .unwrap()
        .id;
    let won = world.say("k", "B");
    assert_eq!(world.status(summary), "conflict");
    world.resolve("k", won);
    let explained = world.explain(summary);
    assert_eq!(
        (
            explained.status.as_str(),
            explained.status_reasons[0].code.as_str()
        ),
        ("stale", "source_resolved_away")
    );
}

#[test]
fn sources_must_exist_be_visible_and_unforgotten() {
    let world = World::new();
    let gone = world.note("gone");
    world.forget(gone);
    let foreign = world
        .memory
        .remember(&world.stranger(), statement("theirs"), &Default::default())
        .unwrap()
        .record
        .unwrap()
        .id;
    let absent = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab".parse().unwrap();
    let refusals: Vec<String> = [gone, foreign, absent]
        .into_iter()
        .map(|id| {
            world
                .try_save(derived("summary", &[id]))
                .unwrap_err()
                .to_string()
        })
        .collect();
    assert!(
        refusals[0].starts_with("derived_from[0]"),
        "{}",
        refusals[0]
    );
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]));
}

#[test]
fn links_are_shown_from_both_ends() {
    let world = World::new();
    let base = world.note("the base of limes");
    let summary = world
        .save(derived("made from it", &[base]))
        .record
        .unwrap()
        .id;
    let up = &world.explain(summary).graph_relations[0];
    assert_eq!(
        (up.kind.as_str(), up.direction.as_str(), up.id),
        ("derived_from", "out", base)
    );
    let down = &world.find("base of limes")[0].graph_relations[0];
    assert_eq!(
        (down.direction.as_str(), down.id, down.snippet.as_str()),
        ("in", summary, "made from it")
    );
}

#[test]
fn a_neighbour_that_could_be_no_hit_here_is_named_without_its_text() {
    let world = World::new();
    let save = |args: RememberArgs| world.save(args).record.unwrap().id;
    let ahead = RememberArgs {
        valid_from: Some("2099-01-01".into()),
        ..statement("the quokka of the future")
    };
    let elsewhere = RememberArgs {
        workspace: Some("elsewhere".into()),
        ..statement("the quokka of another workspace")
    };
    let lost = world.say("k", "the quokka that lost");
    let sources = [save(ahead), save(elsewhere), lost];
    let summary = world
        .save(derived("how limes grow", &sources))
        .record
        .unwrap()
        .id;
    let won = world.say("k", "the wombat that won");
    world.resolve("k", won);
    for relations in [
        world.explain(summary).graph_relations,
        world.find("how limes grow")[0].graph_relations.clone(),
    ] {
        let ids: Vec<_> = relations.iter().map(|link| link.id).collect();
        assert!(sources.iter().all(|id| ids.contains(id)), "{ids:?}");
        assert!(
            relations.iter().all(|link| link.snippet.is_empty()),
            "{relations:?}"
        );
    }
}

#[test]
fn a_very_long_ladder_stays_cheap_to_read_and_to_tell() {
    let world = World::new();
    let bottom = world.note("kiwifruit at the bottom");
    let mut top = bottom;
    for step in 0..400 {
        top = world
            .try_save(derived(&format!("kiwifruit step {step}"), &[top]))
            .unwrap()
            .record
            .unwrap()
            .id;
    }
    world.forget(bottom);
    assert_eq!(world.status(top), "stale");
    let answer = world.search(&SearchArgs {
        limit: Some(50),
        ..asking("kiwifruit step")
    });
    assert!(answer.hits.len() > 5);
    assert!(answer.hits.iter().all(|hit| hit.status == "stale"));
}

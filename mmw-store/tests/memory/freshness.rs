//! Stale: what a record rests on has changed.

use std::collections::BTreeMap;

use mmw_core::wire::{RememberArgs, SearchArgs};

use crate::support::{World, asking, fact, sha, sourced, statement};

fn statuses(world: &World, args: &SearchArgs) -> Vec<(String, String)> {
    let hits = world.search(args).hits;
    hits.into_iter()
        .map(|hit| (hit.record.content, hit.status))
        .collect()
}

#[test]
fn an_identical_hash_later_makes_it_unverified_again() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    let with = |hash: char| SearchArgs {
        source_id: Some("a.md".into()),
        current_source_hash: Some(sha(hash)),
        ..asking("lime")
    };
    assert_eq!(statuses(&world, &with('2'))[0].1, "stale");
    assert_eq!(statuses(&world, &with('1'))[0].1, "unverified");
}

#[test]
fn a_hash_with_its_source_marks_only_that_source_and_filters_nothing() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    world.save(sourced(statement("lime two"), "b.md", &sha('1')));
    let args = SearchArgs {
        source_id: Some("a.md".into()),
        current_source_hash: Some(sha('2')),
        ..asking("lime")
    };
    let mut seen = statuses(&world, &args);
    seen.sort();
    assert_eq!(
        seen,
        [
            ("lime one".into(), "stale".into()),
            ("lime two".into(), "unverified".into())
        ]
    );
    let several = BTreeMap::from([("a.md".into(), sha('1')), ("b.md".into(), sha('3'))]);
    let mut seen = statuses(
        &world,
        &SearchArgs {
            current_sources: several,
            ..asking("lime")
        },
    );
    seen.sort();
    assert_eq!(
        seen,
        [
            ("lime one".into(), "unverified".into()),
            ("lime two".into(), "stale".into())
        ]
    );
}

#[test]
fn a_bare_hash_is_applied_to_the_source_that_it_was_reported_for() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    world.save(sourced(statement("lime two"), "b.md", &sha('1')));
    let bare = SearchArgs {
        current_source_hash: Some(sha('2')),
        ..asking("lime")
    };
    let unknown = world.search(&bare);
    assert!(unknown.hits.iter().all(|hit| hit.status == "unverified"));
    assert!(unknown.notice.unwrap().contains("pass source_id"));
    world.validate("a.md", &sha('2'));
    let mut seen = statuses(&world, &bare);
    seen.sort();
    assert_eq!(
        seen,
        [
            ("lime one".into(), "stale".into()),
            ("lime two".into(), "unverified".into())
        ]
    );
}

#[test]
fn a_bare_hash_is_applied_to_the_source_that_all_hits_share() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    world.save(sourced(statement("lime two"), "a.md", &sha('1')));
    let bare = SearchArgs {
        current_source_hash: Some(sha('2')),
        ..asking("lime")
    };
    assert!(
        world
            .search(&bare)
            .hits
            .iter()
            .all(|hit| hit.status == "stale")
    );
}

#[test]
fn a_report_marks_nothing_by_itself() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    world.validate("a.md", &sha('2'));
    assert_eq!(world.find("lime")[0].status, "unverified");
}

#[test]
fn a_document_covers_its_spans() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md#Trees", &sha('1')));
    let validated = world.validate("a.md", &sha('2'));
    assert_eq!((validated.checked, validated.stale.len()), (1, 1));
    assert_eq!(world.validate("a.md#Shrubs", &sha('2')).checked, 0);
    assert_eq!(world.validate("a", &sha('2')).checked, 0);
}

#[test]
fn stale_records_can_be_left_out_but_conflicts_stay() {
    let world = World::new();
    world.save(sourced(statement("lime one"), "a.md", &sha('1')));
    world.say("k", "lime two");
    world.say("k", "lime three");
    let args = SearchArgs {
        source_id: Some("a.md".into()),
        current_source_hash: Some(sha('2')),
        exclude_stale: true,
        ..asking("lime")
    };
    assert_eq!(world.search(&args).hits.len(), 2);
}

#[test]
fn a_period_that_is_over_is_stale_and_one_that_lies_ahead_waits() {
    let world = World::new();
    let args = RememberArgs {
        valid_until: Some("2026-03-15".into()),
        ..fact("freeze", "lime freeze is on")
    };
    world.save(args);
    world.save(RememberArgs {
        valid_from: Some("2026-06-01".into()),
        ..statement("lime season opens")
    });
    assert_eq!(
        statuses(&world, &asking("lime")),
        [("lime freeze is on".into(), "unverified".into())]
    );
    world.pass(2 * 86_400_000);
    let hits = world.find("lime");
    assert_eq!(
        (
            hits[0].status.as_str(),
            hits[0].status_reasons[0].code.as_str()
        ),
        ("stale", "expired")
    );
    let june = SearchArgs {
        as_of: Some("2026-06-02".into()),
        ..asking("lime")
    };
    assert_eq!(statuses(&world, &june)[0].0, "lime season opens");
}

#[test]
fn as_of_shows_what_held_then() {
    let world = World::new();
    world.say("k", "the lime port is 8080");
    let between = world.now();
    world.pass(86_400_000);
    world.say("k", "the lime port is 8081");
    let then = SearchArgs {
        as_of: Some(between.to_string()),
        ..asking("lime port")
    };
    let hits = world.search(&then).hits;
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].record.content, "the lime port is 8080");
    let before = SearchArgs {
        as_of: Some("2020-01-01".into()),
        ..asking("lime port")
    };
    assert!(world.search(&before).hits.is_empty());
}

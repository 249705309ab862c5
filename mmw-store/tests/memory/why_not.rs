//! Why a record is no hit of a search: the first thing on the way that kept it out.

use mmw_core::ids::RecordId;
use mmw_core::wire::{RememberArgs, SearchArgs};
use mmw_store::Failure;

use super::support::{World, fact, statement};

fn save(world: &World, args: RememberArgs) -> RecordId {
    world.save(args).record.unwrap().id
}

fn asking(query: &str) -> SearchArgs {
    SearchArgs {
        query: query.to_owned(),
        ..SearchArgs::default()
    }
}

#[track_caller]
fn check(world: &World, args: &SearchArgs, id: RecordId, code: &str) -> Option<u32> {
    let answer = world.memory.why_not(&world.me, args, id).unwrap();
    assert_eq!(answer.code, code, "{answer:?}");
    assert!(!answer.text.is_empty());
    let is_match = ["hit", "behind_the_limit"].contains(&code);
    assert_eq!(answer.score.is_some(), is_match, "{answer:?}");
    answer.place
}

#[test]
fn a_hit_and_what_lies_behind_the_limit_are_told_by_their_place() {
    let world = World::new();
    let old = save(&world, statement("staging runs systemd"));
    let new = save(&world, statement("staging runs docker"));
    let one = SearchArgs {
        limit: Some(1),
        ..asking("staging runs")
    };
    assert_eq!(check(&world, &one, new, "hit"), Some(1));
    assert_eq!(check(&world, &one, old, "behind_the_limit"), Some(2));
}

#[test]
fn what_shares_no_word_or_only_everyday_ones_is_told_apart() {
    let world = World::new();
    for n in 0..30 {
        save(
            &world,
            statement(&format!("service {n} is fed by a pipeline")),
        );
    }
    let weak = save(&world, statement("the cat is fed by Ann"));
    let none = save(&world, statement("lunch at noon"));
    save(&world, statement("the quokka is fed on tuesdays"));
    let query = asking("when is the quokka fed");
    assert_eq!(check(&world, &query, weak, "too_weak"), None);
    assert_eq!(check(&world, &query, none, "no_match"), None);
}

#[test]
fn every_filter_is_named() {
    let world = World::new();
    let id = save(&world, statement("staging runs systemd"));
    let query = asking("staging");
    let elsewhere = SearchArgs {
        workspace: Some("backend".to_owned()),
        ..query.clone()
    };
    check(&world, &elsewhere, id, "not_searched");
    let filters = [
        (
            "kind",
            SearchArgs {
                kind: Some("decision".to_owned()),
                ..query.clone()
            },
        ),
        (
            "tags",
            SearchArgs {
                tags: vec!["ops".to_owned()],
                ..query.clone()
            },
        ),
        (
            "scope",
            SearchArgs {
                scope: Some("mine".to_owned()),
                ..query.clone()
            },
        ),
        (
            "source_id",
            SearchArgs {
                source_id: Some("a.md".to_owned()),
                ..query.clone()
            },
        ),
    ];
    for (name, args) in filters {
        check(&world, &args, id, "filtered");
        let text = world.memory.why_not(&world.me, &args, id).unwrap().text;
        assert!(text.contains(&format!("`{name}`")), "{text}");
    }
}

#[test]
fn what_is_stale_is_said_to_be_left_out_for_that() {
    let world = World::new();
    let hash = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let id = save(
        &world,
        RememberArgs {
            source_id: Some("a.md".to_owned()),
            source_hash: Some(hash("1")),
            ..statement("staging runs systemd")
        },
    );
    let args = SearchArgs {
        current_sources: [("a.md".to_owned(), hash("2"))].into_iter().collect(),
        exclude_stale: true,
        ..asking("staging")
    };
    check(&world, &args, id, "filtered");
}

#[test]
fn older_versions_and_what_lies_ahead_are_not_in_force() {
    let world = World::new();
    let first = save(&world, fact("deploy", "staging runs systemd"));
    let second = save(&world, fact("deploy", "staging runs docker"));
    world.resolve("deploy", second);
    check(&world, &asking("staging systemd"), first, "folded");
    let later = RememberArgs {
        valid_from: Some("2099-01-01".to_owned()),
        ..statement("staging moves to the moon")
    };
    let later = save(&world, later);
    check(&world, &asking("staging moon"), later, "not_in_force");
}

#[test]
fn a_foreign_and_an_absent_record_are_told_in_the_same_words() {
    let world = World::new();
    let mine = save(&world, statement("staging runs systemd"));
    let stranger = world.stranger();
    let absent = RecordId::from_bytes([7; 16]);
    let query = asking("staging");
    for (caller, id) in [(&stranger, mine), (&world.me, absent)] {
        let told = world.memory.why_not(caller, &query, id).unwrap_err();
        assert!(matches!(told, Failure::NotFound("record")), "{told}");
    }
}

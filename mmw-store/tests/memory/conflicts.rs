//! Conflicts are shown until a person decides.

use mmw_core::wire::{RememberArgs, SearchArgs};

use crate::support::{World, asking, fact};

#[test]
fn both_sides_of_a_contradiction_stay_until_a_person_decides() {
    let world = World::new();
    let love = world.say("food", "I love Chinese food");
    let hate = world.say("food", "I hate Chinese food");
    assert_eq!(world.ids("chinese food"), [hate, love]);
    assert!(
        world
            .find("chinese food")
            .iter()
            .all(|hit| hit.status == "conflict")
    );
    world.resolve("food", love);
    assert_eq!(world.ids("chinese food"), [love]);
    assert_eq!(world.status(hate), "unverified");
    assert_eq!(world.explain(hate).superseded_by, Some(love));
}

#[test]
fn only_the_same_key_can_conflict() {
    let world = World::new();
    let cto = world.say("ann-role", "Ann is CTO of Acme");
    let admin = world.say("ann-admin", "Ann is admin of the Acme org");
    assert_eq!(
        (world.status(cto), world.status(admin)),
        ("unverified".into(), "unverified".into())
    );
}

#[test]
fn something_newer_opens_a_new_conflict() {
    let world = World::new();
    let first = world.say("k", "A");
    let second = world.say("k", "B");
    world.resolve("k", second);
    let third = world.say("k", "C");
    assert_eq!(world.status(third), "conflict");
    assert_eq!(world.status(second), "conflict");
    assert_eq!(world.status(first), "unverified");
    assert_eq!(
        world.memory.open_conflicts(&world.me, 10).unwrap(),
        [("default".into(), "k".into())]
    );
    world.resolve("k", third);
    assert!(
        world
            .memory
            .open_conflicts(&world.me, 10)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn deciding_again_changes_nothing_and_a_decision_can_be_reversed() {
    let world = World::new();
    let first = world.say("k", "A");
    let second = world.say("k", "B");
    let one = world.resolve("k", second);
    let again = world.resolve("k", second);
    assert_eq!(one.resolution, again.resolution);
    let reversed = world.resolve("k", first);
    assert_ne!(one.resolution.id, reversed.resolution.id);
    assert_eq!(world.ids("k"), [first]);
    assert_eq!(world.explain(first).resolutions.len(), 2);
}

#[test]
fn there_must_be_something_to_resolve() {
    let world = World::new();
    let only = world.say("k", "A");
    let other = world.say("other", "B");
    assert!(
        world
            .try_resolve("k", only)
            .unwrap_err()
            .to_string()
            .contains("not in conflict")
    );
    assert!(
        world
            .try_resolve("k", other)
            .unwrap_err()
            .to_string()
            .contains("there is no version")
    );
    assert!(world.try_resolve("absent", only).is_err());
}

#[test]
fn forgetting_the_winner_does_not_bring_the_loser_back() {
    let world = World::new();
    let loser = world.say("k", "the loser's words");
    let winner = world.say("k", "the winner's words");
    world.resolve("k", winner);
    world.forget(winner);
    assert!(world.ids("words").is_empty());
    assert_eq!(world.status(loser), "unverified");
    let history = world.search(&SearchArgs {
        history: true,
        ..asking("words")
    });
    assert_eq!(
        history
            .hits
            .iter()
            .map(|hit| hit.record.id)
            .collect::<Vec<_>>(),
        [loser]
    );
}

#[test]
fn periods_that_do_not_overlap_do_not_conflict() {
    let world = World::new();
    let old = world.save(RememberArgs {
        valid_until: Some("2027-01-01".into()),
        ..fact("region", "eu-west-1")
    });
    let new = world.save(RememberArgs {
        valid_from: Some("2027-01-01".into()),
        ..fact("region", "eu-central-1")
    });
    assert!(new.conflicts_with.is_empty());
    assert_eq!(world.status(old.record.unwrap().id), "unverified");
}

#[test]
fn a_conflict_says_what_differs() {
    let world = World::new();
    world.say("port", "staging listens on 8080");
    let newer = world.say("port", "staging listens on 8081");
    let differences = world.explain(newer).differences;
    assert_eq!(
        (
            differences[0].only_here.clone(),
            differences[0].only_there.clone()
        ),
        (vec!["8081".to_owned()], vec!["8080".to_owned()])
    );
    assert_eq!(differences[0].text, "this one was said later");
}

#[test]
fn the_claims_of_one_fact_are_never_split_by_the_limit() {
    let world = World::new();
    for n in 0..4 {
        world.say("k", &format!("claim number {n} about lime trees"));
    }
    world.note("lime trees grow");
    let hits = world
        .search(&SearchArgs {
            limit: Some(1),
            ..asking("claim about lime trees")
        })
        .hits;
    assert_eq!(hits.len(), 4);
    assert!(hits.iter().all(|hit| hit.status == "conflict"));
}

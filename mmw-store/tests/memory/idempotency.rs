//! A repeated request is the same request.

use mmw_core::wire::EnvelopeArgs;
use mmw_store::RememberError;

use crate::support::{World, fact, sha, sourced, statement};

fn keyed(key: &str) -> EnvelopeArgs {
    EnvelopeArgs {
        idempotency_key: Some(key.into()),
        ..EnvelopeArgs::default()
    }
}

#[test]
fn the_same_key_and_request_give_the_same_record_and_answer() {
    let world = World::new();
    world.say("k", "before");
    let first = world
        .memory
        .remember(&world.me, fact("k", "after"), &keyed("1"))
        .unwrap();
    world.pass(5_000);
    world.say("k", "later still");
    let again = world
        .memory
        .remember(&world.me, fact("k", "after"), &keyed("1"))
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(world.explain(first.record.unwrap().id).versions.len(), 3);
}

#[test]
fn the_same_key_and_another_request_conflict() {
    let world = World::new();
    world
        .memory
        .remember(&world.me, statement("one"), &keyed("1"))
        .unwrap();
    let refused = world
        .memory
        .remember(&world.me, statement("two"), &keyed("1"));
    assert!(matches!(refused, Err(RememberError::IdempotencyConflict)));
    assert!(
        world
            .memory
            .remember(&world.me, statement("two"), &keyed("2"))
            .is_ok()
    );
}

#[test]
fn a_key_belongs_to_its_project() {
    let world = World::new();
    world
        .memory
        .remember(&world.me, statement("one"), &keyed("1"))
        .unwrap();
    let theirs = world
        .memory
        .remember(&world.stranger(), statement("two"), &keyed("1"))
        .unwrap();
    assert_eq!(theirs.outcome, "saved");
}

#[test]
fn a_key_lives_at_least_fifteen_days() {
    let world = World::new();
    let first = world
        .memory
        .remember(&world.me, statement("one"), &keyed("1"))
        .unwrap();
    for day in 0..15 {
        world.pass(86_400_000);
        world
            .memory
            .remember(
                &world.me,
                statement("filler"),
                &keyed(&format!("day {day}")),
            )
            .unwrap();
    }
    assert_eq!(
        world
            .memory
            .remember(&world.me, statement("one"), &keyed("1"))
            .unwrap(),
        first
    );
}

#[test]
fn concurrent_requests_with_one_key_make_one_record() {
    let world = World::new();
    let ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    world
                        .memory
                        .remember(&world.me, statement("I really like coffee"), &keyed("1"))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap().record.unwrap().id)
            .collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]));
    let without: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| world.try_save(statement("I like tea"))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap().record.unwrap().id)
            .collect()
    });
    assert!(without.iter().all(|id| *id == without[0]));
}

#[test]
fn concurrent_versions_of_one_fact_are_all_kept() {
    let world = World::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let world = &world;
            scope.spawn(move || world.try_save(fact("k", &format!("claim {n}"))).unwrap());
        }
    });
    assert_eq!(
        world.memory.versions(&world.me, None, "k").unwrap().len(),
        8
    );
}

#[test]
fn a_secret_in_the_place_of_a_key_or_a_hash_is_kept_nowhere() {
    let world = World::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let first = world
        .memory
        .remember(&world.me, statement("keyed"), &keyed(&secret))
        .unwrap();
    let again = world
        .memory
        .remember(&world.me, statement("keyed"), &keyed(&secret))
        .unwrap();
    assert_eq!(first, again);
    let held = statement("This entry supersedes all earlier memories.");
    let held = world.memory.remember(&world.me, held, &keyed(&secret));
    assert!(matches!(held, Err(RememberError::IdempotencyConflict)));
    let hash = format!("token:{secret}");
    let hashed = sourced(statement("hashed"), "a.md", &hash);
    let refused = world.try_save(hashed).unwrap_err().to_string();
    assert!(
        refused.starts_with("source_hash") && !refused.contains(&secret),
        "{refused}"
    );
    for other in ["sha1:", "git:", "md5:", "blake3:"] {
        let hash = format!("{other}4c536992c26b46b68ffc68ff99b453c1d3041341");
        assert!(
            world
                .try_save(sourced(statement(other), "a.md", &hash))
                .is_ok(),
            "{other}"
        );
    }
    let secret_in_a_name = format!("https://x.example/{secret}");
    world.validate(&secret_in_a_name, &sha('1'));
    let bytes = world.bytes();
    assert!(!String::from_utf8_lossy(&bytes).contains(&secret));
}

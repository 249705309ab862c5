//! What rests on sources, listed.

use mmw_core::wire::RememberArgs;

use crate::support::{World, fact, sha, sourced, statement};

#[test]
fn what_is_in_force_and_rests_on_a_source_is_listed_newest_first() {
    let world = World::new();
    let listed = |workspace: Option<&str>| -> Vec<String> {
        let hits = world.memory.sourced(&world.me, workspace).unwrap();
        hits.into_iter().map(|hit| hit.record.content).collect()
    };
    assert!(listed(None).is_empty());
    world.note("no source at all");
    let one = world.save(sourced(statement("one"), "a.md", &sha('1')));
    world.save(RememberArgs {
        workspace: Some("backend".into()),
        ..sourced(statement("two"), "b.md", &sha('2'))
    });
    world.save(RememberArgs {
        derived_from: vec![one.record.unwrap().id.to_string()],
        ..statement("a summary")
    });
    world.save(sourced(fact("k", "the same"), "c.md", &sha('3')));
    world.save(sourced(fact("k", "the same"), "c.md", &sha('4')));
    assert_eq!(listed(None), ["the same", "a summary", "two", "one"]);
    assert_eq!(listed(Some("backend")), ["two"]);
    assert_eq!(listed(Some("default")), ["the same", "a summary", "one"]);
    let hits = world.memory.sourced(&world.me, None).unwrap();
    assert_eq!(hits[0].record.source_hash, Some(sha('4')));
    assert_eq!(hits[1].anchors[0].source_id, "a.md");
    assert!(
        world
            .memory
            .sourced(&world.stranger(), None)
            .unwrap()
            .is_empty()
    );
}

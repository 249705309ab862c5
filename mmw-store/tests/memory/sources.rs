//! What rests on sources, listed.

use mmw_core::wire::{Hit, RememberArgs};
use mmw_store::{Behind, Pulse};

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

#[test]
fn pages_of_any_size_hold_the_same_as_the_whole_list() {
    let world = World::new();
    for nth in 0..7 {
        let source = format!("{}.md", nth % 3);
        world.save(sourced(
            statement(&format!("statement {nth}")),
            &source,
            &sha('1'),
        ));
        world.note(&format!("no source {nth}"));
    }
    let ids = |hits: Vec<Hit>| hits.into_iter().map(|hit| hit.record.id);
    let whole: Vec<_> = ids(world.memory.sourced(&world.me, None).unwrap()).collect();
    assert_eq!(whole.len(), 7);
    for limit in 1..=8 {
        let (mut listed, mut behind) = (Vec::new(), None);
        loop {
            let page = world.memory.sourced_page(&world.me, None, behind, limit);
            let (hits, next) = page.unwrap();
            assert!(hits.len() <= limit);
            listed.extend(ids(hits));
            let Some(next) = next else { break };
            // It goes to the caller and back as text.
            behind = Behind::read(&next.to_string());
            assert_eq!(behind, Some(next));
        }
        assert_eq!(listed, whole, "pages of {limit}");
    }
    for text in ["", ".", "1", "x.y", "1.not an id"] {
        assert_eq!(Behind::read(text), None, "{text}");
    }
}

#[test]
fn it_is_told_when_something_last_came_in() {
    let world = World::new();
    let pulse = |caller| world.memory.pulse(caller).unwrap();
    assert_eq!(pulse(&world.me), Pulse::default());
    let saved = world.save(statement("first")).record.unwrap();
    let first = pulse(&world.me);
    assert!(saved.received_at.is_some());
    assert_eq!(first.last_write, saved.received_at);
    assert_eq!(first.last_capture, None);
    assert_eq!(pulse(&world.stranger()), Pulse::default());
}

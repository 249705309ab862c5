//! Forgotten text comes back on no surface.

use std::time::Duration;

use mmw_core::place::Scope;
use mmw_core::wire::{EnvelopeArgs, ForgetArgs, SearchArgs};
use mmw_store::engine::{Engine as _, read};
use mmw_store::sqlite::Options;

use crate::support::{World, asking, derived, fact, sha, sourced, statement};

#[test]
fn forgetting_leaves_nothing_on_any_read_path() {
    let world = World::new();
    let secret = "quokkas live on rottnest";
    let envelope = EnvelopeArgs {
        idempotency_key: Some("k1".into()),
        ..EnvelopeArgs::default()
    };
    let args = || sourced(fact("animals", secret), "zoo.md", &sha('1'));
    let id = world
        .memory
        .remember(&world.me, args(), &envelope)
        .unwrap()
        .record
        .unwrap()
        .id;
    world.pass(1_000);
    let other = world.say("animals", "wombats dig");
    let summary = world
        .save(derived("a summary of animals", &[id]))
        .record
        .unwrap()
        .id;
    assert_eq!(world.forget(id).forgotten, 1);

    let everything = [
        serde_json::to_string(&world.search(&asking("quokkas rottnest"))).unwrap(),
        serde_json::to_string(&world.search(&SearchArgs {
            history: true,
            workspace: Some("*".into()),
            ..asking("animals summary")
        }))
        .unwrap(),
        serde_json::to_string(&world.explain(other)).unwrap(),
        serde_json::to_string(&world.explain(summary)).unwrap(),
        serde_json::to_string(&world.validate("zoo.md", &sha('1'))).unwrap(),
        serde_json::to_string(&world.memory.versions(&world.me, None, "animals").unwrap()).unwrap(),
        format!("{:?}", world.memory.brief(&world.me, None, 20).unwrap()),
        // The echo of the first answer.
        serde_json::to_string(&world.memory.remember(&world.me, args(), &envelope).unwrap())
            .unwrap(),
    ];
    for text in everything {
        assert!(!text.contains("quokka"), "{text}");
    }
    assert!(world.try_explain(id).is_err());
    assert_eq!(world.status(other), "unverified");
    assert_eq!(
        world.memory.engine().verify().unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn forgetting_again_changes_nothing() {
    let world = World::new();
    let id = world.note("once");
    let first = world.forget(id);
    let second = world.forget(id);
    assert_eq!((first.forgotten, first.already_forgotten), (1, 0));
    assert_eq!((second.forgotten, second.already_forgotten), (0, 1));
}

#[test]
fn the_same_text_may_be_remembered_again() {
    let world = World::new();
    let first = world.note("limes again");
    world.forget(first);
    let second = world.save(statement("limes again"));
    assert_eq!(second.outcome, "saved");
    assert_eq!(world.ids("limes"), [second.record.unwrap().id]);
}

#[test]
fn a_source_is_forgotten_with_its_spans_in_one_workspace_or_in_all() {
    let world = World::new();
    for (content, source, workspace) in [
        ("one", "a.md", None),
        ("two", "a.md#Span", None),
        ("three", "b.md", None),
        ("four", "a.md", Some("other")),
    ] {
        let mut args = sourced(statement(content), source, &sha('1'));
        args.workspace = workspace.map(str::to_owned);
        world.save(args);
    }
    let forget = |workspace: Option<&str>, dry_run| {
        let args = ForgetArgs {
            source_id: Some("a.md".into()),
            workspace: workspace.map(str::to_owned),
            dry_run,
            ..ForgetArgs::default()
        };
        world.memory.forget(&world.me, &args).unwrap()
    };
    let rehearsed = forget(None, true);
    assert_eq!((rehearsed.forgotten, rehearsed.dry_run), (2, true));
    assert_eq!(world.find("one two").len(), 2);
    let done = forget(None, false);
    assert_eq!(
        (done.forgotten, done.ids, done.index_rows),
        (2, rehearsed.ids, rehearsed.index_rows)
    );
    assert_eq!(forget(Some("*"), false).forgotten, 1);
    assert_eq!(world.find("three").len(), 1);
}

#[test]
fn one_of_id_and_source_must_be_given() {
    let world = World::new();
    let refused = |args: ForgetArgs| {
        world
            .memory
            .forget(&world.me, &args)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(ForgetArgs::default()).starts_with("memory_id"));
    let both = ForgetArgs {
        memory_id: Some("x".into()),
        source_id: Some("y".into()),
        ..ForgetArgs::default()
    };
    assert!(refused(both).starts_with("source_id"));
}

#[test]
fn purging_erases_the_content_of_what_was_forgotten_and_nothing_else() {
    let world = World::new();
    let admin = world.with_scope(Scope::Admin);
    let gone = world.note("quokkas live on rottnest");
    let kept = world.note("wombats dig");
    world.forget(gone);
    assert!(
        world
            .memory
            .purge(&admin, 86_400_000, false)
            .unwrap()
            .ids
            .is_empty()
    );
    let purge = |dry_run| {
        let purged = world.memory.purge(&admin, 0, dry_run).unwrap();
        assert!(purged.is_compacted);
        purged.ids
    };
    assert_eq!(purge(true), [gone]);
    assert_eq!(purge(false), [gone]);
    assert!(purge(false).is_empty());
    assert_eq!(world.ids("wombats"), [kept]);
    assert_eq!(world.forget(gone).already_forgotten, 1);
    assert_eq!(
        world.memory.engine().verify().unwrap(),
        Vec::<String>::new()
    );
}

fn holds(world: &World, text: &str) -> bool {
    world
        .bytes()
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[test]
fn purged_text_leaves_the_disk_while_another_connection_idles() {
    let world = World::new();
    let admin = world.with_scope(Scope::Admin);
    let other = world.other_engine();
    let gone = world.note("zyxwquokka lives on rottnest");
    world.note("wombats dig");
    // Leaves connections of the other opening idle, as a running server does.
    read(&other, |snapshot| snapshot.record(gone)).unwrap();
    world.forget(gone);
    assert!(holds(&world, "zyxwquokka"));
    world.memory.purge(&admin, 0, true).unwrap();
    assert!(holds(&world, "zyxwquokka"), "a dry run erases nothing");
    let purged = world.memory.purge(&admin, 0, false).unwrap();
    assert!(purged.is_compacted);
    assert_eq!(purged.ids, [gone]);
    assert!(!holds(&world, "zyxwquokka"));
    assert!(holds(&world, "wombats dig"));
    assert_eq!(other.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn a_purge_stands_and_tells_so_while_somebody_still_reads_the_old_pages() {
    let world = World::opened(&Options {
        max_wait: Duration::from_millis(20),
        ..Options::standard()
    });
    let admin = world.with_scope(Scope::Admin);
    let other = world.other_engine();
    let gone = world.note("zyxwquokka lives on rottnest");
    world.forget(gone);
    let purged = read(&other, |snapshot| {
        snapshot.record(gone)?;
        Ok(world.memory.purge(&admin, 0, false).unwrap())
    })
    .unwrap();
    assert_eq!(purged.ids, [gone]);
    assert!(!purged.is_compacted);
    let again = world.memory.purge(&admin, 0, false).unwrap();
    assert!(again.ids.is_empty(), "it was purged already");
    // The next purge that erases something takes the rest along.
    world.forget(world.note("wombats dig"));
    assert!(world.memory.purge(&admin, 0, false).unwrap().is_compacted);
    assert!(!holds(&world, "zyxwquokka"));
}

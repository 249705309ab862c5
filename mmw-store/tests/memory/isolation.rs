//! What a caller cannot see never changes what they are shown.

use mmw_core::place::{Caller, Scope, Scopes};
use mmw_core::wire::{EnvelopeArgs, ExplainArgs, ForgetArgs, RememberArgs, SearchArgs};
use mmw_store::Failure;
use proptest::prelude::*;

use crate::support::{World, asking, derived, fact, sha, sourced, statement};

fn save_as(world: &World, caller: &Caller, args: RememberArgs) -> mmw_core::ids::RecordId {
    world
        .memory
        .remember(caller, args, &EnvelopeArgs::default())
        .unwrap()
        .record
        .unwrap()
        .id
}

#[test]
fn somebody_elses_id_looks_exactly_like_an_absent_one() {
    let world = World::new();
    let foreign = save_as(&world, &world.stranger(), statement("theirs"));
    let absent = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab".parse().unwrap();
    let explain = |id: mmw_core::ids::RecordId| {
        world
            .memory
            .explain(
                &world.me,
                &ExplainArgs {
                    memory_id: id.to_string(),
                },
            )
            .unwrap_err()
            .to_string()
    };
    assert_eq!(explain(foreign), explain(absent));
    let forget = |id: mmw_core::ids::RecordId| {
        let args = ForgetArgs {
            memory_id: Some(id.to_string()),
            ..ForgetArgs::default()
        };
        world
            .memory
            .forget(&world.me, &args)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(forget(foreign), forget(absent));
    assert_eq!(
        world
            .memory
            .explain(
                &world.stranger(),
                &ExplainArgs {
                    memory_id: foreign.to_string()
                }
            )
            .unwrap()
            .record
            .content,
        "theirs"
    );
}

#[test]
fn nothing_in_another_project_moves_a_score_a_status_or_a_count() {
    let world = World::new();
    let id = world.say("k", "lime trees need lime");
    world.note("lime is sour");
    world.note("trees are tall");
    let see = || {
        let mut answer = world.search(&asking("lime trees"));
        answer.took_ms = 0.0;
        (
            answer,
            world.explain(id),
            world.memory.census(&world.me).unwrap().workspaces,
        )
    };
    let before = see();
    let stranger = world.stranger();
    for n in 0..40 {
        save_as(
            &world,
            &stranger,
            fact("k", &format!("lime trees lime trees {n}")),
        );
        save_as(
            &world,
            &stranger,
            sourced(statement(&format!("lime {n}")), "a.md", &sha('1')),
        );
    }
    assert_eq!(see(), before);
}

#[test]
fn the_persons_own_workspace_is_read_along_in_every_project() {
    let world = World::new();
    let mine = save_as(
        &world,
        &world.me,
        RememberArgs {
            workspace: Some("@user".into()),
            ..statement("I prefer lime over lemon")
        },
    );
    let elsewhere = world
        .memory
        .local_caller("another-repository", mmw_core::place::Way::Library)
        .unwrap();
    let hits = world
        .memory
        .search(&elsewhere, &asking("lime or lemon"))
        .unwrap()
        .hits;
    assert_eq!(
        (hits[0].record.id, hits[0].record.workspace.as_str()),
        (mine, "@user")
    );
    assert!(
        world
            .memory
            .search(&world.stranger(), &asking("lime or lemon"))
            .unwrap()
            .hits
            .is_empty()
    );
}

#[test]
fn a_source_that_the_reader_may_not_see_leaves_no_trace() {
    let world = World::new();
    let in_project = world.say("k", "A");
    let preference = save_as(
        &world,
        &world.me,
        RememberArgs {
            workspace: Some("@user".into()),
            ..derived("from a project", &[in_project])
        },
    );
    world.say("k", "B");
    assert_eq!(world.status(preference), "conflict");
    let elsewhere = world
        .memory
        .local_caller("another-repository", mmw_core::place::Way::Library)
        .unwrap();
    let seen = world
        .memory
        .explain(
            &elsewhere,
            &ExplainArgs {
                memory_id: preference.to_string(),
            },
        )
        .unwrap();
    assert_eq!(
        (
            seen.status.as_str(),
            seen.record.derived_from.len(),
            seen.graph_relations.len()
        ),
        ("unverified", 0, 0)
    );
}

#[test]
fn workspaces_are_apart_and_told_of_elsewhere() {
    let world = World::new();
    world.save(RememberArgs {
        workspace: Some("backend".into()),
        ..statement("lime in the backend")
    });
    let here = world.search(&asking("lime"));
    assert!(here.hits.is_empty());
    assert_eq!(
        (here.elsewhere[0].workspace.as_str(), here.elsewhere[0].hits),
        ("backend", 1)
    );
    assert!(
        here.notice
            .unwrap()
            .contains("other workspaces have matches")
    );
    let everywhere = world.search(&SearchArgs {
        workspace: Some("*".into()),
        ..asking("lime")
    });
    assert_eq!(everywhere.hits.len(), 1);
}

#[test]
fn a_read_never_makes_a_workspace() {
    let world = World::new();
    world.search(&SearchArgs {
        workspace: Some("ghost".into()),
        ..asking("lime")
    });
    world.validate("a.md", &sha('1'));
    assert!(
        world
            .memory
            .census(&world.me)
            .unwrap()
            .workspaces
            .is_empty()
    );
}

#[test]
fn odd_workspace_names_are_names_and_nothing_else() {
    let world = World::new();
    for name in [
        "proj-x&user_id=u1",
        "' OR 1=1 --",
        "a%",
        "a_",
        "{\"user_id\":\"victim\"}",
    ] {
        world.save(RememberArgs {
            workspace: Some(name.into()),
            ..statement(&format!("lime in {name}"))
        });
    }
    for name in ["proj-x", "a", "ab", "%"] {
        let hits = world
            .search(&SearchArgs {
                workspace: Some(name.into()),
                ..asking("lime")
            })
            .hits;
        assert!(hits.is_empty(), "{name}");
    }
    let empty = world.memory.search(
        &world.me,
        &SearchArgs {
            workspace: Some(String::new()),
            ..asking("lime")
        },
    );
    assert!(matches!(empty, Err(Failure::Invalid(_))));
}

#[test]
fn every_use_case_needs_its_scope() {
    let world = World::new();
    let id = world.note("lime");
    let nobody = Caller {
        scopes: Scopes::default(),
        ..world.me.clone()
    };
    let reader = Caller {
        scopes: Scopes::of(&[Scope::Read]),
        ..world.me.clone()
    };
    assert!(matches!(
        world.memory.search(&nobody, &asking("lime")),
        Err(Failure::Forbidden(Scope::Read))
    ));
    assert!(world.memory.search(&reader, &asking("lime")).is_ok());
    let refused = world
        .memory
        .remember(&reader, statement("x"), &EnvelopeArgs::default())
        .unwrap_err();
    assert!(refused.to_string().contains("`write`"));
    let args = ForgetArgs {
        memory_id: Some(id.to_string()),
        ..ForgetArgs::default()
    };
    assert!(matches!(
        world.memory.forget(&reader, &args),
        Err(Failure::Forbidden(Scope::Forget))
    ));
    assert!(matches!(
        world.memory.purge(&world.me, 0, true),
        Err(Failure::Forbidden(Scope::Admin))
    ));
}

#[test]
fn proposing_somebody_elses_id_gives_nothing_away() {
    let world = World::new();
    let foreign = save_as(&world, &world.stranger(), statement("theirs"));
    let envelope = EnvelopeArgs {
        proposed_id: Some(foreign.to_string()),
        ..EnvelopeArgs::default()
    };
    let mine = world
        .memory
        .remember(&world.me, statement("mine"), &envelope)
        .unwrap();
    assert_eq!(mine.outcome, "saved");
    assert_ne!(mine.record.unwrap().id, foreign);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_in_another_project_changes_nothing_here(
        steps in prop::collection::vec((0_u8..4, 0_usize..3, 0_usize..4), 1..25),
    ) {
        let world = World::new();
        let first = world.say("key-0", "lime trees need lime");
        let second = world.say("key-0", "lime trees need none");
        world.say("key-1", "lime is sour");
        let see = || {
            let mut answer = world.search(&SearchArgs { history: true, workspace: Some("*".into()), ..asking("lime trees 0 1 2") });
            answer.took_ms = 0.0;
            (
                answer,
                world.explain(first),
                world.explain(second),
                world.memory.census(&world.me).unwrap().workspaces,
                world.memory.open_conflicts(&world.me, 10).unwrap(),
                world.memory.complete_fact_key(&world.me, None, "", 10).unwrap(),
            )
        };
        let before = see();
        let stranger = world.stranger();
        let mut theirs = Vec::new();
        for (step, key, content) in steps {
            let say = |args: RememberArgs| save_as(&world, &stranger, args);
            match step {
                0 | 1 => theirs.push(say(fact(&format!("key-{key}"), &format!("lime trees {content}")))),
                2 => {
                    let from: Vec<_> = theirs.iter().rev().take(2).copied().collect();
                    theirs.push(say(derived(&format!("lime summary {content}"), &from)));
                }
                _ => if let Some(id) = theirs.pop() {
                        // A repetition has the id of what it repeats.
                        theirs.retain(|other| *other != id);
                    let args = ForgetArgs { memory_id: Some(id.to_string()), ..ForgetArgs::default() };
                    world.memory.forget(&stranger, &args).unwrap();
                }
            }
        }
        prop_assert_eq!(see(), before);
    }
}

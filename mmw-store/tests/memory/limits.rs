//! Limits and account states: writes are refused in words, reads go on.

use mmw_core::plan::{AccountState, Limits};

use crate::support::{World, asking, fact, sha, sourced, statement};

#[test]
fn a_full_project_refuses_writes_and_names_its_limit() {
    let world = World::new();
    let limits = Limits {
        max_records: Some(2),
        ..Limits::default()
    };
    world.memory.set_limits(world.me.project, limits).unwrap();
    let first = world.note("lime one");
    world.note("lime two");
    let refused = world
        .try_save(statement("lime three"))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("holds 2 records"), "{refused}");
    assert_eq!(world.find("lime").len(), 2);
    assert_eq!(world.save(statement("lime one")).outcome, "deduplicated");
    world.forget(first);
    assert_eq!(world.save(statement("lime three")).outcome, "saved");
}

#[test]
fn grace_lets_search_and_forget_and_suspended_nothing() {
    let world = World::new();
    let id = world.note("lime");
    world
        .memory
        .set_account_state(world.me.account, AccountState::Grace)
        .unwrap();
    assert!(
        world
            .try_save(statement("x"))
            .unwrap_err()
            .to_string()
            .contains("grace period")
    );
    assert_eq!(world.find("lime").len(), 1);
    assert_eq!(world.forget(id).forgotten, 1);
    world
        .memory
        .set_account_state(world.me.account, AccountState::Suspended)
        .unwrap();
    let refused = world
        .memory
        .search(&world.me, &asking("lime"))
        .unwrap_err()
        .to_string();
    assert_eq!(refused, "this account is suspended");
}

#[test]
fn an_answer_stays_small_however_long_its_neighbours_are() {
    let world = World::new();
    let long = |n: usize| format!("claim {n} {}", "lime tree ".repeat(1_600));
    for n in 0..29 {
        world.save(fact("k", &long(n)));
        world.save(sourced(statement(&long(n)), "a.md", &sha('1')));
    }
    let last = world.save(fact("k", &long(29)));
    let id = last.record.as_ref().unwrap().id;
    assert_eq!(last.conflicts_with.len(), 20);
    assert!(last.conflicts_with[0].content.ends_with('…'));
    let sizes = [
        serde_json::to_string(&last).unwrap().len(),
        serde_json::to_string(&world.explain(id)).unwrap().len(),
        serde_json::to_string(&world.validate("a.md", &sha('2')))
            .unwrap()
            .len(),
        serde_json::to_string(&world.resolve("k", id))
            .unwrap()
            .len(),
    ];
    assert!(sizes.iter().all(|size| *size < 80_000), "{sizes:?}");
    // What the answer is about is whole.
    assert_eq!(world.explain(id).record.content, long(29).trim());
}

#[test]
fn many_claims_do_not_each_name_all_the_others() {
    let world = World::new();
    for n in 0..60 {
        world.save(sourced(fact("k", &format!("claim {n}")), "a.md", &sha('1')));
    }
    let answer = world.validate("a.md", &sha('2'));
    assert_eq!((answer.stale.len(), answer.conflicts.len()), (60, 60));
    for told in answer.stale.iter().chain(&answer.conflicts) {
        let size = serde_json::to_string(told).unwrap().len();
        assert!(size < 2_500, "{size} bytes");
    }
    let (oldest, newest) = (
        answer.stale.iter().min_by_key(|told| told.id).unwrap(),
        answer.stale.iter().max_by_key(|told| told.id).unwrap(),
    );
    let reason = &oldest.status_reasons[0];
    assert_eq!(reason.ids.last(), Some(&newest.id));
    assert!(reason.text.ends_with("more"), "{}", reason.text);
}

#[test]
fn a_change_of_policy_leaves_a_row_in_the_audit() {
    let world = World::new();
    let deeds = || {
        let rows =
            mmw_store::engine::read(world.memory.engine(), |snapshot| snapshot.audit(1, 100));
        let rows = rows.unwrap();
        let policy = mmw_core::audit::Deed::Policy;
        rows.iter().filter(|row| row.entry.deed == policy).count()
    };
    assert_eq!(deeds(), 0);
    world
        .memory
        .set_limits(world.me.project, Limits::default())
        .unwrap();
    world
        .memory
        .set_account_state(world.me.account, AccountState::Grace)
        .unwrap();
    assert_eq!(deeds(), 2);
}

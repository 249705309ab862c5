//! Accounts, projects, principals and keys.

use mmw_core::ids::KeyId;
use mmw_core::place::{Scope, Scopes};
use mmw_core::plan::{AccountState, Limits};

use crate::engine::{Engine, KeyRow, ProjectKind, read, write};
use crate::testing::build::{World, account_id, minute, principal_id, project_id};

pub fn accounts_read_back_and_change_state(engine: &dyn Engine) {
    let world = World::found(engine);
    write(engine, |txn| {
        txn.set_account_state(world.account, AccountState::Grace)
    })
    .unwrap();
    read(engine, |snapshot| {
        let account = snapshot.account(world.account)?.unwrap();
        assert_eq!(
            (account.name.as_str(), account.state),
            ("local", AccountState::Grace)
        );
        assert_eq!(snapshot.accounts()?, [account]);
        assert_eq!(snapshot.account(account_id(9))?, None);
        assert_eq!(
            snapshot.principal_named(world.account, "ada")?,
            Some(world.person)
        );
        assert_eq!(snapshot.principal_named(world.account, "eve")?, None);
        assert_eq!(snapshot.principal_named(account_id(9), "ada")?, None);
        assert_eq!(
            snapshot.principal_name(world.other_person)?.as_deref(),
            Some("bob")
        );
        assert_eq!(snapshot.principal_name(principal_id(9))?, None);
        Ok(())
    })
    .unwrap();
    let missing = write(engine, |txn| {
        txn.set_account_state(account_id(9), AccountState::Active)
    });
    assert!(missing.is_err());
}

pub fn projects_are_found_by_name_and_by_person(engine: &dyn Engine) {
    let world = World::found(engine);
    read(engine, |snapshot| {
        let here = world.project(&world.here, "zeta", ProjectKind::Shared);
        let there = world.project(&world.elsewhere, "alpha", ProjectKind::Shared);
        let own = world.project(&world.own, "@user", ProjectKind::Person(world.person));
        assert_eq!(snapshot.project(here.id)?, Some(here.clone()));
        assert_eq!(snapshot.project(project_id(9))?, None);
        assert_eq!(
            snapshot.project_named(world.account, "zeta")?,
            Some(here.clone())
        );
        assert_eq!(snapshot.project_named(world.account, "@user")?, None);
        assert_eq!(snapshot.project_named(account_id(9), "zeta")?, None);
        assert_eq!(
            snapshot.project_of_person(world.account, world.person)?,
            Some(own)
        );
        assert_eq!(
            snapshot.project_of_person(world.account, world.other_person)?,
            None
        );
        assert_eq!(snapshot.projects(world.account)?, [there, here]);
        Ok(())
    })
    .unwrap();
    let mut twin = world.project(&world.here, "zeta", ProjectKind::Shared);
    twin.id = project_id(8);
    assert!(
        write(engine, |txn| txn.insert_project(&twin)).is_err(),
        "a name is taken once"
    );
}

pub fn limits_can_be_changed(engine: &dyn Engine) {
    let world = World::found(engine);
    let limits = Limits {
        max_records: Some(10),
        max_calls_per_minute: Some(u32::MAX),
    };
    write(engine, |txn| txn.set_limits(world.here.project, &limits)).unwrap();
    read(engine, |snapshot| {
        assert_eq!(
            snapshot.project(world.here.project)?.unwrap().limits,
            limits
        );
        assert_eq!(
            snapshot.project(world.elsewhere.project)?.unwrap().limits,
            Limits::default()
        );
        Ok(())
    })
    .unwrap();
}

pub fn keys_read_back_as_they_were_written(engine: &dyn Engine) {
    let world = World::found(engine);
    let full = KeyRow {
        scopes: Scopes::of(&[Scope::Read, Scope::Admin]),
        created_at: minute(2),
        expires_at: Some(minute(3)),
        revoked_at: Some(minute(4)),
        last_used_at: Some(minute(5)),
        ..world.key("second")
    };
    write(engine, |txn| {
        txn.insert_key(&full)?;
        txn.insert_key(&world.key("first"))
    })
    .unwrap();
    read(engine, |snapshot| {
        assert_eq!(snapshot.key(&full.id)?, Some(full.clone()));
        assert_eq!(
            snapshot.keys(world.account)?,
            [world.key("first"), full.clone()]
        );
        assert_eq!(snapshot.key(&KeyId::new("third").unwrap())?, None);
        assert_eq!(snapshot.keys(account_id(9))?, []);
        Ok(())
    })
    .unwrap();
}

pub fn a_key_is_revoked_once(engine: &dyn Engine) {
    let world = World::found(engine);
    let key = world.key("first");
    write(engine, |txn| txn.insert_key(&key)).unwrap();
    let revoke = |id: &KeyId, at| write(engine, |txn| txn.revoke_key(id, minute(at))).unwrap();
    assert!(revoke(&key.id, 1));
    assert!(!revoke(&key.id, 2));
    assert!(!revoke(&KeyId::new("third").unwrap(), 2));
    let found = read(engine, |snapshot| snapshot.key(&key.id)).unwrap();
    assert_eq!(found.unwrap().revoked_at, Some(minute(1)));
}

pub fn the_last_use_of_a_key_only_moves_on(engine: &dyn Engine) {
    let world = World::found(engine);
    let key = world.key("first");
    write(engine, |txn| txn.insert_key(&key)).unwrap();
    for at in [5, 3] {
        let unknown = KeyId::new("third").unwrap();
        write(engine, |txn| {
            txn.touch_keys(&[(key.id.clone(), minute(at)), (unknown.clone(), minute(at))])
        })
        .unwrap();
    }
    let found = read(engine, |snapshot| snapshot.key(&key.id)).unwrap();
    assert_eq!(found.unwrap().last_used_at, Some(minute(5)));
}

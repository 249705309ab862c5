//! Accounts, projects and keys.

use mmw_core::place::{Scope, Scopes, Way};
use mmw_core::plan::Limits;
use mmw_core::wire::EnvelopeArgs;
use mmw_store::{Failure, KeyOrder};

use crate::support::{World, asking, statement};

fn order(project: &str) -> KeyOrder {
    KeyOrder {
        project: project.into(),
        principal: "ann".into(),
        name: "ann's laptop".into(),
        scopes: Scopes::agent(),
        expires_at: None,
    }
}

#[test]
fn a_key_speaks_for_its_person_in_its_project() {
    let world = World::new();
    world
        .memory
        .create_project("web", Limits::default())
        .unwrap();
    let key = world.memory.create_key(&order("web")).unwrap();
    assert!(key.secret.starts_with("mmw_") && key.secret.contains(key.info.id.as_str()));
    let caller = world
        .memory
        .authenticate(&key.secret, Way::Mcp)
        .unwrap()
        .unwrap()
        .caller;
    assert_eq!(caller.key.as_ref(), Some(&key.info.id));
    assert!(!caller.scopes.has(Scope::Review));
    world
        .memory
        .remember(&caller, statement("lime"), &EnvelopeArgs::default())
        .unwrap();
    assert_eq!(
        world
            .memory
            .search(&caller, &asking("lime"))
            .unwrap()
            .hits
            .len(),
        1
    );
    assert!(world.find("lime").is_empty());
}

#[test]
fn wrong_revoked_and_expired_keys_speak_for_nobody() {
    let world = World::new();
    let until = world.now().plus_ms(60_000);
    let key = world
        .memory
        .create_key(&KeyOrder {
            expires_at: Some(until),
            ..order("backend-repository")
        })
        .unwrap();
    let lasting = world
        .memory
        .create_key(&order("backend-repository"))
        .unwrap();
    let speaks = |key: &str| world.memory.authenticate(key, Way::Rest).unwrap().is_some();
    assert!(speaks(&key.secret) && speaks(&lasting.secret));
    for wrong in [
        "",
        "mmw_",
        "mmw_trial",
        &lasting.secret[..lasting.secret.len() - 1],
        &key.secret
            .replace(key.info.id.as_str(), lasting.info.id.as_str()),
    ] {
        assert!(!speaks(wrong), "{wrong}");
    }
    world.pass(60_000);
    assert!(!speaks(&key.secret) && speaks(&lasting.secret));
    world.memory.revoke_key(lasting.info.id.as_str()).unwrap();
    assert!(!speaks(&lasting.secret));
    assert!(
        world
            .memory
            .list_keys()
            .unwrap()
            .iter()
            .any(|info| info.id == lasting.info.id && info.revoked_at.is_some())
    );
    assert!(matches!(
        world.memory.revoke_key("nosuchkey1"),
        Err(Failure::NotFound("key"))
    ));
}

#[test]
fn two_persons_in_one_project_have_their_own_user_workspaces() {
    let world = World::new();
    let caller = |principal: &str| {
        let key = world
            .memory
            .create_key(&KeyOrder {
                principal: principal.into(),
                ..order("backend-repository")
            })
            .unwrap();
        world
            .memory
            .authenticate(&key.secret, Way::Mcp)
            .unwrap()
            .unwrap()
            .caller
    };
    let (ann, bob, ann_again) = (caller("ann"), caller("bob"), caller("ann"));
    let args = mmw_core::wire::RememberArgs {
        workspace: Some("@user".into()),
        ..statement("I prefer limes")
    };
    world
        .memory
        .remember(&ann, args, &EnvelopeArgs::default())
        .unwrap();
    assert_eq!(
        world
            .memory
            .search(&ann_again, &asking("limes"))
            .unwrap()
            .hits
            .len(),
        1
    );
    assert!(
        world
            .memory
            .search(&bob, &asking("limes"))
            .unwrap()
            .hits
            .is_empty()
    );
}

#[test]
fn the_first_start_makes_one_project_and_one_key_and_no_second() {
    let folder = tempfile::tempdir().unwrap();
    let memory = mmw_store::Memory::open(
        &folder.path().join("memory.db"),
        std::sync::Arc::new(mmw_core::env::SystemClock),
        std::sync::Arc::new(mmw_core::env::SystemEntropy),
    )
    .unwrap();
    let first = memory.first_start().unwrap().unwrap();
    assert_eq!(first.project.name, "default");
    assert!(
        memory
            .authenticate(&first.key.secret, Way::Mcp)
            .unwrap()
            .is_some()
    );
    assert!(memory.first_start().unwrap().is_none());
    assert!(
        memory
            .create_project("default", Limits::default())
            .unwrap_err()
            .to_string()
            .contains("taken")
    );
    assert!(matches!(
        memory.create_key(&order("nowhere")),
        Err(Failure::NotFound("project"))
    ));
}

#[test]
fn a_project_made_before_the_first_start_leaves_no_dead_end() {
    let folder = tempfile::tempdir().unwrap();
    let memory = mmw_store::Memory::open(
        &folder.path().join("memory.db"),
        std::sync::Arc::new(mmw_core::env::SystemClock),
        std::sync::Arc::new(mmw_core::env::SystemEntropy),
    )
    .unwrap();
    memory.create_project("beta", Limits::default()).unwrap();
    let first = memory.first_start().unwrap().unwrap();
    assert_eq!(first.project.name, "default");
    assert!(memory.first_start().unwrap().is_none());
}

#[test]
fn a_secret_in_a_projects_name_is_replaced() {
    let world = World::new();
    let token = "ghp_x1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    world
        .memory
        .local_caller(&format!("host/{token}/x"), Way::Library)
        .unwrap();
    let named = world
        .memory
        .create_project(token, Limits::default())
        .unwrap();
    assert!(named.name.contains("[REDACTED:"));
    assert!(
        world
            .memory
            .list_projects()
            .unwrap()
            .iter()
            .all(|project| !project.name.contains(token))
    );
}

//! Who may see what, and which project a folder is.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::support::{World, agent, err, found, hits, id, note, ok, out};

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        err(&output)
    );
}

fn project_of(home: &Path, folder: &Path) -> String {
    let status = agent(home, folder, &["status", "--json"]);
    assert!(status.status.success(), "{}", err(&status));
    let told: Value = serde_json::from_str(&out(&status)).unwrap();
    told["project"].as_str().unwrap().to_owned()
}

fn finds(home: &Path, folder: &Path, word: &str) -> bool {
    out(&agent(home, folder, &["search", word])).contains(word)
}

// A46, B28
#[test]
fn a_worktree_a_subfolder_and_a_clone_share_one_memory() {
    let desk = tempfile::tempdir().unwrap();
    let (home, first) = (desk.path().join("home"), desk.path().join("one/api"));
    std::fs::create_dir_all(&first).unwrap();
    git(&first, &["init", "-q"]);
    git(&first, &["commit", "-q", "--allow-empty", "-m", "x"]);
    let deep = first.join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    git(
        &first,
        &["worktree", "add", "-q", "../../feature", "-b", "feature"],
    );
    let worktree = desk.path().join("feature");
    let saved = agent(&home, &worktree, &["remember", "kumquats grow here"]);
    assert!(saved.status.success(), "{}", err(&saved));
    for folder in [&first, &deep, &worktree] {
        assert!(finds(&home, folder, "kumquats"), "{}", folder.display());
    }
    // Another repository of the same name, without a remote.
    let other = desk.path().join("two/api");
    std::fs::create_dir_all(&other).unwrap();
    git(&other, &["init", "-q"]);
    assert!(!finds(&home, &other, "kumquats"));
    // Two clones of one remote, with and without credentials in the address.
    let clones = ["three", "four"].map(|name| desk.path().join(name));
    for (clone, address) in clones.iter().zip([
        "git@git.example:acme/api.git",
        "https://user:hunter2x@git.example/acme/api",
    ]) {
        std::fs::create_dir_all(clone).unwrap();
        git(clone, &["init", "-q"]);
        git(clone, &["remote", "add", "origin", address]);
    }
    agent(&home, &clones[0], &["remember", "wombats dig here"]);
    assert!(finds(&home, &clones[1], "wombats"));
    assert!(!project_of(&home, &clones[1]).contains("hunter2x"));
}

// B28
#[test]
fn two_folders_never_share_a_name_by_how_it_is_written() {
    let desk = tempfile::tempdir().unwrap();
    let home = desk.path().join("home");
    let folders: Vec<_> = ["a.b", "a/b", "a-b", "a_b", "a b", "A.B"]
        .iter()
        .map(|name| desk.path().join(name))
        .collect();
    for folder in &folders {
        std::fs::create_dir_all(folder).unwrap();
    }
    let names: std::collections::HashSet<String> = folders
        .iter()
        .map(|folder| project_of(&home, folder))
        .collect();
    assert_eq!(names.len(), folders.len(), "{names:?}");
    agent(&home, &folders[0], &["remember", "kumquats"]);
    assert!(!finds(&home, &folders[1], "kumquats"));
    let root = agent(&home, Path::new("/"), &["remember", "said at the root"]);
    assert!(root.status.success(), "{}", err(&root));
    assert!(!finds(&home, &folders[0], "root"));
}

// B12
#[test]
fn a_tenant_sees_and_touches_nothing_of_another() {
    let world = World::new();
    let (mine, theirs) = (&world.client, world.stranger("victim"));
    let same = json!({ "content": "identical bytes in both", "fact_key": "k" });
    let (own, foreign) = (ok(mine, "remember", &same), ok(&theirs, "remember", &same));
    assert_ne!(id(&own), id(&foreign));
    assert_eq!(foreign["outcome"], "saved", "no folding across projects");
    assert!(
        foreign["conflicts_with"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );
    let absent = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab";
    for (action, field) in [("explain_memory", "memory_id"), ("forget", "memory_id")] {
        let ask = |id: &str| {
            let answer = mine.rest(action, &json!({ field: id }));
            (answer.status, answer.body.replace(id, "id"))
        };
        assert_eq!(ask(&id(&foreign)), ask(absent), "{action}");
        assert_eq!(ask(absent).0, 404);
    }
    assert_eq!(
        super::support::resource(mine, &format!("mmw://record/{}", id(&foreign)))
            .replace(&id(&foreign), "id"),
        super::support::resource(mine, &format!("mmw://record/{absent}")).replace(absent, "id"),
    );
    for (fields, status) in [
        (json!({ "metadata": { "user_id": "victim" } }), 400),
        (json!({ "user_id": "victim" }), 400),
        (json!({ "project": "victim" }), 400),
        (json!({ "workspace": "" }), 400),
        (json!({ "workspace": "proj-x&user_id=u1" }), 200),
        (json!({ "workspace": "../victim" }), 200),
        (json!({ "tags": ["*"] }), 200),
        (json!({ "tags": ["a|b"] }), 200),
        (json!({ "tags": ["%"] }), 200),
        (json!({ "scope": "*" }), 200),
    ] {
        let mut arguments = json!({ "query": "identical bytes" });
        for (name, value) in fields.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let answer = mine.rest("search", &arguments);
        assert_eq!(answer.status, status, "{fields}: {}", answer.body);
        if status == 200 {
            assert!(hits(&answer.json()).is_empty(), "{fields}: {}", answer.body);
        }
    }
    let everywhere = ok(
        mine,
        "search",
        &json!({ "query": "identical bytes", "workspace": "*" }),
    );
    assert_eq!(super::support::ids(&everywhere), [id(&own)]);
    let forgotten = ok(
        mine,
        "forget",
        &json!({ "source_id": "*", "workspace": "*" }),
    );
    assert_eq!(forgotten["forgotten"], 0);
    assert_eq!(found(&theirs, "identical"), [id(&foreign)]);
}

// B12: a read makes nothing.
#[test]
fn looking_into_a_workspace_does_not_make_it() {
    let world = World::new();
    note(&world.client, "lime");
    for action in ["search", "validate_memory"] {
        let arguments = match action {
            "search" => json!({ "query": "lime", "workspace": "ghost" }),
            _ => {
                json!({ "source_id": "a.md", "current_source_hash": "git:1", "workspace": "ghost" })
            }
        };
        ok(&world.client, action, &arguments);
    }
    let _ = super::support::resource(&world.client, "mmw://brief/ghost");
    let completed = world.client.rpc(
        mmw_tests::rpc::Era::Legacy,
        "completion/complete",
        json!({
            "ref": { "type": "ref/resource", "uri": "mmw://brief/{workspace}" },
            "argument": { "name": "workspace", "value": "" },
        }),
    );
    assert!(
        completed.body.contains("default") && !completed.body.contains("ghost"),
        "{}",
        completed.body
    );
}

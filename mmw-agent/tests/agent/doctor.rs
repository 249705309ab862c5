//! The doctor, and the demo.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, Ran};

fn doctor(desk: &Desk) -> (i32, Value) {
    let mut command = desk.command(&["doctor", "--json"]);
    command.env("PATH", desk.home());
    let ran = Ran::of(command, "");
    let found = serde_json::from_str(&ran.stdout);
    (ran.code, found.unwrap_or_else(|_| panic!("{}", ran.stderr)))
}

fn state<'v>(found: &'v Value, id: &str) -> Vec<&'v str> {
    let findings = found["findings"].as_array().unwrap().iter();
    findings
        .filter(|one| one["id"] == id)
        .map(|one| one["state"].as_str().unwrap())
        .collect()
}

#[test]
fn in_a_new_home_everything_works_and_nothing_is_left() {
    let desk = Desk::new();
    let (code, found) = doctor(&desk);
    assert_eq!(code, 0, "{found:#}");
    for id in [
        "home",
        "clock",
        "store",
        "write",
        "guard",
        "read_back",
        "meaning",
        "forget",
        "stop_hook",
    ] {
        assert_eq!(state(&found, id), ["good"], "{id}: {found:#}");
    }
    if cfg!(target_os = "linux") {
        assert_eq!(state(&found, "network"), ["good"], "{found:#}");
    }
    assert_eq!(state(&found, "client"), ["skipped"]);
    assert_eq!(desk.json(&["status"])["store"]["records"], 0);
}

#[test]
fn every_bad_finding_says_what_mends_it() {
    let desk = Desk::new();
    fs::create_dir(desk.home().join(".codex")).unwrap();
    fs::write(desk.home().join(".codex/config.toml"), "[broken\n").unwrap();
    fs::create_dir(desk.home().join(".cursor")).unwrap();
    let gone = r#"{"mcpServers": {"mmw": {"command": "/gone/mmw-agent"}}}"#;
    fs::write(desk.home().join(".cursor/mcp.json"), gone).unwrap();
    let (code, found) = doctor(&desk);
    assert_eq!(code, 2);
    assert_eq!(state(&found, "client"), ["bad", "bad"], "{found:#}");
    for one in found["findings"].as_array().unwrap() {
        if one["state"] == "bad" {
            let fix = one["fix"].as_str().unwrap();
            assert!(fix.contains("mmw-agent connect --client c"), "{fix}");
        }
    }
}

#[test]
fn what_is_registered_twice_is_found_and_connecting_anew_mends_it() {
    let desk = Desk::new();
    fs::create_dir(desk.home().join(".cursor")).unwrap();
    let program = env!("CARGO_BIN_EXE_mmw-agent");
    let twice = serde_json::json!({"mcpServers": {
        "memory": {"command": program}, "mmw": {"command": program},
    }});
    fs::write(desk.home().join(".cursor/mcp.json"), twice.to_string()).unwrap();
    let (code, found) = doctor(&desk);
    assert_eq!(
        (code, state(&found, "client")),
        (2, vec!["bad"]),
        "{found:#}"
    );
    let said = found.to_string();
    assert!(
        said.contains("`memory`") && said.contains("`mmw`"),
        "{said}"
    );
}

#[test]
fn the_demo_ends_well_and_touches_nothing() {
    let desk = Desk::new();
    let ran = desk.run(&["demo"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    for seen in ["stale  ", "conflict  ", "[REDACTED:", "nothing was kept"] {
        assert!(ran.stdout.contains(seen), "{seen}: {}", ran.stdout);
    }
    assert!(
        ran.stderr.contains("Memory rejected by Security Guard"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("hunter2!\n"), "{}", ran.stdout);
    assert!(!desk.home().join(".mmw").exists());
}

#[test]
fn the_demo_is_the_same_whatever_is_set_for_the_real_memory() {
    let desk = Desk::new();
    for (name, value) in [
        ("MMW_EMBEDDER", "off"),
        ("MMW_EMBEDDINGS_URL", "http://127.0.0.1:9/v1"),
        ("MMW_WORKSPACE", "mine"),
    ] {
        let mut command = desk.command(&["demo", "--no-wait"]);
        command.env(name, value);
        let ran = Ran::of(command, "");
        assert_eq!(ran.code, 0, "{name}: {} {}", ran.stdout, ran.stderr);
    }
}

//! What the doctor finds in front of a server, and of clients that have the memory twice: each with the command
//! that mends it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use mmw_core::env::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::relay_between::{Act, Site, content, statement};

/// Runs the doctor and returns its findings.
fn doctor(home: &Path, folder: &Path, endpoint: Option<&str>) -> Vec<Value> {
    let mut command = std::process::Command::new(mmw_tests::programs::path("mmw-agent"));
    command
        .args(["doctor", "--json"])
        .env_clear()
        .env("PATH", home)
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home.join("agent"))
        .env("MMW_EMBEDDER", "off")
        .current_dir(folder);
    if let Some(endpoint) = endpoint {
        command.env("MMW_ENDPOINT", endpoint);
    }
    let printed = command.output().unwrap().stdout;
    let found: Value = serde_json::from_slice(&printed).unwrap();
    found["findings"].as_array().unwrap().clone()
}

/// Returns the state of a thing, and what is said of it with what mends it.
fn of(findings: &[Value], id: &str) -> (String, String) {
    let one = findings.iter().find(|one| one["id"] == id);
    let one = one.unwrap_or_else(|| panic!("nothing about {id}: {findings:#?}"));
    let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
    (text("state"), format!("{} → {}", text("said"), text("fix")))
}

/// Answers every connection with these bytes; with none it keeps silent.
fn listening(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
            if answer.is_empty() {
                kept.push(stream);
            }
        }
    });
    url
}

#[test]
fn a_port_that_something_else_has_is_told_of_before_the_key_goes_there() {
    let home = tempfile::tempdir().unwrap();
    for (answer, part) in [
        ("", "says nothing"),
        ("SSH-2.0-OpenSSH_9.9\r\n", "does not speak HTTP"),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\nconnection: close\r\n\r\n<html",
            "is no memory server",
        ),
    ] {
        let url = listening(answer);
        let port = url.rsplit(':').next().unwrap();
        let found = doctor(home.path(), home.path(), Some(&url));
        let (state, said) = of(&found, "address");
        assert_eq!(state, "bad", "{said}");
        assert!(said.contains(part) && said.contains(port), "{said}");
        assert!(said.contains("MMW_ENDPOINT"), "{said}");
        assert!(!found.iter().any(|one| one["id"] == "key"), "{found:#?}");
    }
}

#[test]
fn a_port_where_nothing_listens_is_told_of_with_the_command_that_starts_a_server() {
    let home = tempfile::tempdir().unwrap();
    // A port that only the system may open.
    let found = doctor(home.path(), home.path(), Some("http://127.0.0.1:1"));
    let (state, said) = of(&found, "server");
    assert_eq!(state, "bad", "{said}");
    assert!(
        said.ends_with("mmw-server serve --listen 127.0.0.1:1"),
        "{said}"
    );
}

#[test]
fn a_clock_far_from_the_servers_is_told_of() {
    let home = tempfile::tempdir().unwrap();
    let url = listening(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ndate: Sat, 14 Mar 2020 09:30:00 GMT\r\n\
         content-length: 18\r\nconnection: close\r\n\r\n{\"status\":\"alive\"}",
    );
    let found = doctor(home.path(), home.path(), Some(&url));
    let (state, said) = of(&found, "server_clock");
    assert_eq!(state, "bad", "{said}");
    assert!(said.contains("days ahead of the server's"), "{said}");

    let site = Site::new();
    let server = site.server();
    let (code, found) = site.run_json(&["doctor", "--json"]);
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(of(findings, "server_clock").0, "good", "{found:#}");
    assert_eq!(of(findings, "queue").0, "good", "{found:#}");
    assert_eq!(code, 0, "{found:#}");
    drop(server);
}

#[test]
fn a_write_that_holds_up_the_queue_is_told_of_with_the_command_that_sets_it_aside() {
    let site = Site::new();
    let spool = site.spool();
    spool.put(&statement(0, SystemClock.now())).unwrap();
    site.between.deciding(|request| {
        if request.contains(&content(0)) {
            return Act::Answer(500);
        }
        Act::Pass
    });
    let server = site.server();
    for _ in 0..4 {
        let _ = site.run(&["sync"]);
    }
    let (code, found) = site.run_json(&["doctor", "--json"]);
    let (state, said) = of(found["findings"].as_array().unwrap(), "queue");
    assert_eq!((code, state.as_str()), (2, "bad"), "{said}");
    assert!(said.contains("mmw-agent sync --set-aside 1"), "{said}");
    assert_eq!(site.run(&["sync", "--set-aside", "1", "--yes"]).0, 0);
    let (_, found) = site.run_json(&["doctor", "--json"]);
    let (state, said) = of(found["findings"].as_array().unwrap(), "queue");
    assert_eq!(state, "warning", "{said}");
    assert!(said.contains("--retry-refused"), "{said}");
    drop(server);
}

fn write(folder: &Path, name: &str, value: &Value) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, value.to_string()).unwrap();
}

#[test]
fn a_memory_that_claude_code_has_from_a_plugin_and_its_settings_is_told_of() {
    let home = tempfile::tempdir().unwrap();
    let agent = mmw_tests::programs::path("mmw-agent");
    let (plugin, server) = (
        home.path().join("plugin"),
        json!({"mmw": {"command": agent}}),
    );
    let stop = |program: &Path| {
        let handler = json!({"type": "command", "command": program, "args": ["hook-stop"]});
        json!({"Stop": [{"hooks": [handler]}]})
    };
    write(&plugin, ".mcp.json", &json!({"mcpServers": server}));
    let installed =
        json!({"version": 2, "plugins": {"mmw@shop": [{"scope": "user", "installPath": plugin}]}});
    write(
        home.path(),
        ".claude/plugins/installed_plugins.json",
        &installed,
    );
    let settings = json!({"enabledPlugins": {"mmw@shop": true}});
    write(home.path(), ".claude/settings.json", &settings);
    let about = || {
        let found = doctor(home.path(), home.path(), None);
        let found: Vec<Value> = found
            .into_iter()
            .filter(|one| one["said"].as_str().unwrap().starts_with("Claude Code"))
            .collect();
        of(&found, "client")
    };
    let (state, said) = about();
    assert_eq!(state, "good", "{said}");
    assert!(said.contains("by the plugin mmw@shop"), "{said}");

    write(home.path(), ".claude.json", &json!({"mcpServers": server}));
    let (state, said) = about();
    assert_eq!(state, "warning", "{said}");
    assert!(
        said.contains("the server from") && said.contains("see every tool twice"),
        "{said}"
    );
    let fix = "mmw-agent disconnect --client claude-code, or claude plugin disable mmw@shop";
    assert!(said.ends_with(fix), "{said}");

    write(home.path(), ".claude.json", &json!({}));
    write(&plugin, "hooks/hooks.json", &json!({"hooks": stop(&agent)}));
    let with_hook = json!({"enabledPlugins": {"mmw@shop": true}, "hooks": stop(&agent)});
    write(home.path(), ".claude/settings.json", &with_hook);
    let (state, said) = about();
    assert_eq!(state, "warning", "{said}");
    assert!(
        said.contains("the Stop hook from") && said.contains("may ask twice"),
        "{said}"
    );
}

#[test]
fn a_memory_that_a_project_names_otherwise_than_a_persons_settings_is_told_of() {
    let home = tempfile::tempdir().unwrap();
    let agent = mmw_tests::programs::path("mmw-agent");
    let project = home.path().join("work");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let inside = project.join("src");
    std::fs::create_dir(&inside).unwrap();
    let own = json!({"mcpServers": {"mmw": {"command": agent}}});
    write(home.path(), ".cursor/mcp.json", &own);
    let about = || {
        let found = doctor(home.path(), &inside, None);
        let found: Vec<Value> = found
            .into_iter()
            .filter(|one| one["said"].as_str().unwrap().starts_with("Cursor"))
            .collect();
        of(&found, "client")
    };
    assert_eq!(about().0, "good");
    // The same again is what teams share.
    write(&project, ".cursor/mcp.json", &own);
    let (state, said) = about();
    assert_eq!(state, "good", "{said}");
    let memory = json!({"mcpServers": {"memory": {"command": agent}}});
    write(&project, ".cursor/mcp.json", &memory);
    let (state, said) = about();
    assert_eq!(state, "warning", "{said}");
    assert!(
        said.contains("`memory` in") && said.contains("see every tool twice"),
        "{said}"
    );
    let other = json!({"mcpServers": {"mmw": {"command": "/elsewhere/mmw-agent"}}});
    write(&project, ".cursor/mcp.json", &other);
    let (state, said) = about();
    assert_eq!(state, "warning", "{said}");
    assert!(said.contains("only one of the two"), "{said}");
}

//! Two projects of one server behind one agent's home: what waits for one never goes to the other.

use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

use crate::relay_between::{Site, until};

/// Makes a second project and returns a key of it.
fn other_key(server: &Server) -> String {
    let _ = server.command(&["project", "create", "other"]);
    let words = ["key", "create", "other", "--project", "other", "--json"];
    let made: Value = serde_json::from_str(&server.command(&words)).unwrap();
    made["key"].as_str().unwrap().to_owned()
}

fn say(agent: &mut StdioClient, text: &str) -> Value {
    agent
        .tool("remember", &json!({ "content": text }))
        .structured
}

fn found(agent: &mut StdioClient) -> Vec<String> {
    let answer = agent.tool("search", &json!({ "query": "the deployment" }));
    let hits = answer.structured["hits"].as_array().cloned();
    let texts = hits.unwrap_or_default();
    let mut texts: Vec<String> = texts
        .iter()
        .map(|hit| hit["content"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    texts
}

#[test]
fn what_waits_for_one_project_is_never_sent_to_another_and_holds_nothing_up_there() {
    const MINE: &str = "the deployment of the first project is on Mondays";
    const OTHERS: &str = "the deployment of the other project is on Fridays";
    const LATER: &str = "the deployment of the other project needs two people";
    let site = Site::new();
    let server = site.server();
    let key = other_key(&server);
    server.kill();
    site.between.to(None);

    let mut first = site.agent();
    assert_eq!(say(&mut first, MINE)["queued"], true);
    assert_eq!(found(&mut first), [MINE]);
    drop(first);
    let mut other = site.agent_with(&key);
    // Neither is it shown to an agent of the other project.
    assert_eq!(found(&mut other), [""; 0]);
    assert_eq!(say(&mut other, OTHERS)["queued"], true);
    assert_eq!(found(&mut other), [OTHERS]);
    drop(other);

    let server = site.server();
    let mut other = site.agent_with(&key);
    until(&mut other, "its own is sent", |told| {
        told["queue"]["waiting"] == 1
    });
    // What is left is nothing to wait behind.
    assert_eq!(say(&mut other, LATER)["outcome"], "saved");
    assert_eq!(found(&mut other), [OTHERS, LATER]);
    drop(other);
    let mut first = site.agent();
    let told = until(&mut first, "the rest is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    assert_eq!(found(&mut first), [MINE]);
    drop(server);
}

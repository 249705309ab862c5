//! The running example of the product, through the real protocol: over stdio with a person who is
//! asked, over HTTP with keys, and at a terminal by the tests of the agent.

use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

const OLD: &str = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
/// What the document says by the time of the second fact, and its hash.
const NEW_TEXT: &str = "staging is deployed with docker compose\n";
const NEW: &str = "sha256:77d9d26f29f3cbf447020779ad6ed9e3ba6241a36bf97a13805d6757031512ab";

/// Calls a tool and returns its structured answer.
type Call<'a> = &'a mut dyn FnMut(&str, Value) -> Value;

/// Tells the story up to the conflict. Returns the ids of both versions and of the summary.
fn up_to_the_conflict(call: Call<'_>) -> (String, String, String) {
    let content = "staging is deployed with the systemd unit `app-staging`";
    let first = call(
        "remember",
        json!({
            "workspace": "backend", "content": content, "fact_key": "deploy-staging",
            "source_id": "docs/deploy.md", "source_hash": OLD,
        }),
    );
    assert_eq!(first["status"], "unverified");
    let found = call(
        "search",
        json!({ "workspace": "backend", "query": "how is staging deployed?" }),
    );
    assert_eq!(found["hits"][0]["content"], content);
    assert_eq!(found["hits"][0]["id"], first["id"]);

    let validated = call(
        "validate_memory",
        json!({
            "workspace": "backend", "source_id": "docs/deploy.md", "current_source_hash": NEW,
        }),
    );
    assert_eq!(validated["stale"][0]["id"], first["id"]);
    let stale = call(
        "search",
        json!({
            "workspace": "backend", "query": "staging unit", "current_source_hash": NEW,
        }),
    );
    assert_eq!(stale["hits"][0]["status"], "stale");

    let summary = call(
        "remember",
        json!({
            "workspace": "backend", "content": "summary: staging runs under systemd", "kind": "summary",
            "derived_from": [first["id"]],
        }),
    );
    let second = call(
        "remember",
        json!({
            "workspace": "backend", "content": "staging is deployed with docker compose", "fact_key": "deploy-staging",
            "source_id": "docs/deploy.md", "source_hash": NEW,
        }),
    );
    assert_eq!(second["status"], "unverified");
    assert_eq!(second["conflicts_with"][0]["id"], first["id"]);
    let both = call(
        "search",
        json!({ "workspace": "backend", "query": "staging deployed" }),
    );
    assert_eq!(both["hits"][0]["id"], second["id"]);
    assert_eq!(both["hits"][1]["id"], first["id"]);
    assert_eq!(both["hits"][0]["status"], "conflict");
    assert_eq!(both["hits"][1]["status"], "conflict");
    assert_eq!(both["hits"][1]["superseded_by"], second["id"]);
    let explained = call("explain_memory", json!({ "memory_id": summary["id"] }));
    assert_eq!(explained["status"], "conflict");
    assert_eq!(explained["status_reasons"][0]["code"], "inherited");
    let id = |answer: &Value| answer["id"].as_str().unwrap().to_owned();
    (id(&first), id(&second), id(&summary))
}

fn after_the_decision(call: Call<'_>, winner: &str, loser: &str) {
    let found = call(
        "search",
        json!({ "workspace": "backend", "query": "staging deployed" }),
    );
    assert_eq!(found["hits"][0]["id"], winner);
    assert_eq!(found["hits"][0]["status"], "unverified");
    assert!(
        found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| hit["id"] != loser)
    );
    let receipt = call("forget", json!({ "memory_id": winner }));
    assert_eq!(receipt["forgotten"], 1);
    let gone = call(
        "search",
        json!({ "workspace": "*", "query": "docker compose staging", "history": true }),
    );
    assert!(!gone.to_string().contains("docker compose"));
}

fn over_stdio(era: Era) {
    let home = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let accepts = asked.clone();
    let person = move |question: &Value| {
        accepts.lock().unwrap().push(question.clone());
        let answer = if accepts.lock().unwrap().len() == 1 {
            "decline"
        } else {
            "accept"
        };
        json!({ "action": answer, "content": if answer == "accept" { json!({ "decision": "accept", "confirm": true }) } else { Value::Null } })
    };
    std::fs::create_dir(project.path().join("docs")).unwrap();
    std::fs::write(project.path().join("docs/deploy.md"), NEW_TEXT).unwrap();
    let mut client = StdioClient::start(home.path(), project.path(), era, Some(Box::new(person)));
    let (first, second, _) =
        up_to_the_conflict(&mut |name, arguments| client.tool(name, &arguments).ok());
    let decision =
        json!({ "workspace": "backend", "fact_key": "deploy-staging", "winner": second });
    let declined = client.tool("resolve_conflict", &decision);
    assert!(
        declined.is_error,
        "a person who declines decides nothing: {}",
        declined.text
    );
    let accepted = client.tool("resolve_conflict", &decision).ok();
    assert_eq!(accepted["resolution"]["way"], "elicitation");
    let question = asked.lock().unwrap()[1].to_string();
    assert!(
        question.contains("docker compose") && question.contains("app-staging"),
        "{question}"
    );
    after_the_decision(
        &mut |name, arguments| client.tool(name, &arguments).ok(),
        &second,
        &first,
    );
    let (status, rest) = client.close();
    assert!(status.success() && rest.is_empty());
}

#[test]
fn a_person_who_is_asked_over_stdio_decides_in_the_legacy_era() {
    over_stdio(Era::Legacy);
}

#[test]
fn a_person_who_is_asked_over_stdio_decides_in_the_modern_era() {
    over_stdio(Era::Modern);
}

#[test]
fn a_client_that_cannot_ask_its_person_decides_nothing() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = StdioClient::start(home.path(), project.path(), Era::Legacy, None);
    let tools = client.call("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"remember") && !names.contains(&"resolve_conflict"),
        "{names:?}"
    );
}

#[test]
fn over_http_a_key_with_review_decides_and_a_plain_agent_key_cannot() {
    for era in [Era::Legacy, Era::Modern] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path());
        let agent = server.client(&server.first_key());
        let (first, second, _) =
            up_to_the_conflict(&mut |name, arguments| agent.tool(era, name, &arguments).ok());
        let decision =
            json!({ "workspace": "backend", "fact_key": "deploy-staging", "winner": second });
        let refused = agent.rest("resolve_conflict", &decision);
        assert_eq!(
            (
                refused.status,
                refused.json()["error"]["code"].as_str().map(str::to_owned)
            ),
            (403, Some("forbidden".into()))
        );
        let reviewer = server.client(&server.make_key("read,write,forget,review"));
        let decided = reviewer.tool(era, "resolve_conflict", &decision).ok();
        assert_eq!(decided["resolution"]["way"], "key");
        after_the_decision(
            &mut |name, arguments| agent.tool(era, name, &arguments).ok(),
            &second,
            &first,
        );
        assert!(server.stop().success());
    }
}

//! Whatever way a record is read through the agent, on a store of its own or in front of a server: a file that
//! has changed makes it stale.

use std::fs;
use std::path::Path;

use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
const CHANGED: &str = "docs/deploy.md has changed since this was saved";

fn write(folder: &Path, text: &str) {
    fs::create_dir_all(folder.join("docs")).unwrap();
    fs::write(folder.join("docs/deploy.md"), text).unwrap();
}

/// Returns the one text of an answer.
fn text_of(answer: &Value) -> &str {
    let places = [
        "/result/contents/0/text",
        "/result/messages/0/content/text",
        "/result/content/0/text",
    ];
    let text = places.iter().find_map(|place| answer.pointer(place));
    text.and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no text in {answer}"))
}

/// What is asked for, with what the text says of a file that has changed.
fn readings(fact: &str, summary: &str) -> Vec<(&'static str, Value, Vec<&'static str>)> {
    let resource = |uri: String| json!({ "uri": uri });
    vec![
        (
            "resources/read",
            resource(format!("mmw://record/{fact}")),
            vec![CHANGED, "(changed here)"],
        ),
        (
            "resources/read",
            resource(format!("mmw://record/{summary}")),
            vec![CHANGED],
        ),
        (
            "resources/read",
            resource("mmw://fact/default/port".to_owned()),
            vec!["(stale, ", "docs/deploy.md (changed here)"],
        ),
        (
            "resources/read",
            resource("mmw://brief/default".to_owned()),
            vec![CHANGED, "docs/deploy.md (changed here)"],
        ),
        (
            "prompts/get",
            json!({"name": "recall", "arguments": {"topic": "which port"}}),
            vec![CHANGED, "(changed here)"],
        ),
        (
            "tools/call",
            json!({"name": "explain_memory", "arguments": {"memory_id": fact}}),
            vec![CHANGED, "(changed here)"],
        ),
        (
            "tools/call",
            json!({"name": "search", "arguments": {"query": "which port", "detail": "brief"}}),
            vec![CHANGED, "(changed here)"],
        ),
    ]
}

fn check(client: &mut StdioClient, folder: &Path) {
    write(folder, "port 8081\n");
    let statement =
        json!({"content": "the port is 8081", "fact_key": "port", "source_id": "docs/deploy.md"});
    let fact = client.tool("remember", &statement).ok();
    let fact = fact["id"].as_str().unwrap().to_owned();
    let summary =
        json!({"content": "which port it is: one", "kind": "summary", "derived_from": [fact]});
    let summary = client.tool("remember", &summary).ok();
    let summary = summary["id"].as_str().unwrap().to_owned();
    for (method, params, _) in readings(&fact, &summary) {
        let answer = client.call(method, params.clone());
        assert!(!text_of(&answer).contains("stale"), "{params}: {answer}");
    }

    write(folder, "port 8082\n");
    for (method, params, expected) in readings(&fact, &summary) {
        let answer = client.call(method, params.clone());
        for part in expected {
            assert!(
                text_of(&answer).contains(part),
                "{part} in {params}: {answer}"
            );
        }
        // What is compared is for the agent alone.
        assert!(!answer.to_string().contains("mmw/compare"), "{answer}");
    }
    let brief = json!({"query": "which port", "detail": "brief"});
    let found = client.tool("search", &brief).ok();
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2, "{found}");
    for hit in hits {
        assert_eq!(hit["status"], "stale", "{hit}");
        assert_eq!(hit.get("anchors"), None, "{hit}");
    }
    let receipt = client
        .tool("explain_memory", &json!({"memory_id": fact}))
        .ok();
    assert_eq!(receipt["local_source"], "changed", "{receipt}");
    assert_eq!(receipt["versions"][0]["status"], "stale", "{receipt}");
}

#[test]
fn on_a_store_of_its_own_everything_that_rests_on_a_changed_file_is_stale() {
    for era in ERAS {
        let home = tempfile::tempdir().unwrap();
        let mut client = StdioClient::start(&home.path().join("home"), home.path(), era, None);
        check(&mut client, home.path());
    }
}

#[test]
fn in_front_of_a_server_everything_that_rests_on_a_changed_file_is_stale() {
    for era in ERAS {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let server = Server::start(folder.path());
        let key = server.first_key();
        let mut client = StdioClient::relay(home.path(), &server.url, &key, era);
        check(&mut client, home.path());
        // Whoever does not ask for what is compared is not given it.
        let brief = json!({"query": "which port", "detail": "brief"});
        let direct = server.client(&key).tool(era, "search", &brief).ok();
        for hit in direct["hits"].as_array().unwrap() {
            assert_eq!(hit.get("anchors"), None, "{hit}");
        }
    }
}

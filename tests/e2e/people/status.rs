//! What the agent says of itself: to a person and to a client, with a server and without.

use mmw_tests::rpc::Era;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

use super::person::{Person, server};

const TOOL: &str = "mmw_sync_status";

fn tool_of(client: &mut StdioClient) -> (Vec<String>, Value) {
    let listed = client.call("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let own = tools.iter().find(|tool| tool["name"] == TOOL).unwrap();
    (tools.iter().map(name).collect(), own.clone())
}

#[test]
fn the_tool_is_the_same_with_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let there = Person::at(&server.url, &server.first_key());
    let here = Person::alone();
    for era in [Era::Legacy, Era::Modern] {
        let mut alone = StdioClient::with(here.command(&[]), era, None);
        let mut relayed = StdioClient::with(there.command(&[]), era, None);
        let (names, tool) = tool_of(&mut alone);
        assert_eq!(tool_of(&mut relayed), (names.clone(), tool.clone()));
        assert!(names.is_sorted(), "{names:?}");

        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        for (client, person, mode) in [
            (&mut alone, &here, "embedded"),
            (&mut relayed, &there, "server"),
        ] {
            let told = client.tool(TOOL, &json!({}));
            assert!(!told.is_error, "{}", told.text);
            schema.validate(&told.structured).unwrap();
            assert_eq!(told.structured["mode"], mode);
            let root = person.repository().canonicalize().unwrap();
            assert_eq!(told.structured["roots"], json!([root]), "{}", told.text);
            assert_eq!(told.structured["hooks"]["stop"]["last_asked"], Value::Null);
            let refused = client.tool(TOOL, &json!({"verbose": true}));
            assert!(
                refused.is_error && refused.text.contains("verbose"),
                "{}",
                refused.text
            );
        }
    }
}

#[test]
fn without_a_server_the_tool_tells_of_the_last_write_and_makes_no_store() {
    let person = Person::alone();
    let mut client = StdioClient::with(person.command(&[]), Era::Modern, None);
    let told = client.tool(TOOL, &json!({}));
    assert!(told.text.contains("Nothing is saved yet"), "{}", told.text);
    assert_eq!(told.structured["last_success"], Value::Null);
    assert!(!person.home().join("mmw/memory.db").exists());
    let saved = client.tool("remember", &json!({"content": "bolts are metric"}));
    let told = client.tool(TOOL, &json!({})).structured;
    assert_eq!(
        told["last_success"], saved.structured["received_at"],
        "{told:#}"
    );
}

#[test]
fn status_tells_when_something_last_came_in_which_files_count_and_the_versions() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let there = Person::at(&server.url, &server.first_key());
    let here = Person::alone();
    for (person, part) in [(&here, "store"), (&there, "server")] {
        assert_eq!(person.asks(&["status"]).1[part]["last_write"], Value::Null);
        let (_, saved) = person.asks(&["remember", "bolts are metric"]);
        let (code, status) = person.asks(&["status"]);
        assert_eq!(code, 0, "{status:#}");
        let memory = &status[part];
        assert_eq!(memory["last_write"], saved["received_at"], "{status:#}");
        assert_eq!(memory["last_capture"], Value::Null);
        assert_eq!(memory["records"], 1);
        assert!(
            memory["schema"].as_str().unwrap().contains('.'),
            "{status:#}"
        );
        assert!(status["version"].is_string(), "{status:#}");
        let root = person.repository().canonicalize().unwrap();
        assert_eq!(status["roots"], json!([root]));
        let shown = person.runs(&["status"]).stdout;
        for said in [
            "last write",
            "just now",
            "captured",
            "never",
            "files",
            "version",
        ] {
            assert!(shown.contains(said), "{said}: {shown}");
        }
    }
    assert!(there.asks(&["status"]).1["server"]["version"].is_string());
}

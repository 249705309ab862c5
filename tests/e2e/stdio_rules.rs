//! What a program that speaks on its standard streams owes its client.

use std::process::{Command, Stdio};

use mmw_tests::programs;
use mmw_tests::rpc::Era;
use mmw_tests::stdio::StdioClient;
use serde_json::json;

fn client(era: Era) -> (tempfile::TempDir, StdioClient) {
    let home = tempfile::tempdir().unwrap();
    let client = StdioClient::start(home.path(), home.path(), era, None);
    (home, client)
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_even_with_the_loudest_log() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(programs::path("mmw-agent"));
    command
        .env("MMW_LOG", "trace")
        .env("RUST_LOG", "trace")
        .env("MMW_AGENT_HOME", home.path())
        .current_dir(home.path());
    let mut client = StdioClient::with(command, Era::Legacy, None);
    let _ = client
        .tool("remember", &json!({ "content": "a note" }))
        .ok();
    client.send_raw("this is no JSON");
    client.send_raw("[1,2]");
    client.send_raw("{}");
    let _ = client.tool("search", &json!({ "query": "note" })).ok();
    let (status, rest) = client.close();
    assert!(status.success() && rest.is_empty(), "{rest}");
}

#[test]
fn it_ends_when_its_input_ends() {
    for era in [Era::Legacy, Era::Modern] {
        let (_home, mut client) = client(era);
        let _ = client
            .tool("remember", &json!({ "content": "a note" }))
            .ok();
        assert!(client.close().0.success());
    }
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(programs::path("mmw-agent"))
        .env("MMW_AGENT_HOME", home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_lone_surrogate_costs_one_character_and_not_the_session() {
    let (_home, mut client) = client(Era::Legacy);
    client.send_raw(r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"remember","arguments":{"content":"cut \ud83d in half, \ud83d\udc68 whole"}}}"#);
    let saved = client.wait_for(77);
    assert_eq!(
        saved["result"]["structuredContent"]["content"],
        "cut \u{fffd} in half, 👨 whole"
    );
}

#[test]
fn odd_strings_come_back_byte_for_byte() {
    let (_home, mut client) = client(Era::Modern);
    for odd in [
        "__proto__ constructor",
        "$& $1 `x`",
        "a,b\nc\td",
        "<script>alert(1)</script>",
        "👩‍👩‍👧 family",
        "\u{202b}مرحبا\u{202c} hello",
        "e\u{301} stays decomposed",
        "quote \" backslash \\ slash /",
        "null\u{1}control",
    ] {
        let saved = client.tool("remember", &json!({ "content": odd }));
        if saved.is_error || saved.structured["outcome"] == "quarantined" {
            // The guard may hold directions of writing back; it must say so.
            assert!(odd.contains('\u{202b}'), "{odd:?}: {}", saved.text);
            continue;
        }
        let id = saved.ok()["id"].clone();
        assert_eq!(
            client
                .tool("explain_memory", &json!({ "memory_id": id }))
                .ok()["record"]["content"],
            odd
        );
    }
    let refused = client.tool("remember", &json!({ "content": "a\u{0}b" }));
    assert!(
        refused.is_error && refused.text.contains("content"),
        "{}",
        refused.text
    );
}

#[test]
fn a_bad_argument_is_named_with_the_nearest_right_one() {
    let (_home, mut client) = client(Era::Legacy);
    for (tool, arguments, told) in [
        (
            "search",
            json!({ "query": "x", "limit": 0 }),
            vec!["limit", "1"],
        ),
        (
            "search",
            json!({ "query": "x", "worksapce": "y" }),
            vec!["worksapce", "workspace"],
        ),
        ("search", json!({}), vec!["query"]),
        ("search", json!({ "query": 5 }), vec!["query"]),
        (
            "remember",
            json!({ "content": "x", "kind": "note" }),
            vec!["kind", "decision"],
        ),
        (
            "remember",
            json!({ "content": "x", "confidence": 1.5 }),
            vec!["confidence", "1"],
        ),
        (
            "remember",
            json!({ "content": "x", "source_hash": "abc" }),
            vec!["source_hash"],
        ),
        ("forget", json!({ "id": "x" }), vec!["id", "memory_id"]),
    ] {
        let refused = client.tool(tool, &arguments);
        assert!(refused.is_error, "{tool} {arguments}");
        for word in told {
            assert!(
                refused.text.contains(word),
                "{tool} {arguments}: {}",
                refused.text
            );
        }
    }
    assert_eq!(
        client
            .tool("search", &json!({ "query": "x", "limit": 2.0 }))
            .ok()["total"],
        0
    );
}

#[test]
fn the_list_of_tools_is_cheap() {
    let (_home, mut client) = client(Era::Legacy);
    let listed = client.call("tools/list", json!({}));
    let cost: usize = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            json!([tool["name"], tool["description"], tool["inputSchema"]])
                .to_string()
                .chars()
                .count()
        })
        .sum();
    // About four characters a token for text like this; the promise is 2,000 tokens.
    assert!(cost < 8_000, "{cost} characters");
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let hints = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(hints[hint].is_boolean(), "{}: {hint}", tool["name"]);
        }
        assert!(
            tool["title"].is_string() && tool["outputSchema"].is_object(),
            "{}",
            tool["name"]
        );
        assert!(format!("mcp__plugin_mmw_mmw__{}", tool["name"].as_str().unwrap()).len() <= 64);
    }
}

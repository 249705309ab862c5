//! The stateless protocol of 2026-07-28 on the same endpoint.

use serde_json::{Value, json};

use crate::harness::{Answer, World, message};

const VERSION: &str = "2026-07-28";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "modern-client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

async fn rpc(world: &World, method: &str, mut params: Value, name: &str) -> Answer {
    params["_meta"] = meta(VERSION);
    let headers = [
        ("mcp-protocol-version", VERSION),
        ("mcp-method", method),
        ("mcp-name", name),
        ("accept", "application/json, text/event-stream"),
    ];
    world
        .post("/mcp", &headers, &message(method, &params))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_private_and_may_be_kept_for_a_while() {
    let world = World::start().await;
    for method in [
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let answer = rpc(&world, method, json!({}), "").await;
        assert_eq!(answer.status, 200, "{method} {}", answer.body);
        let result = answer.json()["result"].clone();
        assert_eq!(result["cacheScope"], "private", "{method}");
        assert!(result["ttlMs"].as_u64().unwrap() > 0, "{method}");
        assert_eq!(result["resultType"], "complete", "{method}");
        let again = rpc(&world, method, json!({}), "").await.json();
        assert_eq!(again["result"], result, "{method} is always the same");
    }
    let discovered = rpc(&world, "server/discover", json!({}), "").await.json();
    let versions = discovered["result"]["supportedVersions"]
        .as_array()
        .unwrap();
    assert!(versions.contains(&json!(VERSION)) && versions.contains(&json!("2025-11-25")));
    assert!(
        !discovered["result"]["instructions"]
            .as_str()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_saves_and_the_client_s_name_is_kept() {
    let world = World::start().await;
    let call = json!({ "name": "remember", "arguments": { "content": "x" } });
    let answer = rpc(&world, "tools/call", call, "remember").await.json();
    let saved = &answer["result"]["structuredContent"];
    assert_eq!(saved["status"], "unverified");
    assert_eq!(saved["client"], "modern-client");
    let read = json!({ "uri": format!("mmw://record/{}", saved["id"].as_str().unwrap()) });
    let uri = read["uri"].as_str().unwrap().to_owned();
    let answer = rpc(&world, "resources/read", read, &uri).await.json();
    assert_eq!(answer["result"]["cacheScope"], "private");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_the_protocol_has_its_status() {
    let world = World::start().await;
    let answer = rpc(&world, "no/such", json!({}), "").await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (404, &json!(-32601))
    );
    let legacy = world.rpc("no/such", &json!({})).await;
    assert_eq!(
        (legacy.status, &legacy.json()["error"]["code"]),
        (200, &json!(-32601))
    );
    let answer = rpc(
        &world,
        "tools/call",
        json!({ "name": "nothing" }),
        "nothing",
    )
    .await;
    assert_eq!(answer.json()["error"]["code"], -32602);
    let answer = rpc(
        &world,
        "tools/call",
        json!({ "name": "search" }),
        "remember",
    )
    .await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (400, &json!(-32020))
    );
    let params = json!({ "_meta": meta("2099-01-01") });
    let headers = [
        ("mcp-protocol-version", "2099-01-01"),
        ("mcp-method", "tools/list"),
    ];
    let answer = world
        .post("/mcp", &headers, &message("tools/list", &params))
        .await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    let absent = json!({ "uri": "mmw://record/0192f0c1-8a6b-7c3d-9e4f-0123456789ab" });
    let uri = absent["uri"].as_str().unwrap().to_owned();
    let answer = rpc(&world, "resources/read", absent, &uri).await;
    assert_eq!(answer.json()["error"]["code"], -32602);
}

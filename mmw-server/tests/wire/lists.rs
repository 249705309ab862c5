//! What a client is shown: tools by scope, resources, prompts, completion.

use mmw_core::plan::Limits;
use serde_json::{Value, json};

use crate::harness::{World, bearer, message};

async fn tools(world: &World, scopes: &str) -> Vec<String> {
    let key = bearer(&world.key("default", scopes, Limits::default()));
    let list = message("tools/list", &json!({}));
    let answer = world
        .post("/mcp", &[("authorization", &key)], &list)
        .await
        .json();
    names(&answer["result"]["tools"])
}

fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_sees_the_tools_that_its_scopes_allow() {
    let world = World::start().await;
    assert_eq!(
        tools(&world, "read").await,
        ["explain_memory", "search", "validate_memory"]
    );
    assert_eq!(
        tools(&world, "read,write,forget,capture").await,
        [
            "explain_memory",
            "forget",
            "remember",
            "search",
            "validate_memory"
        ]
    );
    assert_eq!(
        tools(&world, "review").await,
        ["resolve_conflict", "review_candidates"]
    );
    assert!(tools(&world, "admin").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_has_title_schemas_and_all_four_hints() {
    let world = World::start().await;
    let list = world.rpc("tools/list", &json!({})).await.json();
    for tool in list["result"]["tools"].as_array().unwrap() {
        for member in ["title", "description"] {
            assert!(!tool[member].as_str().unwrap().is_empty(), "{tool}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} {tool}");
        }
    }
    let unknown = world.tool("nothing", &json!({})).await.json();
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_facts_and_briefs_are_resources() {
    let world = World::start().await;
    let saved = world
        .rest("remember", &json!({
            "content": "staging is `app-staging`", "fact_key": "deploy/staging", "workspace": "my team",
        }))
        .await
        .json();
    let templates = world
        .rpc("resources/templates/list", &json!({}))
        .await
        .json();
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let listed = world.rpc("resources/list", &json!({})).await.json();
    assert_eq!(
        listed["result"]["resources"][0]["uri"],
        "mmw://brief/default"
    );
    for uri in [
        format!("mmw://record/{}", saved["id"].as_str().unwrap()),
        "mmw://fact/my%20team/deploy%2Fstaging".to_owned(),
        "mmw://brief/my%20team".to_owned(),
    ] {
        let read = world
            .rpc("resources/read", &json!({ "uri": uri }))
            .await
            .json();
        let text = read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{uri} {read}"));
        assert!(
            text.contains("app-staging") && text.contains("data, not instructions"),
            "{text}"
        );
    }
    for uri in [
        "mmw://record/0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
        "mmw://record/x",
        "mmw://fact/a/b",
        "file:///etc/passwd",
    ] {
        let read = world
            .rpc("resources/read", &json!({ "uri": uri }))
            .await
            .json();
        assert_eq!(read["error"]["code"], -32002, "{uri} {read}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_recall_and_have_decisions_saved() {
    let world = World::start().await;
    world
        .rest("remember", &json!({ "content": "tests run with nextest" }))
        .await;
    let list = world.rpc("prompts/list", &json!({})).await.json();
    assert_eq!(
        names(&list["result"]["prompts"]),
        ["recall", "save-decisions"]
    );
    let recall = json!({ "name": "recall", "arguments": { "topic": "how do tests run" } });
    let got = world.rpc("prompts/get", &recall).await.json();
    let text = got["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains("> tests run with nextest"), "{text}");
    let got = world
        .rpc("prompts/get", &json!({ "name": "save-decisions" }))
        .await
        .json();
    assert!(
        got["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("`remember`")
    );
    for bad in [json!({ "name": "recall" }), json!({ "name": "nothing" })] {
        let got = world.rpc("prompts/get", &bad).await.json();
        assert_eq!(got["error"]["code"], -32602, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_and_fact_keys_are_completed() {
    let world = World::start().await;
    world
        .rest(
            "remember",
            &json!({ "content": "x", "workspace": "backend", "fact_key": "deploy-staging" }),
        )
        .await;
    let complete = |argument: &str, value: &str| {
        json!({
            "ref": { "type": "ref/resource", "uri": "mmw://fact/{workspace}/{fact_key}" },
            "argument": { "name": argument, "value": value },
            "context": { "arguments": { "workspace": "backend" } },
        })
    };
    let got = world
        .rpc("completion/complete", &complete("workspace", "ba"))
        .await
        .json();
    assert_eq!(got["result"]["completion"]["values"], json!(["backend"]));
    let got = world
        .rpc("completion/complete", &complete("fact_key", "dep"))
        .await
        .json();
    assert_eq!(
        got["result"]["completion"]["values"],
        json!(["deploy-staging"])
    );
    let unknown = json!({ "ref": { "type": "ref/prompt", "name": "nothing" }, "argument": { "name": "a", "value": "" } });
    let got = world.rpc("completion/complete", &unknown).await.json();
    assert_eq!(got["error"]["code"], -32602);
}

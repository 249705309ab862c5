//! MCP and REST give the same answers, and every answer is what its schema says.

use std::collections::HashMap;
use std::time::Duration;

use mmw_core::plan::Limits;
use serde_json::{Value, json};

use crate::harness::{World, bearer};

/// Replaces what differs between two runs of the same thing: ids by their first appearance,
/// moments and durations by a word.
fn normal(value: &mut Value, ids: &mut HashMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object.iter_mut() {
                if name == "took_ms" || (name == "key" && value.is_string()) {
                    *value = json!("some");
                }
                normal(value, ids);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| normal(value, ids)),
        Value::String(text) => {
            let is_id = |part: &str| part.len() == 36 && part.matches('-').count() == 4;
            let parts: Vec<String> = text
                .split_inclusive(|c: char| !(c.is_ascii_hexdigit() || c == '-'))
                .map(|part| {
                    let (id, rest) = part.split_at(part.len().min(36));
                    if is_id(id) {
                        let n = ids.len();
                        let name = ids.entry(id.to_owned()).or_insert(format!("#{n}"));
                        format!("{name}{rest}")
                    } else {
                        part.to_owned()
                    }
                })
                .collect();
            *text = parts.concat();
            if mmw_core::time::Timestamp::parse(text).is_ok() && text.len() > 10 {
                *text = "then".to_owned();
            }
        }
        _ => {}
    }
}

/// One protocol on a store of its own.
struct Side {
    world: World,
    key: String,
    ids: HashMap<String, String>,
    /// Ids that earlier steps gave, for `$name` in arguments.
    named: HashMap<String, String>,
}

impl Side {
    async fn start() -> Self {
        let world = World::start().await;
        let key = world.key("default", "read,write,forget,review", Limits::default());
        Self {
            key: bearer(&key),
            world,
            ids: HashMap::new(),
            named: HashMap::new(),
        }
    }

    fn filled(&self, arguments: &Value) -> Value {
        let mut text = arguments.to_string();
        for (name, id) in &self.named {
            text = text.replace(&format!("${name}"), id);
        }
        serde_json::from_str(&text).unwrap()
    }

    fn noted(&mut self, name: &str, answer: &Value) -> Value {
        if let Some(id) = answer.get("id").and_then(Value::as_str) {
            self.named.insert(name.to_owned(), id.to_owned());
        }
        let mut answer = answer.clone();
        normal(&mut answer, &mut self.ids);
        answer
    }

    async fn rest(&mut self, step: &Step) -> Value {
        let mut body = self.filled(&step.arguments);
        if !step.envelope.is_null() {
            body["envelope"] = step.envelope.clone();
        }
        let path = format!("/api/v1/{}", step.action);
        let headers = [("authorization", self.key.as_str())];
        let answer = self.world.post(&path, &headers, &body).await;
        let body = answer.json();
        let body = body.get("error").unwrap_or(&body).clone();
        self.noted(step.name, &body)
    }

    async fn mcp(&mut self, step: &Step, schemas: &HashMap<String, Value>) -> Value {
        let mut params = json!({ "name": step.action, "arguments": self.filled(&step.arguments) });
        if !step.envelope.is_null() {
            params["_meta"] = json!({ "mmw/envelope": step.envelope });
        }
        let headers = [("authorization", self.key.as_str())];
        let message = crate::harness::message("tools/call", &params);
        let answer = self.world.post("/mcp", &headers, &message).await.json();
        if let Some(error) = answer.get("error") {
            return self.noted(step.name, &error["data"].clone());
        }
        let result = &answer["result"];
        if result["isError"] == json!(true) {
            assert!(result.get("structuredContent").is_none(), "{result}");
            let fault = result["_meta"]["mmw/fault"].clone();
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with(fault["code"].as_str().unwrap()), "{text}");
            return self.noted(step.name, &fault);
        }
        let structured = result["structuredContent"].clone();
        let schema = jsonschema::draft202012::new(&schemas[step.action]).unwrap();
        let problems: Vec<String> = schema
            .iter_errors(&structured)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{}: {problems:?}", step.action);
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
        self.noted(step.name, &structured)
    }
}

struct Step {
    name: &'static str,
    action: &'static str,
    arguments: Value,
    envelope: Value,
}

fn step(name: &'static str, action: &'static str, arguments: Value) -> Step {
    Step {
        name,
        action,
        arguments,
        envelope: Value::Null,
    }
}

fn story() -> Vec<Step> {
    let deploy = |content: &str| {
        json!({
            "content": content, "fact_key": "deploy-staging", "workspace": "backend",
            "source_id": "docs/deploy.md", "source_hash": format!("sha256:{}", "5a".repeat(32)),
            "tags": ["ops"], "kind": "decision", "confidence": 0.9,
        })
    };
    let mut steps = vec![
        step(
            "first",
            "remember",
            deploy("staging is the unit `app-staging`"),
        ),
        step(
            "again",
            "remember",
            deploy("staging is the unit `app-staging`"),
        ),
        step(
            "found",
            "search",
            json!({"query": "staging unit", "workspace": "backend"}),
        ),
        step(
            "stale",
            "search",
            json!({
                "query": "staging", "workspace": "backend", "source_id": "docs/deploy.md",
                "current_source_hash": format!("sha256:{}", "c3".repeat(32)),
            }),
        ),
        step(
            "checked",
            "validate_memory",
            json!({
                "source_id": "docs/deploy.md", "workspace": "backend",
                "current_source_hash": format!("sha256:{}", "c3".repeat(32)),
            }),
        ),
        step(
            "second",
            "remember",
            deploy("staging is the unit `app-stage-2`"),
        ),
        step(
            "summary",
            "remember",
            json!({
                "content": "how staging runs, in short", "workspace": "backend", "kind": "summary",
                "derived_from": ["$first", "$second"],
            }),
        ),
        step(
            "conflict",
            "search",
            json!({
                "query": "staging", "workspace": "backend", "history": true, "detail": "full", "limit": 2.0,
            }),
        ),
        step(
            "explained",
            "explain_memory",
            json!({"memory_id": "$first"}),
        ),
        step(
            "resolved",
            "resolve_conflict",
            json!({
                "fact_key": "deploy-staging", "workspace": "backend", "winner": "$second", "note": "asked ops",
            }),
        ),
        step(
            "after",
            "search",
            json!({"query": "staging", "workspace": "*"}),
        ),
        step("elsewhere", "search", json!({"query": "staging"})),
        step("lane", "review_candidates", json!({})),
        step(
            "lane2",
            "review_candidates",
            json!({"action": "approve", "ids": ["mem_cand_x"]}),
        ),
        step(
            "secret",
            "remember",
            json!({"content": "the key is AKIAIOSFODNN7EXAMPLE, keep it"}),
        ),
        step(
            "dry",
            "forget",
            json!({"source_id": "docs/deploy.md", "workspace": "*", "dry_run": true}),
        ),
        step(
            "gone",
            "forget",
            json!({"memory_id": "$first", "reason": "old"}),
        ),
        step("gone2", "forget", json!({"memory_id": "$first"})),
        step("absent", "explain_memory", json!({"memory_id": "$first"})),
        step("nothing", "search", json!({"query": "zebra crossing"})),
        step("unknown", "search", json!({"query": "x", "worksapce": "y"})),
        step("empty", "remember", json!({"content": "  "})),
        step(
            "null",
            "remember",
            json!({"content": "a plain fact", "tags": null}),
        ),
        step("range", "search", json!({"query": "x", "limit": 99})),
        step("neither", "forget", json!({})),
        step("blank", "search", json!({"query": "x", "workspace": ""})),
        step("noid", "explain_memory", json!({"memory_id": "no id"})),
        step(
            "absent2",
            "explain_memory",
            json!({"memory_id": "0192f0c1-8a6b-7c3d-9e4f-0123456789ab"}),
        ),
        step(
            "badhash",
            "validate_memory",
            json!({"source_id": "a", "current_source_hash": "zz"}),
        ),
    ];
    for (name, content) in [
        ("idem", "said once"),
        ("idem2", "said once"),
        ("idem3", "said otherwise"),
    ] {
        steps.push(Step {
            envelope: json!({
                "idempotency_key": "k1", "agent": "claude-code", "client": "test", "session_id": "s1",
                "branch": "main", "recorded_at": "2026-03-14T09:30:00Z", "later": 1,
            }),
            ..step(name, "remember", json!({"content": content}))
        });
    }
    steps.push(Step {
        envelope: json!({"agent": 5}),
        ..step("envelope", "remember", json!({"content": "x"}))
    });
    steps
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_and_rest_give_the_same_answers_and_answers_are_what_their_schemas_say() {
    let mut rest = Side::start().await;
    let mut mcp = Side::start().await;
    let headers = [("authorization", mcp.key.as_str())];
    let list = mcp
        .world
        .post(
            "/mcp",
            &headers,
            &crate::harness::message("tools/list", &json!({})),
        )
        .await
        .json();
    let schemas: HashMap<String, Value> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            (name, tool["outputSchema"].clone())
        })
        .collect();
    let mut n_faults = 0;
    for step in story() {
        // What is found by meaning depends on when the vectors came.
        for side in [&rest, &mcp] {
            assert!(side.world.memory.settle(Duration::from_secs(60)).unwrap());
        }
        let by_rest = rest.rest(&step).await;
        let mut by_mcp = mcp.mcp(&step, &schemas).await;
        if by_rest != by_mcp {
            // How the call came in is recorded, and rightly differs.
            let text = by_mcp
                .to_string()
                .replace("\"way\":\"mcp\"", "\"way\":\"rest\"");
            by_mcp = serde_json::from_str(&text).unwrap();
        }
        assert_eq!(by_rest, by_mcp, "{}", step.name);
        let is_fault = by_rest.get("code").is_some();
        n_faults += u32::from(is_fault);
    }
    assert!((10..16).contains(&n_faults), "{n_faults}");
}

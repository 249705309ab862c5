//! MCP in both eras, over HTTP and stdio, and REST give the same answers to the same calls.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

/// Makes a call and returns what came of it: the structured answer, or the code of the refusal.
type Call = Box<dyn FnMut(&str, &Value) -> Value>;

/// How long vectors may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A story of calls about no file of this computer, which only the agent looks at; `{n}` stands for the id that call n answered with.
fn story() -> Vec<(&'static str, Value)> {
    let hash = |digit: &str| format!("sha256:{}", digit.repeat(64));
    vec![
        (
            "remember",
            json!({ "content": "the API listens on port 8080", "fact_key": "API port", "source_id": "wiki:a", "source_hash": hash("1"), "tags": ["net"] }),
        ),
        (
            "remember",
            json!({ "content": "the API listens on port 8081", "fact_key": "api_port" }),
        ),
        (
            "remember",
            json!({ "content": "ports in short", "kind": "summary", "derived_from": ["{0}", "{1}"] }),
        ),
        ("search", json!({ "query": "which port" })),
        (
            "search",
            json!({ "query": "which port", "tags": ["net"], "limit": 1, "detail": "brief" }),
        ),
        (
            "search",
            json!({ "query": "which port", "current_sources": { "wiki:a": hash("2") } }),
        ),
        ("search", json!({ "query": "nothing like it" })),
        ("search", json!({ "query": "port", "limit": 51 })),
        ("search", json!({ "query": "port", "limt": 5 })),
        (
            "validate_memory",
            json!({ "source_id": "wiki:a", "current_source_hash": hash("2") }),
        ),
        ("explain_memory", json!({ "memory_id": "{2}" })),
        (
            "explain_memory",
            json!({ "memory_id": "0192f0c1-8a6b-7c3d-9e4f-0123456789ab" }),
        ),
        ("explain_memory", json!({ "memory_id": "nonsense" })),
        (
            "remember",
            json!({ "content": "token is ghp_0123456789abcdefghijABCDEFGHIJ012345" }),
        ),
        ("remember", json!({ "content": "   " })),
        ("forget", json!({ "memory_id": "{0}", "dry_run": true })),
        ("forget", json!({ "memory_id": "{0}" })),
        ("forget", json!({ "memory_id": "{0}" })),
        ("forget", json!({})),
        ("search", json!({ "query": "which port", "history": true })),
    ]
}

/// Plays the story and makes what differs by nature the same: ids by order, times and durations.
fn play(mut call: Call) -> Vec<Value> {
    let mut ids: HashMap<String, String> = HashMap::new();
    let mut answered: Vec<String> = Vec::new();
    let mut answers = Vec::new();
    for (tool, arguments) in story() {
        let mut text = arguments.to_string();
        for (n, id) in answered.iter().enumerate() {
            text = text.replace(&format!("{{{n}}}"), id);
        }
        let arguments = serde_json::from_str(&text).unwrap();
        let began = Instant::now();
        let mut answer = call(tool, &arguments);
        // Vectors come a moment after what they are of.
        while answer["degraded"].to_string().contains("semantic") {
            assert!(began.elapsed() < PATIENCE, "{answer}");
            answer = call(tool, &arguments);
        }
        answered.push(answer["id"].as_str().unwrap_or_default().to_owned());
        answers.push(plain(&answer, &mut ids));
    }
    answers
}

fn plain(value: &Value, ids: &mut HashMap<String, String>) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| {
                !matches!(
                    name.as_str(),
                    "took_ms" | "way" | "key" | "client" | "agent"
                )
            })
            .map(|(name, value)| (name.clone(), plain(value, ids)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(values) => values.iter().map(|value| plain(value, ids)).collect(),
        Value::String(text) => plain_text(text, ids).into(),
        other => other.clone(),
    }
}

fn plain_text(text: &str, ids: &mut HashMap<String, String>) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for word in &mut words {
        let bare = word
            .trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .to_owned();
        let is_id = bare.len() == 36 && bare.matches('-').count() == 4;
        let is_time = bare.len() >= 19 && bare.as_bytes()[4] == b'-' && bare.as_bytes()[10] == b'T';
        if is_id {
            let next = format!("id-{}", ids.len());
            *word = word.replace(&bare, ids.entry(bare.clone()).or_insert(next));
        } else if is_time {
            *word = "time".to_owned();
        }
    }
    words.join(" ")
}

fn over_http(era: Option<Era>) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let client = server.client(&server.first_key());
    play(Box::new(move |tool, arguments| match era {
        None => {
            let answer = client.rest(tool, arguments).json();
            if answer["error"].is_object() {
                answer["error"].clone()
            } else {
                answer
            }
        }
        Some(era) => {
            let answer = client.tool(era, tool, arguments);
            if answer.is_error {
                answer.fault
            } else {
                answer.structured
            }
        }
    }))
}

fn over_stdio(era: Era) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let mut client = StdioClient::start(home.path(), home.path(), era, None);
    play(Box::new(move |tool, arguments| {
        let answer = client.tool(tool, arguments);
        if answer.is_error {
            answer.fault
        } else {
            answer.structured
        }
    }))
}

fn through_the_agent(era: Era) -> Vec<Value> {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(folder.path());
    let mut client = StdioClient::relay(home.path(), &server.url, &server.first_key(), era);
    play(Box::new(move |tool, arguments| {
        let _ = &server;
        let answer = client.tool(tool, arguments);
        if answer.is_error {
            answer.fault
        } else {
            answer.structured
        }
    }))
}

#[test]
fn all_ways_in_give_the_same_answers() {
    let rest = over_http(None);
    for (n, answer) in rest.iter().enumerate() {
        assert!(answer.is_object(), "call {n}: {answer}");
    }
    for (name, other) in [
        ("mcp legacy", over_http(Some(Era::Legacy))),
        ("mcp modern", over_http(Some(Era::Modern))),
        ("stdio legacy", over_stdio(Era::Legacy)),
        ("stdio modern", over_stdio(Era::Modern)),
        ("the agent, legacy", through_the_agent(Era::Legacy)),
        ("the agent, modern", through_the_agent(Era::Modern)),
    ] {
        for (n, (one, other)) in rest.iter().zip(&other).enumerate() {
            assert_eq!(one, other, "call {n} over REST and over {name}");
        }
    }
}

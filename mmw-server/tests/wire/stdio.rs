//! The same actions over stdio, and the person who is asked there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::Way;
use mmw_server::mcp::{Embedded, serve_lines};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::harness::open;

struct Client {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: tokio::task::JoinHandle<()>,
    n_opened: Arc<AtomicUsize>,
    last_id: u64,
    modern: bool,
    capabilities: Value,
    _folder: Arc<TempDir>,
}

impl Client {
    fn start(modern: bool, capabilities: Value) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let n_opened = Arc::new(AtomicUsize::new(0));
        let embedded = Embedded {
            open: {
                let (folder, n_opened) = (Arc::clone(&folder), Arc::clone(&n_opened));
                Box::new(move || {
                    n_opened.fetch_add(1, Ordering::SeqCst);
                    Ok(open(&folder))
                })
            },
            caller: Box::new(|memory| memory.local_caller("repository", Way::Stdio)),
            add: Box::new(|_, _| None),
            own: Vec::new(),
            roots: Box::new(|_| {}),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move {
            serve_lines(embedded, input, output).await.unwrap();
        });
        let (from, to) = tokio::io::split(ours);
        Self {
            to,
            from: BufReader::new(from).lines(),
            serving,
            n_opened,
            last_id: 0,
            modern,
            capabilities,
            _folder: folder,
        }
    }

    async fn legacy(capabilities: Value) -> Self {
        let mut client = Self::start(false, capabilities.clone());
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "old-client", "version": "1" },
        });
        let greeted = client.ask("initialize", hello).await;
        assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25");
        client
            .line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        client
    }

    async fn line(&mut self, line: &str) {
        self.to.write_all(line.as_bytes()).await.unwrap();
        self.to.write_all(b"\n").await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.from.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn send(&mut self, method: &str, mut params: Value) {
        self.last_id += 1;
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "new-client", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.line(&message.to_string()).await;
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
        .await["result"]
            .clone()
    }

    async fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    /// Saves two versions of a fact that disagree and returns their ids.
    async fn conflict(&mut self) -> (Value, Value) {
        let mut ids = Vec::new();
        for content in ["staging is `app-staging`", "staging is `app-stage-2`"] {
            let arguments = json!({ "content": content, "fact_key": "deploy-staging" });
            let saved = self.call("remember", arguments).await;
            ids.push(saved["structuredContent"]["id"].clone());
        }
        (ids[0].clone(), ids[1].clone())
    }

    async fn end(self) {
        drop(self.to);
        drop(self.from);
        self.serving.await.unwrap();
    }
}

fn with_elicitation() -> Value {
    json!({ "elicitation": {} })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_handshake_is_answered_before_the_store_is_opened() {
    let mut client = Client::legacy(json!({})).await;
    assert_eq!(client.n_opened.load(Ordering::SeqCst), 0);
    let saved = client.call("remember", json!({ "content": "x" })).await;
    assert_eq!(saved["structuredContent"]["status"], "unverified");
    assert_eq!(saved["structuredContent"]["client"], "old-client");
    let found = client.call("search", json!({ "query": "x" })).await;
    assert_eq!(found["structuredContent"]["total"], 1);
    assert_eq!(client.n_opened.load(Ordering::SeqCst), 1);
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_and_does_not_end_the_conversation() {
    let mut client = Client::legacy(json!({})).await;
    client.line("{nope").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    client.line("[1]").await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    client.line("").await;
    let long = format!("\"{}\"", "x".repeat(2 << 20));
    client.line(&long).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    client
        .line(r#"{"jsonrpc":"2.0","method":"$/unknown","params":{}}"#)
        .await;
    let body = r#"{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"remember","arguments":{"content":"cut \ud83d"}}}"#;
    client.line(body).await;
    let saved = client.next().await;
    assert_eq!(
        saved["result"]["structuredContent"]["content"],
        "cut \u{fffd}"
    );
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_input_ends_the_server_after_the_answers() {
    let mut client = Client::legacy(json!({})).await;
    client
        .send(
            "tools/call",
            json!({ "name": "remember", "arguments": { "content": "last words" } }),
        )
        .await;
    client.to.shutdown().await.unwrap();
    let saved = client.next().await;
    assert_eq!(
        saved["result"]["structuredContent"]["content"],
        "last words"
    );
    assert!(client.from.next_line().await.unwrap().is_none());
    client.serving.await.unwrap();
    let silent = Client::start(false, json!({}));
    silent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_client_that_can_ask_a_person_is_shown_what_a_person_decides() {
    let mut client = Client::legacy(json!({})).await;
    assert!(
        !client
            .tools()
            .await
            .contains(&"resolve_conflict".to_owned())
    );
    let (_, second) = client.conflict().await;
    let arguments = json!({ "fact_key": "deploy-staging", "winner": second });
    let refused = client.call("resolve_conflict", arguments).await;
    assert_eq!(refused["_meta"]["mmw/fault"]["code"], "forbidden");
    let seen = client.call("review_candidates", json!({})).await;
    assert_eq!(seen["structuredContent"]["waiting"], 0);
    client.end().await;
    let mut client = Client::legacy(with_elicitation()).await;
    assert!(
        client
            .tools()
            .await
            .contains(&"resolve_conflict".to_owned())
    );
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_resolves_a_conflict_when_asked_by_an_older_client() {
    for (reply, resolved) in [
        (json!({ "action": "accept", "content": {} }), true),
        (json!({ "action": "decline" }), false),
        (json!({ "action": "cancel" }), false),
    ] {
        let mut client = Client::legacy(with_elicitation()).await;
        let (first, second) = client.conflict().await;
        let arguments = json!({ "fact_key": "deploy-staging", "winner": second });
        client
            .send(
                "tools/call",
                json!({ "name": "resolve_conflict", "arguments": arguments }),
            )
            .await;
        let question = client.next().await;
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        for id in [&first, &second] {
            assert!(message.contains(id.as_str().unwrap()), "{message}");
        }
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
        client.line(&answer.to_string()).await;
        let result = client.next().await["result"].clone();
        if resolved {
            assert_eq!(
                result["structuredContent"]["resolution"]["way"], "elicitation",
                "{result}"
            );
        } else {
            assert_eq!(result["_meta"]["mmw/fault"]["code"], "declined", "{result}");
        }
        let found = client.call("search", json!({ "query": "staging" })).await;
        let status = if resolved { "unverified" } else { "conflict" };
        assert_eq!(found["structuredContent"]["hits"][0]["status"], status);
        client.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_person_may_choose_another_version_than_was_proposed() {
    let mut client = Client::legacy(with_elicitation()).await;
    let (first, second) = client.conflict().await;
    let arguments = json!({ "fact_key": "deploy-staging", "winner": second });
    client
        .send(
            "tools/call",
            json!({ "name": "resolve_conflict", "arguments": arguments }),
        )
        .await;
    let question = client.next().await;
    let reply =
        json!({ "action": "accept", "content": { "winner": first, "note": "ops said so" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    client.line(&answer.to_string()).await;
    let result = client.next().await["result"].clone();
    assert_eq!(result["structuredContent"]["resolution"]["winner"], first);
    assert_eq!(
        result["structuredContent"]["resolution"]["note"],
        "ops said so"
    );
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_resolves_a_conflict_when_asked_by_a_newer_client() {
    let mut client = Client::start(true, json!({ "elicitation": { "form": {} } }));
    let (first, second) = client.conflict().await;
    let arguments = json!({ "fact_key": "deploy-staging", "winner": second });
    let asked = client.call("resolve_conflict", arguments.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(
        asked["inputRequests"]["decision"]["method"],
        "elicitation/create"
    );
    let state = asked["requestState"].clone();
    let accept = json!({ "decision": { "action": "accept", "content": {} } });
    let again = |arguments: &Value, state: &Value, responses: &Value| {
        json!({
            "name": "resolve_conflict", "arguments": arguments,
            "requestState": state, "inputResponses": responses,
        })
    };
    // Neither a made-up state nor the state of other arguments is taken.
    let mut other = arguments.clone();
    other["note"] = json!("not what was asked");
    for (arguments, state) in [(&arguments, &json!("rs1.made.up")), (&other, &state)] {
        let result = client
            .ask("tools/call", again(arguments, state, &accept))
            .await["result"]
            .clone();
        assert_eq!(
            result["_meta"]["mmw/fault"]["field"], "requestState",
            "{result}"
        );
    }
    // Without an answer the person is asked again.
    let result = client
        .ask("tools/call", again(&arguments, &state, &json!({})))
        .await["result"]
        .clone();
    assert_eq!(result["resultType"], "input_required");
    let result = client
        .ask("tools/call", again(&arguments, &state, &accept))
        .await["result"]
        .clone();
    assert_eq!(
        result["structuredContent"]["resolution"]["way"], "elicitation",
        "{result}"
    );
    // An answer decides once: after any decision the person is asked again.
    let reverse = json!({ "fact_key": "deploy-staging", "winner": first });
    for next in [&arguments, &reverse] {
        let result = client
            .ask("tools/call", again(&arguments, &state, &accept))
            .await["result"]
            .clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        let asked = client.call("resolve_conflict", next.clone()).await;
        let result = client
            .ask("tools/call", again(next, &asked["requestState"], &accept))
            .await["result"]
            .clone();
        assert_eq!(
            result["structuredContent"]["resolution"]["winner"], next["winner"],
            "{result}"
        );
    }
    let result = client
        .ask("tools/call", again(&arguments, &state, &accept))
        .await["result"]
        .clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    client.end().await;
}

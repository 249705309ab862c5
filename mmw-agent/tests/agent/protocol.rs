//! MCP on standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::desk::Desk;

/// A client that speaks the protocol line by line.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    n_calls: u64,
}

impl Client {
    pub(crate) fn start(desk: &Desk) -> Self {
        Self::spawn(desk.command(&[]))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            n_calls: 0,
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn call(&mut self, method: &str, params: impl Into<Value>) -> Value {
        self.n_calls += 1;
        let id = self.n_calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params.into()}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{line}");
        answer
    }

    /// Returns the next line that the program prints.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn greet(&mut self) -> Value {
        let answer = self.call(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test-client", "version": "1"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(crate) fn tool(&mut self, name: &str, arguments: impl Into<Value>) -> Value {
        let answer = self.call(
            "tools/call",
            json!({"name": name, "arguments": arguments.into()}),
        );
        answer["result"].clone()
    }

    /// Ends the input and returns the exit code and what else was printed.
    pub(crate) fn leave(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

#[test]
fn what_a_client_saves_a_person_finds_and_the_other_way_round() {
    let desk = Desk::new();
    let mut client = Client::start(&desk);
    client.greet();
    let saved = client.tool(
        "remember",
        json!({"content": "tests run with nextest", "fact_key": "tests"}),
    );
    assert_eq!(
        saved["structuredContent"]["status"], "unverified",
        "{saved}"
    );
    let found = desk.run(&["search", "nextest"]).stdout;
    assert!(found.contains("tests run with nextest"), "{found}");

    desk.run(&["remember", "releases are cut on Mondays"]);
    let found = client.tool("search", json!({"query": "releases"}));
    let hits = found["structuredContent"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{found}");
    assert_eq!(client.leave(), (0, String::new()));
}

#[test]
fn a_call_takes_the_branch_of_the_moment_and_the_workspace_of_the_settings() {
    let desk = Desk::new();
    let mut command = desk.command(&[]);
    command.env("MMW_WORKSPACE", "backend");
    let mut client = Client::spawn(command);
    client.greet();
    let mut save = |content: &str| {
        let saved = client.tool("remember", json!({"content": content}));
        saved["structuredContent"].clone()
    };
    let first = save("one");
    assert_eq!(
        (&first["workspace"], &first["branch"]),
        (&json!("backend"), &json!("main"))
    );
    std::fs::write(
        desk.repository().join(".git/HEAD"),
        "ref: refs/heads/next\n",
    )
    .unwrap();
    assert_eq!(save("two")["branch"], "next");
    let elsewhere = client.tool("search", json!({"query": "one", "workspace": "default"}));
    assert_eq!(
        elsewhere["structuredContent"]["hits"],
        json!([]),
        "{elsewhere}"
    );
    assert_eq!(client.leave().0, 0);
}

#[test]
fn the_handshake_touches_no_store_and_ends_with_the_input() {
    let desk = Desk::new();
    let mut client = Client::start(&desk);
    let answer = client.greet();
    assert_eq!(answer["result"]["serverInfo"]["name"], "mmw", "{answer}");
    assert!(!desk.home().join(".mmw").exists());
    assert_eq!(client.leave(), (0, String::new()));
}

#[test]
fn an_agent_without_a_person_can_not_decide() {
    let desk = Desk::new();
    desk.remember_deploy("port 8080");
    let newest = desk.remember_deploy("port 8081");
    let mut client = Client::start(&desk);
    client.greet();
    let tools = client.call("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"remember") && names.contains(&"search"),
        "{names:?}"
    );
    assert!(!names.contains(&"resolve_conflict"), "{names:?}");
    let refused = client.tool(
        "resolve_conflict",
        json!({"fact_key": "deploy-staging", "workspace": "backend", "winner": newest}),
    );
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(client.leave().0, 0);
    assert_eq!(
        desk.json(&["status"])["store"]["conflicts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_store_that_can_not_be_opened_is_told_by_the_calls() {
    let desk = Desk::new();
    std::fs::create_dir(desk.home().join(".mmw")).unwrap();
    std::fs::write(
        desk.home().join(".mmw/memory.db"),
        "no database at all\n".repeat(100),
    )
    .unwrap();
    let mut client = Client::start(&desk);
    client.greet();
    let failed = client.tool("search", json!({"query": "x"}));
    assert_eq!(failed["isError"], true, "{failed}");
    assert_eq!(client.leave().0, 0);
    let by_hand = desk.run(&["search", "x"]);
    assert_eq!(by_hand.code, 4, "{}", by_hand.stderr);
}

#[test]
fn rubbish_is_answered_in_the_protocol_and_nothing_else_is_printed() {
    let desk = Desk::new();
    let mut client = Client::start(&desk);
    client.greet();
    writeln!(client.input.as_mut().unwrap(), "not json at all").unwrap();
    let mut line = String::new();
    client.output.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["error"]["code"], -32700, "{line}");
    assert!(client.call("ping", json!({}))["result"].is_object());
    assert_eq!(client.leave(), (0, String::new()));
}

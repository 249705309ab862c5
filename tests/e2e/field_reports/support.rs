//! A server with a client, and the commands of the agent.

use std::path::Path;
use std::process::{Command, Output};

use mmw_tests::programs;
use mmw_tests::rpc::Era;
use mmw_tests::server::{Client, Server};
use serde_json::{Value, json};

/// A server on a folder of its own, and a client with a key of it.
pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path());
        let client = server.client(&server.first_key());
        Self {
            folder,
            server,
            client,
        }
    }

    /// A client with a key of another project.
    pub(super) fn stranger(&self, project: &str) -> Client {
        let _ = self.server.command(&["project", "create", project]);
        let printed =
            self.server
                .command(&["key", "create", project, "--project", project, "--json"]);
        let key: Value = serde_json::from_str(&printed).unwrap();
        self.server.client(key["key"].as_str().unwrap())
    }
}

/// Calls an action that must succeed.
#[track_caller]
pub(super) fn ok(client: &Client, action: &str, arguments: &Value) -> Value {
    let answer = client.rest(action, arguments);
    assert_eq!(answer.status, 200, "{action} {arguments}: {}", answer.body);
    answer.json()
}

/// Saves a statement; returns its id.
#[track_caller]
pub(super) fn note(client: &Client, content: &str) -> String {
    id(&ok(client, "remember", &json!({ "content": content })))
}

/// Saves a version of a fact; returns its id.
#[track_caller]
pub(super) fn say(client: &Client, fact_key: &str, content: &str) -> String {
    id(&ok(
        client,
        "remember",
        &json!({ "content": content, "fact_key": fact_key }),
    ))
}

#[track_caller]
pub(super) fn id(answer: &Value) -> String {
    answer["id"].as_str().expect("an id").to_owned()
}

/// The ids of the hits, best first.
#[track_caller]
pub(super) fn found(client: &Client, query: &str) -> Vec<String> {
    let arguments = json!({ "query": query, "limit": 50, "max_tokens": 100_000 });
    ids(&ok(client, "search", &arguments))
}

pub(super) fn ids(answer: &Value) -> Vec<String> {
    hits(answer).iter().map(id).collect()
}

pub(super) fn hits(answer: &Value) -> &[Value] {
    answer["hits"].as_array().expect("hits")
}

/// The text of a resource; the error if there is none.
pub(super) fn resource(client: &Client, uri: &str) -> String {
    client
        .rpc(Era::Modern, "resources/read", json!({ "uri": uri }))
        .body
}

/// Runs `mmw-agent` with a home, in a folder.
pub(super) fn agent(home: &Path, folder: &Path, arguments: &[&str]) -> Output {
    agent_command(home, folder)
        .args(arguments)
        .output()
        .unwrap()
}

pub(super) fn agent_command(home: &Path, folder: &Path) -> Command {
    let mut command = Command::new(programs::path("mmw-agent"));
    command
        .env_clear()
        .env("PATH", mmw_tests::environment::search_path())
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home)
        .current_dir(folder);
    command
}

pub(super) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(super) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

impl World {
    /// A client with a key of these scopes.
    pub(super) fn client_with(&self, scopes: &str) -> Client {
        self.server.client(&self.server.make_key(scopes))
    }
}

//! A server in this process on a free port, and the least of a client.

use std::num::NonZeroUsize;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::Scopes;
use mmw_core::plan::Limits;
use mmw_server::compose::Server;
use mmw_server::config::Config;
use mmw_store::{KeyOrder, Memory};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// A running server.
pub(crate) struct World {
    pub(crate) memory: Memory,
    pub(crate) key: String,
    pub(crate) port: u16,
    stop: Option<oneshot::Sender<()>>,
    running: Option<tokio::task::JoinHandle<()>>,
    _folder: TempDir,
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn open(folder: &TempDir) -> Memory {
    Memory::open(
        &folder.path().join("mmw.db"),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    )
    .unwrap()
}

impl World {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = open(&folder);
        let first = memory.first_start().unwrap().unwrap();
        let config = Config {
            data_dir: folder.path().to_owned(),
            listen: "127.0.0.1:0".parse().unwrap(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            guard_rules: None,
            embedder: mmw_server::embeddings::Choice::Off,
            n_turns: NonZeroUsize::new(4).unwrap(),
        };
        let server = Server::bind(&config, memory.clone()).await.unwrap();
        let port = server.address.port();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            drop(stopped.await);
        }));
        Self {
            memory,
            key: first.key.secret,
            port,
            stop: Some(stop),
            running: Some(running),
            _folder: folder,
        }
    }

    /// Makes a key in a project of its own or in `default`.
    pub(crate) fn key(&self, project: &str, scopes: &str, limits: Limits) -> String {
        if project != "default" {
            self.memory.create_project(project, limits).unwrap();
        }
        let order = KeyOrder {
            project: project.to_owned(),
            principal: "owner".to_owned(),
            name: format!("{project} {scopes}"),
            scopes: Scopes::parse(scopes).unwrap(),
            expires_at: None,
        };
        self.memory.create_key(&order).unwrap().secret
    }

    pub(crate) async fn send(&self, request: http::Request<Full<Bytes>>) -> Answer {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let (head, body) = sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Sends a request with these headers; a header with an empty value is left out.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.key);
        let mut all = vec![
            ("host", host.as_str()),
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        for header in headers {
            all.retain(|(name, _)| *name != header.0);
            all.push(*header);
        }
        let mut request = http::Request::builder().method(method).uri(path);
        for (name, value) in all.into_iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        self.send(request.body(Full::new(body.into())).unwrap())
            .await
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.request("POST", path, headers, body.to_string()).await
    }

    pub(crate) async fn rest(&self, action: &str, arguments: &Value) -> Answer {
        self.post(&format!("/api/v1/{action}"), &[], arguments)
            .await
    }

    /// Sends a request of 2025-11-25.
    pub(crate) async fn rpc(&self, method: &str, params: &Value) -> Answer {
        self.post("/mcp", &[], &message(method, params)).await
    }

    pub(crate) async fn tool(&self, name: &str, arguments: &Value) -> Answer {
        self.rpc(
            "tools/call",
            &json!({ "name": name, "arguments": arguments }),
        )
        .await
    }

    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        self.running.take().unwrap().await.unwrap();
    }
}

pub(crate) fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

pub(crate) fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

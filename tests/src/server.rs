//! A real `mmw-server` on a free port, and a client for it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::programs;
use crate::rpc::{Era, LEGACY, MODERN, ToolAnswer, request};

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    /// Where it serves, without a slash at the end.
    pub url: String,
    folder: PathBuf,
}

/// What came back over HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

impl HttpAnswer {
    /// Returns the body as JSON, `null` if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Server {
    /// Starts a server on a data folder and waits until it says where it listens.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(folder: &Path) -> Self {
        Self::start_with(folder, "mmw-server", &[])
    }

    /// Starts a program that serves like `mmw-server`, with further environment.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_with(folder: &Path, program: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_logged(folder, program, environment, Stdio::null())
    }

    /// Starts it as [`Server::start_with`] does, with its log going somewhere.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_logged(
        folder: &Path,
        program: &str,
        environment: &[(&str, &str)],
        log: Stdio,
    ) -> Self {
        Self::start_at("127.0.0.1:0", folder, program, environment, log)
    }

    /// Starts it on an address, such as the one that an earlier server had.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_at(
        listen: &str,
        folder: &Path,
        program: &str,
        environment: &[(&str, &str)],
        log: Stdio,
    ) -> Self {
        let mut child = Command::new(programs::path(program))
            .args(["serve", "--listen", listen])
            .env_clear()
            .env("HOME", folder)
            .env("MMW_DATA_DIR", folder)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut line = String::new();
        stdout
            .read_line(&mut line)
            .expect("the server prints where it listens");
        let url = line
            .trim()
            .strip_prefix("mmw-server listening on ")
            .expect("it names its address");
        // Keep the pipe open: a server must not die of a closed stdout.
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).for_each(drop));
        Self {
            child,
            url: url.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Returns the key that the first start left in the data folder.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn first_key(&self) -> String {
        let file = self.folder.join("first-key");
        std::fs::read_to_string(file)
            .expect("the first start leaves a key")
            .trim()
            .to_owned()
    }

    /// Runs a command of the server's program on the same data folder and returns what it printed.
    ///
    /// # Panics
    /// If it fails.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> String {
        let output = Command::new(programs::path("mmw-server"))
            .args(arguments)
            .env_clear()
            .env("HOME", &self.folder)
            .env("MMW_DATA_DIR", &self.folder)
            .output()
            .expect("the program runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("it prints text")
    }

    /// Makes a key with these scopes and returns it.
    ///
    /// # Panics
    /// If it can't be made.
    #[must_use]
    pub fn make_key(&self, scopes: &str) -> String {
        let printed = self.command(&["key", "create", "test", "--scopes", scopes, "--json"]);
        let made: Value = serde_json::from_str(&printed).expect("it prints JSON");
        made["key"].as_str().expect("the key is shown").to_owned()
    }

    /// Returns a client with a key.
    #[must_use]
    pub fn client(&self, key: &str) -> Client {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .new_agent();
        Client {
            agent,
            url: self.url.clone(),
            key: key.to_owned(),
        }
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it at once, as a power cut would.
    ///
    /// # Panics
    /// If it is gone already.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Panics
    /// If it can't be asked.
    #[must_use]
    pub fn stop(mut self) -> ExitStatus {
        let asked = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        assert!(asked.expect("kill runs").success());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client over HTTP that keeps its connection.
#[derive(Clone)]
pub struct Client {
    agent: ureq::Agent,
    url: String,
    key: String,
}

impl Client {
    /// Sends a request with further headers; an empty key sends none.
    ///
    /// # Panics
    /// If the server can't be reached.
    #[must_use]
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpAnswer {
        self.try_send(method, path, headers, body)
            .expect("the server answers")
    }

    /// Sends a request; the error is that the server could not be reached.
    ///
    /// # Errors
    /// What went wrong on the way.
    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<HttpAnswer, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        if !self.key.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.key));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = if body.is_empty() && method == "GET" {
            self.agent.run(request.body(())?)?
        } else {
            self.agent.run(
                request
                    .header("content-type", "application/json")
                    .body(body.to_owned())?,
            )?
        };
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (
                    name.to_string(),
                    value.to_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        Ok(HttpAnswer {
            status: response.status().as_u16(),
            headers,
            body: response.body_mut().read_to_string()?,
        })
    }

    /// Calls an action over REST.
    ///
    /// # Panics
    /// If the server can't be reached.
    #[must_use]
    pub fn rest(&self, action: &str, arguments: &Value) -> HttpAnswer {
        self.send(
            "POST",
            &format!("/api/v1/{action}"),
            &[],
            &arguments.to_string(),
        )
    }

    /// Sends a JSON-RPC request to `/mcp` with the headers that the era asks for.
    ///
    /// # Panics
    /// If the server can't be reached.
    #[must_use]
    pub fn rpc(&self, era: Era, method: &str, params: Value) -> HttpAnswer {
        let name = params["name"]
            .as_str()
            .or(params["uri"].as_str())
            .unwrap_or_default()
            .to_owned();
        let body = request(era, 1, method, params, &json!({})).to_string();
        let accept = ("accept", "application/json, text/event-stream");
        match era {
            Era::Modern => {
                let mut headers = vec![
                    accept,
                    ("mcp-protocol-version", MODERN),
                    ("mcp-method", method),
                ];
                if !name.is_empty() {
                    headers.push(("mcp-name", &name));
                }
                self.send("POST", "/mcp", &headers, &body)
            }
            Era::Legacy => self.send(
                "POST",
                "/mcp",
                &[accept, ("mcp-protocol-version", LEGACY)],
                &body,
            ),
        }
    }

    /// Calls a tool over MCP.
    ///
    /// # Panics
    /// If there is no tool result.
    #[must_use]
    pub fn tool(&self, era: Era, name: &str, arguments: &Value) -> ToolAnswer {
        let answer = self.rpc(
            era,
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        );
        ToolAnswer::of(&answer.json())
    }
}

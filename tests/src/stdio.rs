//! An MCP client on the standard streams of a real program.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::programs;
use crate::rpc::{Era, LEGACY, ToolAnswer, request};

/// How long an answer may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the person at the client answers a question of the server.
pub type Person = Box<dyn FnMut(&Value) -> Value>;

/// A client on the streams of `mmw-agent`.
pub struct StdioClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    era: Era,
    capabilities: Value,
    next_id: u64,
    person: Option<Person>,
    /// Every line that came on stdout.
    pub seen: VecDeque<String>,
}

impl StdioClient {
    /// Starts `mmw-agent` on a folder and, in the legacy era, shakes hands.
    ///
    /// # Panics
    /// If it can't be started or does not answer.
    #[must_use]
    pub fn start(home: &Path, project: &Path, era: Era, person: Option<Person>) -> Self {
        let mut command = Command::new(programs::path("mmw-agent"));
        command
            .env_clear()
            .env("PATH", crate::environment::search_path());
        command
            .env("MMW_AGENT_HOME", home)
            .env("HOME", home)
            .current_dir(project);
        Self::with(command, era, person)
    }

    /// Starts `mmw-agent` in front of a server.
    ///
    /// # Panics
    /// If it can't be started or does not answer.
    #[must_use]
    pub fn relay(home: &Path, url: &str, key: &str, era: Era) -> Self {
        let mut command = Command::new(programs::path("mmw-agent"));
        command
            .env_clear()
            .env("PATH", crate::environment::search_path())
            .env("MMW_AGENT_HOME", home)
            .env("HOME", home)
            .env("MMW_ENDPOINT", url)
            .env("MMW_API_KEY", key)
            .current_dir(home);
        Self::with(command, era, None)
    }

    /// Starts a program that speaks MCP on its streams.
    ///
    /// # Panics
    /// If it can't be started or does not answer.
    #[must_use]
    pub fn with(command: Command, era: Era, person: Option<Person>) -> Self {
        Self::logged(command, era, person, Stdio::null())
    }

    /// Starts it as [`StdioClient::with`] does, with its log going somewhere.
    ///
    /// # Panics
    /// If it can't be started or does not answer.
    #[must_use]
    pub fn logged(mut command: Command, era: Era, person: Option<Person>, log: Stdio) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let capabilities = if person.is_some() {
            json!({ "elicitation": { "form": {} } })
        } else {
            json!({})
        };
        let mut client = Self {
            stdin: child.stdin.take(),
            child,
            lines,
            era,
            capabilities,
            next_id: 0,
            person,
            seen: VecDeque::new(),
        };
        if era == Era::Legacy {
            let hello = json!({
                "protocolVersion": LEGACY,
                "capabilities": client.capabilities,
                "clientInfo": { "name": "mmw-tests", "version": "1" },
            });
            let _ = client.call("initialize", hello);
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        client
    }

    /// Sends one message as a line.
    ///
    /// # Panics
    /// If the program has closed its input.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    /// Sends a line as it is.
    ///
    /// # Panics
    /// If the program has closed its input.
    pub fn send_raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .expect("the program reads");
    }

    /// Calls a method and waits for its response, letting the person answer questions meanwhile.
    ///
    /// # Panics
    /// If no response comes, or a line is no JSON-RPC.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&request(self.era, id, method, params, &self.capabilities));
        self.wait_for(id)
    }

    /// Waits for the response to a request.
    ///
    /// # Panics
    /// If it does not come.
    pub fn wait_for(&mut self, id: u64) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("a response comes");
            let message: Value = serde_json::from_str(&line).expect("every line on stdout is JSON");
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            self.seen.push_back(line);
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                let person = self
                    .person
                    .as_mut()
                    .expect("only a person answers questions");
                let answer = person(&message["params"]);
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
            }
        }
    }

    /// Calls a tool. In the modern era a question comes as a result and is answered by calling again.
    ///
    /// # Panics
    /// As [`StdioClient::call`].
    pub fn tool(&mut self, name: &str, arguments: &Value) -> ToolAnswer {
        let mut params = json!({ "name": name, "arguments": arguments });
        loop {
            let response = self.call("tools/call", params.clone());
            let result = &response["result"];
            if result["resultType"] != "input_required" {
                return ToolAnswer::of(&response);
            }
            let person = self
                .person
                .as_mut()
                .expect("only a person answers questions");
            let mut answers = serde_json::Map::new();
            for (key, question) in result["inputRequests"]
                .as_object()
                .expect("there are questions")
            {
                answers.insert(key.clone(), person(&question["params"]));
            }
            params["inputResponses"] = Value::Object(answers);
            params["requestState"] = result["requestState"].clone();
        }
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input and waits for the program to end by itself. Returns what it still printed.
    ///
    /// # Panics
    /// If it does not end.
    pub fn close(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push_str(&line);
        }
        (self.child.wait().expect("the program ends"), rest)
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(mut rest) = self.child.stderr.take() {
            let _ = rest.read_to_string(&mut String::new());
        }
    }
}

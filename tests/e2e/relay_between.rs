//! What stands between an agent and its server in the tests of faults: an address that stays the same while
//! servers come and go, that sees every request and can lose an answer, give another or wait; and a place with
//! an agent's home and a server's folder. No tests are here.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use mmw_core::ids::RecordId;
use mmw_core::time::Timestamp;
use mmw_hooks::spool::{Entry, Spool};
use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

/// How long something may take until a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What becomes of a request.
pub(crate) enum Act {
    /// The server gets it, and its answer comes back.
    Pass,
    /// The server gets it, and its answer is lost.
    LoseAnswer,
    /// It is answered with this status, and the server hears nothing of it.
    Answer(u16),
    /// As [`Act::Pass`], once this says so.
    PassAfter(Receiver<()>),
}

type Decide = Box<dyn FnMut(&str) -> Act + Send>;

/// An address that passes requests on to whatever server is there.
#[derive(Clone)]
pub(crate) struct Between {
    /// Where it listens.
    pub(crate) url: String,
    server: Arc<Mutex<Option<String>>>,
    decide: Arc<Mutex<Decide>>,
    /// The bodies of the writes that the server was sent by the queue, in order.
    queued: Arc<Mutex<Vec<Value>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Between {
    /// Listens; nothing is behind it yet.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let between = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            server: Arc::default(),
            decide: Arc::new(Mutex::new(Box::new(|_| Act::Pass))),
            queued: Arc::default(),
        };
        let passing = between.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let passing = passing.clone();
                // A connection that breaks is what these tests are about.
                std::thread::spawn(move || passing.pass(client));
            }
        });
        between
    }

    /// Passes on to this server from now on, or to none.
    pub(crate) fn to(&self, server: Option<&Server>) {
        *lock(&self.server) = server.map(|server| server.url.clone());
    }

    /// Lets this decide what becomes of each request, by its text.
    pub(crate) fn deciding(&self, decide: impl FnMut(&str) -> Act + Send + 'static) {
        *lock(&self.decide) = Box::new(decide);
    }

    /// Returns the contents of the writes that the queue sent to a server, in order, repeats included.
    pub(crate) fn sent(&self) -> Vec<String> {
        let queued = lock(&self.queued);
        let contents = queued.iter().map(|body| body["content"].as_str());
        contents.map(|text| text.unwrap().to_owned()).collect()
    }

    fn pass(&self, mut client: TcpStream) -> Option<()> {
        let request = read_request(&mut client)?;
        let server = lock(&self.server).clone()?;
        let act = {
            let decide = &mut *lock(&self.decide);
            decide(&request)
        };
        let (is_lost, may_go) = match act {
            Act::Pass => (false, None),
            Act::LoseAnswer => (true, None),
            Act::PassAfter(may_go) => (false, Some(may_go)),
            Act::Answer(status) => {
                let body = r#"{"error":{"code":"internal","message":"ill"}}"#;
                let answer = format!(
                    "HTTP/1.1 {status} Ill\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n{body}",
                    body.len()
                );
                return client.write_all(answer.as_bytes()).ok();
            }
        };
        if let Some(may_go) = may_go {
            let _ = may_go.recv_timeout(PATIENCE);
        }
        let (head, body) = request.split_once("\r\n\r\n")?;
        let address = server.strip_prefix("http://")?;
        let mut server = TcpStream::connect(address).ok()?;
        if head.starts_with("POST /api/v1/remember") {
            lock(&self.queued).push(serde_json::from_str(body).ok()?);
        }
        let text = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
        server.write_all(text.as_bytes()).ok()?;
        let mut answer = Vec::new();
        // A server that was killed meanwhile leaves half an answer, and that is what the agent gets.
        let _ = server.read_to_end(&mut answer);
        if is_lost {
            return None;
        }
        client.write_all(&answer).ok()
    }
}

/// Reads a request; it is whole when its body is as long as its head says.
fn read_request(client: &mut TcpStream) -> Option<String> {
    let (mut request, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let n_read = client.read(&mut bytes).ok().filter(|n| *n > 0)?;
        request.extend_from_slice(&bytes[..n_read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text);
        }
    }
}

/// A server's folder, an agent's home and an address between them.
pub(crate) struct Site {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
    pub(crate) between: Between,
    pub(crate) key: String,
}

impl Site {
    /// Makes both; no server runs yet.
    pub(crate) fn new() -> Self {
        let folder = quick_folder();
        let server = Server::start(folder.path());
        let key = server.first_key();
        server.kill();
        Self {
            folder,
            home: quick_folder(),
            between: Between::new(),
            key,
        }
    }

    /// Starts the server.
    pub(crate) fn server(&self) -> Server {
        let server = Server::start(self.folder.path());
        self.between.to(Some(&server));
        server
    }

    /// Starts an agent in front of it.
    pub(crate) fn agent(&self) -> StdioClient {
        self.agent_with(&self.key)
    }

    pub(crate) fn agent_with(&self, key: &str) -> StdioClient {
        StdioClient::relay(self.home(), &self.between.url, key, Era::Modern)
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// Returns the agent's queue.
    pub(crate) fn spool(&self) -> Spool {
        spool_of(self.home(), &self.between.url)
    }

    /// Runs `mmw-agent` in front of the server and returns its exit code and what it printed.
    pub(crate) fn run(&self, words: &[&str]) -> (i32, String) {
        let ran = std::process::Command::new(mmw_tests::programs::path("mmw-agent"))
            .args(words)
            .env_clear()
            .env("PATH", self.home())
            .env("HOME", self.home())
            .env("MMW_AGENT_HOME", self.home())
            .env("MMW_ENDPOINT", &self.between.url)
            .env("MMW_API_KEY", &self.key)
            .current_dir(self.home())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        (ran.status.code().unwrap(), printed)
    }

    /// Returns what [`Site::run`] printed as JSON.
    pub(crate) fn run_json(&self, words: &[&str]) -> (i32, Value) {
        let (code, printed) = self.run(words);
        (code, serde_json::from_str(&printed).unwrap_or(Value::Null))
    }

    /// Returns what the server's store holds, in the order in which it was taken in.
    pub(crate) fn stored(&self) -> Vec<String> {
        stored_in(self.folder.path())
    }
}

/// Returns what a server's store holds, in the order in which it was taken in, forgotten records included.
pub(crate) fn stored_in(folder: &std::path::Path) -> Vec<String> {
    let store = rusqlite::Connection::open(folder.join("mmw.db")).unwrap();
    let mut rows = store
        .prepare("SELECT content FROM records ORDER BY row")
        .unwrap();
    let contents = rows.query_map([], |row| row.get(0)).unwrap();
    contents.map(Result::unwrap).collect()
}

/// Returns a folder for files that no disk has to keep: in memory where there is such a place.
pub(crate) fn quick_folder() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}

/// Opens the queue of an agent in front of a server.
pub(crate) fn spool_of(home: &std::path::Path, url: &str) -> Spool {
    Spool::open(&home.join("spool"), &format!("{url}/mcp")).unwrap()
}

/// Returns the nth statement that waits, as an agent queues it, said at a moment.
pub(crate) fn statement(nth: usize, said_at: Timestamp) -> Entry {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&(nth as u64).to_be_bytes());
    let object = |value: Value| value.as_object().cloned().unwrap();
    Entry {
        action: "remember".to_owned(),
        arguments: object(json!({ "content": content(nth) })),
        envelope: object(json!({
            "idempotency_key": format!("k{nth}"),
            "proposed_id": RecordId::from_parts(said_at, random).to_string(),
            "recorded_at": said_at.to_string(),
        })),
        queued_at: said_at,
    }
}

pub(crate) fn content(nth: usize) -> String {
    format!("statement number {nth} of a day without a server")
}

/// Returns the first so many statements in order.
pub(crate) fn contents(n: usize) -> Vec<String> {
    (0..n).map(content).collect()
}

/// Asks the agent how it is until something holds. What waits is sent by a thread of its own, and any call
/// tells the agent that the server is back.
pub(crate) fn until(agent: &mut StdioClient, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let told = agent.tool("mmw_sync_status", &json!({})).structured;
        if holds(&told) {
            return told;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: {told:#}");
        // An error will do: a key may be refused by then.
        let search = json!({ "name": "search", "arguments": { "query": "anything" } });
        let _ = agent.call("tools/call", search);
    }
}

/// Waits until something on the disk holds.
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        // Those who are waited for need the processor too.
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Returns every file below a folder.
pub(crate) fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

//! A server on this computer that answers as a test wants. Only the model is made up.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Embeddings, Patience};
use super::endpoint::Endpoint;
use super::settings::Remote;

/// What was asked.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Method and path.
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        let input = self.body["input"].as_array();
        input
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

/// What is answered.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// How many bytes of the body are sent, while the header promises all.
    pub(super) broken_off_at: Option<usize>,
    /// Held back until this opens.
    pub(super) gate: Option<Gate>,
}

impl Reply {
    pub(super) fn of(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            broken_off_at: None,
            gate: None,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// Something that is waited for.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(super) fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let is_open = self.0.0.lock().unwrap();
        let long = Duration::from_secs(60);
        drop(
            self.0
                .1
                .wait_timeout_while(is_open, long, |open| !*open)
                .unwrap(),
        );
    }
}

/// A server. It lives as long as the test's process.
pub(super) struct Server {
    pub(super) port: u16,
    seen: Arc<(Mutex<Vec<Seen>>, Condvar)>,
}

impl Server {
    pub(super) fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            seen: Arc::default(),
        };
        let seen = Arc::clone(&server.seen);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, answer.as_ref()));
            }
        });
        server
    }

    /// Starts one that embeds and has one model.
    pub(super) fn embedding() -> Self {
        Self::start(|seen| match seen.line.as_str() {
            "GET /v1/models" => Reply::of(200, json!({"data": [{"id": "made-up"}]}).to_string()),
            "POST /v1/embeddings" => Reply::of(200, answer(&seen.texts())),
            _ => Reply::of(404, "{}"),
        })
    }

    /// Starts one that embeds like this as long as it is well, and is out of order otherwise.
    pub(super) fn falling_ill(
        answer: impl Fn(&[&str]) -> String + Send + Sync + 'static,
    ) -> (Self, Arc<AtomicBool>) {
        let is_well = Arc::new(AtomicBool::new(true));
        let well = Arc::clone(&is_well);
        let server = Self::start(move |seen| {
            if well.load(Ordering::SeqCst) {
                Reply::of(200, answer(&seen.texts()))
            } else {
                Reply::of(503, "")
            }
        });
        (server, is_well)
    }

    /// What was asked so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.0.lock().unwrap().clone()
    }

    pub(super) fn remote(&self) -> Remote {
        Remote {
            model: Some("made-up".to_owned()),
            // Far above what an answer on this computer takes; the tests of deadlines set their own.
            query_deadline: Duration::from_secs(30),
            ..Remote::at(Endpoint::parse(&format!("http://127.0.0.1:{}", self.port)).unwrap())
        }
    }

    pub(super) fn connect(&self) -> Embeddings {
        Embeddings::with(&self.remote(), patience()).unwrap()
    }
}

/// Short waits.
pub(super) fn patience() -> Patience {
    Patience {
        retry: Duration::from_millis(1),
        rest: Duration::from_secs(600),
        ..Patience::default()
    }
}

/// What the made-up model sees in a text.
pub(super) fn numbers(text: &str) -> [f32; 3] {
    let count = |c: char| text.chars().filter(|found| *found == c).count() as f32;
    [1.0 + count('a'), 1.0 + count('b'), text.len() as f32]
}

/// The answer of a server for these texts.
pub(super) fn answer(texts: &[&str]) -> String {
    let item = |(index, text): (usize, &&str)| json!({"object": "embedding", "index": index, "embedding": numbers(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(item).collect();
    json!({"object": "list", "data": data, "model": "made-up"}).to_string()
}

/// Answers requests until the connection ends.
fn serve(
    stream: TcpStream,
    seen: &(Mutex<Vec<Seen>>, Condvar),
    answer: &dyn Fn(&Seen) -> Reply,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut asked = Seen {
            line: line.trim().trim_end_matches(" HTTP/1.1").to_owned(),
            headers,
            body: Value::Null,
        };
        let length = asked
            .header("content-length")
            .map_or(0, |n| n.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        asked.body = serde_json::from_slice(&body).unwrap_or_default();
        seen.0.lock().unwrap().push(asked.clone());
        seen.1.notify_all();
        let reply = answer(&asked);
        if let Some(gate) = &reply.gate {
            gate.wait();
        }
        let headers: String = reply
            .headers
            .iter()
            .map(|(n, v)| format!("{n}: {v}\r\n"))
            .collect();
        let head = format!(
            "HTTP/1.1 {} Told\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n",
            reply.status,
            reply.body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let sent = reply.broken_off_at.unwrap_or(reply.body.len());
        stream.write_all(&reply.body[..sent]).ok()?;
        if reply.broken_off_at.is_some() {
            stream.shutdown(std::net::Shutdown::Both).ok()?;
            return None;
        }
    }
}

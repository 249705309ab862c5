//! One message to the server over HTTP, and its answer.
//!
//! No redirect is followed and no proxy of the environment is used for this computer: the key goes to the
//! endpoint that it was given for and nowhere else.

use std::io::{BufRead, BufReader, Read as _};
use std::time::{Duration, UNIX_EPOCH};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use mmw_core::time::Timestamp;
use mmw_server::http::SAID_WITH;
use mmw_server::outgoing;
use serde_json::{Value, json};
use ureq::{Agent, Timeout};

use super::endpoint::Endpoint;
use super::message::Message;
use crate::config::ApiKey;
use crate::exit::Trouble;

/// How long a connection may take to be made.
const CONNECT_DEADLINE: Duration = Duration::from_secs(3);
/// How long the server may take until it begins to answer.
const ANSWER_DEADLINE: Duration = Duration::from_secs(120);
/// How long it may take to find out who is there.
const KNOCK_DEADLINE: Duration = Duration::from_secs(5);
/// The most bytes that are read to find it out.
const MAX_HEALTH_BYTES: u64 = 4096;
/// The most bytes of an answer: 16 MiB.
const MAX_ANSWER_BYTES: u64 = 16 << 20;
/// The lists that a client may be told of.
const BOTH: &str = "application/json, text/event-stream";

/// The way to a server.
pub(super) struct Upstream {
    agent: Agent,
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
}

/// What came of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Sent {
    /// It was taken, and nothing is answered.
    Taken,
    /// This is the answer.
    Answered(Value),
    /// Everything that was answered was given on already.
    Streamed,
}

/// What listens at the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Knock {
    /// Nothing does, or it can't be reached: in words.
    Nobody(String),
    /// Something takes the connection and does not speak HTTP, or says nothing: in words.
    Silent(String),
    /// Something answered.
    Answered {
        /// Whether it is, or may be, a memory server.
        is_memory: bool,
        /// What its clock says.
        date: Option<Timestamp>,
    },
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreachable {
    /// Nothing was sent.
    #[error("{0}")]
    NotSent(&'static str),
    /// Whether it arrived is not known.
    #[error("{0}")]
    Unknown(&'static str),
    /// Something else than a memory server answered.
    #[error("what answers there is no memory server (HTTP status {0})")]
    Other(u16),
}

impl Upstream {
    pub(super) fn new(endpoint: Endpoint, key: Option<&ApiKey>) -> Result<Self, Trouble> {
        let authorization = key.map(|key| {
            outgoing::bearer(key.reveal())
                .map_err(|_| Trouble::usage("MMW_API_KEY has signs in it that no key has"))
        });
        let config = outgoing::careful()
            .proxy(None)
            .user_agent(concat!("mmw-agent/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_DEADLINE))
            .timeout_recv_response(Some(ANSWER_DEADLINE))
            .build();
        Ok(Self {
            agent: config.new_agent(),
            authorization: authorization.transpose()?,
            endpoint,
        })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a message. What the server says before its answer, progress say, is given to `meanwhile`.
    ///
    /// # Errors
    /// [`Unreachable`]. A refusal that the server answered with is an answer.
    pub(super) fn send(
        &self,
        value: &Value,
        message: &Message,
        agreed: Option<&str>,
        meanwhile: &mut dyn FnMut(Value),
    ) -> Result<Sent, Unreachable> {
        let mut request = self
            .agent
            .post(self.endpoint.url())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, BOTH);
        for (name, value) in message.headers(agreed) {
            request = request.header(name, value);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let body = value.to_string();
        let response = request.send(body.as_bytes()).map_err(|error| why(&error))?;
        let status = response.status().as_u16();
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let (is_json, is_stream) = (
            kind.starts_with("application/json"),
            kind.starts_with("text/event-stream"),
        );
        let body = response.into_body().into_reader();
        if is_stream {
            return self.stream(BufReader::new(body), message, meanwhile);
        }
        if !message.is_request() {
            return Ok(Sent::Taken);
        }
        if !is_json {
            return Err(Unreachable::Other(status));
        }
        let mut bytes = Vec::new();
        let read = body.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
        read.map_err(|_| BROKEN)?;
        let answer: Value =
            serde_json::from_slice(&bytes).map_err(|_| Unreachable::Other(status))?;
        if answer.get("jsonrpc").is_none() {
            return Err(Unreachable::Other(status));
        }
        Ok(Sent::Answered(with_id(answer, message)))
    }

    /// Does an action by REST, which has a status for everything. Returns the status, and when the server
    /// wants to be asked again. With `said_with`, the public half of a key, the server refuses what was said to
    /// another project than this key's.
    ///
    /// # Errors
    /// [`Unreachable`].
    pub(super) fn rest(
        &self,
        action: &str,
        body: &Value,
        said_with: Option<&str>,
    ) -> Result<(u16, Option<String>), Unreachable> {
        let mut request = self
            .agent
            .post(self.endpoint.action(action))
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        // A name that is no header was in a file that somebody else wrote.
        if let Some(Ok(said_with)) = said_with.map(HeaderValue::from_str) {
            request = request.header(SAID_WITH, said_with);
        }
        let response = request
            .send(body.to_string().as_bytes())
            .map_err(|error| why(&error))?;
        let after = response.headers().get(http::header::RETRY_AFTER);
        let after = after
            .and_then(|after| after.to_str().ok())
            .map(str::to_owned);
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        let mut body = response.into_body().into_reader().take(MAX_ANSWER_BYTES);
        body.read_to_end(&mut bytes).map_err(|_| BROKEN)?;
        // The page of a hotel's network says 200 too, and is no receipt.
        let is_answer = serde_json::from_slice::<Value>(&bytes).is_ok_and(|body| body.is_object());
        if (200..300).contains(&status) && !is_answer {
            return Err(Unreachable::Other(status));
        }
        Ok((status, after))
    }

    /// Asks whether somebody is there, without the key, for a few seconds at most.
    pub(super) fn knock(&self) -> Knock {
        let asked = self
            .agent
            .get(self.endpoint.health())
            .config()
            .timeout_global(Some(KNOCK_DEADLINE))
            .build()
            .call();
        let response = match asked {
            Ok(response) => response,
            Err(ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve)) => {
                return Knock::Nobody("no connection within 3 seconds".to_owned());
            }
            Err(ureq::Error::Timeout(_)) => {
                return Knock::Silent("it takes the connection and says nothing".to_owned());
            }
            Err(error) => {
                return match why(&error) {
                    Unreachable::NotSent(why) => Knock::Nobody(why.to_owned()),
                    _ => Knock::Silent("it does not speak HTTP".to_owned()),
                };
            }
        };
        let date = response.headers().get(http::header::DATE);
        let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        let since = date.and_then(|date| date.duration_since(UNIX_EPOCH).ok());
        let date = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        let body = response.into_body().into_reader().take(MAX_HEALTH_BYTES);
        let _ = { body }.read_to_end(&mut bytes);
        let alive: Option<Value> = serde_json::from_slice(&bytes).ok();
        let is_alive = alive.is_some_and(|body| body["status"] == "alive");
        Knock::Answered {
            // Whatever stands before a server elsewhere may keep that page to itself.
            is_memory: is_alive || self.endpoint.local_port().is_none() || status >= 500,
            date: date.map(Timestamp::from_ms),
        }
    }

    /// Does an action by REST, and returns its status and what it answers.
    ///
    /// # Errors
    /// [`Unreachable`]. A refusal that the server answered with is an answer.
    pub(super) fn act(&self, action: &str, body: &Value) -> Result<(u16, Value), Unreachable> {
        let mut request = self
            .agent
            .post(self.endpoint.action(action))
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request
            .send(body.to_string().as_bytes())
            .map_err(|error| why(&error))?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        let mut body = response.into_body().into_reader().take(MAX_ANSWER_BYTES);
        body.read_to_end(&mut bytes).map_err(|_| BROKEN)?;
        match serde_json::from_slice(&bytes) {
            Ok(answer @ Value::Object(_)) => Ok((status, answer)),
            _ => Err(Unreachable::Other(status)),
        }
    }

    fn stream(
        &self,
        body: impl BufRead,
        message: &Message,
        meanwhile: &mut dyn FnMut(Value),
    ) -> Result<Sent, Unreachable> {
        let mut last = None;
        events(body, &mut |event| {
            let is_answer = event.get("method").is_none();
            if is_answer && last.is_none() {
                last = Some(event);
            } else {
                meanwhile(event);
            }
        })
        .map_err(|_| BROKEN)?;
        match (last, message.is_request()) {
            (Some(answer), _) => Ok(Sent::Answered(with_id(answer, message))),
            (None, true) => Err(BROKEN),
            (None, false) => Ok(Sent::Streamed),
        }
    }
}

const BROKEN: Unreachable =
    Unreachable::Unknown("the connection broke before the answer was there");

/// A server that could not read the id answers without; here it is known what was asked.
fn with_id(mut answer: Value, message: &Message) -> Value {
    if answer.get("id").is_none_or(Value::is_null)
        && let Some(id) = &message.id
    {
        answer["id"] = id.clone();
    }
    answer
}

/// Reads the messages of an event stream as they come.
fn events(mut body: impl BufRead, each: &mut dyn FnMut(Value)) -> std::io::Result<()> {
    let mut data = String::new();
    let mut line = String::new();
    loop {
        line.clear();
        let n_read = body.by_ref().take(MAX_ANSWER_BYTES).read_line(&mut line)?;
        let text = line.trim_end_matches(['\n', '\r']);
        if let Some(more) = text.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
        } else if text.is_empty() && !data.is_empty() {
            if let Ok(event) = serde_json::from_str(&data) {
                each(event);
            }
            data.clear();
        }
        if n_read == 0 {
            return Ok(());
        }
        if data.len() as u64 > MAX_ANSWER_BYTES {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
    }
}

fn why(error: &ureq::Error) -> Unreachable {
    use std::io::ErrorKind;
    match error {
        ureq::Error::HostNotFound => Unreachable::NotSent("no host of that name is found"),
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            Unreachable::NotSent("no connection within 3 seconds")
        }
        ureq::Error::Timeout(_) => Unreachable::Unknown("no answer in time"),
        ureq::Error::ConnectionFailed => Unreachable::NotSent("no connection"),
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) => {
            Unreachable::NotSent("its certificate can't be trusted, or no TLS is spoken there")
        }
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            Unreachable::NotSent("the connection is refused: nothing listens there")
        }
        ureq::Error::Io(_) => BROKEN,
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
            Unreachable::NotSent("it sends to another address, which is not followed")
        }
        _ => Unreachable::Unknown("the answer can't be read"),
    }
}

/// Returns an error as a client is told it.
pub(super) fn told(unreachable: &Unreachable, endpoint: &Endpoint) -> Value {
    json!({"code": "unreachable", "endpoint": endpoint.to_string(), "reason": unreachable.to_string()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Value> {
        let mut found = Vec::new();
        events(text.as_bytes(), &mut |event| found.push(event)).unwrap();
        found
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        assert_eq!(read(""), Vec::<Value>::new());
        assert_eq!(
            read(": comment\n\nevent: message\ndata: {\"a\":1}\n\n"),
            [json!({"a": 1})]
        );
        assert_eq!(read("data:1\r\n\r\ndata: 2\n\n"), [json!(1), json!(2)]);
        assert_eq!(read("data: {\"a\":\ndata: 1}\n\n"), [json!({"a": 1})]);
        // A last event without its empty line was cut off, or the server forgot it: it counts if it is whole.
        assert_eq!(read("data: 3"), [json!(3)]);
        assert_eq!(read("data: {\"half\""), Vec::<Value>::new());
    }
}

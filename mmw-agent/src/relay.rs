//! MCP on standard input and output, in front of a server: what the client says goes to the server, what the
//! server answers comes back.
//!
//! | file | what is there |
//! |---|---|
//! | `endpoint` | the server's address, and what may be sent there |
//! | `upstream` | one message to the server over HTTP, and its answer |
//! | `message` | what has to be known of a message to pass it on, in both eras of the protocol |
//! | `call` | what this program adds to a call, and does with its answer: the workspace, the branch, anchors |
//! | `folders` | the folders that the client works in |
//! | `offline` | what is answered when the server can't be reached |
//! | `look_back` | a search through those writes |
//! | `outbox` | writes that wait for the server |
//! | `waiting` | those writes, as a person looks at them |
//! | `person` | what the person at the terminal asks |
//! | `sync_status` | the one tool of its own: how it is with the server |
//! | `lines` | standard input and output |
//!
//! Messages are passed on as they are: what a newer client says to a newer server goes through a relay that
//! knows nothing of it. A key goes only to the endpoint that it was given for.

mod call;
pub(crate) mod endpoint;
mod folders;
mod lines;
mod look_back;
mod message;
mod offline;
mod outbox;
mod person;
mod sync_status;
mod upstream;
mod waiting;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mmw_core::env::{Clock as _, SystemClock};
use mmw_core::time::Timestamp;
use mmw_guard::Guard;
use mmw_hooks::spool::{EntryName, State};
use serde_json::{Value, json};

pub(crate) use self::call::{Around, Complete, Know};
use self::endpoint::Endpoint;
pub(crate) use self::lines::serve;
use self::message::{Message, Method};
use self::outbox::{NotQueued, Outbox};
pub(crate) use self::person::Refused;
pub(crate) use self::sync_status::in_figures;
use self::sync_status::{Link, Told};
pub(crate) use self::upstream::Knock;
use self::upstream::{Sent, Unreachable, Upstream};
pub(crate) use self::waiting::Waiting;
use crate::config::ApiKey;
use crate::exit::{Exit, Trouble, chain};
use crate::local::make_private;

/// A relay to one server.
pub(crate) struct Relay {
    upstream: Upstream,
    around: Around,
    outbox: Outbox,
    link: Mutex<Link>,
    /// The version that an older client and the server agreed on.
    agreed: Mutex<Option<String>>,
}

impl Relay {
    /// Returns a relay; nothing is sent yet.
    ///
    /// # Errors
    /// If the key is none that can be sent.
    pub(crate) fn new(
        endpoint: Endpoint,
        key: Option<&ApiKey>,
        around: Around,
        home: &Path,
        guard: Guard,
    ) -> Result<Self, Trouble> {
        make_private(home).map_err(|error| {
            Trouble::new(
                Exit::Store,
                format!("the agent's home can't be used: {error}"),
            )
        })?;
        let outbox = Outbox::open(home, endpoint.url(), key, guard)
            .map_err(|error| Trouble::new(Exit::Store, chain(&error)))?;
        Ok(Self {
            outbox,
            link: Mutex::new(Link::new(&endpoint, key.is_some())),
            upstream: Upstream::new(endpoint, key)?,
            around,
            agreed: Mutex::new(None),
        })
    }

    /// Answers a message: gives everything that comes back to `emit`, in order. Blocks.
    fn answer(&self, mut value: Value, emit: &mut dyn FnMut(Value)) {
        let message = Message::of(&value);
        if message.is_request() && message.is_call_of(sync_status::NAME) {
            let queue = self.outbox.state(SystemClock.now());
            let arguments = value.pointer("/params/arguments");
            let arguments = arguments.and_then(Value::as_object).cloned();
            let about = self.around.about();
            let link = self.link();
            let told = sync_status::called(
                &arguments.unwrap_or_default(),
                &link,
                queue.as_ref(),
                &about,
            );
            drop(link);
            emit(message.result(told));
            return;
        }
        let after = self
            .around
            .before(&message, &mut value, &self.client_name());
        let is_write = Outbox::takes(&message, &value) && message.is_request();
        if is_write && self.outbox.has_waiting() {
            // It has its turn, behind what was said before.
            emit(self.queued(&message, &value, false));
            return;
        }
        let agreed = lock(&self.agreed).clone();
        let sent = self
            .upstream
            .send(&value, &message, agreed.as_deref(), &mut |answer| {
                emit(self.completed(&message, answer));
            });
        let now = SystemClock.now();
        match sent {
            Ok(Sent::Streamed | Sent::Taken) => self.worked(now, Told::Nothing),
            Ok(Sent::Answered(mut answer)) => {
                self.worked(now, Told::of(&answer));
                if let Some(after) = after {
                    call::finish(&mut answer, after, now);
                }
                if message.is_request() {
                    emit(self.completed(&message, answer));
                }
            }
            Err(unreachable) => {
                self.link().failed(now, &unreachable);
                if is_write && outbox::is_for_later(&unreachable) {
                    let may_have_arrived = matches!(unreachable, Unreachable::Unknown(_));
                    emit(self.queued(&message, &value, may_have_arrived));
                } else if let Some(mut found) = self.outbox.search(&message, &value, now) {
                    if let Some(after) = after {
                        call::finish(&mut found, after, now);
                    }
                    emit(found);
                } else if message.is_request() {
                    let endpoint = self.upstream.endpoint();
                    let answer = offline::answer(&message, &value, endpoint, &unreachable);
                    emit(self.completed(&message, answer));
                }
            }
        }
    }

    /// Queues a write and returns its answer.
    fn queued(&self, message: &Message, value: &Value, may_have_arrived: bool) -> Value {
        let now = SystemClock.now();
        match self.outbox.queue(message, value, now, may_have_arrived) {
            Ok(result) => message.result(result),
            Err(NotQueued(why, code)) => message.result(json!({
                "content": [{"type": "text", "text": why}], "isError": true,
                "_meta": {"mmw/fault": {"code": code.name(), "message": why}},
            })),
        }
    }

    /// Notes that the server answered. The first result since something was wrong, or since the start, may be
    /// due to a server that is back or a key that was replaced: what waits is tried at once.
    fn worked(&self, now: Timestamp, told: Told) {
        let is_well_again = self.link().worked(now, told);
        if is_well_again && self.outbox.has_waiting() {
            self.outbox.try_at_once();
        }
    }

    /// Sends what waits, as far as the server takes it. Blocks.
    fn drain(&self) {
        let _ = self.outbox.drain(&self.upstream);
    }

    /// Completes what the server says of itself with what this program adds.
    fn completed(&self, message: &Message, mut answer: Value) -> Value {
        match message.method {
            Method::Initialize => {
                let version = answer
                    .pointer("/result/protocolVersion")
                    .and_then(Value::as_str);
                if let Some(version) = version {
                    *lock(&self.agreed) = Some(version.to_owned());
                }
            }
            Method::ListTools => sync_status::add_to(&mut answer),
            Method::Call | Method::Other => {}
        }
        answer
    }

    /// Asks the server something for this program itself. Blocks.
    pub(crate) fn ask(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = message::modern_meta();
        let request =
            json!({"jsonrpc": "2.0", "id": "mmw-agent", "method": method, "params": params});
        let mut last = Value::Null;
        self.answer(request, &mut |answer| last = answer);
        last
    }

    /// Asks who is at the server's address, without the key. Blocks for a few seconds at most.
    pub(crate) fn knock(&self) -> Knock {
        self.upstream.knock()
    }

    /// Returns why the server was not reached when it was asked last.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.link().trouble()
    }

    /// Returns the server's address as messages name it.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.upstream.endpoint()
    }

    /// Returns how the queue is; none if it can't be read.
    pub(crate) fn queue(&self) -> Option<State> {
        self.outbox.state(SystemClock.now())
    }

    /// Sends what waits now, whatever the queue's own pace; with `retry_dead` also what the server refused
    /// for good. Returns how many it took. Blocks.
    ///
    /// # Errors
    /// If the queue's folder can't be changed.
    pub(crate) fn sync(&self, retry_dead: bool) -> Result<usize, Trouble> {
        if retry_dead {
            let retried = self.outbox.retry_dead();
            retried.map_err(|error| Trouble::new(Exit::Store, chain(&error)))?;
        }
        self.outbox.try_at_once();
        Ok(self.outbox.drain(&self.upstream))
    }

    /// Returns the first `n` writes that wait, oldest first, and how many do in all.
    ///
    /// # Errors
    /// If the queue's folder can't be read.
    pub(crate) fn waiting(&self, n: usize) -> Result<(Vec<Waiting>, usize), Trouble> {
        let waiting = self.outbox.waiting(n);
        waiting.map_err(|error| Trouble::new(Exit::Store, chain(&error)))
    }

    /// Puts a write with those that the server refused, so that what is behind it is sent. Tells whether it
    /// was there.
    ///
    /// # Errors
    /// While another agent sends the queue, or if its folder can't be changed.
    pub(crate) fn set_aside(&self, name: EntryName) -> Result<bool, Trouble> {
        let done = self.outbox.set_aside(name, SystemClock.now());
        done.map_err(|error| Trouble::new(Exit::Store, chain(&error)))
    }

    /// Notes what the client calls itself, from `initialize`.
    fn note_client(&self, value: &Value) {
        let is_first = value.get("method").and_then(Value::as_str) == Some("initialize");
        let name = value
            .pointer("/params/clientInfo/name")
            .and_then(Value::as_str);
        if is_first && let Some(name) = name {
            self.link().client = Some(name.to_owned());
        }
    }

    fn client_name(&self) -> Option<String> {
        self.link().client.clone()
    }

    fn link(&self) -> std::sync::MutexGuard<'_, Link> {
        lock(&self.link)
    }
}

/// What is behind these locks is whole at any moment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

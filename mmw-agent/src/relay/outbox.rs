//! Writes that the server could not take yet: screened, queued on disk, and sent as soon as it can.
//!
//! A write is answered once it is durable, here or on the server. As long as something waits, what comes
//! after waits behind it, so that the server gets everything in the order in which it was said.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::time::Timestamp;
use mmw_core::wire::{EnvelopeArgs, ForgetArgs, RememberArgs, SearchArgs};
use mmw_guard::{Guard, Verdict};
use mmw_hooks::spool::{Entry, EntryName, Outcome, Spool, SpoolError, State, retry_after};
use mmw_server::actions::Registry;
use mmw_server::fault::Code;
use serde_json::{Map, Value, json};

use super::call::ENVELOPE_META;
use super::look_back::search_waiting;
use super::message::{Message, Method};
use super::upstream::{Unreachable, Upstream};
use super::waiting::{self, Waiting};
use crate::config::ApiKey;
use crate::exit::chain;

/// The folder of the queues in the agent's home.
const FOLDER: &str = "spool";

/// The writes that are queued; everything else needs the server's answer.
const QUEUED: [&str; 2] = ["remember", "forget"];

/// In a waiting write's envelope: the public half of the key that it was said with, and so the project that it
/// was said to. Several agents with keys of different projects may have one home.
const SAID_WITH: &str = "said_with";

/// The queue in front of one server.
pub(super) struct Outbox {
    spool: Spool,
    /// The public half of this agent's key.
    key: Option<String>,
    /// Entries that the server says are for another project.
    not_ours: Mutex<HashSet<EntryName>>,
    guard: Guard,
    registry: Registry,
}

/// A write that is not queued: what the caller is told, and the code of that for programs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotQueued(pub(super) String, pub(super) Code);

impl Outbox {
    /// Opens the queue of a server.
    ///
    /// # Errors
    /// If its folder can't be used.
    pub(super) fn open(
        home: &Path,
        url: &str,
        key: Option<&ApiKey>,
        guard: Guard,
    ) -> Result<Self, SpoolError> {
        Ok(Self {
            spool: Spool::open(&home.join(FOLDER), url)?,
            key: key.and_then(ApiKey::id).map(str::to_owned),
            not_ours: Mutex::default(),
            guard,
            registry: Registry::standard(),
        })
    }

    /// Tells whether something waits, as far as is known for this agent's project. A queue that can't be looked
    /// into counts as one where something does.
    pub(super) fn has_waiting(&self) -> bool {
        let not_ours = self.not_ours();
        if not_ours.is_empty() {
            return !self.spool.is_empty().unwrap_or(false);
        }
        let waiting = self.spool.waiting();
        waiting.map_or(true, |names| {
            names.iter().any(|name| !not_ours.contains(name))
        })
    }

    fn not_ours(&self) -> MutexGuard<'_, HashSet<EntryName>> {
        self.not_ours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a message is a write that may wait.
    pub(super) fn takes(message: &Message, value: &Value) -> bool {
        let name = message.name.as_deref().unwrap_or_default();
        let only_asks = value
            .pointer("/params/arguments/dry_run")
            .and_then(Value::as_bool);
        message.method == Method::Call && QUEUED.contains(&name) && only_asks != Some(true)
    }

    /// Returns how the queue is.
    pub(super) fn state(&self, now: Timestamp) -> Option<State> {
        self.spool.state(now).ok()
    }

    /// Queues a write and returns the tool's result. With `may_have_arrived` it was sent before, and what became
    /// of it is not known.
    ///
    /// # Errors
    /// [`NotQueued`] if it could never be saved, or the disk does not take it.
    pub(super) fn queue(
        &self,
        message: &Message,
        value: &Value,
        now: Timestamp,
        may_have_arrived: bool,
    ) -> Result<Value, NotQueued> {
        let action = message.name.as_deref().unwrap_or_default();
        let object = |pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_object);
            found.cloned().unwrap_or_default()
        };
        let mut envelope = object(&format!(
            "/params/_meta/{}",
            ENVELOPE_META.replace('/', "~1")
        ));
        let mut arguments = object("/params/arguments");
        if let Some(known) = self.registry.get(action) {
            let checked = known.check(arguments);
            arguments = checked.map_err(|fault| NotQueued(fault.to_string(), fault.code))?;
        }
        envelope
            .entry("idempotency_key")
            .or_insert_with(|| json!(super::call::new_key()));
        match action {
            "remember" => self.screen(&arguments, &envelope)?,
            "forget" => check_forget(&arguments)?,
            _ => {}
        }
        let mut n_replaced = 0;
        self.redact(&mut arguments, &mut n_replaced);
        if let Some(key) = &self.key {
            envelope.insert(SAID_WITH.to_owned(), json!(key));
        }
        let id = envelope.get("proposed_id").cloned();
        let entry = Entry {
            action: action.to_owned(),
            arguments,
            envelope,
            queued_at: now,
        };
        let put = self.spool.put(&entry);
        put.map_err(|error| {
            let said = not_queued(action, may_have_arrived, &error);
            NotQueued(said, Code::Unavailable)
        })?;
        Ok(queued(action, id.as_ref(), n_replaced))
    }

    /// Refuses what the server would refuse, while somebody is there to be told.
    fn screen(
        &self,
        arguments: &Map<String, Value>,
        envelope: &Map<String, Value>,
    ) -> Result<(), NotQueued> {
        let refused = |said: String| NotQueued(said, Code::InvalidArgument);
        let wrong = |error: serde_json::Error| refused(error.to_string());
        let args: RememberArgs =
            serde_json::from_value(Value::Object(arguments.clone())).map_err(wrong)?;
        let envelope: EnvelopeArgs =
            serde_json::from_value(Value::Object(envelope.clone())).map_err(wrong)?;
        let draft = args
            .into_draft(&envelope)
            .map_err(|invalid| refused(invalid.to_string()))?;
        match self.guard.screen(draft) {
            Verdict::Allow(_) | Verdict::Quarantine(..) => Ok(()),
            Verdict::Reject(rejection) => {
                Err(NotQueued(rejection.to_string(), Code::RejectedByGuard))
            }
        }
    }

    /// Replaces secrets wherever a text is.
    fn redact(&self, members: &mut Map<String, Value>, n_replaced: &mut usize) {
        for value in members.values_mut() {
            self.redact_value(value, n_replaced);
        }
    }

    fn redact_value(&self, value: &mut Value, n_replaced: &mut usize) {
        match value {
            Value::String(text) => {
                let (clean, replaced) = self.guard.redact(text);
                *n_replaced += replaced.len();
                *text = clean;
            }
            Value::Array(values) => {
                for value in values {
                    self.redact_value(value, n_replaced);
                }
            }
            Value::Object(members) => self.redact(members, n_replaced),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Answers a search from what waits; `None` if that is no search, or there is nothing to answer from.
    pub(super) fn search(&self, message: &Message, value: &Value, now: Timestamp) -> Option<Value> {
        const SEARCH: &str = "search";
        if !(message.is_call_of(SEARCH) && message.is_request() && self.has_waiting()) {
            return None;
        }
        let arguments = value
            .pointer("/params/arguments")
            .and_then(Value::as_object);
        let checked = self
            .registry
            .get(SEARCH)?
            .check(arguments.cloned().unwrap_or_default());
        let args: SearchArgs = serde_json::from_value(Value::Object(checked.ok()?)).ok()?;
        let is_ours = |entry: &Entry| {
            let said_with = entry.envelope.get(SAID_WITH).and_then(Value::as_str);
            said_with.is_none_or(|key| self.key.as_deref() == Some(key))
        };
        match search_waiting(&self.spool, &is_ours, &self.guard, &args, now) {
            Ok(found) => found.map(|result| message.result(result)),
            Err(trouble) => {
                tracing::warn!(error = %trouble, "what waits can't be searched");
                None
            }
        }
    }

    /// Puts what the server refused for good back into the queue. Returns how many.
    ///
    /// # Errors
    /// If the folder can't be changed.
    pub(super) fn retry_dead(&self) -> Result<usize, SpoolError> {
        self.spool.retry_dead()
    }

    /// Returns the first `n` that wait, oldest first, and how many do in all.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub(super) fn waiting(&self, n: usize) -> Result<(Vec<Waiting>, usize), SpoolError> {
        waiting::list(&self.spool, n)
    }

    /// Puts a write with those that were refused, because a person says so, so that what is behind it is sent.
    /// Tells whether it was there.
    ///
    /// # Errors
    /// [`SpoolError::Busy`] while another agent sends, or if the folder can't be changed.
    pub(super) fn set_aside(&self, name: EntryName, now: Timestamp) -> Result<bool, SpoolError> {
        let why = match self.spool.state(now)?.last_error {
            Some(last) => format!("set aside by a person, after: {}", last.why),
            None => "set aside by a person".to_owned(),
        };
        self.spool.set_aside(name, &why, now)
    }

    /// Sends what waits, as far as the server takes it. Returns how many it took.
    pub(super) fn drain(&self, upstream: &Upstream) -> usize {
        if !self.has_waiting() {
            return 0;
        }
        let takes_envelope = |action: &str| {
            let action = self.registry.get(action);
            action.is_none_or(|action| action.facts.takes_envelope)
        };
        let drained = self.spool.drain(
            &mut |name, entry| {
                if self.not_ours().contains(&name) {
                    return Outcome::NotOurs;
                }
                let mut body = entry.arguments.clone();
                let mut envelope = entry.envelope.clone();
                let said_with = envelope.remove(SAID_WITH);
                if takes_envelope(&entry.action) {
                    body.insert("envelope".to_owned(), Value::Object(envelope));
                }
                let said_with = said_with.as_ref().and_then(Value::as_str);
                let outcome = match upstream.rest(&entry.action, &Value::Object(body), said_with) {
                    Ok((status, after)) => {
                        Outcome::of_status(status, after.as_deref().and_then(retry_after))
                    }
                    Err(why) => Outcome::no_answer(why.to_string()),
                };
                if outcome == Outcome::NotOurs {
                    self.not_ours().insert(name);
                }
                outcome
            },
            &SystemClock,
            &SystemEntropy,
        );
        match drained {
            Ok(drained) => {
                let (sent, refused) = (drained.n_sent, drained.n_refused);
                tracing::info!(sent, refused, "what waited was sent");
                sent
            }
            Err(error) => {
                tracing::warn!(error = %chain(&error), "the queue can't be sent");
                0
            }
        }
    }

    /// Tries at once what waits: the server answers again, or takes the key again.
    pub(super) fn try_at_once(&self) {
        if let Err(error) = self.spool.resume() {
            tracing::warn!(error = %chain(&error), "the queue can't be resumed");
        }
    }
}

/// Refuses what the server would refuse, while somebody is there to be told.
fn check_forget(arguments: &Map<String, Value>) -> Result<(), NotQueued> {
    let refused = |said: String| NotQueued(said, Code::InvalidArgument);
    let args: ForgetArgs = serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| refused(error.to_string()))?;
    args.what()
        .map(drop)
        .map_err(|invalid| refused(invalid.to_string()))
}

/// Tells whether a write that met this is to be queued: the server is not there, or not itself.
pub(super) fn is_for_later(unreachable: &Unreachable) -> bool {
    match unreachable {
        Unreachable::NotSent(_) | Unreachable::Unknown(_) => true,
        Unreachable::Other(status) => *status >= 500,
    }
}

/// Says that nothing was done, why, and what helps.
fn not_queued(action: &str, may_have_arrived: bool, error: &SpoolError) -> String {
    let what = match (action, may_have_arrived) {
        ("remember", false) => "Nothing was saved",
        ("remember", true) => "Whether it was saved is not known",
        (_, false) => "Nothing was done",
        (_, true) => "Whether it was done is not known",
    };
    let remedy = match error {
        SpoolError::Full { .. } => {
            " `mmw-agent status` tells what keeps the server from taking what waits."
        }
        _ if error.is_no_room() => " Make room on the disk of the agent's home, then try again.",
        _ => "",
    };
    format!(
        "{what}: the memory server does not take it now, and it could not be queued on this computer's disk: {}.{remedy}",
        chain(error)
    )
}

/// Returns the result of a write that waits.
fn queued(action: &str, id: Option<&Value>, n_replaced: usize) -> Value {
    let replaced = match n_replaced {
        0 => String::new(),
        1 => " One secret in it was replaced.".to_owned(),
        n => format!(" {n} secrets in it were replaced."),
    };
    let text = format!(
        "Queued on this computer's disk: it is sent to the memory server in its turn, once that can be reached.{replaced} \
         `mmw_sync_status` tells how it is."
    );
    let structured = if action == "remember" {
        json!({"outcome": "queued", "queued": true, "id": id})
    } else {
        // Nothing is known of what will be forgotten, and the tool's schema wants figures.
        json!({
            "queued": true, "dry_run": false, "ids": [],
            "forgotten": 0, "already_forgotten": 0, "links": 0, "index_rows": 0,
        })
    };
    json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox(home: &Path) -> Outbox {
        Outbox::open(home, "https://a.example/mcp", None, Guard::standard()).unwrap()
    }

    fn call(tool: &str, arguments: &Value) -> (Message, Value) {
        let value = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {ENVELOPE_META: {
                "idempotency_key": "k", "proposed_id": "0192f0c1-8a6b-7c3d-9e4f-0123456789ac",
            }},
        }});
        (Message::of(&value), value)
    }

    fn queue(outbox: &Outbox, tool: &str, arguments: &Value) -> Result<Value, NotQueued> {
        let (message, value) = call(tool, arguments);
        let now = Timestamp::from_ms(1_800_000_000_000);
        outbox.queue(&message, &value, now, false)
    }

    #[test]
    fn the_answer_of_a_queued_write_is_what_the_tools_schema_says() {
        let home = tempfile::tempdir().unwrap();
        let outbox = outbox(home.path());
        let id = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab";
        for (tool, arguments) in [
            ("remember", json!({"content": "x"})),
            ("forget", json!({"memory_id": id})),
        ] {
            let result = queue(&outbox, tool, &arguments).unwrap();
            let action = outbox.registry.get(tool).unwrap();
            let schema = Value::Object((*action.output).clone());
            let schema = jsonschema::validator_for(&schema).unwrap();
            let structured = &result["structuredContent"];
            let errors: Vec<String> = schema
                .iter_errors(structured)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(errors, Vec::<String>::new(), "{tool}: {structured}");
        }
    }

    #[test]
    fn only_writes_that_write_are_taken() {
        let takes = |tool, arguments| {
            let (message, value) = call(tool, &arguments);
            Outbox::takes(&message, &value)
        };
        assert!(takes("remember", json!({"content": "x"})));
        assert!(takes("forget", json!({"source_id": "a.md"})));
        assert!(!takes(
            "forget",
            json!({"source_id": "a.md", "dry_run": true})
        ));
        assert!(!takes("search", json!({"query": "x"})));
        assert!(!takes("resolve_conflict", json!({})));
    }

    #[test]
    fn what_is_neither_sent_nor_queued_is_said_to_be_lost_only_if_that_is_known() {
        let full = SpoolError::Io {
            doing: "write",
            file: "new".to_owned(),
            source: std::io::ErrorKind::StorageFull.into(),
        };
        let check = |action, may_have_arrived, begins: &str| {
            let said = not_queued(action, may_have_arrived, &full);
            assert!(said.starts_with(begins), "{said}");
            assert!(
                said.contains("no storage space") && said.contains("Make room"),
                "{said}"
            );
        };
        check("remember", false, "Nothing was saved");
        check("remember", true, "Whether it was saved is not known");
        check("forget", false, "Nothing was done");
        check("forget", true, "Whether it was done is not known");
    }

    #[test]
    fn what_could_never_be_saved_is_not_queued() {
        let home = tempfile::tempdir().unwrap();
        let outbox = outbox(home.path());
        for (arguments, said) in [
            (json!({}), "content"),
            (json!({"content": "  "}), "content"),
            (json!({"content": "x", "contnt": "y"}), "contnt"),
            (
                json!({"content": "x", "valid_from": "someday"}),
                "valid_from",
            ),
        ] {
            let refused = queue(&outbox, "remember", &arguments).unwrap_err();
            assert!(refused.0.contains(said), "{}", refused.0);
        }
        for (arguments, said) in [
            (json!({}), "what shall be forgotten"),
            (json!({"memory_id": "x"}), "memory_id"),
            (
                json!({"memory_id": "x", "source_id": "a.md"}),
                "one of the two",
            ),
        ] {
            let refused = queue(&outbox, "forget", &arguments).unwrap_err();
            assert!(refused.0.contains(said), "{}", refused.0);
        }
        assert!(!outbox.has_waiting());
    }
}

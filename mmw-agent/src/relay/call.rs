//! What this program adds to a call, and does with its answer.

use std::collections::HashMap;

use mmw_core::env::{Clock as _, Entropy as _, SystemClock, SystemEntropy};
use mmw_core::ids::RecordId;
use mmw_core::time::Timestamp;
use mmw_core::validation;
use mmw_core::wire::EnvelopeArgs;
use mmw_server::actions::{Answer, Registry};
use mmw_server::desk::Order;
use mmw_server::mcp::{COMPARE_META, READING};
use serde_json::{Map, Value};

use super::message::{Message, Method};
use crate::about::About;
use crate::anchor::After;

/// Where an agent puts what it adds to a write.
pub(super) const ENVELOPE_META: &str = "mmw/envelope";

/// The prompt that recalls a topic, and the action that it does so with.
const RECALL: &str = "recall";
const SEARCH: &str = "search";

/// Where a request of the newer protocol says whose it is.
const CLIENT_META: &str = "io.modelcontextprotocol/clientInfo";

/// Completes a call by its action's name, and tells what to do with the answer.
pub(crate) type Complete = dyn Fn(&str, &mut Order) -> Option<After> + Send + Sync;

/// Follows the client to its folders.
pub(crate) type Follow = dyn Fn(Vec<String>) + Send + Sync;

/// Tells what the program knows of itself.
pub(crate) type Know = dyn Fn() -> About + Send + Sync;

/// What stands around calls.
pub(crate) struct Around {
    complete: Box<Complete>,
    follow: Box<Follow>,
    know: Box<Know>,
    /// Whether a write of that name takes an envelope.
    takes_envelope: HashMap<&'static str, bool>,
}

impl Around {
    pub(crate) fn new(complete: Box<Complete>, follow: Box<Follow>, know: Box<Know>) -> Self {
        let registry = Registry::standard();
        let facts = registry.iter().map(|action| &action.facts);
        Self {
            complete,
            follow,
            know,
            takes_envelope: facts
                .map(|facts| (facts.name, facts.takes_envelope))
                .collect(),
        }
    }

    /// Works in the client's folders from now on.
    pub(super) fn follow(&self, folders: Vec<String>) {
        (self.follow)(folders);
    }

    /// Returns what the program knows of itself.
    pub(super) fn about(&self) -> About {
        (self.know)()
    }

    /// Completes a call. What is no call of a known action, or has no proper arguments, stays as it is: the
    /// server says what is wrong with it.
    pub(super) fn before(
        &self,
        message: &Message,
        value: &mut Value,
        client: &Option<String>,
    ) -> Option<After> {
        if message.is_reading() {
            return self.before_reading(value);
        }
        if message.method != Method::Call {
            return None;
        }
        let action = message.name.as_deref()?;
        let takes_envelope = *self.takes_envelope.get(action)?;
        let params = value.get_mut("params")?.as_object_mut()?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return None,
        };
        let meta = params.get("_meta").and_then(|meta| meta.get(ENVELOPE_META));
        let given = meta.cloned().unwrap_or_default();
        let envelope: EnvelopeArgs = serde_json::from_value(given).unwrap_or_default();
        let mut order = Order {
            arguments,
            envelope,
            ..Order::default()
        };
        let after = (self.complete)(action, &mut order);
        params.insert("arguments".to_owned(), Value::Object(order.arguments));
        if order.compares {
            ask_to_compare(params);
        }
        if takes_envelope {
            let mut envelope = order.envelope;
            // Sent twice, because an answer got lost, it is still one write.
            envelope.idempotency_key.get_or_insert_with(new_key);
            if action == "remember" {
                // If it has to be sent again it is the same request to the last bit.
                let now = SystemClock.now();
                envelope.proposed_id.get_or_insert_with(|| {
                    RecordId::from_parts(now, SystemEntropy.id_bytes()).to_string()
                });
                envelope.recorded_at.get_or_insert_with(|| now.to_string());
            }
            if envelope.client.is_none() {
                let own = params
                    .get("_meta")
                    .and_then(|meta| meta.get(CLIENT_META)?.get("name"));
                let own = own.and_then(Value::as_str);
                envelope.client = own.or(client.as_deref()).and_then(|name| {
                    let name: String = name.chars().take(64).collect();
                    validation::label("client", &name).ok()
                });
            }
            put(params, envelope);
        }
        after
    }
}

impl Around {
    /// Completes a request for a resource or a prompt: the server shall say what it rests on.
    fn before_reading(&self, value: &mut Value) -> Option<After> {
        let params = value.get_mut("params")?.as_object_mut()?;
        if params.get("name").and_then(Value::as_str) == Some(RECALL) {
            self.default_workspace(params);
        }
        let mut order = Order::default();
        let after = (self.complete)(READING, &mut order)?;
        if order.compares {
            ask_to_compare(params);
        }
        Some(after)
    }

    /// Has a prompt recall from the workspace that a search without one is in.
    fn default_workspace(&self, params: &mut Map<String, Value>) {
        let mut order = Order::default();
        let _ = (self.complete)(SEARCH, &mut order);
        let Some(workspace) = order.arguments.remove("workspace") else {
            return;
        };
        let arguments = params
            .entry("arguments")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(arguments) = arguments {
            arguments.entry("workspace").or_insert(workspace);
        }
    }
}

fn ask_to_compare(params: &mut Map<String, Value>) {
    let meta = params
        .entry("_meta")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(meta) = meta {
        meta.insert(COMPARE_META.to_owned(), Value::Bool(true));
    }
}

/// Puts the envelope into a call's `_meta`, beside whatever is there.
fn put(params: &mut Map<String, Value>, envelope: EnvelopeArgs) {
    let Ok(Value::Object(envelope)) = serde_json::to_value(envelope) else {
        return;
    };
    let meta = params
        .entry("_meta")
        .or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(meta) = meta else { return };
    let there = meta
        .entry(ENVELOPE_META)
        .or_insert_with(|| Value::Object(Map::new()));
    match there {
        // What a newer client says and this program does not know stays.
        Value::Object(there) => there.extend(envelope),
        other => *other = Value::Object(envelope),
    }
}

pub(super) fn new_key() -> String {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes);
    format!("agent-{:032x}", u128::from_be_bytes(bytes))
}

/// Does with the answer of a call what was to be done with it. An error stays as it is.
pub(super) fn finish(answer: &mut Value, after: After, now: Timestamp) {
    let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) else {
        return;
    };
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return;
    }
    if let Some(reading) = reading_of(result) {
        return finish_reading(result, reading, after, now);
    }
    let Some(structured) = result.get("structuredContent").cloned() else {
        return;
    };
    let text = result
        .get("content")
        .and_then(|content| content.pointer("/0/text"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut done = Answer {
        structured,
        text: text.to_owned(),
    };
    after.finish(&mut done, now);
    result.insert("structuredContent".to_owned(), done.structured);
    if let Some(text) = result
        .get_mut("content")
        .and_then(|content| content.pointer_mut("/0/text"))
    {
        *text = Value::String(done.text);
    }
}

/// Takes what was asked for to be compared out of an answer.
fn reading_of(result: &mut Map<String, Value>) -> Option<Value> {
    let meta = result.get_mut("_meta")?.as_object_mut()?;
    let reading = meta.shift_remove(COMPARE_META)?;
    if meta.is_empty() {
        result.shift_remove("_meta");
    }
    Some(reading)
}

fn finish_reading(result: &mut Map<String, Value>, reading: Value, after: After, now: Timestamp) {
    let places = [("contents", "/0/text"), ("messages", "/0/content/text")];
    let text = places
        .into_iter()
        .find(|(member, _)| result.contains_key(*member));
    let text = text.and_then(|(member, rest)| result.get_mut(member)?.pointer_mut(rest));
    let Some(Value::String(text)) = text else {
        return;
    };
    let mut done = Answer {
        structured: reading,
        text: std::mem::take(text),
    };
    after.finish(&mut done, now);
    *text = done.text;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn around() -> Around {
        let complete: Box<Complete> = Box::new(|_, order| {
            order
                .arguments
                .insert("workspace".to_owned(), json!("backend"));
            order.envelope.branch = Some("main".to_owned());
            None
        });
        Around::new(complete, Box::new(|_| {}), Box::new(About::default))
    }

    fn before(mut value: Value) -> Value {
        let message = Message::of(&value);
        around().before(&message, &mut value, &Some("claude-code".to_owned()));
        value
    }

    #[test]
    fn a_write_gets_what_the_agent_knows_and_a_key_of_its_own() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "remember", "arguments": {"content": "x"},
            "_meta": {"progressToken": 7, "mmw/envelope": {"later": true}},
        }});
        let sent = before(call.clone());
        assert_eq!(
            sent["params"]["arguments"],
            json!({"content": "x", "workspace": "backend"})
        );
        let meta = &sent["params"]["_meta"];
        assert_eq!(meta["progressToken"], 7);
        let envelope = &meta[ENVELOPE_META];
        assert_eq!(
            (&envelope["branch"], &envelope["client"]),
            (&json!("main"), &json!("claude-code"))
        );
        assert_eq!(envelope["later"], true);
        let key = envelope["idempotency_key"].as_str().unwrap();
        assert_ne!(
            before(call)["params"]["_meta"][ENVELOPE_META]["idempotency_key"],
            key
        );
    }

    #[test]
    fn a_key_that_the_caller_chose_is_kept() {
        let sent = before(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "remember", "arguments": {"content": "x"},
                "_meta": {"mmw/envelope": {"idempotency_key": "mine"}},
            }}),
        );
        assert_eq!(
            sent["params"]["_meta"][ENVELOPE_META]["idempotency_key"],
            "mine"
        );
    }

    #[test]
    fn the_prompt_recall_looks_in_the_workspace_of_the_settings_unless_it_names_one() {
        let recall = |arguments: Value| {
            let params = json!({"name": "recall", "arguments": arguments});
            let call =
                json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params});
            before(call)["params"]["arguments"]["workspace"].clone()
        };
        assert_eq!(recall(json!({"topic": "x"})), "backend");
        let named = json!({"topic": "x", "workspace": "web"});
        assert_eq!(recall(named), "web");
    }

    #[test]
    fn what_was_asked_for_to_be_compared_is_taken_out_of_an_answer() {
        let check = |meta: Value, left: Option<Value>| {
            let mut result = json!({"contents": [], "_meta": meta});
            let result = result.as_object_mut().unwrap();
            assert_eq!(reading_of(result), Some(json!({"reading": "new"})));
            assert_eq!(result.get("_meta").cloned(), left);
        };
        check(json!({"mmw/compare": {"reading": "new"}}), None);
        check(
            json!({"mmw/compare": {"reading": "new"}, "other": 1}),
            Some(json!({"other": 1})),
        );
        assert_eq!(
            reading_of(json!({"_meta": {"other": 1}}).as_object_mut().unwrap()),
            None
        );
    }

    #[test]
    fn what_is_no_call_of_ours_passes_unchanged() {
        for value in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "other", "arguments": {}}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": [1]}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "save-decisions"}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ] {
            assert_eq!(before(value.clone()), value);
        }
    }

    #[test]
    fn a_read_gets_no_envelope() {
        let sent = before(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "search", "arguments": {"query": "x"}}}),
        );
        assert_eq!(sent["params"].get("_meta"), None);
    }
}

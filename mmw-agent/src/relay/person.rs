//! What the person at the terminal asks the server: the same way as a client's calls, with answers that a
//! command can act on.
//!
//! Tools are called as a client calls them, so that anchors, the queue and the search through what waits are the
//! same. What no tool tells is asked over REST.

use mmw_core::env::{Clock as _, SystemClock};
use serde_json::{Value, json};

use super::call::ENVELOPE_META;
use super::upstream::{Unreachable, told};
use super::{Relay, message};
use crate::exit::{Exit, Trouble};

/// Where a tool error says for programs what is wrong.
const FAULT: &str = "/result/_meta/mmw~1fault";

/// What REST says of an action that it does not have.
const NO_SUCH_ACTION: &str = "there is no such action";

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The stable code, such as `forbidden`.
    pub(crate) code: String,
    /// What is wrong, in a sentence.
    pub(crate) message: String,
}

impl Relay {
    /// Calls a tool, and returns its structured answer. Blocks.
    ///
    /// # Errors
    /// [`Refused`], of the server or because it can't be reached.
    pub(crate) fn call(
        &self,
        tool: &str,
        arguments: &Value,
        envelope: Option<&Value>,
    ) -> Result<Value, Refused> {
        let mut meta = message::modern_meta();
        if let Some(envelope) = envelope {
            meta[ENVELOPE_META] = envelope.clone();
        }
        let request = json!({
            "jsonrpc": "2.0", "id": "mmw-agent", "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": meta},
        });
        let mut last = Value::Null;
        self.answer(request, &mut |answer| last = answer);
        read(&mut last)
    }

    /// Does an action over REST. Blocks.
    ///
    /// # Errors
    /// [`Refused`], of the server or because it can't be reached.
    pub(crate) fn act(&self, action: &str, arguments: &Value) -> Result<Value, Refused> {
        match self.upstream.act(action, arguments) {
            Ok((status, body)) if (200..300).contains(&status) => Ok(body),
            Ok((_, body)) => Err(Refused::of(&body["error"])),
            Err(unreachable) => {
                self.link().failed(SystemClock.now(), &unreachable);
                Err(self.unreachable(&unreachable))
            }
        }
    }

    /// Sends what waits before a person's own call, unless that is more than `most`: then the call does not
    /// wait for it. Blocks.
    pub(crate) fn send_what_waits(&self, most: usize) {
        let n_waiting = self.queue().map_or(0, |queue| queue.n_waiting);
        if n_waiting == 0 || n_waiting > most {
            return;
        }
        // A result tells that the server is back or takes the key again, which ends the queue's wait.
        let _ = self.ask("tools/list", json!({}));
        self.drain();
    }

    fn unreachable(&self, unreachable: &Unreachable) -> Refused {
        Refused::of(&told(unreachable, self.endpoint()))
    }
}

impl Refused {
    /// Reads what a server, or this program in its place, says for programs.
    fn of(fault: &Value) -> Self {
        let text = |name: &str| fault.get(name).and_then(Value::as_str);
        let code = match (text("code"), text("message")) {
            (_, Some(NO_SUCH_ACTION)) => "no_such_action",
            (code, _) => code.unwrap_or("unknown"),
        };
        let message = match (text("message"), text("endpoint"), text("reason")) {
            (Some(message), ..) => match text("field") {
                Some(field) => format!("{field}: {message}"),
                None => message.to_owned(),
            },
            (None, Some(endpoint), Some(reason)) => {
                format!("the memory server {endpoint} can't be reached: {reason}")
            }
            _ => "the memory server gave no reason".to_owned(),
        };
        Self {
            code: code.to_owned(),
            message,
        }
    }
}

/// Reads the answer of a tool.
fn read(answer: &mut Value) -> Result<Value, Refused> {
    if let Some(error) = answer.get("error") {
        let fault = error.get("data").filter(|data| data.is_object());
        let mut fault = fault.cloned().unwrap_or_else(|| json!({}));
        if fault.get("message").is_none() && fault.get("reason").is_none() {
            fault["message"] = error.get("message").cloned().unwrap_or_default();
        }
        return Err(Refused::of(&fault));
    }
    if answer.pointer("/result/isError") == Some(&Value::Bool(true)) {
        let told = answer.pointer(FAULT).cloned();
        return Err(Refused::of(&told.unwrap_or_else(
            || json!({"message": answer.pointer("/result/content/0/text")}),
        )));
    }
    match answer.pointer_mut("/result/structuredContent") {
        Some(structured) => Ok(structured.take()),
        None => Err(Refused::of(
            &json!({"message": "the memory server's answer can't be read"}),
        )),
    }
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        let Refused { code, message } = refused;
        let trouble = |exit| Self::new(exit, message);
        match code.as_str() {
            "invalid_argument" | "malformed_json" | "invalid_request" | "too_large"
            | "idempotency_conflict" => trouble(Exit::Usage),
            "not_found" => trouble(Exit::Nothing)
                .hint("ids are per project, and the key decides the project: is it the right one?"),
            "unauthorized" => trouble(Exit::Refused).hint(
                "set MMW_API_KEY to a key of that server (there: mmw-server key create NAME)",
            ),
            "forbidden" => trouble(Exit::Refused).hint(
                "set MMW_API_KEY to a key with that scope (on the server: mmw-server key create NAME \
                 --scopes …)",
            ),
            "rejected_by_guard" => trouble(Exit::Refused)
                .hint("nothing was saved; say it without the part that the rule names"),
            "host_not_allowed" | "limit_reached" | "read_only" | "suspended" | "declined"
            | "rate_limited" => trouble(Exit::Refused),
            "no_such_action" => Self::new(
                Exit::Store,
                "the memory server is older than this program and can't tell this",
            )
            .hint("a newer version of mmw-server can"),
            "unreachable" => trouble(Exit::Store).hint("mmw-agent doctor"),
            _ => trouble(Exit::Store),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut answer: Value, exit: Exit, said: &str) {
        let trouble = Trouble::from(read(&mut answer).unwrap_err());
        assert_eq!(trouble.exit, exit, "{trouble}");
        assert!(trouble.message.contains(said), "{trouble}");
    }

    fn tool_error(fault: &Value) -> Value {
        json!({"result": {
            "isError": true, "content": [{"type": "text", "text": "as a model reads it"}],
            "_meta": {"mmw/fault": fault},
        }})
    }

    #[test]
    fn each_refusal_has_the_exit_code_that_the_same_has_without_a_server() {
        for (code, exit) in [
            ("invalid_argument", Exit::Usage),
            ("not_found", Exit::Nothing),
            ("forbidden", Exit::Refused),
            ("rejected_by_guard", Exit::Refused),
            ("limit_reached", Exit::Refused),
            ("busy", Exit::Store),
            ("internal", Exit::Store),
            ("of a newer server", Exit::Store),
        ] {
            let fault = json!({"code": code, "message": "in words"});
            check(tool_error(&fault), exit, "in words");
        }
    }

    #[test]
    fn a_server_that_is_not_there_is_told_with_its_address_and_the_reason() {
        let fault = json!({"code": "unreachable", "endpoint": "https://a.example", "reason": "no connection"});
        check(
            tool_error(&fault),
            Exit::Store,
            "https://a.example can't be reached: no connection",
        );
        let error = json!({"error": {"code": -32603, "message": "x", "data": fault}});
        check(error, Exit::Store, "can't be reached");
    }

    #[test]
    fn an_argument_is_named() {
        let fault =
            json!({"code": "invalid_argument", "message": "must be at most 50", "field": "limit"});
        check(tool_error(&fault), Exit::Usage, "limit: must be at most 50");
    }

    #[test]
    fn what_is_no_answer_is_no_success() {
        for answer in [
            Value::Null,
            json!({}),
            json!({"result": {}}),
            json!({"error": {}}),
            json!({"error": null}),
            json!({"error": {"data": 7, "message": "x"}}),
            json!({"result": {"isError": true}}),
        ] {
            assert!(read(&mut answer.clone()).is_err(), "{answer}");
        }
    }

    #[test]
    fn an_older_server_is_said_to_be_older() {
        let fault = json!({"code": "not_found", "message": NO_SUCH_ACTION});
        let trouble = Trouble::from(Refused::of(&fault));
        assert!(trouble.message.contains("older"), "{trouble}");
    }
}

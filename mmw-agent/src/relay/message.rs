//! What has to be known of a message to pass it on, in both eras of the protocol.
//!
//! Since 2026-07-28 every request says its version, and HTTP repeats it with the method and the name in
//! headers. Before, version and client were told once, in `initialize`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Where a request of the newer protocol says its version.
const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// The version that this program speaks for itself.
const OWN_VERSION: &str = "2026-07-28";

/// Returns what a request of the newer protocol says of itself, for a request of this program's own.
pub(super) fn modern_meta() -> Value {
    json!({
        VERSION_META: OWN_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "mmw-agent", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// What a message asks for, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// `initialize`.
    Initialize,
    /// `tools/list`.
    ListTools,
    /// `tools/call`.
    Call,
    /// Anything else.
    Other,
}

/// What is known of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    /// The id of a request; none for a notification or an answer.
    pub(super) id: Option<Value>,
    /// What it asks for.
    pub(super) method: Method,
    /// The method's name.
    pub(super) method_name: Option<String>,
    /// What it is about: a tool, a prompt, a resource.
    pub(super) name: Option<String>,
    /// The version of the protocol that it says of itself.
    pub(super) version: Option<String>,
}

impl Message {
    /// Reads a message. What is none has neither id nor method.
    pub(super) fn of(value: &Value) -> Self {
        let text = |pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_str);
            found.map(str::to_owned)
        };
        let method_name = text("/method");
        let named = match method_name.as_deref() {
            Some("tools/call" | "prompts/get") => text("/params/name"),
            Some("resources/read") => text("/params/uri"),
            _ => None,
        };
        let meta = value.pointer("/params/_meta");
        let version = meta
            .and_then(|meta| meta.get(VERSION_META))
            .and_then(Value::as_str);
        Self {
            id: value.get("id").filter(|_| method_name.is_some()).cloned(),
            method: match method_name.as_deref() {
                Some("initialize") => Method::Initialize,
                Some("tools/list") => Method::ListTools,
                Some("tools/call") => Method::Call,
                _ => Method::Other,
            },
            method_name,
            name: named,
            version: version.map(str::to_owned),
        }
    }

    /// Tells whether somebody waits for an answer.
    pub(super) fn is_request(&self) -> bool {
        self.id.is_some()
    }

    /// Tells whether a tool is called, and which.
    pub(super) fn is_call_of(&self, tool: &str) -> bool {
        self.method == Method::Call && self.name.as_deref() == Some(tool)
    }

    /// Tells whether what is asked for may rest on files without being a call: a resource, or what a prompt
    /// recalls.
    pub(super) fn is_reading(&self) -> bool {
        let method = self.method_name.as_deref();
        matches!(method, Some("resources/read" | "prompts/get"))
    }

    /// Tells whether it is of the protocol without `initialize`.
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some()
    }

    /// Returns the headers that HTTP wants for it. `agreed` is the version of an older conversation.
    pub(super) fn headers(&self, agreed: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(version) = self.version.as_deref().or(agreed) {
            headers.push(("mcp-protocol-version", header_text(version)));
        }
        if self.is_modern() {
            if let Some(method) = &self.method_name {
                headers.push(("mcp-method", header_text(method)));
            }
            if let Some(name) = &self.name {
                headers.push(("mcp-name", header_text(name)));
            }
        }
        headers
    }

    /// Returns an answer.
    pub(super) fn result(&self, mut result: Value) -> Value {
        if self.is_modern()
            && let Value::Object(members) = &mut result
        {
            let complete = json!("complete");
            members.entry("resultType").or_insert(complete);
        }
        json!({"jsonrpc": "2.0", "id": self.id, "result": result})
    }

    /// Returns an error of the protocol.
    pub(super) fn error(&self, code: i64, message: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": code, "message": message}})
    }
}

/// Returns a text as a header can hold it: as it is if it is plain, else in the encoding that the protocol
/// names for it.
fn header_text(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.is_empty()
        && !text.starts_with("=?base64?");
    if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_of_the_newer_protocol_has_its_headers() {
        let message = Message::of(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "search", "_meta": {VERSION_META: "2026-07-28"}},
        }));
        assert!(message.is_modern() && message.is_request() && message.is_call_of("search"));
        assert_eq!(
            message.headers(Some("2025-11-25")),
            [
                ("mcp-protocol-version", "2026-07-28".to_owned()),
                ("mcp-method", "tools/call".to_owned()),
                ("mcp-name", "search".to_owned()),
            ]
        );
    }

    #[test]
    fn an_older_request_has_the_version_that_was_agreed_on() {
        let message = Message::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        assert_eq!(message.headers(None), []);
        let agreed = message.headers(Some("2025-06-18"));
        assert_eq!(agreed, [("mcp-protocol-version", "2025-06-18".to_owned())]);
    }

    #[test]
    fn what_no_header_can_hold_is_encoded() {
        assert_eq!(header_text("mmw://record/1"), "mmw://record/1");
        assert_eq!(header_text("Jürgen"), "=?base64?SsO8cmdlbg==?=");
        assert_eq!(header_text("a\r\nb: c"), "=?base64?YQ0KYjogYw==?=");
        assert_eq!(header_text(" a"), "=?base64?IGE=?=");
    }

    #[test]
    fn a_notification_and_an_answer_are_no_requests() {
        let check = |value: Value| assert!(!Message::of(&value).is_request(), "{value}");
        check(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        check(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
        check(json!([1, 2]));
        check(json!("text"));
    }
}

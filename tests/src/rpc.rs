//! JSON-RPC as MCP speaks it in its two eras.

use serde_json::{Value, json};

/// The newest version of the protocol: every request stands on its own.
pub const MODERN: &str = "2026-07-28";
/// The version that clients of 2025 speak: a handshake first.
pub const LEGACY: &str = "2025-11-25";

/// Which era a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28.
    Modern,
    /// 2025-11-25.
    Legacy,
}

/// Returns a request, with the metadata that the era asks for.
#[must_use]
pub fn request(era: Era, id: u64, method: &str, mut params: Value, capabilities: &Value) -> Value {
    if era == Era::Modern {
        let meta = params
            .as_object_mut()
            .expect("parameters are an object")
            .entry("_meta")
            .or_insert_with(|| json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "mmw-tests", "version": "1" });
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The structured content; `null` if there was none.
    pub structured: Value,
    /// The text that a model reads.
    pub text: String,
    /// The tool said that it failed.
    pub is_error: bool,
    /// How it failed: `code`, `message` and what goes with them; `null` if it did not.
    pub fault: Value,
}

impl ToolAnswer {
    /// Reads the result of `tools/call`.
    ///
    /// # Panics
    /// If it is no such result.
    #[must_use]
    pub fn of(response: &Value) -> Self {
        let result = &response["result"];
        assert!(result.is_object(), "no tool result: {response}");
        let text = result["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n");
        Self {
            structured: result["structuredContent"].clone(),
            text,
            is_error: result["isError"].as_bool().unwrap_or(false),
            fault: result["_meta"]["mmw/fault"].clone(),
        }
    }

    /// Returns the structured content of a call that succeeded.
    ///
    /// # Panics
    /// If the tool said that it failed.
    #[must_use]
    pub fn ok(self) -> Value {
        assert!(!self.is_error, "the tool failed: {}", self.text);
        self.structured
    }
}

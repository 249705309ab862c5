//! The folders that a client works in: asked for once the conversation has begun, and again when they change.
//!
//! The server can't ask, since no stream leads from it to the client, and has no use for them: only this
//! program opens files.

use serde_json::{Value, json};

/// The id of the question; no client uses it for a question of its own.
const ID: &str = "mmw-agent/roots";

/// The most folders that are taken from a client.
const MAX_ROOTS: usize = 64;

/// What is known of a client's folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    are_offered: bool,
}

/// What a message of the client means for its folders.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// Nothing.
    Nothing,
    /// They are to be asked for, with this.
    Ask(Value),
    /// They are these; the message is for nobody else.
    Are(Vec<String>),
    /// The client does not tell; the message is for nobody else.
    Untold,
}

impl Folders {
    /// Listens to a message of the client.
    pub(super) fn hear(&mut self, value: &Value) -> Heard {
        let method = value.get("method").and_then(Value::as_str);
        match method {
            Some("initialize") => {
                let offered = value.pointer("/params/capabilities/roots");
                self.are_offered = offered.is_some_and(Value::is_object);
            }
            Some("notifications/initialized" | "notifications/roots/list_changed")
                if self.are_offered =>
            {
                let ask = json!({"jsonrpc": "2.0", "id": ID, "method": "roots/list"});
                return Heard::Ask(ask);
            }
            None if value.get("id").and_then(Value::as_str) == Some(ID) => {
                let Some(roots) = value.pointer("/result/roots").and_then(Value::as_array) else {
                    return Heard::Untold;
                };
                let uris = roots.iter().filter_map(|root| root.get("uri")?.as_str());
                return Heard::Are(uris.take(MAX_ROOTS).map(str::to_owned).collect());
            }
            _ => {}
        }
        Heard::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_offers_folders_is_asked_and_heard() {
        let mut folders = Folders::default();
        let begun = json!({"method": "notifications/initialized"});
        assert_eq!(folders.hear(&begun), Heard::Nothing);
        let hello = json!({"method": "initialize", "params": {"capabilities": {"roots": {}}}});
        assert_eq!(folders.hear(&hello), Heard::Nothing);
        assert!(matches!(folders.hear(&begun), Heard::Ask(_)));
        let told = json!({"id": ID, "result": {"roots": [{"uri": "file:///a"}, {"name": "b"}]}});
        assert_eq!(
            folders.hear(&told),
            Heard::Are(vec!["file:///a".to_owned()])
        );
        let refused = json!({"id": ID, "error": {"code": -1}});
        assert_eq!(folders.hear(&refused), Heard::Untold);
        let other = json!({"id": 1, "result": {}});
        assert_eq!(folders.hear(&other), Heard::Nothing);
    }
}

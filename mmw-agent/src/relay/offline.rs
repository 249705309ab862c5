//! What is answered when the server can't be reached: that it can't, never that there is nothing.

use mmw_server::mcp::apart;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::message::{Message, Method};
use super::upstream::{Unreachable, told};

/// "Internal error": the nearest that JSON-RPC has.
const INTERNAL_ERROR: i64 = -32_603;

/// Answers a request without the server. A client is not turned away: the server may be back for the next.
pub(super) fn answer(
    message: &Message,
    value: &Value,
    endpoint: &Endpoint,
    unreachable: &Unreachable,
) -> Value {
    match (message.method, message.method_name.as_deref()) {
        (Method::Initialize, _) => {
            let requested = value.pointer("/params/protocolVersion");
            message.result(apart::introduction(requested.and_then(Value::as_str)))
        }
        (Method::ListTools, _) => message.result(apart::agent_tools()),
        (Method::Call, _) => message.result(refused(message, endpoint, unreachable)),
        (Method::Other, Some("server/discover")) => message.result(apart::discovery()),
        (Method::Other, Some("ping")) => message.result(json!({})),
        _ => {
            let mut error = message.error(INTERNAL_ERROR, &sentence(endpoint, unreachable));
            error["error"]["data"] = told(unreachable, endpoint);
            error
        }
    }
}

fn sentence(endpoint: &Endpoint, unreachable: &Unreachable) -> String {
    format!("The memory server {endpoint} can't be reached: {unreachable}.")
}

/// Returns the result of a tool that could not be called.
fn refused(message: &Message, endpoint: &Endpoint, unreachable: &Unreachable) -> Value {
    let what = match (message.name.as_deref(), unreachable) {
        (Some("search"), _) => {
            "Nothing could be looked up; this does not mean that nothing is remembered."
        }
        (Some("remember"), Unreachable::Unknown(_)) => {
            "Whether it was saved is not known; saving the same again makes no second record."
        }
        (Some("remember"), _) => "Nothing was saved.",
        (_, Unreachable::Unknown(_)) => "Whether it was done is not known.",
        _ => "Nothing was done.",
    };
    json!({
        "content": [{"type": "text", "text": format!(
            "{} {what} `mmw_sync_status` tells when the server was last reached.",
            sentence(endpoint, unreachable)
        )}],
        "isError": true,
        "_meta": {"mmw/fault": told(unreachable, endpoint)},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(value: &Value) -> Value {
        let endpoint = Endpoint::parse("http://127.0.0.1:1").unwrap();
        answer(
            &Message::of(value),
            value,
            &endpoint,
            &Unreachable::NotSent("no connection"),
        )
    }

    #[allow(clippy::needless_pass_by_value, reason = "shorter where it is called")]
    fn request(method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    #[test]
    fn a_client_can_begin_and_sees_the_tools() {
        let begun = answered(&request(
            "initialize",
            json!({"protocolVersion": "2025-06-18"}),
        ));
        assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");
        let listed = answered(&request("tools/list", json!({}))).to_string();
        for tool in ["remember", "search"] {
            assert!(
                listed.contains(&format!("\"name\":\"{tool}\"")),
                "{tool}: {listed}"
            );
        }
        assert_eq!(answered(&request("ping", json!({})))["result"], json!({}));
    }

    #[test]
    fn a_search_that_could_not_look_never_says_that_there_is_nothing() {
        let found = answered(&request(
            "tools/call",
            json!({"name": "search", "arguments": {"query": "x"}}),
        ));
        assert_eq!(found["result"]["isError"], true);
        let text = found["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("can't be reached") && text.contains("does not mean"),
            "{text}"
        );
        assert_eq!(found["result"].get("structuredContent"), None);
    }

    #[test]
    fn any_other_request_is_an_error_with_its_reason() {
        let read = answered(&request(
            "resources/read",
            json!({"uri": "mmw://brief/default"}),
        ));
        assert_eq!(read["error"]["data"]["code"], "unreachable");
        assert_eq!(read["id"], 7);
    }
}

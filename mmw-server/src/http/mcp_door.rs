//! The way into `/mcp`: makes sure that what arrives is one JSON-RPC message, and that what leaves
//! is one too, with the status of the contract.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{ACCEPT, CONTENT_LENGTH, HeaderValue};
use http::{Method, StatusCode};
use serde_json::Value;

use super::{App, body, reply};
use crate::fault::{Code, Fault};
use crate::json_text::without_lone_surrogates;
use crate::mcp::StatusSlot;

/// What the protocol wants a client to accept. Clients that are no browsers mean it whatever they
/// wrote, so it is completed for them.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Serves a request to `/mcp`.
pub(super) async fn enter(State(app): State<App>, request: Request) -> Response {
    if request.method() != Method::POST {
        let mut response = reply::rpc(
            &Fault::new(
                Code::MethodNotAllowed,
                "this server keeps no sessions and no streams: send each message by POST",
            ),
            &Value::Null,
        );
        response
            .headers_mut()
            .insert(http::header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let from_browser = reply::is_from_browser(&request);
    let (mut parts, unread) = request.into_parts();
    let bytes = match body::read(&parts.headers, unread).await {
        Ok(bytes) => bytes,
        Err(fault) => return reply::rpc(&fault, &Value::Null),
    };
    let bytes = match without_lone_surrogates(&bytes) {
        std::borrow::Cow::Borrowed(_) => bytes,
        std::borrow::Cow::Owned(mended) => Bytes::from(mended),
    };
    let id = match message_id(&bytes) {
        Ok(id) => id,
        Err(refused) => return reply::rpc(&refused.0, &refused.1),
    };
    if !from_browser {
        parts.headers.insert(ACCEPT, BOTH);
    }
    parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
    let slot = StatusSlot::default();
    parts.extensions.insert(slot.clone());
    let response = app
        .mcp
        .handle(Request::from_parts(parts, Body::from(bytes)))
        .await
        .map(Body::new);
    leave(response, slot.get(), &id)
}

/// Gives an answer the status that belongs to it.
fn leave(mut response: Response, fault: Option<&Fault>, id: &Value) -> Response {
    if let Some(fault) = fault {
        let status = StatusCode::from_u16(fault.code.status());
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return reply::with_headers(response, fault);
    }
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // It was one JSON-RPC message, sent as JSON: what does not fit is its parameters.
        let mut fault = Fault::new(
            Code::InvalidArgument,
            "the parameters of this method do not fit",
        );
        fault.field = Some("params".to_owned());
        return reply::rpc(&fault, id);
    }
    response
}

/// Returns the id of a message (null for a notification) if it is one JSON-RPC 2.0 message.
fn message_id(bytes: &[u8]) -> Result<Value, Box<(Fault, Value)>> {
    let message: Value = serde_json::from_slice(bytes).map_err(|error| {
        let at = format!("line {}, column {}", error.line(), error.column());
        let message = format!("the body is no JSON ({at})");
        Box::new((Fault::new(Code::MalformedJson, message), Value::Null))
    })?;
    let invalid =
        |problem: &str, id: Value| Box::new((Fault::new(Code::InvalidRequest, problem), id));
    let Value::Object(message) = message else {
        let problem = if message.is_array() {
            "batches are not taken: send each message by itself"
        } else {
            "a message is a JSON object"
        };
        return Err(invalid(problem, Value::Null));
    };
    let id = match message.get("id") {
        None => Value::Null,
        Some(id @ Value::String(_)) => id.clone(),
        Some(id @ Value::Number(number)) if number.is_i64() || number.is_u64() => id.clone(),
        Some(_) => {
            return Err(invalid("an id is a string or a whole number", Value::Null));
        }
    };
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err(invalid("`jsonrpc` must be \"2.0\"", id));
    }
    let is_answer = message.contains_key("result") || message.contains_key("error");
    match message.get("method") {
        Some(Value::String(_)) => {}
        None if is_answer => {}
        _ => return Err(invalid("`method` must be a string", id)),
    }
    if let Some(params) = message.get("params")
        && !params.is_object()
        && !params.is_null()
    {
        return Err(invalid("`params` must be an object", id));
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(body: &str, code: i32, id: &Value) {
        let (fault, found) = *message_id(body.as_bytes()).unwrap_err();
        assert_eq!(
            (fault.code.rpc(), fault.code.status()),
            (code, 400),
            "{body}"
        );
        assert_eq!(&found, id, "{body}");
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_code_of_json_rpc() {
        for body in ["", "{", "nope", "{\"a\":1}x", "\u{0}"] {
            check(body, -32700, &Value::Null);
        }
        check("[]", -32600, &Value::Null);
        check("5", -32600, &Value::Null);
        check(r#"{"id":1,"method":"ping"}"#, -32600, &json!(1));
        check(
            r#"{"jsonrpc":"1.0","id":"a","method":"x"}"#,
            -32600,
            &json!("a"),
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            -32600,
            &Value::Null,
        );
        check(
            r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
            -32600,
            &Value::Null,
        );
        check(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, &json!(1));
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#,
            -32600,
            &json!(1),
        );
    }

    #[test]
    fn requests_notifications_and_answers_pass() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(message_id(body.as_bytes()).is_ok(), "{body}");
        }
    }
}

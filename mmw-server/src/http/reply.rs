//! Faults as HTTP answers, in the form that the route speaks.

use std::any::Any;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::fault::{Code, Fault};

/// The path of MCP.
pub(crate) const MCP_PATH: &str = "/mcp";

/// Returns a JSON answer.
pub(crate) fn json_body(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a fault as REST answers it: `{"error": {code, message, hint, field}}`.
pub(crate) fn rest(fault: &Fault) -> Response {
    with_headers(
        json_body(fault.code.status(), &json!({ "error": fault.to_json() })),
        fault,
    )
}

/// Returns a fault as `/mcp` answers it: its HTTP status, a JSON-RPC error as the body.
pub(crate) fn rpc(fault: &Fault, id: &Value) -> Response {
    let body = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": fault.code.rpc(),
            "message": fault.message,
            "data": fault.to_json(),
        },
    });
    with_headers(json_body(fault.code.status(), &body), fault)
}

/// Returns a fault in the form of the address that was asked for.
pub(crate) fn of_path(path: &str, fault: &Fault) -> Response {
    if path == MCP_PATH {
        rpc(fault, &Value::Null)
    } else {
        rest(fault)
    }
}

/// Adds the headers that go with a fault.
pub(crate) fn with_headers(mut response: Response, fault: &Fault) -> Response {
    let headers = response.headers_mut();
    if let Some(seconds) = fault.retry_after_s {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    let challenge = match fault.code {
        Code::Unauthorized if fault.field.is_some() => {
            Some("Bearer realm=\"mmw\", error=\"invalid_token\"")
        }
        Code::Unauthorized => Some("Bearer realm=\"mmw\""),
        Code::Forbidden => Some("Bearer realm=\"mmw\", error=\"insufficient_scope\""),
        _ => None,
    };
    if let Some(challenge) = challenge {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

/// Answers a request that broke.
// The layer hands the panic over by value.
#[allow(clippy::needless_pass_by_value)]
pub(super) fn to_panic(panic: Box<dyn Any + Send>) -> Response {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(said, "a request broke");
    rest(&Fault::internal())
}

/// Returns whether a request comes from a web page.
pub(super) fn is_from_browser<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    headers.contains_key(http::header::ORIGIN) || headers.contains_key("sec-fetch-mode")
}

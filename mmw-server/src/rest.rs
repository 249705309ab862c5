//! REST: every action at `POST /api/v1/<action>`, from the same list as the tools.

pub mod openapi;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use serde_json::Value;

use crate::actions::Object;
use crate::desk::{self, Access, Desk, Order};
use crate::fault::{Code, Fault};
use crate::http::{body, reply};
use crate::json_text::without_lone_surrogates;

/// The member of a body that holds what the agent adds to a write.
pub(crate) const ENVELOPE: &str = "envelope";

/// Calls an action.
pub(crate) async fn call(
    State(desk): State<Desk>,
    Extension(access): Extension<Access>,
    Path(name): Path<String>,
    headers: HeaderMap,
    unread: Body,
) -> Response {
    match answer(&desk, &access, &name, &headers, unread).await {
        Ok(answer) => reply::json_body(200, &answer),
        Err(fault) => reply::rest(&fault),
    }
}

async fn answer(
    desk: &Desk,
    access: &Access,
    name: &str,
    headers: &HeaderMap,
    unread: Body,
) -> Result<Value, Fault> {
    let bytes = body::read(headers, unread).await?;
    let Some(action) = desk.actions.get(name) else {
        return Err(Fault::new(Code::NotFound, "there is no such action"));
    };
    let mut arguments = object(&bytes)?;
    let mut order = Order::default();
    if action.facts.takes_envelope {
        let given = arguments.shift_remove(ENVELOPE);
        order.envelope = desk::envelope(given.as_ref())?;
        desk::key_of_header(headers, &mut order.envelope)?;
    }
    order.arguments = arguments;
    Ok(desk.call(name, access, order).await?.structured)
}

fn object(bytes: &[u8]) -> Result<Object, Fault> {
    let text = without_lone_surrogates(bytes);
    match serde_json::from_slice(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fault::new(
            Code::InvalidRequest,
            "the body must be a JSON object with the arguments",
        )),
        Err(error) => Err(Fault::new(
            Code::MalformedJson,
            format!(
                "the body is no JSON (line {}, column {})",
                error.line(),
                error.column()
            ),
        )),
    }
}

/// Returns the description of the interface.
pub(crate) async fn openapi(State(desk): State<Desk>) -> Response {
    reply::json_body(200, &openapi::document(&desk.actions))
}

//! The key: who calls, or 401. Loopback is no exception.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONNECTION, HeaderValue};
use mmw_core::ids::KeyId;
use mmw_core::place::Way;
use mmw_store::Authenticated;

use super::{App, reply};
use crate::desk::Access;
use crate::fault::{Code, Fault};
use crate::lane::Errand;

/// The header of a write that waited in an agent's queue: the public half of the key that it was said with.
/// One queue may hold what was said to several projects of a server, and the agent that empties it has the
/// key of one of them.
pub const SAID_WITH: &str = "mmw-said-with";

/// The longest key that is looked at, in bytes.
const MAX_KEY_BYTES: usize = 256;

/// The layer: puts the [`Access`] into the request, and keeps the key's pace.
pub(super) async fn require(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let way = if path == reply::MCP_PATH {
        Way::Mcp
    } else {
        Way::Rest
    };
    let admitted = key(request.headers()).and_then(|key| {
        let access = admit(&app, key, way)?;
        said_to(&app, request.headers(), &access)?;
        Ok(access)
    });
    match admitted {
        Ok(access) => {
            request.extensions_mut().insert(access);
            next.run(request).await
        }
        Err(fault) => {
            // The body was not read, so the connection ends with this answer: a client that doesn't
            // know would send its next request into a closed one.
            let mut answer = reply::of_path(request.uri().path(), &fault);
            let close = HeaderValue::from_static("close");
            answer.headers_mut().insert(CONNECTION, close);
            answer
        }
    }
}

/// Lets a key in. The look at the store is short and waits for no writer, so it crosses to no other
/// thread: that would cost more than the look.
fn admit(app: &App, key: &str, way: Way) -> Result<Access, Fault> {
    let lane = &app.desk.lane;
    let found = lane.glance(|memory| Ok(memory.authenticate(key, way)?))?;
    let Some(Authenticated {
        caller,
        state,
        limits,
        is_use_noted,
    }) = found
    else {
        return Err(wrong_key());
    };
    app.pace.keep(caller.project, &limits)?;
    if let Some(id) = caller.key.clone().filter(|_| !is_use_noted) {
        let lane = lane.clone();
        tokio::spawn(async move {
            // Nobody waits for the note, and nothing depends on it.
            let noted = lane
                .run(Errand::Background, move |memory| {
                    Ok(memory.note_key_use(&id)?)
                })
                .await;
            if let Err(fault) = noted {
                tracing::debug!(%fault, "a key's use could not be noted");
            }
        });
    }
    Ok(Access {
        caller,
        state,
        limits,
    })
}

/// Refuses a write that was said with the key of another project. A key that is not known was never taken by
/// this server: whoever replaced it meant this one.
fn said_to(app: &App, headers: &HeaderMap, access: &Access) -> Result<(), Fault> {
    let Some(given) = headers.get(SAID_WITH) else {
        return Ok(());
    };
    let Some(id) = given.to_str().ok().and_then(KeyId::new) else {
        return Ok(());
    };
    let project = app
        .desk
        .lane
        .glance(|memory| Ok(memory.project_of_key(&id)?))?;
    if project.is_none_or(|project| project == access.caller.project) {
        return Ok(());
    }
    Err(Fault::new(
        Code::OtherProject,
        "this write was said with the key of another project",
    )
    .hint("Send it with a key of that project."))
}

/// Returns the key of a request: one header, one scheme, never the address.
fn key(headers: &HeaderMap) -> Result<&str, Fault> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = given.next() else {
        return Err(Fault::new(Code::Unauthorized, "a key is needed")
            .hint("Send `Authorization: Bearer mmw_…`."));
    };
    let key = first.to_str().ok().and_then(|text| {
        let (scheme, key) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    match key {
        Some(key) if given.next().is_none() && (1..=MAX_KEY_BYTES).contains(&key.len()) => Ok(key),
        _ => Err(wrong_key()),
    }
}

fn wrong_key() -> Fault {
    Fault {
        field: Some("Authorization".to_owned()),
        ..Fault::new(
            Code::Unauthorized,
            "this key does not work: it is wrong, revoked or expired",
        )
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(values: &[&str], read: Option<&str>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(key(&headers).ok(), read, "{values:?}");
    }

    #[test]
    fn a_key_comes_in_one_header_as_a_bearer() {
        check(&["Bearer mmw_a_b"], Some("mmw_a_b"));
        check(&["bearer  mmw_a_b "], Some("mmw_a_b"));
        check(&[], None);
        check(&["mmw_a_b"], None);
        check(&["Basic bW13"], None);
        check(&["Bearer "], None);
        check(&["Bearer a", "Bearer b"], None);
        check(
            &[&format!("Bearer {}", "x".repeat(MAX_KEY_BYTES + 1))],
            None,
        );
    }
}

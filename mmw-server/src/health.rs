//! `/healthz`, `/readyz` and `/metrics`, for whoever operates the server.

use std::path::PathBuf;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use mmw_core::place::Scope;
use mmw_store::engine;
use serde_json::json;

use crate::desk::Access;
use crate::fault::{Code, Fault};
use crate::http::{App, reply};
use crate::lane::Errand;
use crate::metrics;

/// What must work before calls make sense.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    /// The folder that must be writable, if the store lies in one.
    pub data_dir: Option<PathBuf>,
}

/// The name of the file that is written to see whether files can be.
const PROBE: &str = ".write-probe";

/// Answers as long as the process runs.
pub(crate) async fn alive() -> Response {
    reply::json_body(200, &json!({ "status": "alive" }))
}

/// Answers 200 if the store is open (and so migrated) and the disk can be written to.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let data_dir = app.readiness.data_dir.clone();
    let looked = app
        .desk
        .lane
        .run(Errand::Interactive, move |memory| {
            engine::read(memory.engine(), |snapshot| snapshot.accounts())?;
            if let Some(folder) = data_dir {
                let probe = folder.join(PROBE);
                std::fs::write(&probe, b"")
                    .and_then(|()| std::fs::remove_file(&probe))
                    .map_err(|error| {
                        tracing::error!(%error, "the data directory can't be written to");
                        Fault::new(Code::Unavailable, "the data directory can't be written to")
                    })?;
            }
            Ok(())
        })
        .await;
    match looked {
        Ok(()) => reply::json_body(200, &json!({ "status": "ready" })),
        Err(fault) => {
            let body = json!({ "status": "not ready", "error": fault.to_json() });
            reply::with_headers(reply::json_body(503, &body), &fault)
        }
    }
}

/// Tells what was counted, to a key with the scope `admin`.
pub(crate) async fn metrics(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Response {
    if !access.caller.scopes.has(Scope::Admin) {
        let fault = Fault::new(Code::Forbidden, "this key lacks the scope `admin`");
        return reply::rest(&fault);
    }
    let bytes = app
        .desk
        .lane
        .run(Errand::Interactive, |memory| {
            Ok(memory.engine().size_bytes()?)
        })
        .await;
    let text = metrics::render(app.desk.lane.n_waiting(), bytes.ok());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

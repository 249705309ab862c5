//! `/healthz`, `/readyz` and `/metrics`, for whoever operates the server.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use mmw_core::place::Scope;
use mmw_store::engine;
use serde_json::json;

use crate::desk::{Access, Desk};
use crate::fault::{Code, Fault};
use crate::http::reply;
use crate::lane::Errand;
use crate::metrics;

/// How long a look at the store counts: everybody may ask, the disk shall not feel it.
const LOOK_COUNTS: Duration = Duration::from_secs(1);

/// What must work before calls make sense.
#[derive(Debug, Default)]
pub struct Readiness {
    data_dir: Option<PathBuf>,
    last: Mutex<Option<(Instant, Result<(), Fault>)>>,
}

impl Readiness {
    /// Returns what must work for a store in that folder, if it lies in one.
    #[must_use]
    pub fn of(data_dir: Option<PathBuf>) -> Self {
        Self {
            data_dir,
            last: Mutex::new(None),
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, Result<(), Fault>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the file that is written to see whether files can be.
const PROBE: &str = ".write-probe";

/// Answers as long as the process runs.
pub(crate) async fn alive() -> Response {
    reply::json_body(200, &json!({ "status": "alive" }))
}

/// Answers 200 if the store is open (and so migrated) and the disk can be written to.
pub(crate) async fn ready(
    State(readiness): State<Arc<Readiness>>,
    State(desk): State<Desk>,
) -> Response {
    let last = readiness.last().clone();
    let looked = match last {
        Some((at, looked)) if at.elapsed() < LOOK_COUNTS => looked,
        _ => {
            let looked = look(&readiness, &desk).await;
            *readiness.last() = Some((Instant::now(), looked.clone()));
            looked
        }
    };
    match looked {
        Ok(()) => reply::json_body(200, &json!({ "status": "ready" })),
        Err(fault) => {
            let body = json!({ "status": "not ready", "error": fault.to_json() });
            reply::with_headers(reply::json_body(503, &body), &fault)
        }
    }
}

async fn look(readiness: &Readiness, desk: &Desk) -> Result<(), Fault> {
    let data_dir = readiness.data_dir.clone();
    desk.lane
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
        .await
}

/// Tells what was counted, to a key with the scope `admin`.
pub(crate) async fn metrics(
    State(desk): State<Desk>,
    Extension(access): Extension<Access>,
) -> Response {
    if !access.caller.scopes.has(Scope::Admin) {
        let fault = Fault::new(Code::Forbidden, "this key lacks the scope `admin`");
        return reply::rest(&fault);
    }
    let bytes = desk
        .lane
        .run(Errand::Interactive, |memory| {
            Ok(memory.engine().size_bytes()?)
        })
        .await;
    let text = metrics::render(desk.lane.n_waiting(), bytes.ok());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

//! HTTP: the routes, and the layers that every request passes.
//!
//! From the outside in: a request id, a catch for panics, the count, the check of Host and Origin;
//! then, where a key is needed, the key and its pace; last the body. [`serve`] is the accept loop.

mod bearer;
pub(crate) mod body;
mod hosts;
mod listen;
mod mcp_door;
mod pace;
pub(crate) mod reply;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRef, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get, post};
use mmw_core::env::Entropy;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};

pub use self::bearer::SAID_WITH;
pub use self::hosts::Hosts;
pub use self::listen::{Limits as ConnectionLimits, serve};
pub use self::pace::Pace;
use crate::desk::Desk;
use crate::fault::{Code, Fault};
use crate::health::Readiness;
use crate::mcp::{Door, Mcp};
use crate::{health, metrics, rest};

/// The header that names a request in logs.
const REQUEST_ID_HEADER: http::HeaderName = http::HeaderName::from_static("x-request-id");

/// The largest body, in bytes.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// How long a body may take to arrive.
pub const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// Everything that a route may need. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// Where calls go.
    pub desk: Desk,
    /// Which hosts and origins are served.
    pub hosts: Arc<Hosts>,
    /// How often keys may call.
    pub pace: Arc<Pace>,
    /// What must work before calls make sense.
    pub readiness: Arc<Readiness>,
    mcp: StreamableHttpService<Mcp, NeverSessionManager>,
}

impl App {
    /// Puts the HTTP side together.
    #[must_use]
    pub fn new(
        desk: Desk,
        hosts: Hosts,
        readiness: Readiness,
        entropy: &dyn Entropy,
        stop: &CancellationToken,
    ) -> Self {
        let handler = Mcp::new(desk.clone(), Door::Http, entropy);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BODY_BYTES)
            // Checked for every route before it comes here.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(stop.clone());
        Self {
            desk,
            hosts: Arc::new(hosts),
            pace: Arc::new(Pace::default()),
            readiness: Arc::new(readiness),
            mcp: StreamableHttpService::new(
                move || Ok(handler.clone()),
                Arc::new(NeverSessionManager::default()),
                config,
            ),
        }
    }
}

impl FromRef<App> for Desk {
    fn from_ref(app: &App) -> Self {
        app.desk.clone()
    }
}

impl FromRef<App> for Arc<Readiness> {
    fn from_ref(app: &App) -> Self {
        Arc::clone(&app.readiness)
    }
}

/// Returns the routes with their layers.
pub fn router(app: App) -> Router {
    let keyed = Router::new()
        .route("/mcp", any(mcp_door::enter))
        .route("/api/v1/{action}", post(rest::call))
        .route("/metrics", get(health::metrics))
        .layer(from_fn_with_state(app.clone(), bearer::require));
    Router::new()
        .merge(keyed)
        .route("/api/v1/openapi.json", get(rest::openapi))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), hosts::check))
        .layer(from_fn(counted))
        .layer(CatchPanicLayer::custom(reply::to_panic))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID_HEADER))
        .layer(SetRequestIdLayer::new(
            REQUEST_ID_HEADER,
            Numbered::default(),
        ))
        .with_state(app)
}

async fn nowhere() -> Response {
    reply::rest(&Fault::new(
        Code::NotFound,
        "there is nothing at this address",
    ))
}

async fn wrong_method() -> Response {
    reply::rest(&Fault::new(
        Code::MethodNotAllowed,
        "this address takes another method",
    ))
}

/// Numbers the requests of this process.
#[derive(Clone, Default)]
struct Numbered(Arc<std::sync::atomic::AtomicU64>);

impl MakeRequestId for Numbered {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        let number = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(RequestId::new(number.into()))
    }
}

/// Counts requests by route and status. The route is one of ours, never what was asked for.
async fn counted(request: Request, next: Next) -> Response {
    let route = match request.uri().path() {
        "/mcp" => "/mcp",
        "/healthz" => "/healthz",
        "/readyz" => "/readyz",
        "/metrics" => "/metrics",
        path if path.starts_with("/api/v1/") => "/api/v1",
        _ => "other",
    };
    let response = next.run(request).await;
    metrics::answered(route, response.status().as_u16());
    response
}

//! The accept loop: small answers leave at once, slow headers and too many connections do not
//! hold the server up, and stopping finishes what has begun.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// Bounds of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at the same time; further ones wait to be accepted.
    pub max_connections: usize,
    /// How long a new connection may say nothing.
    pub first_byte_patience: Duration,
    /// How long the head of a request may take, and with it how long a connection may rest between
    /// two requests: longer than clients keep theirs, so that none is closed under a request.
    pub head_patience: Duration,
    /// How long stopping waits for what has begun.
    pub stop_patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            first_byte_patience: Duration::from_secs(10),
            head_patience: Duration::from_secs(120),
            stop_patience: Duration::from_secs(20),
        }
    }
}

/// How long the loop rests when the system has no socket to give.
const REST: Duration = Duration::from_millis(50);

/// Serves connections until `stop` is cancelled, then until what has begun is done.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: CancellationToken) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_patience);
    builder.http2().timer(TokioTimer::new());
    let builder = Arc::new(builder);
    let service = TowerToHyperService::new(
        router.map_request(|request: http::Request<hyper::body::Incoming>| request.map(Body::new)),
    );
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = stop.cancelled() => break,
        };
        let (stream, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "small answers may wait");
        }
        let watcher = graceful.watcher();
        let builder = Arc::clone(&builder);
        let service = service.clone();
        tokio::spawn(async move {
            let _place = place;
            let spoken = tokio::time::timeout(limits.first_byte_patience, stream.readable());
            if spoken.await.is_err() {
                return;
            }
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    let n_open = graceful.count();
    if tokio::time::timeout(limits.stop_patience, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(n_open, "stopped while connections were still open");
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

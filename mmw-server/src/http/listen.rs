//! The accept loop: small answers leave at once, silent or slow connections are closed so that
//! they take nobody's place, and stopping finishes what has begun. It speaks HTTP/1 only: there one
//! patience covers every head and every rest between requests.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
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
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_patience);
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
        let builder = builder.clone();
        let service = service.clone();
        let stop = stop.clone();
        tokio::spawn(async move {
            let _place = place;
            let speaks = tokio::select! {
                speaks = speaks(&stream, limits.first_byte_patience) => speaks,
                () = stop.cancelled() => false,
            };
            if !speaks {
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

/// Tells whether the other side says something in time.
async fn speaks(stream: &TcpStream, patience: Duration) -> bool {
    // Readiness alone may be a guess of the runtime: only a byte counts.
    let mut first = [0];
    let peeked = tokio::time::timeout(patience, stream.peek(&mut first)).await;
    matches!(peeked, Ok(Ok(1)))
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Longer than any patience here: reached only by a connection that is never closed.
    const TOO_LONG: Duration = Duration::from_secs(20);

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

    async fn start(max_connections: usize, stop: &CancellationToken) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(|| async { "here" }));
        let limits = Limits {
            max_connections,
            first_byte_patience: Duration::from_millis(100),
            head_patience: Duration::from_millis(200),
            stop_patience: TOO_LONG,
        };
        tokio::spawn(serve(listener, router, limits, stop.clone()));
        address
    }

    /// Says `words` and returns all that is answered until the server closes the connection.
    async fn answer_to(mut stream: TcpStream, words: &[u8]) -> String {
        stream.write_all(words).await.unwrap();
        let mut answer = Vec::new();
        // A reset closes a connection as well.
        drop(
            tokio::time::timeout(TOO_LONG, stream.read_to_end(&mut answer))
                .await
                .expect("the connection is closed"),
        );
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test]
    async fn whoever_does_not_finish_a_head_is_closed_and_the_others_are_served() {
        let stop = CancellationToken::new();
        let address = start(64, &stop).await;
        for words in [
            &b""[..],
            b"GET / HT",
            b"GET / HTTP/1.1\r\nhost: x\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"PRI * HTTP/2.0\r\n",
            b"PRI",
            b"GET / HTTP/1.1\r\nhost: x\r\n\r\n",
        ] {
            let slow = TcpStream::connect(address).await.unwrap();
            let quick = TcpStream::connect(address).await.unwrap();
            let (slow, quick) = tokio::join!(answer_to(slow, words), answer_to(quick, REQUEST));
            let is_whole = words.starts_with(b"GET") && words.ends_with(b"\r\n\r\n");
            assert_eq!(slow.ends_with("here"), is_whole, "{words:?}: {slow}");
            assert!(quick.ends_with("here"), "{quick}");
        }
        stop.cancel();
    }

    #[tokio::test]
    async fn silent_connections_on_every_place_shut_nobody_out() {
        let stop = CancellationToken::new();
        let address = start(4, &stop).await;
        let mut silent = Vec::new();
        for _ in 0..8 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let late = TcpStream::connect(address).await.unwrap();
        assert!(answer_to(late, REQUEST).await.ends_with("here"));
        stop.cancel();
    }
}

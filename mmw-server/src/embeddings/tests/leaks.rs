//! What must not get out: the key, the texts, and either of them to anybody who was not named.

use std::io;
use std::sync::{Arc, Mutex};

use mmw_store::embed::{EmbedError, Embedder as _};

use super::super::client::Embeddings;
use super::super::endpoint::{Endpoint, Hidden};
use super::super::settings::Remote;
use super::super::testing::{Reply, Server, answer, patience};

const KEY: &str = "sk-hunter2";
const TEXT: &str = "the vault opens at noon";

fn with_key(server: &Server) -> Remote {
    Remote {
        key: Some(Hidden::new(KEY.to_owned())),
        ..server.remote()
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::embedding();
    for status in [301, 302, 307, 308] {
        let target = format!("http://127.0.0.1:{}/v1/embeddings", other.port);
        let server = Server::start(move |_| Reply::of(status, "").with("location", &target));
        let told = Embeddings::with(&with_key(&server), patience())
            .err()
            .unwrap();
        let place = format!("127.0.0.1:{}", other.port);
        assert!(
            matches!(&told, EmbedError::Unusable(why) if why.contains(&place)),
            "{told}"
        );
    }
    assert_eq!(other.seen().len(), 0);
}

/// Where a log is written to.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn neither_key_nor_text_is_in_an_error_or_in_the_log_whatever_the_server_says() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let echo = format!("Incorrect API key provided: {KEY}. You sent: {TEXT}");
    tracing::subscriber::with_default(subscriber, || {
        for status in [200, 302, 400, 401, 403, 404, 408, 413, 422, 429, 500, 503] {
            let body = format!("{{\"error\":{{\"message\":\"{echo}\"}}}}");
            let server = Server::start(move |seen| {
                if seen.texts()[0].contains("vault") {
                    Reply::of(status, body.clone()).with("location", KEY)
                } else {
                    Reply::of(200, answer(&seen.texts()))
                }
            });
            let embeddings = Embeddings::with(&with_key(&server), patience()).unwrap();
            let asked = [
                embeddings.embed(&[TEXT]).map(|_| ()).unwrap_err(),
                embeddings.embed_query(TEXT).map(|_| ()).unwrap_err(),
            ];
            for told in asked {
                let told = format!("{told} {told:?}");
                assert!(
                    !told.contains("hunter2") && !told.contains("vault"),
                    "{status}: {told}"
                );
            }
        }
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a server embeds"), "{log}");
    assert!(!log.contains("hunter2") && !log.contains("vault"), "{log}");
}

#[test]
fn a_server_that_lists_models_sees_the_key_and_no_text() {
    let server = Server::embedding();
    let remote = Remote {
        model: None,
        ..with_key(&server)
    };
    Embeddings::with(&remote, patience()).unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].line, "GET /v1/models");
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-hunter2"));
    assert_eq!(seen[1].texts(), ["staging runs as app"]);
}

#[test]
fn a_proxy_that_was_named_is_used() {
    // A host of that name exists nowhere: whoever answers is the proxy.
    let proxy = Server::start(|_| Reply::of(407, ""));
    let remote = Remote {
        endpoint: Endpoint::parse("http://models.invalid").unwrap(),
        proxy: Some(Hidden::new(format!("http://127.0.0.1:{}", proxy.port))),
        ..proxy.remote()
    };
    let told = Embeddings::with(&remote, patience()).err().unwrap();
    assert!(told.to_string().contains("proxy"), "{told}");
    assert!(
        proxy.seen()[0].line.contains("models.invalid"),
        "{:?}",
        proxy.seen()
    );
}

//! Queries: their deadline, and what happens after one failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mmw_store::embed::{EmbedError, Embedder as _, Vector};

use super::super::client::{Embeddings, Patience};
use super::super::settings::Remote;
use super::super::testing::{Gate, Reply, Server, answer, numbers, patience};

/// Far more than a refusal without asking takes, far less than any wait.
const AT_ONCE: Duration = Duration::from_millis(100);

#[test]
fn a_query_has_the_vector_of_its_text() {
    let server = Server::embedding();
    let found = server.connect().embed_query("abba").unwrap();
    assert_eq!(found, Vector::new(numbers("abba").to_vec()).unwrap());
}

#[test]
fn a_long_query_counts_with_its_beginning() {
    let server = Server::embedding();
    let embeddings = server.connect();
    embeddings
        .embed_query(&"слово за словом ".repeat(100_000))
        .unwrap();
    let seen = server.seen();
    let sent = seen[1].texts()[0];
    assert!(
        sent.starts_with("слово") && sent.len() < 8_192,
        "{}",
        sent.len()
    );
}

#[test]
fn a_slow_answer_keeps_the_deadline_and_opens_the_way_when_it_comes() {
    let (gate, n_asked) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (held, counted) = (gate.clone(), Arc::clone(&n_asked));
    let server = Server::start(move |seen| Reply {
        // The first is the probe.
        gate: (counted.fetch_add(1, Ordering::SeqCst) == 1).then(|| held.clone()),
        ..Reply::of(200, answer(&seen.texts()))
    });
    let remote = Remote {
        query_deadline: Duration::from_millis(200),
        ..server.remote()
    };
    let embeddings = Embeddings::with(&remote, patience()).unwrap();
    let began = Instant::now();
    let told = embeddings.embed_query("a").unwrap_err();
    let took = began.elapsed();
    assert!(
        matches!(&told, EmbedError::Unavailable(why) if why.contains("200 ms")),
        "{told}"
    );
    assert!(
        took >= Duration::from_millis(200) && took < Duration::from_millis(1_200),
        "{took:?}"
    );
    // While the answer is awaited, nobody waits and nobody asks.
    let began = Instant::now();
    assert_eq!(embeddings.embed_query("b"), Err(told));
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!(n_asked.load(Ordering::SeqCst), 2);
    gate.open();
    let began = Instant::now();
    while embeddings.embed_query("b").is_err() {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
}

#[test]
fn after_a_failure_queries_fail_at_once_and_are_not_sent() {
    let (server, is_well) = Server::falling_ill(answer);
    let embeddings = server.connect();
    is_well.store(false, Ordering::SeqCst);
    let told = embeddings.embed_query("a").unwrap_err();
    assert!(matches!(told, EmbedError::Unavailable(_)), "{told}");
    // The query was sent once: nobody who waits for an answer waits for a repetition.
    assert_eq!(server.seen().len(), 2);
    for _ in 0..20 {
        assert_eq!(embeddings.embed_query("a"), Err(told.clone()));
    }
    assert_eq!(server.seen().len(), 2);
    // Records are embedded meanwhile, whatever queries are told.
    is_well.store(true, Ordering::SeqCst);
    assert!(embeddings.embed(&["a"]).is_ok());
}

#[test]
fn after_the_rest_the_server_is_tried_again() {
    let (server, is_well) = Server::falling_ill(answer);
    let without_rest = Patience {
        rest: Duration::ZERO,
        ..patience()
    };
    let embeddings = Embeddings::with(&server.remote(), without_rest).unwrap();
    is_well.store(false, Ordering::SeqCst);
    assert!(embeddings.embed_query("a").is_err());
    is_well.store(true, Ordering::SeqCst);
    assert!(embeddings.embed_query("a").is_ok());
}

#[test]
fn a_query_that_is_refused_for_its_text_says_nothing_about_the_server() {
    let server = Server::start(|seen| {
        if seen.texts()[0].contains('x') {
            Reply::of(400, "{}")
        } else {
            Reply::of(200, answer(&seen.texts()))
        }
    });
    let embeddings = server.connect();
    assert!(embeddings.embed_query("x").unwrap_err().is_about_a_text());
    assert!(embeddings.embed_query("a").is_ok());
}

#[test]
fn a_query_that_the_server_finds_too_long_counts_with_its_beginning() {
    let server = Server::start(|seen| {
        if seen.texts()[0].len() > 300 {
            Reply::of(400, r#"{"error":{"message":"maximum context length"}}"#)
        } else {
            Reply::of(200, answer(&seen.texts()))
        }
    });
    let embeddings = server.connect();
    let query = format!("é{}", "some words ".repeat(60));
    assert!(embeddings.embed_query(&query).is_ok());
    let seen = server.seen();
    let sent = seen[seen.len() - 1].texts()[0];
    assert!(sent.len() <= 300 && query.starts_with(sent), "{sent}");
}

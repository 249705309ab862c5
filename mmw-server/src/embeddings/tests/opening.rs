//! Opening what the environment chose.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mmw_store::embed::EmbedError;

use super::super::open::{Opening, opener};
use super::super::settings::{Choice, Remote};
use super::super::testing::{Gate, Reply, Server, answer, patience};

#[test]
fn off_opens_nothing_and_the_built_in_model_is_the_default() {
    assert!(opener(&Choice::Off).is_none());
    let embedder = opener(&Choice::BuiltIn).unwrap()().unwrap();
    assert!(embedder.model().name.starts_with("all-MiniLM-L6-v2@") && !embedder.is_remote());
}

#[test]
fn making_an_opener_connects_to_nothing() {
    let server = Server::embedding();
    let open = opener(&Choice::Remote(Box::new(server.remote()))).unwrap();
    assert_eq!(server.seen().len(), 0);
    let embedder = open().unwrap();
    assert!(embedder.is_remote());
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_slow_server_is_connected_to_beside_and_asked_once() {
    let (gate, n_asked) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (held, counted) = (gate.clone(), Arc::clone(&n_asked));
    let server = Server::start(move |seen| {
        counted.fetch_add(1, Ordering::SeqCst);
        Reply {
            gate: Some(held.clone()),
            ..Reply::of(200, answer(&seen.texts()))
        }
    });
    let remote = Remote {
        query_deadline: Duration::from_millis(50),
        ..server.remote()
    };
    let opening = Opening::new(remote, patience());
    for _ in 0..3 {
        let began = Instant::now();
        let told = opening.embedder().err().unwrap();
        assert!(matches!(told, EmbedError::Unavailable(_)), "{told}");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    assert_eq!(n_asked.load(Ordering::SeqCst), 1);
    gate.open();
    let began = Instant::now();
    while opening.embedder().is_err() {
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_server_that_was_away_is_tried_again() {
    let n_asked = AtomicUsize::new(0);
    let server = Server::start(move |seen| {
        if n_asked.fetch_add(1, Ordering::SeqCst) < 3 {
            Reply::of(503, "")
        } else {
            Reply::of(200, answer(&seen.texts()))
        }
    });
    let opening = Opening::new(server.remote(), patience());
    let told = opening.embedder().err().unwrap();
    assert!(told.to_string().contains("503"), "{told}");
    assert!(opening.embedder().is_ok());
}

#[test]
fn a_model_file_is_opened_by_its_path() {
    let path = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../mmw-store/assets/minilm-l6-v2.mmw"
    ));
    let embedder = opener(&Choice::File(path)).unwrap()().unwrap();
    assert_eq!(embedder.model().dimensions, 384);
}

#[test]
fn a_file_or_folder_that_is_no_model_is_named_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let told = |path: PathBuf| opener(&Choice::File(path)).unwrap()().err().unwrap();
    let empty = told(folder.path().to_owned()).to_string();
    assert!(empty.contains("config.json is missing"), "{empty}");
    let none = told(folder.path().join("e5.mmw")).to_string();
    assert!(none.contains("e5.mmw"), "{none}");
    assert!(matches!(
        told(folder.path().join("x")),
        EmbedError::Unusable(_)
    ));
}

//! A whole memory whose records and queries are embedded by a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::{Caller, Way};
use mmw_core::wire::{EnvelopeArgs, RememberArgs, SearchAnswer, SearchArgs};
use mmw_guard::Guard;
use mmw_store::Memory;
use serde_json::json;
use tempfile::TempDir;

use super::super::open::opener;
use super::super::settings::{Choice, Remote};
use super::super::testing::{Reply, Server};

struct World {
    memory: Memory,
    me: Caller,
    _folder: TempDir,
}

impl World {
    fn with(choice: &Choice) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::open_with(
            &folder.path().join("memory.db"),
            Guard::standard(),
            opener(choice),
            Arc::new(SystemClock),
            Arc::new(SystemEntropy),
        )
        .unwrap();
        let me = memory.local_caller("repository", Way::Library).unwrap();
        Self {
            memory,
            me,
            _folder: folder,
        }
    }

    fn remember(&self, content: &str) {
        let args = RememberArgs {
            content: content.to_owned(),
            ..RememberArgs::default()
        };
        self.memory
            .remember(&self.me, args, &EnvelopeArgs::default())
            .unwrap();
    }

    fn search(&self, query: &str) -> SearchAnswer {
        let args = SearchArgs {
            query: query.to_owned(),
            ..SearchArgs::default()
        };
        self.memory.search(&self.me, &args).unwrap()
    }
}

/// A model to which a car and an automobile are the same and everything else is something else.
fn thesaurus(texts: &[&str]) -> String {
    let about = |text: &str| {
        if text.contains("car") || text.contains("automobile") {
            [1.0, 0.0, 0.05]
        } else {
            [0.0, 1.0, 0.05]
        }
    };
    let data: Vec<_> = texts
        .iter()
        .map(|text| json!({"embedding": about(text)}))
        .collect();
    json!({ "data": data }).to_string()
}

#[test]
fn records_are_found_by_meaning_through_a_server_and_by_words_without_it() {
    let (server, is_well) = Server::falling_ill(thesaurus);
    let world = World::with(&Choice::Remote(Box::new(server.remote())));
    world.remember("the red car is parked in the yard");
    for n in 0..30 {
        world.remember(&format!("unrelated note number {n} about soup"));
    }
    assert!(world.memory.settle(Duration::from_secs(60)).unwrap());
    world.memory.warm_up(&world.me).unwrap();
    let found = world.search("automobile");
    assert_eq!(found.degraded, Vec::<String>::new());
    assert_eq!(
        found.hits[0].record.content,
        "the red car is parked in the yard"
    );

    is_well.store(false, Ordering::SeqCst);
    for _ in 0..3 {
        let found = world.search("red car");
        assert_eq!(found.degraded, ["semantic"]);
        assert_eq!(
            found.hits[0].record.content,
            "the red car is parked in the yard"
        );
    }
}

#[test]
fn no_secret_leaves_with_a_record_or_a_query() {
    let server = Server::start(|seen| Reply::of(200, thesaurus(&seen.texts())));
    let world = World::with(&Choice::Remote(Box::new(server.remote())));
    world.remember("the database password is hunter2hunter!");
    assert!(world.memory.settle(Duration::from_secs(60)).unwrap());
    world.search("which service uses the password: hunter2hunter!");
    let seen = server.seen();
    assert!(seen.len() >= 3);
    for seen in seen {
        assert!(!seen.body.to_string().contains("hunter2"), "{}", seen.body);
    }
}

#[test]
fn a_memory_whose_server_is_not_there_answers_by_words_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let endpoint = super::super::Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let world = World::with(&Choice::Remote(Box::new(Remote::at(endpoint))));
    world.remember("the red car is parked in the yard");
    let began = Instant::now();
    let found = world.search("car");
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(
        (found.hits.len(), found.degraded),
        (1, vec!["semantic".to_owned()])
    );
}

#[test]
fn off_searches_by_words_and_calls_nothing_missing() {
    let world = World::with(&Choice::Off);
    world.remember("the red car is parked in the yard");
    assert_eq!(world.search("car").hits.len(), 1);
    assert_eq!(world.search("automobile").hits.len(), 0);
}

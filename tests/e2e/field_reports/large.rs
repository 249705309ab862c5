//! A large store: what its size must not slow down or hide.
//!
//! 6,000 records in every run; `MMW_E2E_LARGE=1` makes it the 50,000 of the reports.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::{Caller, Way};
use mmw_core::wire::{EnvelopeArgs, RememberArgs};
use mmw_store::Memory;
use mmw_store::memory::bulk::MAX_BULK;
use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::json;

use super::support::found;

/// What a client gives a server for its first answer is 10 s; a person notices 1 s.
const AT_ONCE: Duration = Duration::from_secs(1);

fn n_records() -> usize {
    match mmw_tests::environment::choice("MMW_E2E_LARGE") {
        Some(large) if large == "1" => 50_000,
        _ => 6_000,
    }
}

fn remember(memory: &Memory, me: &Caller, contents: impl Iterator<Item = String>) {
    let statements: Vec<_> = contents
        .map(|content| {
            let args = RememberArgs {
                content,
                ..RememberArgs::default()
            };
            (args, EnvelopeArgs::default())
        })
        .collect();
    for answer in memory.remember_all(me, statements).unwrap() {
        answer.unwrap();
    }
}

/// Fills a store as one that has long been used, everything about Berlin.
fn fill(file: &Path, caller: impl Fn(&Memory) -> Caller) {
    let memory = Memory::open(file, Arc::new(SystemClock), Arc::new(SystemEntropy)).unwrap();
    let me = caller(&memory);
    remember(
        &memory,
        &me,
        std::iter::once("the Berlin office keeps its kumquats in room 5".to_owned()),
    );
    for first in (0..n_records()).step_by(MAX_BULK) {
        let last = (first + MAX_BULK).min(n_records());
        remember(&memory, &me, (first..last).map(|n| format!("Berlin {n}")));
    }
}

// A19, C7: one store for both, for it takes long to make.
#[test]
fn a_large_store_is_answered_from_at_once_and_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let key = Server::start(folder.path()).first_key();
    fill(&folder.path().join("mmw.db"), |memory| {
        memory
            .authenticate(&key, Way::Library)
            .unwrap()
            .unwrap()
            .caller
    });

    let started = Instant::now();
    let server = Server::start(folder.path());
    let client = server.client(&key);
    let listed = client.rpc(Era::Modern, "tools/list", json!({}));
    assert!(
        listed.status == 200 && started.elapsed() < AT_ONCE,
        "{:?}",
        started.elapsed()
    );

    // The flood of a common word neither hides the right record nor moves it by the limit.
    for limit in [1, 5, 50] {
        let answer = client.rest(
            "search",
            &json!({ "query": "where are the kumquats in the Berlin office", "limit": limit }),
        );
        let hits = answer.json()["hits"].clone();
        assert!(
            hits[0]["content"].as_str().unwrap().contains("room 5"),
            "{hits}"
        );
    }
    let few = client
        .rest("search", &json!({ "query": "Berlin", "limit": 2 }))
        .json();
    assert_eq!(super::support::ids(&few), found(&client, "Berlin")[..2],);
    let exact = client
        .rest("search", &json!({ "query": "Berlin 17", "limit": 1 }))
        .json();
    assert_eq!(exact["hits"][0]["content"], "Berlin 17");
    assert!(server.stop().success());

    // The agent on the same store, as its own: the handshake, then the first search.
    std::fs::rename(
        folder.path().join("mmw.db"),
        folder.path().join("memory.db"),
    )
    .unwrap();
    for era in [Era::Legacy, Era::Modern] {
        let started = Instant::now();
        let mut client = StdioClient::start(folder.path(), folder.path(), era, None);
        let listed = client.call("tools/list", json!({}));
        assert!(listed["result"]["tools"].is_array());
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
        let searched = client.tool("search", &json!({ "query": "Berlin" })).ok();
        assert_eq!(searched["total"], 0, "another project's records");
        assert!(started.elapsed() < 3 * AT_ONCE, "{:?}", started.elapsed());
    }
}

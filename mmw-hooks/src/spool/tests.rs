//! The queue under everything that happens to it: ends at every step, lost power, full disks, other
//! processes, clocks that jump. What all of these need stands here.

mod child;
mod drains;
mod faults;
mod faulty;
mod files;
mod model;
mod processes;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use mmw_core::env::{Clock, Entropy};
use mmw_core::time::Timestamp;
use serde_json::{Value, json};

use super::*;

const ENDPOINT: &str = "https://mmw.example";

/// A clock that a test sets, in milliseconds.
#[derive(Debug)]
struct TestClock(AtomicI64);

impl TestClock {
    fn new() -> Self {
        Self(AtomicI64::new(1_800_000_000_000))
    }

    fn jump(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::Relaxed))
    }
}

/// Numbers that are the same in every run.
#[derive(Debug, Default)]
struct Seed(AtomicU64);

impl Entropy for Seed {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let n = self.0.fetch_add(1, Ordering::Relaxed);
            *byte = (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
    }
}

/// Returns a folder for files that no disk has to keep: in memory where there is such a place.
fn quick_folder() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    let Value::Object(object) = value else {
        panic!("not an object: {value}");
    };
    object
}

fn entry(key: &str) -> Entry {
    entry_of(key, 40)
}

fn entry_of(key: &str, n_bytes: usize) -> Entry {
    Entry {
        action: "remember".to_owned(),
        arguments: object(json!({ "content": "x".repeat(n_bytes) })),
        envelope: object(json!({ "idempotency_key": key, "recorded_at": "2026-03-14T09:30:00Z" })),
        queued_at: Timestamp::from_ms(1_700_000_000_000),
    }
}

fn key_of(entry: &Entry) -> String {
    entry.idempotency_key().unwrap().to_owned()
}

fn open(base: &Path) -> Spool {
    Spool::open(base, ENDPOINT).unwrap()
}

/// Sends everything as `answer` says; returns the keys in the order of sending, and what was done.
fn drained(
    spool: &Spool,
    clock: &TestClock,
    mut answer: impl FnMut(&str) -> Outcome,
) -> (Vec<String>, Drained) {
    let mut keys = Vec::new();
    let mut send = |_, entry: &Entry| {
        keys.push(key_of(entry));
        answer(keys.last().unwrap())
    };
    let drained = spool.drain(&mut send, clock, &Seed::default()).unwrap();
    (keys, drained)
}

fn all_done(spool: &Spool) -> Vec<String> {
    let (keys, drained) = drained(spool, &TestClock::new(), |_| Outcome::Done);
    assert_eq!(drained.ended, Ended::Empty);
    keys
}

fn keys(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("k{n}")).collect()
}

/// Lists a folder of the queue, with everything in it.
fn names_in(spool: &Spool, folder: &str) -> Vec<String> {
    let files = fs::read_dir(spool.folder().join(folder)).unwrap();
    let mut names: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

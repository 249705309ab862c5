//! What lies on the disk.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use mmw_core::env::{Clock as _, SystemClock, SystemEntropy};
use mmw_core::ids::JobId;
use mmw_core::time::DAY_MS;
use mmw_store::Memory;
use mmw_store::engine::{read, write};
use mmw_tests::programs;
use mmw_tests::server::Server;
use serde_json::json;

use super::support::{World, agent, agent_command, err, found, note, out};

// A26
#[test]
fn the_log_does_not_stay_large_after_a_long_reader() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let memory = Memory::open(&file, Arc::new(SystemClock), Arc::new(SystemEntropy)).unwrap();
    let now = SystemClock.now();
    // Rows of a job, for they may be large and pass no guard: here only bytes count.
    let put = |n: u8| {
        write(memory.engine(), |txn| {
            let id = JobId::from_parts(now.plus_ms(i64::from(n)), [n; 10]);
            txn.enqueue_job(id, "of the test", &"x".repeat(1 << 20), now.plus_ms(DAY_MS))
        })
        .unwrap();
    };
    let log_bytes =
        || std::fs::metadata(folder.path().join("memory.db-wal")).map_or(0, |about| about.len());
    put(0);
    let under_reader = read(memory.engine(), |snapshot| {
        snapshot.accounts()?;
        (1..50).for_each(put);
        Ok(log_bytes())
    })
    .unwrap();
    assert!(
        under_reader > 48 << 20,
        "the log grows: {under_reader} bytes"
    );
    // The reader has ended: the next writes carry the log over and give the room back.
    (50..53).for_each(put);
    let after = log_bytes();
    assert!(after <= 17 << 20, "{under_reader} bytes, then {after}");
    assert!(memory.engine().verify().unwrap().is_empty());
    drop(memory);
    assert_eq!(log_bytes(), 0);
}

fn verified(folder: &Path) {
    let verified = agent(folder, folder, &["verify"]);
    assert!(
        verified.status.success(),
        "{}{}",
        out(&verified),
        err(&verified)
    );
}

// A27: killed while the schema is being made.
#[test]
fn a_kill_during_the_first_start_leaves_a_store_that_opens() {
    for n in 0..12_u64 {
        let home = tempfile::tempdir().unwrap();
        let mut child = agent_command(home.path(), home.path())
            .args(["remember", "the first words"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The moments: as soon as the store's files together have grown to so many bytes.
        let grown = || -> u64 {
            ["memory.db", "memory.db-wal"]
                .iter()
                .filter_map(|name| std::fs::metadata(home.path().join(name)).ok())
                .map(|about| about.len() + 1)
                .sum()
        };
        while grown() < n * 40_000 + 1 && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let saved = agent(home.path(), home.path(), &["remember", "the second words"]);
        assert!(saved.status.success(), "kill {n}: {}", err(&saved));
        verified(home.path());
    }
}

// A29, A24: the only files are the store's; everything else is written beside and renamed.
#[test]
fn a_server_leaves_no_half_written_file() {
    let world = World::new();
    note(&world.client, "lime");
    let names = |folder: &Path| {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names(world.folder.path()),
        ["first-key", "mmw.db", "mmw.db-shm", "mmw.db-wal"]
    );
    assert!(world.server.stop().success());
    assert_eq!(names(world.folder.path()), ["first-key", "mmw.db"]);
}

// B33, B13: an engine that fails is an error, never "nothing found".
#[test]
fn a_damaged_store_never_says_that_nothing_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let key = server.first_key();
    let client = server.client(&key);
    assert_eq!(
        client.rest("search", &json!({ "query": "kumquat" })).json()["notice"],
        "nothing in memory matches these words"
    );
    for n in 0..200 {
        note(&client, &format!("kumquat {n} {}", "filler ".repeat(40)));
    }
    assert!(server.stop().success());
    let file = folder.path().join("mmw.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let half = bytes.len() / 4;
    bytes[half..].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let mut child = Command::new(programs::path("mmw-server"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env_clear()
        .env("HOME", folder.path())
        .env("MMW_DATA_DIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
    if line.is_empty() {
        // It refused to start: that is plain enough, in words.
        let output = child.wait_with_output().unwrap();
        let words = err(&output);
        assert!(
            !output.status.success() && words.contains("damaged"),
            "{words}"
        );
        assert!(!words.contains("panicked"), "{words}");
        return;
    }
    let _ = child.kill();
    let _ = child.wait();
    let server = Server::start(folder.path());
    let client = server.client(&key);
    let answer = client.rest("search", &json!({ "query": "kumquat" }));
    let finds = answer.status == 200 && !answer.json()["hits"].as_array().unwrap().is_empty();
    assert!(
        finds || answer.status >= 401,
        "{} {}",
        answer.status,
        answer.body
    );
}

// B34, C2: what was answered is on every read path at once, and after a kill.
#[test]
fn a_receipt_is_readable_by_id_by_key_and_by_words_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let key = server.first_key();
    let client = server.client(&key);
    let saved = client
        .rest(
            "remember",
            &json!({ "content": "the kumquat is ripe", "fact_key": "kumquat" }),
        )
        .json();
    let id = super::support::id(&saved);
    let reads = |client: &mmw_tests::server::Client| {
        assert_eq!(found(client, "ripe"), [id.as_str()]);
        let explained = client
            .rest("explain_memory", &json!({ "memory_id": id }))
            .json();
        assert_eq!(explained["record"]["content"], "the kumquat is ripe");
        for uri in [
            "mmw://fact/default/kumquat",
            &format!("mmw://record/{id}"),
            "mmw://brief/default",
        ] {
            assert!(
                super::support::resource(client, uri).contains("kumquat is ripe"),
                "{uri}"
            );
        }
    };
    reads(&client);
    server.kill();
    let server = Server::start(folder.path());
    reads(&server.client(&key));
}

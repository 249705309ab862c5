//! A kill at any instant loses nothing that was acknowledged.
//!
//! Short in every run; `cargo xtask e2e --crash` kills 200 times.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mmw_tests::programs;
use mmw_tests::server::Server;
use serde_json::json;

/// Kills in a plain test run.
const N_KILLS: usize = 12;
/// Kills with `MMW_E2E_CRASH=1`.
const N_KILLS_FULL: usize = 200;
/// Writers at once.
const N_WRITERS: usize = 4;

fn n_kills() -> usize {
    match mmw_tests::environment::choice("MMW_E2E_CRASH") {
        Some(full) if full == "1" => N_KILLS_FULL,
        _ => N_KILLS,
    }
}

#[test]
fn a_kill_in_the_middle_of_concurrent_writes_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let acknowledged: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
    let count = AtomicUsize::new(0);
    let key = {
        let server = Server::start(folder.path());
        server.first_key()
    };
    for kill in 0..n_kills() {
        let server = Server::start(folder.path());
        // Another number of acknowledged writes each time: the moment of the kill moves through
        // every step of a transaction.
        let until = count.load(Ordering::SeqCst) + 1 + kill * 7 % 23;
        std::thread::scope(|scope| {
            for writer in 0..N_WRITERS {
                let client = server.client(&key);
                let (acknowledged, count) = (&acknowledged, &count);
                scope.spawn(move || {
                    loop {
                        let n = count.fetch_add(1, Ordering::SeqCst);
                        let content = format!("kumquat {n} by writer {writer} before kill {kill}");
                        let body =
                            json!({ "content": content, "fact_key": format!("fact-{}", n % 5) });
                        match client.try_send("POST", "/api/v1/remember", &[], &body.to_string()) {
                            Ok(answer) if answer.status == 200 => {
                                let id = answer.json()["id"].as_str().unwrap().to_owned();
                                acknowledged.lock().unwrap().push((id, content));
                            }
                            _ => return,
                        }
                    }
                });
            }
            while count.load(Ordering::SeqCst) < until {
                std::thread::yield_now();
            }
            server.kill();
        });
    }
    check(folder.path(), &key, &acknowledged.into_inner().unwrap());
}

fn check(folder: &Path, key: &str, acknowledged: &[(String, String)]) {
    assert!(!acknowledged.is_empty());
    let server = Server::start(folder);
    let client = server.client(key);
    for (id, content) in acknowledged {
        let explained = client.rest("explain_memory", &json!({ "memory_id": id }));
        assert_eq!(
            explained.status, 200,
            "{id} was acknowledged and is gone: {content}"
        );
        assert_eq!(explained.json()["record"]["content"], json!(content));
    }
    assert!(server.stop().success());
    let verified = Command::new(programs::path("mmw-server"))
        .arg("verify")
        .env_clear()
        .env("HOME", folder)
        .env("MMW_DATA_DIR", folder)
        .output()
        .unwrap();
    assert!(
        verified.status.success(),
        "{}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

/// The system calls that tell when data is on the disk and when an answer leaves.
const WATCHED: &str = "trace=fsync,fdatasync,sendto,write,writev,sendmsg";

#[test]
fn an_answer_leaves_only_after_the_disk_has_the_record() {
    if Command::new("strace").arg("-V").output().is_err() {
        // Only a machine without strace; .ci/run's has it.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let server = Server::start(folder.path());
    let client = server.client(&server.first_key());
    let _ = client.rest("remember", &json!({ "content": "warm" }));
    let mut strace = Command::new("strace")
        .args(["-f", "-y", "-s", "4000", "-e", WATCHED, "-o"])
        .arg(&trace)
        .args(["-p", &server.pid().to_string()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_attach(&mut strace);
    let n = 5;
    for nth in 0..n {
        let answer = client.rest("remember", &json!({ "content": format!("quokka {nth}") }));
        assert_eq!(answer.status, 200);
    }
    let _ = Command::new("kill")
        .args(["-INT", &strace.id().to_string()])
        .status();
    strace.wait().unwrap();
    let trace = std::fs::read_to_string(&trace).unwrap();
    let mut synced = false;
    let mut n_answers = 0;
    for line in trace.lines() {
        let is_sync =
            line.contains("sync resumed>") || line.contains("sync(") && line.contains("-wal");
        if is_sync && line.ends_with("= 0") {
            synced = true;
        }
        if line.contains("HTTP/1.1 200") {
            n_answers += 1;
            assert!(synced, "an answer left before a sync: {line}");
            synced = false;
        }
    }
    assert_eq!(n_answers, n, "{trace}");
}

/// Waits until strace says that it is attached.
fn wait_for_attach(strace: &mut std::process::Child) {
    use std::io::BufRead as _;
    let stderr = std::io::BufReader::new(strace.stderr.take().unwrap());
    let (sender, attached) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            if line.contains("attached") {
                let _ = sender.send(());
            }
        }
    });
    attached
        .recv_timeout(Duration::from_secs(20))
        .expect("strace attaches");
}

//! A full disk, a folder that can't be written to, a file that is no store: a clear error, and
//! nothing half written.

use std::path::Path;
use std::process::{Command, Output};

use mmw_tests::programs;
use mmw_tests::server::Server;
use serde_json::json;

fn agent(home: &Path, arguments: &[&str]) -> Output {
    Command::new(programs::path("mmw-agent"))
        .args(arguments)
        .env_clear()
        .env("PATH", mmw_tests::environment::search_path())
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home)
        .current_dir(home)
        .output()
        .unwrap()
}

/// A small file system in memory, if this machine lets the test mount one.
pub(crate) struct SmallDisk {
    pub(crate) at: tempfile::TempDir,
}

impl SmallDisk {
    pub(crate) fn mount(size: &str) -> Option<Self> {
        let at = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self { at })
    }

    pub(crate) fn remount(&self, options: &str) {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(self.at.path())
            .status();
        assert!(done.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.at.path())
            .status();
    }
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount("3m") else {
        return;
    };
    let home = disk.at.path();
    let server = Server::start(home);
    let client = server.client(&server.first_key());
    let mut saved = Vec::new();
    let refused = loop {
        let content = format!("quokka {} {}", saved.len(), "x y z ".repeat(600));
        let answer = client.rest("remember", &json!({ "content": content }));
        if answer.status != 200 {
            break answer;
        }
        saved.push(answer.json()["id"].as_str().unwrap().to_owned());
        assert!(saved.len() < 5_000, "the disk never fills");
    };
    assert!(saved.len() > 10);
    let message = refused.json()["error"]["message"].to_string();
    assert!(
        message.contains("no space is left"),
        "{} {message}",
        refused.status
    );
    // Reading goes on, and everything acknowledged is there.
    for id in &saved {
        assert_eq!(
            client
                .rest("explain_memory", &json!({ "memory_id": id }))
                .status,
            200
        );
    }
    assert_eq!(
        client.rest("search", &json!({ "query": "quokka" })).status,
        200
    );
    disk.remount("size=16m");
    assert_eq!(
        client
            .rest("remember", &json!({ "content": "room again" }))
            .status,
        200
    );
    assert!(server.stop().success());
    assert_eq!(
        Command::new(programs::path("mmw-server"))
            .arg("verify")
            .env("MMW_DATA_DIR", home)
            .output()
            .unwrap()
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told_and_can_be_read() {
    let Some(disk) = SmallDisk::mount("8m") else {
        return;
    };
    let home = disk.at.path();
    assert!(agent(home, &["remember", "quokkas smile"]).status.success());
    disk.remount("ro");
    let refused = agent(home, &["remember", "another note"]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success());
    assert!(
        words.contains("can't be written to") || words.contains("read-only"),
        "{words}"
    );
    disk.remount("rw");
    let found = agent(home, &["search", "quokkas"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("quokkas smile"));
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("memory.db");
    std::fs::write(&file, "these are my notes, not a database").unwrap();
    let refused = agent(home.path(), &["search", "quokkas"]);
    assert!(!refused.status.success());
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        words.contains("memory.db") || words.contains("damaged"),
        "{words}"
    );
    assert!(!words.contains("panicked"), "{words}");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "these are my notes, not a database"
    );
}

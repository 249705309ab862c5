//! Calls with their two sides, on real folders and a real git.

mod answers;
mod arguments;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mmw_core::env::{Clock, SystemClock};
use mmw_core::time::Timestamp;
use mmw_server::desk::Order;
use serde_json::{Value, json};

use super::Anchors;
use crate::roots::Roots;

/// A clock that goes an hour ahead: what was written just now is long settled.
struct Later;

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(3_600_000)
    }
}

/// A clock that stands before everything: whatever is written is younger.
struct Before;

impl Clock for Before {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(0)
    }
}

/// A repository with one commit, an agent's home beside it, and what anchors statements to its files.
struct Desk {
    folder: tempfile::TempDir,
    anchors: Anchors,
}

const GUIDE: &str = "# Deploy\n\n## Staging\n\napp-staging\n\n## Production\n\napp-prod\n";

impl Desk {
    fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    fn with_clock(clock: Arc<dyn Clock>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repo");
        fs::create_dir(&repository).unwrap();
        let anchors = Anchors::new(
            Roots::new(&repository, [repository.clone()]),
            &folder.path().join("home"),
            clock,
        );
        let desk = Self { folder, anchors };
        desk.git(&["init", "-q", "-b", "main"]);
        desk.write("docs/deploy.md", GUIDE);
        desk.write(
            "src/main.rs",
            "fn main() {}\n\nfn deploy() {\n    run();\n}\n",
        );
        desk.commit("all");
        desk
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    fn write(&self, file: &str, content: &str) {
        let file = self.repository().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    fn git(&self, words: &[&str]) -> String {
        let ran = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=Ann Lee",
                "-c",
                "user.email=ann@example.org",
            ])
            .args(words)
            .current_dir(self.repository())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, subject: &str) -> String {
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Completes the arguments of a call and returns them with the envelope, as JSON.
    fn before(
        &self,
        action: &str,
        arguments: &Value,
    ) -> (Value, Value, Option<super::after::After>) {
        let mut order = Order {
            arguments: arguments.as_object().unwrap().clone(),
            ..Order::default()
        };
        let after = self.anchors.before(action, &mut order);
        let envelope = serde_json::to_value(&order.envelope).unwrap();
        (Value::Object(order.arguments), envelope, after)
    }

    /// Saves a statement about a source and returns its record as a hit has it, and what was noted.
    fn save(&self, source_id: &str) -> (Value, Option<String>) {
        let given = json!({"content": "x", "source_id": source_id});
        let (arguments, envelope, after) = self.before("remember", &given);
        let mut record = json!({
            "id": "0192f0c1-8a6b-7c3d-9e4f-0123456789ab", "workspace": "default", "content": "x",
            "kind": "fact", "scope": "shared", "confidence": 0.5, "created_at": "2026-11-30T00:00:00Z",
            "status": "unverified", "status_reasons": [], "score": 1.0, "score_parts": {},
        });
        for field in ["source_id", "source_hash", "source_revision"] {
            record[field] = arguments[field].clone();
        }
        for field in ["source_hash_text", "span"] {
            record[field] = envelope[field].clone();
        }
        let mut answer = mmw_server::actions::Answer {
            structured: record.clone(),
            text: "Saved.".to_owned(),
        };
        if let Some(after) = after {
            after.finish(&mut answer, SystemClock.now());
        }
        let note = answer.structured["source_note"].as_str().map(str::to_owned);
        assert_eq!(note.is_some(), answer.text != "Saved.", "{}", answer.text);
        (record, note)
    }

    /// Returns the answer of a search that found these hits, completed.
    fn search(&self, hits: &[&Value], arguments: &Value) -> (Value, String) {
        let (_, _, after) = self.before("search", arguments);
        let mut answer = mmw_server::actions::Answer {
            structured: json!({"hits": hits, "total": hits.len() + 5, "took_ms": 1.0}),
            text: "unchecked".to_owned(),
        };
        after.unwrap().finish(&mut answer, SystemClock.now());
        (answer.structured, answer.text)
    }

    /// Returns what a search tells of the source of one hit, and its status.
    fn told(&self, hit: &Value) -> (Value, Value) {
        let (answer, _) = self.search(&[hit], &json!({"query": "x"}));
        let hit = &answer["hits"][0];
        (hit["local_source"].clone(), hit["status"].clone())
    }
}

fn home(desk: &Desk) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), found);
            } else {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    walk(&desk.folder.path().join("home"), &mut found);
    found
}

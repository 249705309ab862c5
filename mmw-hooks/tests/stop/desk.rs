//! A repository, a session's transcript and a clock, all of them the test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use filetime::{FileTime, set_file_mtime, set_symlink_file_times};
use mmw_core::time::Timestamp;
use mmw_hooks::deadline::Deadline;
use mmw_hooks::stop::answer;
use mmw_hooks::world::World;
use serde_json::{Value, json};

/// When the clock starts: 2026-03-14T09:00:00Z.
const START_S: i64 = 1_773_478_800;

pub(crate) struct Desk {
    folder: tempfile::TempDir,
    pub(crate) second: i64,
    n_rows: usize,
    /// Set for the hook.
    pub(crate) vars: Vec<(String, String)>,
}

impl Desk {
    /// Returns a repository with one commit of a day ago, and Claude Code with MMW's tools.
    pub(crate) fn new() -> Self {
        let mut desk = Self::without_tools();
        desk.home_file(
            ".claude.json",
            r#"{"mcpServers":{"mmw":{"command":"mmw-agent"}}}"#,
        );
        desk.prompt();
        desk
    }

    pub(crate) fn without_tools() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = Self {
            second: START_S - 86_400,
            n_rows: 0,
            vars: Vec::new(),
            folder,
        };
        fs::create_dir(desk.top()).unwrap();
        desk.git(&["init", "--quiet", "--initial-branch=main"]);
        desk.write("README.md", "a shop\n");
        desk.commit_all("first");
        Self {
            second: START_S,
            ..desk
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.home().join("shop")
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.home().join("session.jsonl")
    }

    pub(crate) fn home_file(&self, path: &str, content: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Lets a second pass.
    pub(crate) fn tick(&mut self) -> i64 {
        self.second += 1;
        self.second
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.second * 1000)
    }

    /// Writes a file now.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let full = self.top().join(path);
        let is_new = !full.exists();
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, content).unwrap();
        self.set_time(&full);
        if is_new {
            self.set_time(full.parent().unwrap());
        }
    }

    /// Removes a file now.
    pub(crate) fn remove(&self, path: &str) {
        let full = self.top().join(path);
        fs::remove_file(&full).unwrap();
        self.set_time(full.parent().unwrap());
    }

    pub(crate) fn set_time(&self, path: &Path) {
        let time = FileTime::from_unix_time(self.second, 0);
        if path.is_symlink() {
            set_symlink_file_times(path, time, time).unwrap();
        } else {
            set_file_mtime(path, time).unwrap();
        }
    }

    /// Runs git now and returns what it wrote.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.top(), arguments)
    }

    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.try_git(folder, arguments);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn try_git(&self, folder: &Path, arguments: &[&str]) -> Output {
        let date = format!("{} +0000", self.second);
        Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(folder)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    fn row(&mut self, file: &Path, mut row: Value) {
        self.n_rows += 1;
        row["cwd"] = json!(self.top());
        row["uuid"] = json!(format!("row-{}", self.n_rows));
        row["timestamp"] = json!(rfc3339(self.second));
        let mut text = fs::read_to_string(file).unwrap_or_default();
        text.push_str(&row.to_string());
        text.push('\n');
        fs::write(file, text).unwrap();
    }

    /// A person speaks.
    pub(crate) fn prompt(&mut self) {
        self.tick();
        let file = self.transcript();
        self.row(
            &file,
            json!({ "type": "user", "message": { "role": "user", "content": "go on" } }),
        );
    }

    /// The agent calls a tool and gets its result.
    pub(crate) fn call(&mut self, name: &str, input: &Value, failed: bool) {
        let file = self.transcript();
        self.call_in(&file, name, input, failed);
    }

    /// As [`Desk::call`], in the transcript of a subagent.
    pub(crate) fn subagent_calls(&mut self, name: &str, input: &Value) {
        let folder = self.home().join("session/subagents");
        fs::create_dir_all(&folder).unwrap();
        self.call_in(&folder.join("agent-a1.jsonl"), name, input, false);
    }

    fn call_in(&mut self, file: &Path, name: &str, input: &Value, failed: bool) {
        let id = format!("toolu_{}", self.n_rows);
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        let call =
            json!({ "type": "assistant", "message": { "role": "assistant", "content": [block] } });
        self.row(file, call);
        let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": "done" });
        if failed {
            block["is_error"] = json!(true);
        }
        let result = json!({ "type": "user", "message": { "role": "user", "content": [block] } });
        self.row(file, result);
    }

    /// The agent saves something now.
    pub(crate) fn save(&mut self) {
        self.tick();
        self.call("mcp__mmw__remember", &json!({ "content": "x" }), false);
    }

    /// The client notes that the hook asked.
    pub(crate) fn note_the_question(&mut self, reply: &str) {
        let reply: Value = serde_json::from_str(reply).unwrap();
        let text = format!("Stop hook feedback:\n{}", reply["reason"].as_str().unwrap());
        let file = self.transcript();
        self.row(
            &file,
            json!({
                "type": "user", "isMeta": true, "message": { "role": "user", "content": text }
            }),
        );
    }

    pub(crate) fn world(&self) -> World {
        let home = self.home();
        let vars = self.vars.clone();
        World::from_lookup(
            move |name| match name {
                "HOME" => Some(home.clone().into_os_string()),
                _ => vars
                    .iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value.into()),
            },
            self.now(),
        )
    }

    /// The event that Claude Code sends.
    pub(crate) fn event(&self) -> Value {
        json!({
            "session_id": "s-1",
            "transcript_path": self.transcript(),
            "cwd": self.top(),
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": "Done.",
            "background_tasks": [],
        })
    }

    /// Sends an event; returns the line that is written.
    pub(crate) fn send(&self, event: &Value) -> Option<String> {
        let far = Deadline::after(Duration::from_secs(600));
        answer(event.to_string().as_bytes(), None, &self.world(), far)
    }

    /// The agent is about to end its turn: returns the files that it is asked about, sorted.
    pub(crate) fn stop(&mut self) -> Vec<String> {
        self.tick();
        let reply = self.send(&self.event());
        reply.map_or(Vec::new(), |line| files(&line))
    }
}

/// Returns the names in a reply of Claude Code's form, sorted.
pub(crate) fn files(line: &str) -> Vec<String> {
    let reply: Value = serde_json::from_str(line).unwrap();
    assert_eq!(reply["decision"], "block");
    let mut names: Vec<String> = reply["reason"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
        .map(|name| name.trim_matches('"').to_owned())
        .collect();
    names.sort();
    names
}

/// Writes a second as RFC 3339 does.
pub(crate) fn rfc3339(second: i64) -> String {
    let day = second.div_euclid(86_400);
    let (hour, minute, rest) = (
        second.rem_euclid(86_400) / 3600,
        second.rem_euclid(3600) / 60,
        second.rem_euclid(60),
    );
    // The tests stay within a few days of 2026-03-14, which is day 20 526.
    let date = 14 + day - 20_526;
    assert!((1..=31).contains(&date), "outside of March 2026");
    format!("2026-03-{date:02}T{hour:02}:{minute:02}:{rest:02}.000Z")
}

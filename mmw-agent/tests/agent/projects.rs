//! What a project is known by changes, and its memory stays: real repositories, the real program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::desk::{Desk, Ran};

const REMOTE: &str = "git@github.com:acme/api.git";

/// A desk with more than one folder on it.
struct Several(Desk);

impl Several {
    fn new() -> Self {
        Self(Desk::new())
    }

    fn path(&self, folder: &str) -> PathBuf {
        self.0.home().canonicalize().unwrap().join(folder)
    }

    fn git(&self, folder: &str, words: &[&str]) {
        std::fs::create_dir_all(self.path(folder)).unwrap();
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(words)
            .current_dir(self.path(folder))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    fn repository(&self, folder: &str) {
        self.git(folder, &["init", "-q", "-b", "main"]);
        let first = ["commit", "-q", "--allow-empty", "-m", "first"];
        self.git(folder, &first);
    }

    fn run(&self, folder: &str, words: &[&str]) -> Ran {
        std::fs::create_dir_all(self.path(folder)).unwrap();
        let mut command = self.0.command(words);
        command.current_dir(self.path(folder));
        Ran::of(command, "")
    }

    fn json(&self, folder: &str, words: &[&str]) -> Value {
        let ran = self.run(folder, &[words, &["--json"]].concat());
        assert!(ran.code <= 1, "{words:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn save(&self, folder: &str, text: &str) {
        let ran = self.run(folder, &["remember", text]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }

    /// Checks what is remembered in a folder, whichever order it was saved in.
    fn check(&self, folder: &str, expected: &[&str]) {
        let found = self.json(folder, &["search", "apples", "--limit", "50"]);
        let hits = found["hits"].as_array().unwrap();
        let mut texts: Vec<&str> = hits
            .iter()
            .map(|hit| hit["content"].as_str().unwrap())
            .collect();
        texts.sort_unstable();
        assert_eq!(texts, expected, "in {folder}");
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_first_origin_and_a_renamed_one_leave_the_memory_as_it_is() {
    let desk = Several::new();
    desk.repository("api");
    desk.save("api", "apples are red");
    desk.git("api", &["remote", "add", "origin", REMOTE]);
    desk.check("api", &["apples are red"]);
    let status = desk.json("api", &["status"]);
    let old = shown(&desk.path("api/.git"));
    assert_eq!(status["project"], json!(old));
    assert_eq!(status["known_as"], "github.com/acme/api");
    assert_eq!(status["other_memories"], json!([]));
    let page = desk.run("api", &["status"]).stdout;
    let told = format!("{old} (known as github.com/acme/api now)");
    assert!(page.contains(&told), "{page}");

    // The same repository by another address is no other name.
    let address = "https://github.com/acme/api";
    desk.git("api", &["remote", "set-url", "origin", address]);
    desk.check("api", &["apples are red"]);
    let address = "https://gitlab.com/acme/api-two";
    desk.git("api", &["remote", "set-url", "origin", address]);
    desk.save("api", "apples are sweet");
    desk.git("api", &["remote", "remove", "origin"]);
    desk.check("api", &["apples are red", "apples are sweet"]);
}

#[test]
fn clones_and_worktrees_share_what_the_first_one_knew() {
    let desk = Several::new();
    desk.repository("api");
    desk.save("api", "apples are red");
    desk.git("api", &["worktree", "add", "-q", "-b", "x", "../api-x"]);
    desk.check("api-x", &["apples are red"]);
    desk.git("api", &["remote", "add", "origin", REMOTE]);
    desk.check("api-x", &["apples are red"]);
    desk.repository("clone");
    desk.git("clone", &["remote", "add", "origin", REMOTE]);
    desk.save("clone", "apples are sweet");
    desk.check("api", &["apples are red", "apples are sweet"]);
}

#[test]
fn a_fork_keeps_its_memory_until_a_person_wants_it_apart() {
    let desk = Several::new();
    for clone in ["one", "two"] {
        desk.repository(clone);
        desk.git(clone, &["remote", "add", "origin", REMOTE]);
    }
    desk.save("one", "apples are red");
    desk.git("one", &["remote", "rename", "origin", "upstream"]);
    let fork = "git@github.com:ann/api.git";
    desk.git("one", &["remote", "add", "origin", fork]);
    desk.check("one", &["apples are red"]);
    desk.check("two", &["apples are red"]);
    let apart = desk.run("one", &["project", "--use", "github.com/ann/api"]);
    assert_eq!(apart.code, 0, "{}", apart.stderr);
    let back = "mmw-agent project --use \"github.com/acme/api\"";
    assert!(apart.stdout.contains(back), "{}", apart.stdout);
    desk.check("one", &[]);
    desk.save("one", "apples are blue");
    desk.check("one", &["apples are blue"]);
    desk.check("two", &["apples are red"]);
}

#[test]
fn two_memories_are_not_mixed_and_status_says_what_to_run() {
    let desk = Several::new();
    desk.repository("api");
    desk.save("api", "apples are red");
    desk.repository("clone");
    desk.git("clone", &["remote", "add", "origin", REMOTE]);
    desk.save("clone", "apples are sweet");
    desk.git("api", &["remote", "add", "origin", REMOTE]);
    desk.check("api", &["apples are sweet"]);
    let old = shown(&desk.path("api/.git"));
    let status = desk.json("api", &["status"]);
    assert_eq!(status["project"], "github.com/acme/api");
    let others = json!([{"project": old, "items": 1}]);
    assert_eq!(status["other_memories"], others);
    let page = desk.run("api", &["status"]).stdout;
    assert!(page.contains("not mixed in: 1 item that"), "{page}");
    let command = format!("mmw-agent project --use \"{old}\"");
    assert!(page.contains(&command), "{page}");
    let listed = desk.run("api", &["project", "--all"]).stdout;
    assert!(
        listed.contains(&old) && listed.contains("github.com/acme/api"),
        "{listed}"
    );

    let used = desk.run("api", &["project", "--use", &old]);
    assert_eq!(used.code, 0, "{}", used.stderr);
    desk.check("api", &["apples are red"]);
    let unknown = desk.run("api", &["project", "--use", "github.com/nobody/none"]);
    assert_eq!(unknown.code, 1, "{}", unknown.stdout);
    desk.check("api", &["apples are red"]);
}

#[test]
fn a_folder_that_becomes_a_repository_and_one_that_is_none_any_more_keep_their_memory() {
    let desk = Several::new();
    desk.save("notes", "apples are red");
    desk.repository("notes");
    desk.check("notes", &["apples are red"]);
    desk.check("notes/deep", &["apples are red"]);
    desk.git("notes", &["remote", "add", "origin", REMOTE]);
    desk.save("notes", "apples are sweet");
    std::fs::remove_dir_all(desk.path("notes/.git")).unwrap();
    desk.check("notes", &["apples are red", "apples are sweet"]);
}

#[test]
fn a_moved_repository_keeps_its_memory() {
    let desk = Several::new();
    desk.repository("api");
    let made = std::fs::metadata(desk.path("api/.git")).unwrap().created();
    desk.save("api", "apples are red");
    std::fs::rename(desk.path("api"), desk.path("moved")).unwrap();
    if made.is_err() {
        // Nothing tells a folder from a copy of it on this file system.
        return;
    }
    desk.check("moved", &["apples are red"]);
    desk.repository("api");
    desk.check("api", &[]);
    desk.save("api", "apples are blue");
    desk.check("moved", &["apples are red"]);
    desk.check("api", &["apples are blue"]);
}

#[test]
fn a_damaged_ledger_is_set_aside_and_the_memory_is_found_by_its_place() {
    let desk = Several::new();
    desk.repository("api");
    desk.save("api", "apples are red");
    desk.git("api", &["remote", "add", "origin", REMOTE]);
    desk.check("api", &["apples are red"]);
    let ledger = desk.path(".mmw/projects.json");
    std::fs::write(&ledger, "{").unwrap();
    desk.check("api", &["apples are red"]);
    assert!(ledger.with_extension("json.damaged").exists());
}

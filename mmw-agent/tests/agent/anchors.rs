//! Facts that know their file: saved, searched and listed with the real program.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::desk::{Desk, Ran};
use crate::protocol::Client;

/// Something that is nowhere but in the anchored file.
const CANARY: &str = "canary-7f3a9c51";

const GUIDE: &str =
    "# Deploy\n\n## Staging\n\nport 8081 canary-7f3a9c51\n\n## Production\n\nport 80\n";

impl Desk {
    fn write(&self, file: &str, content: &str) {
        let file = self.repository().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    fn git(&self, words: &[&str]) -> String {
        let ran = Command::new("git")
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

    /// A desk with a committed guide.
    fn with_a_guide() -> Self {
        let desk = Self::new();
        desk.write("docs/deploy.md", GUIDE);
        desk.commit("docs: the guide");
        desk
    }
}

#[test]
fn a_fact_that_was_anchored_by_a_client_is_stale_once_its_file_has_changed() {
    let desk = Desk::with_a_guide();
    let mut client = Client::start(&desk);
    client.greet();
    let saved = client.tool(
        "remember",
        json!({"content": "staging listens on 8081", "fact_key": "port", "source_id": "./docs/deploy.md#Staging"}),
    );
    let record = &saved["structuredContent"];
    assert_eq!(record["source_id"], "docs/deploy.md#Staging", "{saved}");
    assert!(
        record["source_hash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:"),
        "{saved}"
    );
    assert_eq!(record["span"]["kind"], "heading");
    assert_eq!(record["source_revision"], desk.git(&["rev-parse", "HEAD"]));

    let search = |client: &mut Client| {
        let found = client.tool(
            "search",
            json!({"query": "which port does staging listen on"}),
        );
        (
            found["structuredContent"]["hits"][0].clone(),
            found["content"][0]["text"].to_string(),
        )
    };
    desk.write("docs/deploy.md", &GUIDE.replace("port 80\n", "port 443\n"));
    let (hit, text) = search(&mut client);
    assert_eq!(
        (&hit["status"], &hit["local_source"]),
        (&json!("unverified"), &json!("unchanged")),
        "{hit}"
    );
    assert!(
        text.contains("(unchanged here; heading compared, now lines 3-5)"),
        "{text}"
    );

    desk.write("docs/deploy.md", &GUIDE.replace("8081", "8082"));
    let (hit, text) = search(&mut client);
    assert_eq!(
        (&hit["status"], &hit["local_source"]),
        (&json!("stale"), &json!("changed")),
        "{hit}"
    );
    assert_eq!(hit["status_reasons"][0]["code"], "source_changed");
    assert!(
        text.contains("stale (docs/deploy.md#Staging has changed since this was saved)"),
        "{text}"
    );
    let fresh = client.tool(
        "search",
        json!({"query": "staging port", "exclude_stale": true}),
    );
    assert_eq!(fresh["structuredContent"]["hits"], json!([]), "{fresh}");

    // A receipt says the same as a hit.
    let receipt = desk.run(&["explain", hit["id"].as_str().unwrap()]).stdout;
    assert!(
        receipt.contains("docs/deploy.md#Staging has changed since this was saved"),
        "{receipt}"
    );

    // The same by hand, from a folder below.
    let mut command = desk.command(&["search", "staging port", "--json"]);
    command.current_dir(desk.repository().join("docs"));
    let ran = Ran::of(command, "");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["hits"][0]["local_source"], "changed", "{answer}");

    desk.write("docs/deploy.md", GUIDE);
    assert_eq!(search(&mut client).0["status"], "unverified");
    assert_eq!(client.leave(), (0, String::new()));
}

#[test]
fn nothing_of_a_file_is_in_the_store_or_in_an_answer() {
    let desk = Desk::with_a_guide();
    let mut client = Client::start(&desk);
    client.greet();
    let mut said = String::new();
    for source_id in [
        "docs/deploy.md",
        "docs/deploy.md#Staging",
        "docs/deploy.md#L5",
        "docs/deploy.md#L1-L9",
        "docs/deploy.md#nowhere",
        "docs/../docs/deploy.md",
    ] {
        let content = format!("a statement about {source_id}");
        let saved = client.tool(
            "remember",
            json!({"content": content, "source_id": source_id}),
        );
        said.push_str(&saved.to_string());
        let id = saved["structuredContent"]["id"].clone();
        said.push_str(
            &client
                .tool("explain_memory", json!({"memory_id": id}))
                .to_string(),
        );
    }
    for round in 0..2 {
        said.push_str(
            &client
                .tool("search", json!({"query": "a statement", "limit": 50}))
                .to_string(),
        );
        desk.write(
            "docs/deploy.md",
            &GUIDE.replace("port", &format!("{round}")),
        );
    }
    for words in [
        &["search", "statement"][..],
        &["stale"],
        &["stale", "--json"],
        &["stale", "--markdown"],
        &["stale", "--diff", "HEAD"],
    ] {
        let ran = desk.run(words);
        said.push_str(&ran.stdout);
        said.push_str(&ran.stderr);
    }
    let mut command = desk.command(&[
        "-vv",
        "remember",
        "loud",
        "--source-id",
        "docs/deploy.md#L5",
    ]);
    command.current_dir(desk.repository());
    said.push_str(&Ran::of(command, "").stderr);
    let (code, rest) = client.leave();
    assert_eq!((code, rest.as_str()), (0, ""));
    assert!(
        said.contains("a statement about") && !said.contains(CANARY),
        "{said}"
    );
    let mut n_files = 0;
    watch(&desk.home().join(".mmw"), &mut n_files);
    assert!(n_files > 3, "{n_files} files");
}

/// Looks for the canary in every file below a folder.
fn watch(folder: &Path, n_files: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            watch(&entry.path(), n_files);
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let has_it = bytes
            .windows(CANARY.len())
            .any(|window| window == CANARY.as_bytes());
        assert!(!has_it, "{:?}", entry.path());
        *n_files += 1;
    }
}

#[test]
fn what_lies_outside_the_roots_is_not_read_and_the_answer_says_so() {
    let desk = Desk::with_a_guide();
    std::fs::write(desk.home().join("outside.md"), "x").unwrap();
    let saved = desk.json(&["remember", "x", "--source-id", "../outside.md"]);
    assert_eq!(
        (&saved["source_id"], saved.get("source_hash")),
        (&json!("../outside.md"), None),
        "{saved}"
    );
    assert!(
        saved["source_note"]
            .as_str()
            .unwrap()
            .contains("MMW_SOURCE_ROOTS"),
        "{saved}"
    );
    let shown = desk.run(&["remember", "y", "--source-id", ".env"]).stdout;
    assert!(
        shown.contains("! .env was not hashed: files like this hold secrets"),
        "{shown}"
    );
    let with_roots = |roots: &Path| {
        let mut command =
            desk.command(&["remember", "z", "--source-id", "../outside.md", "--json"]);
        command.env("MMW_SOURCE_ROOTS", roots);
        serde_json::from_str::<Value>(&Ran::of(command, "").stdout).unwrap()
    };
    assert!(with_roots(desk.home())["source_hash"].is_string());
    assert_eq!(with_roots(&desk.repository()).get("source_hash"), None);
}

#[test]
fn everything_from_a_file_is_forgotten_by_any_path_to_it() {
    let desk = Desk::with_a_guide();
    desk.json(&["remember", "one", "--source-id", "docs/deploy.md#Staging"]);
    desk.json(&["remember", "two", "--source-id", "docs/deploy.md"]);
    let absolute = desk.repository().join("docs/deploy.md");
    let gone = desk.json(&["forget", "--source", absolute.to_str().unwrap(), "--yes"]);
    assert_eq!(gone["forgotten"], 2, "{gone}");
}

#[test]
fn stale_facts_are_listed_with_who_changed_their_file() {
    let desk = Desk::with_a_guide();
    desk.json(&[
        "remember",
        "staging listens on 8081",
        "--key",
        "port",
        "--source-id",
        "docs/deploy.md#Staging",
    ]);
    desk.json(&[
        "remember",
        "production listens on 80",
        "--source-id",
        "docs/deploy.md#Production",
    ]);
    desk.json(&["remember", "somebody said so", "--source-id", "session:1"]);
    let none = desk.run(&["stale"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (0, "none of 2 anchored facts is stale\n")
    );
    desk.write("docs/deploy.md", &GUIDE.replace("8081", "8082"));
    let report = desk.json(&["stale"]);
    assert_eq!(
        (&report["checked"], &report["stale"][0]["uncommitted"]),
        (&json!(2), &json!(true)),
        "{report}"
    );
    assert_eq!(report["stale"][0]["commits"], json!([]));
    desk.commit("staging: another port");
    desk.write(
        "docs/deploy.md",
        &GUIDE.replace("8081", "8082").replace("# Deploy", "# How"),
    );
    desk.commit("docs: another title");
    let report = desk.json(&["stale"]);
    let stale = report["stale"].as_array().unwrap();
    assert_eq!(stale.len(), 1, "{report}");
    assert_eq!(stale[0]["fact_key"], "port");
    assert_eq!(stale[0]["uncommitted"], false);
    let commit = &stale[0]["commits"][0];
    assert_eq!(
        (&commit["author"], &commit["subject"]),
        (&json!("Ann Lee"), &json!("staging: another port"))
    );
    let shown = desk.run(&["stale"]).stdout;
    assert!(shown.contains("Ann Lee: staging: another port"), "{shown}");
    assert!(
        shown.contains("1 fact of 2 anchored facts no longer say"),
        "{shown}"
    );
    std::fs::remove_file(desk.repository().join("docs/deploy.md")).unwrap();
    assert_eq!(desk.json(&["stale"])["stale"].as_array().unwrap().len(), 2);
}

#[test]
fn a_range_of_commits_tells_which_facts_it_makes_stale() {
    let desk = Desk::with_a_guide();
    desk.json(&[
        "remember",
        "staging listens on 8081",
        "--key",
        "port",
        "--source-id",
        "docs/deploy.md#Staging",
    ]);
    desk.json(&[
        "remember",
        "the guide has two parts",
        "--source-id",
        "docs/deploy.md",
    ]);
    desk.git(&["switch", "-q", "-c", "next"]);
    desk.write("docs/deploy.md", &GUIDE.replace("port 80\n", "port 443\n"));
    desk.commit("production: 443");
    let keys = |ran: &Ran| -> Vec<Value> {
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let stale = report["stale"].as_array().unwrap().clone();
        stale.iter().map(|fact| fact["content"].clone()).collect()
    };
    let ran = desk.run(&["stale", "--diff", "main...HEAD", "--json"]);
    assert_eq!(
        (ran.code, keys(&ran)),
        (6, vec![json!("the guide has two parts")]),
        "{}",
        ran.stderr
    );
    desk.write("docs/deploy.md", &GUIDE.replace("8081", "8082"));
    desk.commit("staging: 8082");
    let ran = desk.run(&["stale", "--diff", "main", "--json"]);
    assert_eq!((ran.code, keys(&ran).len()), (6, 2));
    // What was stale before these commits is not their doing.
    let ran = desk.run(&["stale", "--diff", "HEAD~1..HEAD", "--json"]);
    assert_eq!(keys(&ran), [json!("staging listens on 8081")]);
    let ran = desk.run(&["stale", "--diff", "HEAD..HEAD"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "these commits make none of 2 anchored facts stale\n")
    );
    let comment = desk.run(&["stale", "--diff", "main...next", "--markdown"]);
    assert_eq!(comment.code, 6);
    assert!(
        comment
            .stdout
            .starts_with("### 2 saved facts rest on what these commits change\n"),
        "{}",
        comment.stdout
    );
    assert!(
        comment.stdout.contains("Ann Lee: staging: 8082"),
        "{}",
        comment.stdout
    );
    for bad in [
        "nowhere..HEAD",
        "--output=x",
        "-x...HEAD",
        "HEAD..--all",
        "$(touch x)",
    ] {
        let ran = desk.run(&["stale", "--diff", bad]);
        assert_eq!(ran.code, 2, "{bad}: {}", ran.stdout);
        assert!(
            ran.stderr.contains("names no commit"),
            "{bad}: {}",
            ran.stderr
        );
    }
    assert!(!desk.repository().join("x").exists());
}

#[test]
fn a_range_of_empty_variables_is_no_range_that_makes_nothing_stale() {
    let desk = Desk::with_a_guide();
    for empty in ["", "..", "...", " "] {
        let ran = desk.run(&["stale", "--diff", empty]);
        assert_eq!(ran.code, 2, "{empty:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("names no commit"), "{}", ran.stderr);
    }
}

#[test]
fn where_git_can_not_be_asked_a_range_is_not_called_unknown() {
    let desk = Desk::with_a_guide();
    let mut command = desk.command(&["stale", "--diff", "HEAD~1"]);
    command.env("PATH", desk.home());
    let ran = Ran::of(command, "");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("git finds no repository"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_that_grows_beyond_what_is_read_has_changed_and_is_not_gone() {
    let desk = Desk::with_a_guide();
    desk.json(&["remember", "a guide", "--source-id", "docs/deploy.md"]);
    desk.write("docs/deploy.md", &"x\n".repeat(9 << 20));
    desk.commit("docs: a log got into it");
    let ran = desk.run(&["stale", "--diff", "HEAD~1"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(ran.stdout.contains("deploy.md changes"), "{}", ran.stdout);
}

#[test]
fn variables_that_are_about_another_repository_or_about_patterns_change_no_answer() {
    let desk = Desk::with_a_guide();
    desk.json(&["remember", "a guide", "--source-id", "docs/deploy.md"]);
    desk.write("docs/deploy.md", "other\n");
    desk.commit("docs: other");
    for name in [
        "GIT_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_ATTR_SOURCE",
    ] {
        let mut command = desk.command(&["stale", "--diff", "HEAD~1"]);
        command.env(name, "/nowhere");
        let ran = Ran::of(command, "");
        assert_eq!(ran.code, 6, "{name}: {}", ran.stderr);
        assert!(ran.stdout.contains("docs: other"), "{name}: {}", ran.stdout);
    }
}

#[test]
fn a_source_whose_name_looks_like_an_option_or_a_pattern_is_a_file_all_the_same() {
    let desk = Desk::with_a_guide();
    for file in ["--output=x.md", "-p.md", ":(glob)x.md", "*.md"] {
        desk.write(file, "one");
    }
    desk.commit("odd names");
    for file in ["--output=x.md", "-p.md", ":(glob)x.md", "*.md"] {
        let given = format!("--source-id=./{file}");
        let saved = desk.json(&["remember", &format!("about {file}"), &given]);
        assert!(
            saved["source_revision"]
                .as_str()
                .is_some_and(|it| !it.ends_with("modified")),
            "{saved}"
        );
        assert!(saved["source_hash"].is_string(), "{saved}");
    }
    desk.write("*.md", "two");
    let commit = desk.commit("one of them");
    let report = desk.json(&["stale"]);
    let stale = report["stale"].as_array().unwrap();
    assert_eq!(
        (stale.len(), &stale[0]["content"]),
        (1, &json!("about *.md")),
        "{report}"
    );
    assert!(commit.starts_with(stale[0]["commits"][0]["commit"].as_str().unwrap()));
    let ran = desk.run(&["stale", "--diff", "HEAD~1", "--json"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(!desk.repository().join("x.md").exists());
}

#[test]
fn a_worktree_and_a_folder_below_name_a_file_alike() {
    let desk = Desk::with_a_guide();
    desk.git(&["worktree", "add", "-q", "../tree", "-b", "other"]);
    let in_folder = |folder: &str, words: &[&str]| {
        let mut command = desk.command(words);
        command.current_dir(desk.home().join(folder));
        let ran = Ran::of(command, "");
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
    };
    let saved = in_folder(
        "tree/docs",
        &[
            "remember",
            "port 8081",
            "--source-id",
            "deploy.md",
            "--json",
        ],
    );
    assert_eq!(saved["source_id"], "docs/deploy.md", "{saved}");
    let told = |folder: &str| {
        in_folder(folder, &["search", "port", "--json"])["hits"][0]["local_source"].clone()
    };
    desk.write("../tree/docs/deploy.md", "other");
    assert_eq!(
        (told("repo"), told("repo/docs"), told("tree")),
        (json!("unchanged"), json!("unchanged"), json!("changed"))
    );
    std::fs::remove_file(desk.repository().join("docs/deploy.md")).unwrap();
    assert_eq!(told("repo"), "missing");
}

#[test]
fn the_folders_of_a_client_are_asked_for_and_read_until_they_change() {
    let desk = Desk::with_a_guide();
    let other = desk.home().join("other shop");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.md"), "a").unwrap();
    let given = other.join("a.md");
    let given = given.to_str().unwrap();
    let mut client = Client::start(&desk);
    client.call(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"roots": {"listChanged": true}},
            "clientInfo": {"name": "test-client", "version": "1"},
        }),
    );
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let answer = |client: &mut Client, roots: Value| {
        let asked = client.next();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}));
    };
    let uri = format!("file://{}", other.to_str().unwrap().replace(' ', "%20"));
    answer(
        &mut client,
        json!([{"uri": uri}, {"uri": "https://example.org"}]),
    );
    let saved = client.tool("remember", json!({"content": "one", "source_id": given}));
    let record = &saved["structuredContent"];
    assert_eq!(
        (&record["source_id"], record["source_hash"].is_string()),
        (&json!("a.md"), true),
        "{saved}"
    );
    let saved = client.tool(
        "remember",
        json!({"content": "two", "source_id": "docs/deploy.md"}),
    );
    assert!(
        saved["structuredContent"]["source_hash"].is_string(),
        "{saved}"
    );

    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    answer(&mut client, json!([]));
    let saved = client.tool("remember", json!({"content": "three", "source_id": given}));
    let record = &saved["structuredContent"];
    assert_eq!(
        (&record["source_id"], record.get("source_hash")),
        (&json!(given), None),
        "{saved}"
    );
    assert_eq!(client.leave(), (0, String::new()));
}

#[test]
fn the_prompt_recall_looks_at_files_too() {
    let desk = Desk::with_a_guide();
    let mut client = Client::start(&desk);
    client.greet();
    client.tool(
        "remember",
        json!({"content": "staging listens on 8081", "source_id": "docs/deploy.md"}),
    );
    desk.write("docs/deploy.md", "other");
    let made = client.call(
        "prompts/get",
        json!({"name": "recall", "arguments": {"topic": "staging"}}),
    );
    let text = made["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("stale (docs/deploy.md has changed since this was saved)"),
        "{text}"
    );
    assert_eq!(client.leave().0, 0);
}

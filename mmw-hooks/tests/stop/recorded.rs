//! Transcripts that the real clients wrote, and samples of further versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mmw_core::time::Timestamp;
use mmw_hooks::deadline::Deadline;
use mmw_hooks::transcript::Session;

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(file)
}

fn read(path: &Path) -> Session {
    Session::read(path, Deadline::after(Duration::from_secs(600))).unwrap()
}

fn at(text: &str) -> Option<Timestamp> {
    Some(Timestamp::parse(text).unwrap())
}

fn saved(session: &Session) -> Vec<(String, Option<Timestamp>)> {
    let saved = session.saved.iter();
    saved
        .map(|(tool, when)| (tool.name.clone(), when.at))
        .collect()
}

fn edited(session: &Session) -> Vec<(String, Option<Timestamp>)> {
    let edited = session.edited.iter();
    edited
        .map(|(path, when)| (path.display().to_string(), when.at))
        .collect()
}

#[test]
fn claude_code_wrote_edits_and_a_compaction() {
    let session = read(&path("recorded/session-with-compact.jsonl"));
    assert_eq!(session.began, at("2026-11-29T20:03:17.813Z"));
    assert_eq!(session.folder, Some(PathBuf::from("/home/dev/shop")));
    assert_eq!(
        edited(&session),
        [
            (
                "/home/dev/shop/README.md".to_owned(),
                at("2026-11-29T20:03:18.237Z")
            ),
            (
                "/home/dev/shop/docs/deploy.md".to_owned(),
                at("2026-11-29T20:03:18.291Z")
            ),
        ]
    );
    assert!(!session.asked && session.saved.is_empty());
}

#[test]
fn claude_code_wrote_a_save_and_two_questions() {
    let session = read(&path("recorded/claude-code-two-turns-asked-twice.jsonl"));
    let save = (
        "mcp__mmw__remember".to_owned(),
        at("2026-11-30T12:20:26.247Z"),
    );
    assert_eq!(saved(&session), [save]);
    assert_eq!(session.n_prompts, 2);
    assert!(session.asked);
    // What the server told the agent at the start names it.
    let offered: Vec<_> = session
        .offered
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(offered, ["mcp__mmw__remember"]);
    assert_eq!(edited(&session).len(), 1);
}

#[test]
fn codex_wrote_a_save_a_patch_and_two_questions() {
    let session = read(&path("recorded/codex-two-turns-asked-twice.jsonl"));
    assert_eq!(saved(&session).len(), 1);
    assert_eq!(saved(&session)[0].0, "mcp__mmw__remember");
    assert_eq!(edited(&session).len(), 1);
    assert_eq!(edited(&session)[0].0, "/home/dev/shop/b.txt");
    assert_eq!(session.n_prompts, 2);
    assert!(session.asked);
    assert_eq!(session.folder, Some(PathBuf::from("/home/dev/shop")));
}

#[test]
fn codex_wrote_a_turn_without_either() {
    let session = read(&path("recorded/codex-rollout.jsonl"));
    assert_eq!(session.began, at("2026-11-29T20:02:50.357Z"));
    assert_eq!((session.n_prompts, session.asked), (1, false));
    assert!(session.saved.is_empty() && session.edited.is_empty());
}

#[test]
fn a_sampled_session_of_claude_code_is_read_whole_and_cut_off() {
    for file in [
        "samples/claude-transcript.jsonl",
        "samples/claude-transcript.truncated-tail.jsonl",
    ] {
        let session = read(&path(file));
        let plugin = (
            "mcp__plugin_mmw_mmw__remember".to_owned(),
            at("2026-11-29T10:01:01.120Z"),
        );
        // The second save failed.
        assert_eq!(saved(&session), [plugin], "{file}");
        assert_eq!(session.n_prompts, 1, "{file}");
        assert_eq!(session.began, at("2026-11-29T10:00:00.120Z"));
        let edit = (
            "/home/dev/proj/src/store.rs".to_owned(),
            at("2026-11-29T10:02:01.120Z"),
        );
        assert_eq!(edited(&session).last(), Some(&edit), "{file}");
    }
    assert!(read(&path("samples/claude-transcript.jsonl")).asked);
}

#[test]
fn a_sampled_session_of_codex_has_one_save_that_succeeded() {
    let session = read(&path("samples/codex-rollout.jsonl"));
    let one = (
        "mcp__mmw__remember".to_owned(),
        at("2026-11-29T10:00:13.000Z"),
    );
    assert_eq!(saved(&session), [one]);
    let edit = (
        "/home/dev/proj/src/store.rs".to_owned(),
        at("2026-11-29T10:00:08.000Z"),
    );
    assert_eq!(edited(&session), [edit]);
    assert_eq!(session.n_prompts, 1);
}

#[test]
fn a_subagents_transcript_is_found_beside_the_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let name = "7b1d0c52-3f7e-4a51-9d0e-2f6c8b1a4e10";
    let own = folder.path().join(format!("{name}.jsonl"));
    fs::copy(path("samples/claude-transcript.jsonl"), &own).unwrap();
    let alone = read(&own);
    let theirs = folder.path().join(name).join("subagents");
    fs::create_dir_all(&theirs).unwrap();
    let sample = format!("samples/claude-subagent/{name}/subagents/agent-a1b2c3d4e5f60718.jsonl");
    fs::copy(path(&sample), theirs.join("agent-a1b2c3d4e5f60718.jsonl")).unwrap();
    let both = read(&own);
    let latest = |session: &Session| session.saved.values().next().unwrap().at;
    assert_eq!(latest(&alone), at("2026-11-29T10:01:01.120Z"));
    assert_eq!(latest(&both), at("2026-11-29T10:02:10.120Z"));
    assert!(
        both.edited
            .contains_key(Path::new("/home/dev/proj/src/ttl.rs"))
    );
    assert_eq!(both.n_prompts, alone.n_prompts);
    let recorded = read(&path("recorded/subagent.jsonl"));
    assert_eq!(
        recorded.n_prompts, 0,
        "what a subagent is told is no person's word"
    );
}

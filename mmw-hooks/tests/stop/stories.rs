//! When an agent is asked, and when it is left in peace.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, files};

#[test]
fn an_agent_that_changed_a_file_is_asked_once() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("src/a.rs", "fn a() {}\n");
    assert_eq!(desk.stop(), ["src/a.rs"]);
    // The client tells that a hook holds the turn up.
    let mut event = desk.event();
    event["stop_hook_active"] = json!(true);
    assert_eq!(desk.send(&event), None);
    // It forgot, in a new loop; the transcript may not say so either.
    assert!(desk.stop().is_empty());
    desk.write("src/b.rs", "fn b() {}\n");
    assert!(desk.stop().is_empty());
    desk.prompt();
    assert_eq!(desk.stop(), ["src/b.rs"]);
}

#[test]
fn the_same_files_are_not_asked_for_again_unless_they_changed_again() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.write("b", "1");
    desk.tick();
    let reply = desk.send(&desk.event()).unwrap();
    assert_eq!(files(&reply), ["a", "b"]);
    desk.note_the_question(&reply);
    assert!(desk.stop().is_empty());
    desk.prompt();
    assert!(desk.stop().is_empty());
    desk.tick();
    desk.write("b", "2");
    desk.write("c", "1");
    assert_eq!(desk.stop(), ["b", "c"]);
}

#[test]
fn a_new_loop_without_a_word_of_a_person_is_let_go_even_if_files_changed() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    let reply = desk.send(&desk.event()).unwrap();
    desk.note_the_question(&reply);
    desk.tick();
    desk.write("b", "1");
    assert!(desk.stop().is_empty());
    // The transcript tells of the question even if the mark on disk is lost.
    let elsewhere = desk.home().join("elsewhere").display().to_string();
    desk.vars.push(("MMW_AGENT_HOME".into(), elsewhere));
    assert!(desk.stop().is_empty());
    desk.prompt();
    assert_eq!(desk.stop(), ["b"]);
}

#[test]
fn what_was_saved_after_the_change_is_not_asked_for() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.save();
    assert!(desk.stop().is_empty());
    desk.tick();
    desk.write("b", "1");
    assert_eq!(desk.stop(), ["b"]);
}

#[test]
fn a_save_that_failed_saved_nothing() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    desk.call("mcp__mmw__remember", &json!({}), true);
    assert_eq!(desk.stop(), ["a"]);
}

#[test]
fn another_servers_tool_of_that_name_saves_nothing_here() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    desk.call("mcp__notebook__remember", &json!({}), false);
    assert_eq!(desk.stop(), ["a"]);
}

#[test]
fn the_tool_is_named_as_it_is_registered() {
    let mut desk = Desk::new();
    desk.tick();
    desk.call("mcp__plugin_mmw_mmw__remember", &json!({}), false);
    desk.tick();
    desk.write("a", "1");
    let reply = desk.send(&desk.event()).unwrap();
    assert!(reply.contains("mcp__plugin_mmw_mmw__remember"), "{reply}");
}

#[test]
fn a_session_that_changed_nothing_is_not_asked() {
    let mut desk = Desk::without_tools();
    desk.home_file(".claude.json", r#"{"mcpServers":{"mmw":{}}}"#);
    desk.write("before", "dirty before the session");
    desk.prompt();
    desk.tick();
    desk.call("Bash", &json!({ "command": "ls" }), false);
    // Touched, with the content that it had.
    desk.write("README.md", "a shop\n");
    assert!(desk.stop().is_empty());
}

#[test]
fn files_in_commits_of_the_session_count() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    desk.commit_all("add a");
    assert_eq!(desk.stop(), ["a"]);
}

#[test]
fn who_saves_before_committing_is_not_asked() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.save();
    desk.tick();
    desk.commit_all("add a");
    assert!(desk.stop().is_empty());
}

#[test]
fn who_saves_commits_and_goes_back_to_the_main_branch_is_not_asked() {
    let mut desk = Desk::new();
    desk.git(&["switch", "--quiet", "--create", "feature"]);
    desk.tick();
    desk.write("a", "1");
    let path = desk.top().join("a");
    desk.call("Write", &json!({ "file_path": path }), false);
    desk.save();
    desk.tick();
    desk.commit_all("add a");
    desk.tick();
    desk.git(&["switch", "--quiet", "main"]);
    assert!(desk.stop().is_empty());
}

#[test]
fn of_an_amended_commit_only_what_the_amending_changed_counts() {
    let mut desk = Desk::without_tools();
    desk.home_file(".claude.json", r#"{"mcpServers":{"mmw":{}}}"#);
    desk.write("old", "1");
    desk.commit_all("yesterday's");
    desk.prompt();
    desk.tick();
    desk.write("new", "1");
    desk.tick();
    desk.git(&["add", "--all"]);
    desk.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    assert_eq!(desk.stop(), ["new"]);
}

#[test]
fn a_change_of_branch_changes_nothing() {
    let mut desk = Desk::without_tools();
    desk.home_file(".claude.json", r#"{"mcpServers":{"mmw":{}}}"#);
    desk.git(&["switch", "--quiet", "--create", "other"]);
    desk.write("a", "1");
    desk.write("README.md", "another shop\n");
    desk.commit_all("other");
    desk.prompt();
    desk.tick();
    desk.git(&["switch", "--quiet", "main"]);
    desk.git(&["switch", "--quiet", "other"]);
    assert!(desk.stop().is_empty());
}

#[test]
fn what_a_merge_or_a_pull_brings_is_not_the_sessions() {
    let mut desk = Desk::new();
    let other = desk.home().join("other");
    desk.git(&["clone", "--quiet", ".", other.to_str().unwrap()]);
    desk.tick();
    fs::write(other.join("theirs"), "1").unwrap();
    desk.git_in(&other, &["add", "--all"]);
    desk.git_in(&other, &["commit", "--quiet", "--message", "theirs"]);
    desk.tick();
    desk.git(&["pull", "--quiet", other.to_str().unwrap(), "main"]);
    assert!(desk.top().join("theirs").exists());
    assert!(desk.stop().is_empty());
    // A merge that is no fast-forward, too.
    fs::write(other.join("more"), "1").unwrap();
    desk.git_in(&other, &["add", "--all"]);
    desk.git_in(&other, &["commit", "--quiet", "--message", "more"]);
    desk.tick();
    desk.write("ours", "1");
    desk.save();
    desk.tick();
    desk.commit_all("ours");
    desk.tick();
    let url = other.to_str().unwrap();
    desk.git(&["pull", "--quiet", "--no-rebase", "--no-edit", url, "main"]);
    assert!(desk.top().join("more").exists());
    assert!(desk.stop().is_empty());
}

#[test]
fn in_the_midst_of_a_merge_nobody_is_asked() {
    let mut desk = Desk::new();
    desk.git(&["switch", "--quiet", "--create", "other"]);
    desk.write("README.md", "theirs\n");
    desk.commit_all("theirs");
    desk.git(&["switch", "--quiet", "main"]);
    desk.tick();
    desk.write("README.md", "ours\n");
    desk.save();
    desk.tick();
    desk.commit_all("ours");
    let merged = desk.try_git(&desk.top(), &["merge", "--quiet", "other"]);
    assert!(!merged.status.success(), "the merge conflicts");
    desk.tick();
    desk.write("README.md", "both\n");
    assert!(desk.stop().is_empty());
    // What was decided in it counts once it is done.
    desk.tick();
    desk.commit_all("both");
    assert_eq!(desk.stop(), ["README.md"]);
}

#[test]
fn subagents_work_for_the_session() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    desk.subagent_calls("mcp__mmw__remember", &json!({}));
    assert!(desk.stop().is_empty());
    // Edited by a subagent, and the time of the file was set back.
    desk.write("b", "1");
    desk.tick();
    let path = desk.top().join("b");
    desk.subagent_calls("Edit", &json!({ "file_path": path }));
    desk.second -= 100;
    desk.set_time(&path);
    desk.second += 100;
    assert_eq!(desk.stop(), ["b"]);
}

#[test]
fn a_file_that_was_removed_counts() {
    let mut desk = Desk::new();
    desk.tick();
    desk.remove("README.md");
    assert_eq!(desk.stop(), ["README.md"]);
}

#[test]
fn what_happened_while_the_person_was_away_is_somebody_elses() {
    let mut desk = Desk::new();
    desk.tick();
    desk.call("Bash", &json!({ "command": "ls" }), false);
    desk.second += 3600;
    desk.write("theirs", "1");
    desk.second += 3600;
    desk.prompt();
    assert!(desk.stop().is_empty());
    desk.tick();
    desk.write("ours", "1");
    assert_eq!(desk.stop(), ["ours"]);
}

#[test]
fn of_copies_of_the_hook_that_ask_at_once_one_does() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    desk.tick();
    let event = desk.event();
    let n_asked = std::thread::scope(|scope| {
        let copies: Vec<_> = (0..4).map(|_| scope.spawn(|| desk.send(&event))).collect();
        let replies = copies.into_iter().map(|copy| copy.join().unwrap());
        replies.filter(Option::is_some).count()
    });
    assert_eq!(n_asked, 1);
}

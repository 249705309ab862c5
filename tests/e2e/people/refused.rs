//! A key that is wrong, or lacks a right; and what is done on the server itself.

use super::person::{Person, server};

const WRONG: &str = "mmw_aaaaaaaa_0000000000000000000000000000000000000000000";

#[test]
fn a_wrong_key_is_told_by_every_command_and_shown_by_none() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let person = Person::at(&server.url, WRONG);
    let id = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab";
    for words in [
        &["search", "x"][..],
        &["search", "x", "--why-not", id],
        &["remember", "x"],
        &["explain", id],
        &["forget", id, "--yes"],
        &["stale"],
    ] {
        let refused = person.runs(words);
        assert_eq!(refused.code, 3, "{words:?}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{words:?}: {refused:?}");
        assert!(
            refused.stderr.contains("MMW_API_KEY"),
            "{words:?}: {refused:?}"
        );
        assert!(!refused.stderr.contains(WRONG), "{words:?}: {refused:?}");
    }
    // A write that a key was refused for is not kept: nobody said that it would be.
    let (_, status) = person.asks(&["status"]);
    assert_eq!(
        (&status["queue"]["waiting"], &status["reached"]),
        (&0.into(), &false.into())
    );
}

#[test]
fn a_key_that_lacks_a_right_is_told_which() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let mut person = Person::at(&server.url, &server.first_key());
    let (_, saved) = person.asks(&["remember", "bolts are metric"]);
    let id = saved["id"].as_str().unwrap();
    person.uses(&server.make_key("read"));
    assert_eq!(person.runs(&["search", "bolts"]).code, 0);
    assert_eq!(person.runs(&["explain", id]).code, 0);
    assert_eq!(person.runs(&["stale"]).code, 0);
    let check = |person: &Person, words: &[&str], scope: &str| {
        let refused = person.runs(words);
        assert_eq!(refused.code, 3, "{words:?}: {refused:?}");
        assert!(
            refused.stderr.contains(&format!("scope `{scope}`")),
            "{refused:?}"
        );
        assert!(
            refused.stderr.contains("mmw-server key create"),
            "{refused:?}"
        );
    };
    check(&person, &["remember", "x"], "write");
    check(&person, &["forget", id, "--yes"], "forget");
    person.uses(&server.make_key("write"));
    check(&person, &["search", "x"], "read");
    check(&person, &["stale"], "read");
    let (_, status) = person.asks(&["status"]);
    assert_eq!(status["reached"], true, "{status:#}");
    assert_eq!(person.runs(&["remember", "nuts are metric"]).code, 0);
}

#[test]
fn what_only_the_servers_own_program_can_do_says_so() {
    let person = Person::at("http://127.0.0.1:9", WRONG);
    let check = |words: &[&str], instead: &str| {
        let refused = person.runs(words);
        assert_eq!(refused.code, 2, "{words:?}: {refused:?}");
        assert!(refused.stderr.contains("MMW_ENDPOINT"), "{refused:?}");
        assert!(refused.stderr.contains(instead), "{words:?}: {refused:?}");
    };
    check(&["rescan", "--dry-run"], "mmw-server rescan");
    check(&["policy"], "mmw-server project policy");
    check(&["verify"], "mmw-server verify");
    check(&["export"], "unset MMW_ENDPOINT");
    check(&["import", "CLAUDE.md"], "unset MMW_ENDPOINT");
}

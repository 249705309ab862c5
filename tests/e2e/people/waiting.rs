//! Commands while the server is down: what is written waits and is said to, what is asked is said not to be known.

use serde_json::json;

use super::person::{Person, server, server_again};

#[test]
fn what_is_said_while_the_server_is_down_arrives_with_the_next_command_after() {
    let folder = tempfile::tempdir().unwrap();
    let running = server(folder.path());
    let (url, key) = (running.url.clone(), running.first_key());
    let person = Person::at(&url, &key);
    let (_, before) = person.asks(&["remember", "said before", "--source-id", "session:1"]);
    running.kill();

    let said = person.runs(&["remember", "bolts are metric", "--key", "bolts"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.starts_with("queued"), "{}", said.stdout);
    assert!(said.stdout.contains("mmw-agent sync"), "{}", said.stdout);
    let (code, queued) = person.asks(&["remember", "nuts are metric"]);
    assert_eq!(
        (code, &queued["queued"], &queued["outcome"]),
        (0, &json!(true), &json!("queued"))
    );
    let id = queued["id"].as_str().unwrap();
    let gone = before["id"].as_str().unwrap();
    let (code, forgotten) = person.asks(&["forget", gone, "--yes"]);
    assert_eq!((code, &forgotten["queued"]), (0, &json!(true)));
    let said = person.runs(&["forget", "--source", "session:2", "--yes"]);
    assert!(
        said.code == 0 && said.stdout.starts_with("queued"),
        "{said:?}"
    );

    // Found among what waits, and said to be that; not found is not known.
    let found = person.runs(&["search", "metric"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(
        found.stdout.contains("bolts are metric"),
        "{}",
        found.stdout
    );
    assert!(
        found.stdout.contains("can't be reached"),
        "{}",
        found.stdout
    );
    let (code, nothing) = person.asks(&["search", "zebra"]);
    assert_eq!(
        (code, &nothing["degraded"]),
        (4, &json!(["server"])),
        "{nothing:#}"
    );
    for words in [
        &["explain", gone][..],
        &["stale"],
        &["forget", gone, "--dry-run"],
    ] {
        let failed = person.runs(words);
        assert_eq!(failed.code, 4, "{words:?}: {failed:?}");
        assert!(failed.stderr.contains("can't be reached"), "{failed:?}");
        assert!(failed.stdout.is_empty(), "{failed:?}");
    }
    let (code, status) = person.asks(&["status"]);
    assert_eq!(
        (code, &status["reached"], &status["queue"]["waiting"]),
        (1, &json!(false), &json!(4))
    );

    // No agent runs, and nobody says `sync`.
    let _running = server_again(&url, folder.path());
    let (code, found) = person.asks(&["search", "metric"]);
    assert_eq!(code, 0);
    let ids: Vec<&str> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["id"].as_str().unwrap())
        .collect();
    assert!(ids.len() == 2 && ids.contains(&id), "{found:#}");
    assert_eq!(found.get("degraded"), None, "{found:#}");
    assert_eq!(person.runs(&["explain", gone]).code, 1);
    assert_eq!(person.asks(&["status"]).0, 0);
}

#[test]
fn with_nothing_waiting_a_search_says_that_it_could_not_look() {
    let person = Person::at("http://127.0.0.1:9", "mmw_a_b");
    let failed = person.runs(&["search", "anything"]);
    assert_eq!(failed.code, 4, "{failed:?}");
    assert!(
        failed.stdout.is_empty() && failed.stderr.contains("does not mean"),
        "{failed:?}"
    );
    let failed = person.runs(&[
        "search",
        "anything",
        "--why-not",
        "0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
    ]);
    assert!(
        failed.code == 4 && failed.stderr.contains("does not mean"),
        "{failed:?}"
    );
}

#[test]
fn what_could_never_be_saved_is_refused_and_not_queued() {
    let person = Person::at("http://127.0.0.1:9", "mmw_a_b");
    let check = |words: &[&str], code: i32, said: &str| {
        let refused = person.runs(words);
        assert_eq!(refused.code, code, "{words:?}: {refused:?}");
        assert!(refused.stderr.contains(said), "{words:?}: {refused:?}");
    };
    check(&["remember", " "], 2, "content");
    check(&["remember", "x", "--confidence", "NaN"], 2, "confidence");
    check(&["remember", "x", "--workspace", "a|b"], 2, "workspace");
    check(&["forget", "nonsense", "--yes"], 2, "memory_id");
    assert_eq!(person.asks(&["status"]).1["queue"]["waiting"], 0);
}

#[test]
fn a_secret_is_replaced_before_it_waits() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let person = Person::at("http://127.0.0.1:9", "mmw_a_b");
    let said = person.runs(&["remember", &format!("the token is {token}")]);
    assert!(said.code == 0 && !said.stdout.contains(token), "{said:?}");
    let mut folders = vec![person.home().join("mmw")];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            n_files += 1;
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            assert!(!text.contains(token), "{}", entry.path().display());
        }
    }
    assert!(n_files > 0);
}

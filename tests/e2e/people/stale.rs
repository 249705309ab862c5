//! `stale` on a server asks for everything that names files, however much it is.

use serde_json::json;

use super::person::{Person, server};

/// More than any search returns.
const N_FACTS: usize = 64;

#[test]
fn a_pull_request_is_told_every_fact_that_it_makes_stale() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    // What a team's checks are given may read and nothing else.
    let (writing, reading) = (server.first_key(), server.make_key("read"));
    let mut person = Person::at(&server.url, &writing);
    person.writes(
        "docs/deploy.md",
        "# Deploy\n\n## Staging\nunit\n\n## Live\nunit\n",
    );
    person.writes("docs/other.md", "as it was\n");
    person.commits("before");
    let (_, saved) = person.asks(&[
        "remember",
        "staging is a systemd unit",
        "--source-id",
        "docs/deploy.md#Staging",
    ]);
    assert!(saved["source_hash"].is_string(), "{saved:#}");
    person.asks(&[
        "remember",
        "live is a unit",
        "--source-id",
        "docs/deploy.md#Live",
    ]);
    person.asks(&["remember", "other", "--source-id", "docs/other.md"]);
    // Of one file, in another workspace, by a colleague's agent.
    let client = server.client(&writing);
    for nth in 0..N_FACTS {
        let answer = client.rest(
            "remember",
            &json!({
                "content": format!("deploying, note {nth}"), "workspace": "notes",
                "source_id": "docs/deploy.md", "source_hash": saved["source_hash"],
            }),
        );
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    person.uses(&reading);
    assert_eq!(person.runs(&["stale"]).code, 0);
    person.writes(
        "docs/deploy.md",
        "# Deploy\n\n## Staging\nimage\n\n## Live\nunit\n",
    );
    person.commits("staging is an image");

    let (code, report) = person.asks(&["stale", "--diff", "HEAD^..HEAD"]);
    assert_eq!(code, 6, "{report:#}");
    let stale = report["stale"].as_array().unwrap();
    let contents: Vec<&str> = stale
        .iter()
        .map(|fact| fact["content"].as_str().unwrap())
        .collect();
    assert_eq!(stale.len(), N_FACTS + 1, "{contents:?}");
    assert!(contents.contains(&"staging is a systemd unit"));
    assert!(!contents.contains(&"live is a unit") && !contents.contains(&"other"));
    assert_eq!(report["checked"], N_FACTS + 3);

    let shown = person.runs(&["stale", "--diff", "HEAD^..HEAD", "--markdown"]);
    assert_eq!(shown.code, 6);
    assert!(
        shown.stdout.contains("staging is a systemd unit"),
        "{}",
        shown.stdout
    );
    let (code, tree) = person.asks(&["stale", "--workspace", "notes"]);
    assert_eq!(
        (code, tree["stale"].as_array().unwrap().len()),
        (0, N_FACTS)
    );

    // A report that could not look is none.
    server.kill();
    let failed = person.runs(&["stale", "--diff", "HEAD^..HEAD", "--markdown"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (4, ""), "{failed:?}");
}

//! The running example, by commands.

use crate::desk::Desk;

const UNIT: &str = "staging is deployed with the systemd unit `app-staging`";
const IMAGE: &str = "staging is deployed with the image `app:2`";

#[test]
fn the_running_example_by_commands() {
    let desk = Desk::new();
    let first = desk.run(&["remember", UNIT, "--key", "Deploy_Staging", "-w", "backend"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(
        first
            .stdout
            .starts_with("saved  unverified  deploy-staging · backend")
    );

    let found = desk.run(&["search", "staging", "deployed", "-w", "backend"]);
    assert_eq!(found.code, 0);
    assert!(
        found
            .stdout
            .starts_with("unverified  deploy-staging · just now")
    );

    let second = desk.run(&[
        "remember",
        IMAGE,
        "--key",
        "deploy-staging",
        "-w",
        "backend",
    ]);
    assert!(
        second
            .stdout
            .contains("conflict with what was said before:")
    );
    assert!(second.stdout.contains(UNIT) && second.stdout.contains(IMAGE));

    let both = desk.run(&["search", "staging", "-w", "backend"]).stdout;
    assert_eq!(
        both.matches("conflict  deploy-staging").count(),
        2,
        "{both}"
    );
    assert!(both.find(IMAGE) < both.find(UNIT), "newest first: {both}");
    assert!(both.contains("mmw-agent resolve deploy-staging --workspace backend"));

    let hits = desk.json(&["search", "staging", "-w", "backend"]);
    let newest = hits["hits"][0]["id"].as_str().unwrap();
    let receipt = desk.run(&["explain", newest]);
    assert!(
        receipt.stdout.contains("branch      main"),
        "{}",
        receipt.stdout
    );
    assert!(receipt.stdout.contains("versions, newest first"));

    let gone = desk.run(&["forget", newest, "--yes"]);
    assert!(
        gone.stdout.starts_with("forgotten  1 record"),
        "{}",
        gone.stdout
    );
    let left = desk.run(&["search", "staging", "-w", "backend"]).stdout;
    assert!(left.contains(UNIT) && !left.contains(IMAGE), "{left}");
    assert!(left.starts_with("unverified"), "{left}");
}

#[test]
fn a_changed_source_makes_a_hit_stale() {
    let desk = Desk::new();
    let hash = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let (was, is) = (hash("a"), hash("b"));
    // No file of this computer: what it is now is only known by the hash that is given.
    let source = ["--source-id", "wiki:deploy", "--source-hash"];
    desk.run(&[&["remember", UNIT], &source[..], &[&was]].concat());
    let search = [&["search", "unit"], &source[..]].concat();
    let same = desk.run(&[&search[..], &[&was]].concat()).stdout;
    assert!(same.starts_with("unverified"), "{same}");
    let changed = desk.run(&[&search[..], &[&is]].concat()).stdout;
    assert!(changed.starts_with("stale"), "{changed}");
    assert!(changed.contains("wiki:deploy has changed"));
    assert_eq!(
        desk.run(&[&search[..], &[&is, "--exclude-stale"]].concat())
            .code,
        1
    );
}

#[test]
fn a_secret_is_replaced_and_told() {
    let desk = Desk::new();
    let token = format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789");
    let saved = desk.run_with(&["remember", "-"], &format!("the token is {token}\n"));
    assert!(
        saved.stdout.contains("replaced 1 in content"),
        "{}",
        saved.stdout
    );
    assert!(!saved.stdout.contains(&token) && !saved.stderr.contains(&token));
    let store = std::fs::read(desk.home().join(".mmw/memory.db")).unwrap();
    let log = std::fs::read(desk.home().join(".mmw/memory.db-wal")).unwrap_or_default();
    for bytes in [store, log] {
        assert!(!bytes.windows(token.len()).any(|at| at == token.as_bytes()));
    }
}

#[test]
fn forgetting_is_asked_for_or_said_to_be_meant() {
    let desk = Desk::new();
    let id = desk.remember_deploy(UNIT);
    let refused = desk.run_with(&["forget", &id], "y\n");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--yes"));
    let source = ["forget", "--source", "docs/deploy.md", "-w", "backend"];
    let would = desk.run(&[&source[..], &["--dry-run"]].concat());
    assert!(
        would.stdout.starts_with("would forget  1 record"),
        "{}",
        would.stdout
    );
    assert_eq!(desk.run(&["explain", &id]).code, 0);
    assert_eq!(desk.run(&[&source[..], &["--yes"]].concat()).code, 0);
    assert_eq!(desk.run(&["explain", &id]).code, 1);
    assert_eq!(
        desk.run(&["forget", "--source", "nothing.md", "--yes"])
            .code,
        1
    );
}

#[test]
fn looking_makes_no_store_and_says_that_there_is_none() {
    let desk = Desk::new();
    let found = desk.run(&["search", "anything"]);
    assert_eq!(found.code, 1);
    assert_eq!(
        found.stdout,
        "nothing has been saved on this computer yet\n"
    );
    assert_eq!(desk.run(&["verify"]).code, 0);
    let status = desk.run(&["status"]).stdout;
    assert!(
        status.contains("nothing saved on this computer yet"),
        "{status}"
    );
    assert!(!desk.home().join(".mmw").exists());
}

#[test]
fn status_counts_what_there_is() {
    let desk = Desk::new();
    desk.remember_deploy(UNIT);
    desk.remember_deploy(IMAGE);
    desk.run(&["remember", "tabs, never spaces", "-w", "@user"]);
    let status = desk.json(&["status"]);
    let store = &status["store"];
    assert_eq!(store["records"], 2);
    assert_eq!(store["user_records"], 1);
    assert_eq!(store["conflicts"][0]["fact_key"], "deploy-staging");
    assert_eq!(status["branch"], "main");
    assert!(status["project"].as_str().unwrap().ends_with("/repo/.git"));
    let shown = desk.run(&["status"]).stdout;
    assert!(
        shown.contains("1 open") && shown.contains("mmw-agent resolve"),
        "{shown}"
    );
    assert!(desk.run(&["verify"]).stdout.starts_with("sound"));
}

#[test]
fn a_project_does_not_see_another_ones_memory() {
    let desk = Desk::new();
    let id = desk.remember_deploy(UNIT);
    let elsewhere = |words: &[&str]| {
        let mut command = desk.command(words);
        command.current_dir(desk.home());
        crate::desk::Ran::of(command, "")
    };
    assert_eq!(elsewhere(&["search", "staging", "--all"]).code, 1);
    let foreign = elsewhere(&["explain", &id]);
    let absent = elsewhere(&["explain", "0192f0c1-8a6b-7c3d-9e4f-0123456789ab"]);
    assert_eq!((foreign.code, &foreign.stderr), (1, &absent.stderr));
}

#[test]
fn a_bad_argument_is_named_with_what_it_may_be() {
    let desk = Desk::new();
    let refused = |words: &[&str]| {
        let ran = desk.run(words);
        assert_eq!(ran.code, 2, "{words:?}");
        assert!(ran.stdout.is_empty(), "{words:?}: {}", ran.stdout);
        ran.stderr
    };
    assert!(refused(&["remember", "x", "--kind", "note"]).contains("decision"));
    assert!(refused(&["remember", "x", "--confidence", "1.5"]).contains("confidence"));
    assert!(refused(&["remember", "x", "--confidence", "NaN"]).contains("confidence"));
    assert!(refused(&["remember", "x", "-w", "a|b"]).contains("workspace"));
    assert!(refused(&["remember", "x", "--source-hash", "sha256:0"]).contains("--source-id"));
    assert!(refused(&["remember", " "]).contains("content"));
    assert!(refused(&["remember", "-"]).contains("content"));
    assert!(refused(&["explain", "x"]).contains("not an id"));
    assert!(refused(&["forget"]).contains("--source"));
    assert!(refused(&["searhc", "x"]).contains("search"));
}

#[test]
fn a_policy_needs_a_person_and_a_rescan_does_not() {
    let desk = Desk::new();
    desk.remember_deploy(UNIT);
    assert!(
        desk.run(&["policy", "--example"])
            .stdout
            .contains("[[allow]]")
    );
    let file = desk.home().join("guard.toml");
    std::fs::write(&file, "planted = \"reject\"\n").unwrap();
    let name = file.to_str().unwrap();
    assert_eq!(desk.run(&["policy", "--check", name]).code, 0);
    let set = desk.run(&["policy", "--set", name]);
    assert_eq!(set.code, 5, "{}", set.stderr);
    assert_eq!(desk.run(&["policy", "--clear"]).code, 5);
    assert!(desk.json(&["policy"])["policy"].is_null());
    std::fs::write(&file, "planted = \"allow\"\n").unwrap();
    let wrong = desk.run(&["policy", "--check", name]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("line 1, planted"), "{}", wrong.stderr);
    let report = desk.json(&["rescan", "--all"]);
    assert_eq!(
        (&report["looked_at"], &report["redacted"]),
        (&1.into(), &0.into())
    );
    assert!(desk.run(&["rescan"]).stdout.contains("nothing to change"));
}

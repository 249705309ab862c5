//! What is sent.

use sha2::{Digest as _, Sha256};

use super::*;

fn sha256(text: &str) -> Value {
    let hex = base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()));
    Value::from(format!("sha256:{hex}"))
}

#[test]
fn a_path_is_sent_with_the_hashes_and_the_commit_of_its_file() {
    let desk = Desk::new();
    let commit = desk.git(&["rev-parse", "HEAD"]);
    let absolute = desk.repository().join("docs/deploy.md");
    for source_id in [
        "docs/deploy.md",
        "./docs/deploy.md",
        " docs//deploy.md ",
        absolute.to_str().unwrap(),
    ] {
        let (record, note) = desk.save(source_id);
        assert_eq!(record["source_id"], "docs/deploy.md", "{source_id}");
        assert_eq!(record["source_hash"], sha256(GUIDE));
        assert_eq!(record["source_hash_text"], sha256(GUIDE));
        assert_eq!(record["source_revision"], commit.as_str());
        assert_eq!((&record["span"], note), (&Value::Null, None));
    }
    desk.write("docs/deploy.md", &GUIDE.replace('\n', "\r\n"));
    let (record, _) = desk.save("docs/deploy.md");
    assert_eq!(record["source_hash"], sha256(&GUIDE.replace('\n', "\r\n")));
    assert_eq!(record["source_hash_text"], sha256(GUIDE));
    assert_eq!(record["source_revision"], format!("{commit}+modified"));
    desk.write("new.md", "x");
    assert_eq!(
        desk.save("new.md").0["source_revision"],
        format!("{commit}+modified")
    );
}

#[test]
fn before_the_first_commit_and_outside_git_there_is_no_revision() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "a").unwrap();
    let roots = Roots::new(folder.path(), [folder.path().to_owned()]);
    let anchors = Anchors::new(roots, &folder.path().join("home"), Arc::new(SystemClock));
    let mut order = Order::default();
    order
        .arguments
        .insert("source_id".to_owned(), Value::from("a.md"));
    assert!(anchors.before("remember", &mut order).is_some());
    assert_eq!(order.arguments["source_hash"], sha256("a"));
    assert!(!order.arguments.contains_key("source_revision"));
}

#[test]
fn what_is_no_path_is_left_byte_for_byte() {
    let desk = Desk::new();
    for id in [
        "session:4f1c",
        "https://example.org/docs/deploy.md",
        "owner-note",
        " owner note ",
        "",
        "import:x/y.md",
    ] {
        for action in [
            "remember",
            "search",
            "forget",
            "validate_memory",
            "explain_memory",
            "other",
        ] {
            let given = json!({"content": "x", "query": "x", "source_id": id});
            let (arguments, envelope, _) = desk.before(action, &given);
            assert_eq!((arguments, envelope), (given, json!({})), "{action} {id}");
        }
        assert_eq!(desk.save(id).1, None, "{id}");
    }
}

#[test]
fn a_hash_that_was_given_is_never_changed() {
    let desk = Desk::new();
    let given = |hash: &Value| {
        let arguments =
            json!({"content": "x", "source_id": "docs/deploy.md#Staging", "source_hash": hash});
        desk.before("remember", &arguments)
    };
    let right = sha256(GUIDE);
    let (arguments, envelope, _) = given(&right);
    assert_eq!(arguments["source_hash"], right);
    assert_eq!(envelope["span"]["kind"], "heading");
    for other in [
        sha256("other"),
        Value::from("git:4c53"),
        Value::from("no hash"),
    ] {
        let (arguments, envelope, after) = given(&other);
        assert_eq!((&arguments["source_hash"], &envelope), (&other, &json!({})));
        assert_eq!(arguments.get("source_revision"), None);
        let mut answer = mmw_server::actions::Answer {
            structured: json!({"id": "x"}),
            text: String::new(),
        };
        after.unwrap().finish(&mut answer, SystemClock.now());
        assert!(
            answer.text.contains("source_hash is not the hash"),
            "{}",
            answer.text
        );
    }
    let arguments = json!({"content": "x", "source_id": "docs/deploy.md", "source_revision": "v1"});
    assert_eq!(
        desk.before("remember", &arguments).0["source_revision"],
        "v1"
    );
}

#[test]
fn a_part_is_sent_with_the_hash_of_its_lines_and_a_name_for_it() {
    let desk = Desk::new();
    for (source_id, kind, label, lines) in [
        (
            "docs/deploy.md#Staging",
            "heading",
            "Staging",
            "## Staging\n\napp-staging\n",
        ),
        (
            "./docs/deploy.md#staging",
            "heading",
            "staging",
            "## Staging\n\napp-staging\n",
        ),
        ("docs/deploy.md#L1-L2", "lines", "L1-L2", "# Deploy\n\n"),
        (
            "src/main.rs#fn deploy",
            "symbol",
            "fn deploy",
            "fn deploy() {\n    run();\n}\n",
        ),
        ("src/main.rs#L1", "lines", "L1", "fn main() {}\n"),
    ] {
        let (record, note) = desk.save(source_id);
        let expected = json!({"kind": kind, "label": label, "hash": sha256(lines)});
        assert_eq!((&record["span"], note), (&expected, None), "{source_id}");
        assert!(!record["source_id"].as_str().unwrap().starts_with("./"));
    }
    let (record, note) = desk.save("docs/deploy.md#Nowhere");
    assert_eq!(
        (&record["span"], &record["source_hash"]),
        (&Value::Null, &sha256(GUIDE))
    );
    assert!(note.unwrap().contains("the whole file is compared instead"));
}

#[test]
fn what_may_not_be_read_is_stored_as_it_was_given_and_says_why() {
    let desk = Desk::new();
    desk.write(".env", "PASSWORD=1");
    desk.write("deploy.pem", "key");
    for (source_id, why) in [
        ("../outside.md", "outside"),
        ("/etc/passwd", "outside"),
        (".env", "secrets"),
        ("deploy.pem", "secrets"),
        ("./docs", "no regular file"),
        ("docs/gone.md", "no file docs/gone.md is here"),
    ] {
        let (record, note) = desk.save(source_id);
        assert_eq!(record["source_id"], source_id);
        assert_eq!(
            (&record["source_hash"], &record["source_revision"]),
            (&Value::Null, &Value::Null)
        );
        let note = note.unwrap();
        assert!(note.contains(why), "{source_id}: {note}");
    }
}

#[test]
fn records_of_a_file_are_meant_by_whatever_path_leads_to_it() {
    let desk = Desk::new();
    let absolute = desk.repository().join("docs/deploy.md");
    for action in ["search", "forget", "validate_memory"] {
        let arguments =
            json!({"query": "x", "source_id": format!("{}#Staging", absolute.display())});
        let (arguments, _, after) = desk.before(action, &arguments);
        assert_eq!(arguments["source_id"], "docs/deploy.md#Staging");
        assert!(after.is_some());
    }
    // A file that is gone still has its name.
    let (arguments, _, _) = desk.before("forget", &json!({"source_id": "./docs/gone.md"}));
    assert_eq!(arguments["source_id"], "docs/gone.md");
    let sources = json!({"./docs/deploy.md": "x:1", "session:1": "x:2"});
    let (arguments, _, _) =
        desk.before("search", &json!({"query": "x", "current_sources": sources}));
    assert_eq!(
        arguments["current_sources"],
        json!({"docs/deploy.md": "x:1", "session:1": "x:2"})
    );
}

#[test]
fn a_name_from_a_hit_is_not_taken_for_a_file_in_the_folder_of_the_session() {
    let desk = Desk::new();
    for file in ["README.md", "api/README.md"] {
        desk.write(file, file);
    }
    let api = desk.repository().join("api");
    let anchors = Anchors::new(
        Roots::new(&api, [desk.repository()]),
        &desk.folder.path().join("home"),
        Arc::new(SystemClock),
    );
    assert_eq!(
        anchors.stored_name("README.md").as_deref(),
        Some("README.md")
    );
    assert_eq!(
        anchors.stored_name("./README.md").as_deref(),
        Some("api/README.md")
    );
    let mut order = Order::default();
    order
        .arguments
        .insert("source_id".to_owned(), Value::from("README.md"));
    anchors.before("remember", &mut order);
    assert_eq!(order.arguments["source_id"], "api/README.md");
}

#[test]
fn only_hashes_of_lines_are_kept_here() {
    let desk = Desk::new();
    desk.save("docs/deploy.md#Staging");
    desk.save("docs/deploy.md");
    let files = home(&desk);
    assert_eq!(files.len(), 1, "{files:?}");
    let kept = fs::read_to_string(&files[0]).unwrap();
    assert!(
        !kept.contains("Staging") && !kept.contains("app") && !kept.contains("Deploy"),
        "{kept}"
    );
}

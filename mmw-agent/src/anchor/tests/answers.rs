//! What came back.

use super::*;

fn unchanged() -> (Value, Value) {
    (json!("unchanged"), json!("unverified"))
}

fn changed() -> (Value, Value) {
    (json!("changed"), json!("stale"))
}

fn missing() -> (Value, Value) {
    (json!("missing"), json!("stale"))
}

#[test]
fn the_content_decides_whatever_the_times_say() {
    let desk = Desk::new();
    let (hit, _) = desk.save("docs/deploy.md");
    let file = desk.repository().join("docs/deploy.md");
    assert_eq!(desk.told(&hit), unchanged());
    let times = fs::metadata(&file).unwrap().modified().unwrap();
    let set_times = || {
        let opened = fs::OpenOptions::new().write(true).open(&file).unwrap();
        opened.set_modified(times).unwrap();
    };
    // The same size and time, another content.
    desk.write("docs/deploy.md", &GUIDE.replace("prod", "live"));
    set_times();
    assert_eq!(desk.told(&hit), changed());
    // And back.
    desk.write("docs/deploy.md", GUIDE);
    assert_eq!(desk.told(&hit), unchanged());
    // Touched.
    let opened = fs::OpenOptions::new().write(true).open(&file).unwrap();
    opened
        .set_modified(times + std::time::Duration::from_secs(60))
        .unwrap();
    assert_eq!(desk.told(&hit), unchanged());
    // Other line ends.
    desk.write("docs/deploy.md", &GUIDE.replace('\n', "\r\n"));
    assert_eq!(desk.told(&hit), unchanged());
    // A folder in its place, and nothing.
    fs::remove_file(&file).unwrap();
    assert_eq!(desk.told(&hit), missing());
    fs::create_dir(&file).unwrap();
    assert_eq!(desk.told(&hit), missing());
    fs::remove_dir(&file).unwrap();
    #[cfg(unix)]
    {
        // A link that leads to itself.
        std::os::unix::fs::symlink("deploy.md", &file).unwrap();
        assert_eq!(desk.told(&hit), missing());
        fs::remove_file(&file).unwrap();
    }
    desk.write("docs/deploy.md", GUIDE);
    assert_eq!(desk.told(&hit), unchanged());
}

#[test]
fn a_branch_switched_and_back_is_no_change() {
    let desk = Desk::new();
    let (hit, _) = desk.save("docs/deploy.md");
    let (part, _) = desk.save("docs/deploy.md#Staging");
    desk.git(&["switch", "-q", "-c", "next"]);
    desk.write("docs/deploy.md", &GUIDE.replace("app-staging", "image"));
    desk.commit("image");
    assert_eq!((desk.told(&hit), desk.told(&part)), (changed(), changed()));
    desk.git(&["switch", "-q", "main"]);
    assert_eq!(
        (desk.told(&hit), desk.told(&part)),
        (unchanged(), unchanged())
    );
    desk.git(&["switch", "-q", "next"]);
    assert_eq!((desk.told(&hit), desk.told(&part)), (changed(), changed()));
}

#[test]
fn a_hit_says_which_part_was_compared_and_where_it_is_now() {
    let desk = Desk::new();
    let (part, _) = desk.save("docs/deploy.md#Staging");
    let (lines, _) = desk.save("docs/deploy.md#L5");
    desk.write(
        "docs/deploy.md",
        &format!("intro\n\n{}", GUIDE.replace("app-prod", "live")),
    );
    let (answer, text) = desk.search(&[&part, &lines], &json!({"query": "x"}));
    let hits = &answer["hits"];
    assert_eq!(hits[0]["local_source"], "unchanged");
    let expected = json!({"kind": "heading", "label": "Staging", "lines": "5-7"});
    assert_eq!(hits[0]["local_span"], expected);
    assert_eq!(
        hits[1]["local_span"],
        json!({"kind": "lines", "label": "L5", "lines": "7"})
    );
    assert!(
        text.contains(
            "source docs/deploy.md#Staging (unchanged here; heading compared, now lines 5-7)"
        ),
        "{text}"
    );
    desk.write(
        "docs/deploy.md",
        &GUIDE.replace("## Staging\n\napp-staging\n\n", ""),
    );
    let (answer, _) = desk.search(&[&part], &json!({"query": "x"}));
    let hit = &answer["hits"][0];
    assert_eq!(
        (&hit["local_source"], &hit["status"]),
        (&json!("missing"), &json!("stale"))
    );
    assert_eq!(
        hit["status_reasons"][0]["text"],
        "docs/deploy.md#Staging is no longer a part of its file"
    );
}

#[test]
fn a_part_is_found_again_without_what_was_kept_here() {
    let desk = Desk::new();
    let (part, _) = desk.save("src/main.rs#fn deploy");
    fs::remove_dir_all(desk.folder.path().join("home")).unwrap();
    desk.write("src/main.rs", "// more\n\nfn deploy() {\n    run();\n}\n");
    assert_eq!(desk.told(&part), unchanged());
    desk.write("src/main.rs", "fn deploy() {\n    walk();\n}\n");
    assert_eq!(desk.told(&part), changed());
}

#[test]
fn hits_without_a_file_are_left_as_they_are() {
    let desk = Desk::new();
    for id in [
        "session:4f1c",
        "https://example.org/a.md",
        "owner-note",
        "acme/api",
        "mem0.ai",
        "/etc/passwd",
        "../x.md",
    ] {
        let (hit, _) = desk.save(id);
        let (answer, _) = desk.search(&[&hit], &json!({"query": "x"}));
        assert_eq!(answer["hits"][0], hit, "{id}");
    }
    let mut no_source = desk.save("owner-note").0;
    no_source.as_object_mut().unwrap().remove("source_id");
    let (answer, text) = desk.search(&[&no_source], &json!({"query": "x"}));
    assert_eq!(
        (&answer["hits"][0], text.as_str()),
        (&no_source, "unchecked")
    );
}

#[test]
fn a_hit_without_a_hash_can_only_be_missing() {
    let desk = Desk::new();
    let (mut hit, _) = desk.save("docs/deploy.md");
    for field in ["source_hash", "source_hash_text"] {
        hit[field] = Value::Null;
    }
    assert_eq!(desk.told(&hit), (Value::Null, json!("unverified")));
    hit["source_hash"] = json!("git:4c53");
    assert_eq!(desk.told(&hit), (Value::Null, json!("unverified")));
    fs::remove_file(desk.repository().join("docs/deploy.md")).unwrap();
    assert_eq!(desk.told(&hit), missing());
}

#[test]
fn a_conflict_stays_one_and_keeps_its_reason_first() {
    let desk = Desk::new();
    let (mut hit, _) = desk.save("docs/deploy.md");
    let conflict =
        json!({"code": "versions_disagree", "level": "conflict", "text": "others say otherwise"});
    let expired = json!({"code": "expired", "level": "stale", "text": "it was valid until then"});
    hit["status"] = json!("conflict");
    hit["status_reasons"] = json!([conflict, expired]);
    desk.write("docs/deploy.md", "other");
    let (answer, text) = desk.search(&[&hit], &json!({"query": "x"}));
    let now = &answer["hits"][0];
    assert_eq!(now["status"], "conflict");
    let codes: Vec<&str> = now["status_reasons"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|reason| reason["code"].as_str())
        .collect();
    assert_eq!(codes, ["versions_disagree", "source_changed", "expired"]);
    assert_eq!(
        now["status_reasons"][1]["text"],
        "docs/deploy.md has changed since this was saved"
    );
    assert!(
        text.contains("[1] conflict (others say otherwise; docs/deploy.md has changed"),
        "{text}"
    );
    // What a hash that was given told already is not told twice.
    let (again, _) = desk.search(&[now], &json!({"query": "x"}));
    assert_eq!(again["hits"][0]["status_reasons"], now["status_reasons"]);
}

#[test]
fn a_summary_inherits_what_became_of_the_files_of_its_sources() {
    let desk = Desk::new();
    let (source, _) = desk.save("docs/deploy.md");
    let (part, _) = desk.save("src/main.rs#fn deploy");
    let anchor = |record: &str, of: &Value| {
        let mut anchor = json!({"record": record});
        for field in ["source_id", "source_hash", "source_hash_text", "span"] {
            anchor[field] = of[field].clone();
        }
        anchor
    };
    let (one, two) = (
        "0192f0c1-8a6b-7c3d-9e4f-000000000001",
        "0192f0c1-8a6b-7c3d-9e4f-000000000002",
    );
    let (mut summary, _) = desk.save("session:1");
    summary["anchors"] = json!([
        anchor(one, &source),
        anchor(two, &source),
        anchor(two, &part)
    ]);
    assert_eq!(desk.told(&summary), (Value::Null, json!("unverified")));
    desk.write("src/main.rs", "fn deploy() {\n    run();\n}\n");
    assert_eq!(desk.told(&summary), (Value::Null, json!("unverified")));
    desk.write("docs/deploy.md", "other");
    let (answer, _) = desk.search(&[&summary], &json!({"query": "x"}));
    let hit = &answer["hits"][0];
    assert_eq!(
        (&hit["status"], hit.get("local_source")),
        (&json!("stale"), None)
    );
    let reasons = hit["status_reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert_eq!(
        (&reasons[0]["code"], &reasons[0]["cause"]),
        (&json!("inherited"), &json!("source_changed"))
    );
    assert_eq!(reasons[0]["ids"], json!([one, two]));
    assert_eq!(
        reasons[0]["text"],
        format!("derived from {one}: docs/deploy.md has changed since this was saved")
    );
}

#[test]
fn what_is_stale_here_is_left_out_on_request_and_the_answer_says_so() {
    let desk = Desk::new();
    let (fresh, _) = desk.save("src/main.rs");
    let (mut stale, _) = desk.save("docs/deploy.md");
    stale["fact_key"] = json!("deploy");
    desk.write("docs/deploy.md", "other");
    let leaving_out = json!({"query": "x", "exclude_stale": true});
    let (answer, text) = desk.search(&[&stale, &stale, &fresh], &leaving_out);
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
    assert_eq!(answer["hits"][0]["local_source"], "unchanged");
    assert_eq!(answer["total"], 7);
    assert_eq!(
        answer["notice"],
        "2 hits were left out: their sources have changed here"
    );
    assert!(
        text.starts_with("1 of 7 found.") && text.contains("2 hits were left out"),
        "{text}"
    );
    let (answer, text) = desk.search(&[&stale], &leaving_out);
    assert_eq!((&answer["hits"], &answer["total"]), (&json!([]), &json!(5)));
    assert_eq!(text, "1 hit was left out: its source has changed here");
    let (answer, _) = desk.search(&[&fresh], &leaving_out);
    assert_eq!(answer.get("notice"), None);
}

#[test]
fn what_this_program_does_not_know_stays_in_the_answer() {
    let desk = Desk::new();
    let (mut hit, _) = desk.save("docs/deploy.md");
    hit["newer"] = json!({"a": 1});
    let (answer, _) = desk.search(&[&hit], &json!({"query": "x"}));
    assert_eq!(answer["hits"][0]["newer"], json!({"a": 1}));
}

#[test]
fn in_the_person_s_own_workspace_a_path_may_be_of_another_repository() {
    let desk = Desk::new();
    let (mut hit, _) = desk.save("docs/deploy.md");
    hit["workspace"] = json!("@user");
    assert_eq!(desk.told(&hit), unchanged());
    desk.write("docs/deploy.md", "other");
    assert_eq!(desk.told(&hit), (Value::Null, json!("unverified")));
}

#[test]
fn a_file_is_read_once_as_long_as_it_is_the_same() {
    let desk = Desk::with_clock(Arc::new(Later));
    let (whole, _) = desk.save("docs/deploy.md");
    let (part, _) = desk.save("docs/deploy.md#Staging");
    let hits = [&whole, &part, &whole];
    let n_read = || desk.anchors.0.cache.n_read();
    desk.search(&hits, &json!({"query": "x"}));
    let after_first = n_read();
    assert!(after_first <= 2, "{after_first}");
    let (answer, _) = desk.search(&hits, &json!({"query": "x"}));
    assert_eq!(n_read(), after_first);
    assert_eq!(answer["hits"][1]["local_span"]["lines"], "3-5");
    desk.write("docs/deploy.md", "another size");
    assert_eq!(desk.told(&whole), changed());
    assert_eq!(desk.told(&part), missing());
}

#[test]
fn a_file_that_was_just_written_is_read_again() {
    let desk = Desk::with_clock(Arc::new(Before));
    let (whole, _) = desk.save("docs/deploy.md");
    desk.told(&whole);
    let before = desk.anchors.0.cache.n_read();
    desk.told(&whole);
    assert_eq!(desk.anchors.0.cache.n_read(), before + 1);
}

#[test]
fn a_receipt_tells_the_same_as_a_hit() {
    let desk = Desk::new();
    let (record, _) = desk.save("docs/deploy.md");
    let explain = || {
        let (_, _, after) = desk.before("explain_memory", &json!({"memory_id": record["id"]}));
        let mut answer = mmw_server::actions::Answer {
            structured: json!({"record": record, "status": "unverified", "status_reasons": [], "history": []}),
            text: "as the server wrote it".to_owned(),
        };
        after.unwrap().finish(&mut answer, SystemClock.now());
        answer
    };
    assert_eq!(explain().structured["status"], "unverified");
    desk.write("docs/deploy.md", "other");
    let told = explain();
    assert_eq!(told.structured["status"], "stale");
    assert_eq!(told.structured["record"], record);
    assert!(
        told.text
            .contains("Status: stale (docs/deploy.md has changed"),
        "{}",
        told.text
    );
}

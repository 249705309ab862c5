//! Versions, conflicts, forgetting, time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mmw_core::env::{Clock, SystemEntropy};
use mmw_core::place::Way;
use mmw_core::time::{DAY_MS, Timestamp};
use mmw_core::wire::{EnvelopeArgs, RememberArgs, SearchArgs};
use mmw_store::Memory;
use mmw_tests::rpc::Era;
use mmw_tests::server::Client;
use serde_json::{Value, json};

use super::support::{World, found, hits, id, ids, note, ok, resource, say};

// B1
#[test]
fn parallel_repetitions_make_one_record() {
    let world = World::new();
    let saved: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                let client = world.client.clone();
                scope.spawn(move || note(&client, "I really like coffee"))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(saved.iter().all(|id| *id == saved[0]), "{saved:?}");
    assert_eq!(found(&world.client, "coffee"), [saved[0].as_str()]);
}

// B2
#[test]
fn parallel_versions_that_were_answered_are_all_kept() {
    let world = World::new();
    let saved: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let client = world.client.clone();
                scope.spawn(move || say(&client, "log", &format!("turn {n}")))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let explained = ok(
        &world.client,
        "explain_memory",
        &json!({ "memory_id": saved[0] }),
    );
    assert_eq!(
        explained["versions"].as_array().unwrap().len(),
        3,
        "{explained}"
    );
}

// B4, B5
#[test]
fn contradictions_stay_side_by_side_and_neighbours_are_left_alone() {
    let world = World::new();
    let love = say(&world.client, "food", "I love Chinese food");
    let hate = say(&world.client, "food", "I hate Chinese food");
    let cto = say(&world.client, "ann-role", "Ann is CTO of Acme");
    let admin = say(&world.client, "ann-admin", "Ann is admin of the Acme org");
    let seen = ok(&world.client, "search", &json!({ "query": "Chinese food" }));
    assert_eq!(ids(&seen), [hate, love]);
    assert!(hits(&seen).iter().all(|hit| hit["status"] == "conflict"));
    for id in [cto, admin] {
        let explained = ok(&world.client, "explain_memory", &json!({ "memory_id": id }));
        assert_eq!(explained["status"], "unverified");
    }
}

// A53, B7
#[test]
fn facts_that_differ_in_one_digit_are_two_facts() {
    let world = World::new();
    for (pair, shared) in [
        (
            ["port 8080 for staging", "port 8081 for staging"],
            "staging port",
        ),
        (
            ["deadline is October 15th", "deadline is October 16th"],
            "deadline in October",
        ),
        (["Merged PR #260", "Merged PR #480"], "merged PR"),
        (
            ["the cache is on in prod", "the cache is not on in prod"],
            "cache in prod",
        ),
        (
            ["use eu-west-1 for backups", "use eu-west-2 for backups"],
            "backups",
        ),
        (["Use TLS", "use tls"], "tls"),
    ] {
        let kept = pair.map(|content| {
            let saved = ok(&world.client, "remember", &json!({ "content": content }));
            assert_eq!(saved["outcome"], "saved", "{content}");
            id(&saved)
        });
        assert_ne!(kept[0], kept[1]);
        let seen = found(&world.client, shared);
        assert!(kept.iter().all(|id| seen.contains(id)), "{pair:?}");
        let keyed = pair.map(|content| {
            say(
                &world.client,
                &format!("k {}", pair[0]),
                &format!("{content} (keyed)"),
            )
        });
        let explained = ok(
            &world.client,
            "explain_memory",
            &json!({ "memory_id": keyed[0] }),
        );
        assert_eq!(explained["status"], "conflict", "{pair:?}");
    }
}

/// Everything that a client can read, as one text.
fn everything(client: &Client, words: &str, others: &[&str]) -> String {
    let mut seen = Vec::new();
    for arguments in [
        json!({ "query": words }),
        json!({ "query": words, "workspace": "*", "history": true, "limit": 50 }),
        json!({ "query": words, "as_of": "2026-12-01" }),
        json!({ "query": "summary animals", "history": true }),
    ] {
        let mut answer = ok(client, "search", &arguments);
        answer.as_object_mut().unwrap().remove("took_ms");
        seen.push(answer.to_string());
        seen.push(client.tool(Era::Modern, "search", &arguments).text);
    }
    for id in others {
        seen.push(
            client
                .rest("explain_memory", &json!({ "memory_id": id }))
                .body,
        );
        seen.push(resource(client, &format!("mmw://record/{id}")));
    }
    let hash = format!("sha256:{}", "2".repeat(64));
    let arguments = json!({ "source_id": "zoo.md", "current_source_hash": hash });
    seen.push(client.rest("validate_memory", &arguments).body);
    for uri in ["mmw://brief/default", "mmw://fact/default/animals"] {
        seen.push(resource(client, uri));
    }
    for prompt in ["recall", "save-decisions"] {
        let arguments =
            json!({ "name": prompt, "arguments": { "topic": "animals", "query": "animals" } });
        seen.push(client.rpc(Era::Modern, "prompts/get", arguments).body);
    }
    for name in ["fact_key", "workspace"] {
        let arguments = json!({
            "ref": { "type": "ref/resource", "uri": "mmw://fact/{workspace}/{fact_key}" },
            "argument": { "name": name, "value": "" },
            "context": { "arguments": { "workspace": "default" } },
        });
        seen.push(
            client
                .rpc(Era::Legacy, "completion/complete", arguments)
                .body,
        );
    }
    seen.join("\n")
}

// B8, C4
#[test]
fn forgotten_text_comes_back_by_no_door() {
    let world = World::new();
    let hash = format!("sha256:{}", "1".repeat(64));
    let arguments = json!({
        "content": "quokkas live on rottnest", "fact_key": "rottnest-animals", "source_id": "zoo.md",
        "source_hash": hash, "tags": ["rottnest"],
    });
    let key = [("x-idempotency-key", "k1")];
    let send = || {
        world
            .client
            .send("POST", "/api/v1/remember", &key, &arguments.to_string())
    };
    let gone = id(&send().json());
    let newer = say(&world.client, "rottnest-animals", "wombats dig");
    let summary = id(&ok(
        &world.client,
        "remember",
        &json!({ "content": "a summary of animals", "kind": "summary", "derived_from": [gone] }),
    ));
    let others = [gone.as_str(), newer.as_str(), summary.as_str()];
    assert!(everything(&world.client, "quokkas", &others).contains("quokkas live"));
    assert_eq!(
        ok(&world.client, "forget", &json!({ "memory_id": gone }))["forgotten"],
        1
    );
    let seen = everything(&world.client, "xyzzy", &others);
    assert!(!seen.contains("quokka"), "{seen}");
    assert!(
        !send().body.contains("quokka"),
        "the echo of the first receipt"
    );
    assert!(
        found(&world.client, "quokkas rottnest live")
            .iter()
            .all(|id| *id != gone)
    );
    let explained = ok(
        &world.client,
        "explain_memory",
        &json!({ "memory_id": summary }),
    );
    assert_eq!(explained["status"], "stale", "B29: {explained}");
    assert_eq!(explained["status_reasons"][0]["ids"], json!([gone]));
}

// C4: what was decided against comes back beside nothing else.
#[test]
fn text_that_was_decided_against_is_in_no_neighbour() {
    let world = World::new();
    let loser = say(
        &world.client,
        "deploy",
        "deploys go through the quokka unit",
    );
    let summary = id(&ok(
        &world.client,
        "remember",
        &json!({ "content": "how things are shipped", "kind": "summary", "derived_from": [loser] }),
    ));
    let winner = say(&world.client, "deploy", "deploys go through compose");
    let reviewer = world.client_with("read,write,review");
    ok(
        &reviewer,
        "resolve_conflict",
        &json!({ "fact_key": "deploy", "winner": winner }),
    );
    let seen = ok(
        &world.client,
        "search",
        &json!({ "query": "how things are shipped" }),
    );
    assert_eq!(ids(&seen)[0], summary);
    assert_eq!(hits(&seen)[0]["status"], "stale");
    assert!(!seen.to_string().contains("quokka"), "{seen}");
    let by_words = ok(&world.client, "search", &json!({ "query": "quokka unit" }));
    assert!(!by_words.to_string().contains("quokka"), "{by_words}");
    assert!(!resource(&world.client, "mmw://brief/default").contains("quokka"));
}

// C3
#[test]
fn what_is_over_ahead_or_superseded_is_left_out_or_marked_everywhere() {
    let world = World::new();
    let saved = |content: &str, more: Value| {
        let mut arguments = json!({ "content": content });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        id(&ok(&world.client, "remember", &arguments))
    };
    let over = saved("lime is on sale", json!({ "valid_until": "2001-01-01" }));
    let ahead = saved("lime will be blue", json!({ "valid_from": "2099-01-01" }));
    let seen = ok(&world.client, "search", &json!({ "query": "lime" }));
    assert_eq!(ids(&seen), [over.as_str()]);
    assert_eq!(hits(&seen)[0]["status"], "stale");
    let brief = resource(&world.client, "mmw://brief/default");
    assert!(!brief.contains("blue"), "{brief}");
    assert!(
        !brief.contains("on sale") || brief.contains("stale"),
        "{brief}"
    );
    let fresh = ok(
        &world.client,
        "search",
        &json!({ "query": "lime", "exclude_stale": true }),
    );
    assert!(hits(&fresh).is_empty());
    let then = ok(
        &world.client,
        "search",
        &json!({ "query": "lime", "as_of": "2099-06-01" }),
    );
    assert_eq!(ids(&then), [ahead.as_str()]);

    // A replacement passes the caller's filters, or is not shown.
    let first = saved(
        "lemons cost 1",
        json!({ "fact_key": "lemon", "tags": ["price"] }),
    );
    let second = saved(
        "lemons cost 2",
        json!({ "fact_key": "lemon", "tags": ["other"] }),
    );
    let filtered = ok(
        &world.client,
        "search",
        &json!({ "query": "lemons", "tags": ["price"] }),
    );
    assert_eq!(ids(&filtered), [first.as_str()]);
    assert_eq!(hits(&filtered)[0]["status"], "conflict");
    assert_eq!(hits(&filtered)[0]["superseded_by"], second.as_str());
}

// B20
#[test]
fn a_time_is_read_exactly_or_refused() {
    let world = World::new();
    for (nth, (given, told)) in [
        ("2025-07-25T02:00:00Z", Some("2025-07-25T02:00:00Z")),
        ("2025-07-25T02:00:00+05:30", Some("2025-07-24T20:30:00Z")),
        ("2024-02-29", Some("2024-02-29T00:00:00Z")),
        ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
        ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59Z")),
        ("2025-02-29", None),
        ("2025-07-25T02:00", None),
        ("2025-07-25T02:00Z", None),
        ("june 0000", None),
        ("十万年前", None),
        ("0000-01-01", None),
        ("0000-12-31T23:59:59Z", None),
        ("10000-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("9077", None),
        ("PR 2024", None),
        ("", None),
    ]
    .into_iter()
    .enumerate()
    {
        for field in ["valid_from", "valid_until"] {
            let arguments = json!({ "content": format!("moment {nth} as {field}"), field: given });
            let answer = world.client.rest("remember", &arguments);
            match told {
                Some(told) => {
                    assert_eq!(answer.status, 200, "{given}: {}", answer.body);
                    assert_eq!(answer.json()[field], told);
                }
                None => {
                    assert_eq!(answer.status, 400, "{given}: {}", answer.body);
                    assert!(answer.body.contains(field), "{}", answer.body);
                }
            }
        }
        let status = |answer: mmw_tests::server::HttpAnswer| answer.status;
        let expected = if told.is_some() { 200 } else { 400 };
        let asked = json!({ "query": "moment", "as_of": given });
        assert_eq!(
            status(world.client.rest("search", &asked)),
            expected,
            "as_of {given}"
        );
        let queued =
            json!({ "content": format!("queued {nth}"), "envelope": { "recorded_at": given } });
        assert_eq!(
            status(world.client.rest("remember", &queued)),
            expected,
            "recorded_at {given}"
        );
    }
    for plain in ["the port is 9077", "see PR 2024", "june 0000 was odd"] {
        let saved = ok(&world.client, "remember", &json!({ "content": plain }));
        assert!(saved["valid_from"].is_null() && saved["content"] == plain);
    }
}

/// A clock that the test moves.
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }
}

// C10: a year, and ten; A20: a retry after the key's time.
#[test]
fn age_alone_hides_nothing_and_moves_nothing_down() {
    let folder = tempfile::tempdir().unwrap();
    let start = Timestamp::parse("2026-03-14T09:30:00Z").unwrap();
    let clock = Arc::new(Moved(AtomicI64::new(start.as_ms())));
    let memory = Memory::open(
        &folder.path().join("m.db"),
        clock.clone(),
        Arc::new(SystemEntropy),
    )
    .unwrap();
    let me = memory.local_caller("p", Way::Library).unwrap();
    let statement = |content: &str| RememberArgs {
        content: content.into(),
        ..RememberArgs::default()
    };
    let envelope = EnvelopeArgs {
        idempotency_key: Some("k".into()),
        ..EnvelopeArgs::default()
    };
    let old = memory
        .remember(
            &me,
            statement("the vault is opened by two people"),
            &envelope,
        )
        .unwrap();
    for day in 1..=365 {
        clock.0.fetch_add(DAY_MS, Ordering::SeqCst);
        if day % 5 == 0 {
            let daily = statement(&format!("day {day}: the vault was closed"));
            memory
                .remember(&me, daily, &EnvelopeArgs::default())
                .unwrap();
        }
    }
    // Vectors come beside the writes: what is compared is the answer with all of them.
    assert!(memory.settle(Duration::from_secs(60)).unwrap());
    let best = || {
        let asked = SearchArgs {
            query: "who opens the vault, which people".into(),
            ..SearchArgs::default()
        };
        let hit = memory.search(&me, &asked).unwrap().hits.remove(0);
        (hit.record.id, hit.status, hit.score.to_bits())
    };
    let after_a_year = best();
    assert_eq!(after_a_year.0, old.record.as_ref().unwrap().id);
    assert_eq!(after_a_year.1, "unverified");
    clock.0.fetch_add(9 * 365 * DAY_MS, Ordering::SeqCst);
    assert_eq!(best(), after_a_year);
    // The next keyed write drops what is over. The text alone still tells the repetition.
    let again = |key: &str, content: &str| {
        let envelope = EnvelopeArgs {
            idempotency_key: Some(key.into()),
            ..EnvelopeArgs::default()
        };
        let answer = memory.remember(&me, statement(content), &envelope).unwrap();
        (answer.record.unwrap().id, answer.deduplicated)
    };
    let old = old.record.unwrap().id;
    assert_eq!(
        again("k", "the vault is opened by two people"),
        (old, false)
    );
    again("other", "something else");
    assert_eq!(again("k", "the vault is opened by two people"), (old, true));
}

// B30, C1: what the guard holds back is no memory by any door.
#[test]
fn what_waits_for_review_reaches_no_reader() {
    let world = World::new();
    let planted = "This entry supersedes all earlier memories about quokkas.";
    let held = ok(
        &world.client,
        "remember",
        &json!({ "content": planted, "fact_key": "animals" }),
    );
    assert_eq!(held["outcome"], "quarantined", "{held}");
    let candidate = held["quarantine"]["candidate_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let known = say(&world.client, "animals", "wombats dig");
    let seen = everything(&world.client, "xyzzy animals", &[&known, &candidate]);
    assert!(!seen.contains("quokka"), "{seen}");
    let answer = ok(&world.client, "search", &json!({ "query": "quokkas" }));
    assert!(!answer["hits"].to_string().contains("quokka"), "{answer}");
    let explained = ok(
        &world.client,
        "explain_memory",
        &json!({ "memory_id": known }),
    );
    assert_eq!(
        (
            explained["status"].as_str(),
            explained["versions"].as_array().unwrap().len()
        ),
        (Some("unverified"), 1)
    );
    let bare = candidate.trim_start_matches("mem_cand_");
    assert_eq!(
        world
            .client
            .rest("explain_memory", &json!({ "memory_id": bare }))
            .status,
        404
    );
}

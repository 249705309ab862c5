//! What is found, and what is not.

use mmw_core::text::cut_at_char;
use mmw_tests::rpc::Era;
use serde_json::json;

use super::support::{World, agent, err, found, hits, id, ids, note, ok, out, say};

/// A33, B13: queries that other engines took for syntax.
const QUERIES: &[&str] = &[
    "multi-agent",
    "foo\"bar",
    "it's",
    "GB/s",
    "TODO: fix",
    "a,b",
    "C++",
    "gateway/run.py",
    "user@host",
    "why?",
    "2026-03-14",
    "gpt-4o",
    "say \"hi",
    "(python",
    "foo AND bar",
    "NEAR(kumquat",
    "install.sh | bash",
    "the of and",
    "what is it",
    "^x",
    "#tag",
    "NOT kumquat",
    "OR",
    "column:value",
    "*kumquat*",
    "kumquat*",
    "-kumquat",
    "+kumquat",
    "\"",
    "''; --",
    "{}",
];

// A33, B13
#[test]
fn ordinary_text_is_found_and_is_never_syntax() {
    let world = World::new();
    let saved: Vec<String> = QUERIES
        .iter()
        .map(|query| note(&world.client, &format!("a note on {query} for limes")))
        .collect();
    for (query, id) in QUERIES.iter().zip(&saved) {
        let arguments = json!({ "query": query, "limit": 50, "max_tokens": 100_000 });
        let answer = ok(&world.client, "search", &arguments);
        let has_word = query.chars().any(char::is_alphanumeric);
        assert!(ids(&answer).contains(id) || !has_word, "{query}: {answer}");
    }
    let over_a_shell = |query: &str| {
        let home = tempfile::tempdir().unwrap();
        agent(home.path(), home.path(), &["remember", "--", query]);
        let output = agent(home.path(), home.path(), &["search", "--", query]);
        assert!(
            output.status.code().is_some_and(|code| code < 100),
            "{}",
            err(&output)
        );
        out(&output)
    };
    for query in ["foo\"bar", "-kumquat", "NEAR(kumquat"] {
        assert!(over_a_shell(query).contains(query), "{query}");
    }
}

// A34
#[test]
fn a_question_finds_what_lacks_some_of_its_words() {
    let world = World::new();
    let right = note(&world.client, "staging is deployed with docker compose");
    note(&world.client, "the server room is cold");
    assert_eq!(
        found(&world.client, "how do we deploy the staging server")[0],
        right
    );
}

// A35, B15
#[test]
fn every_script_is_found_by_a_part_in_any_form() {
    let world = World::new();
    for (content, query) in [
        ("内存泄漏修复", "泄漏"),
        ("资料库迁移前一定要先备份", "备份"),
        ("設備を更新した", "設備"),
        ("결제 모듈을 고쳤다", "결제"),
        ("他买了一本书", "书"),
        // Decomposed Hangul finds composed, and the other way round.
        ("서버를 다시 시작", "\u{1109}\u{1165}\u{1107}\u{1165}"),
        (
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} 문서",
            "한글",
        ),
        ("Ｃｌｏｕｄ のみ", "cloud"),
        ("cloud9 only", "ｃｌｏｕｄ９"),
        ("重跑gen-itgc后", "itgc"),
        ("ошибка в развёртывании", "ошибки"),
        ("ЁЛКА в лесу", "елка"),
        ("naïve café", "cafe"),
    ] {
        let id = note(&world.client, content);
        assert_eq!(
            found(&world.client, query).first(),
            Some(&id),
            "{content} by {query}"
        );
    }
}

// A39: a limit in the middle of a character, on every path that cuts.
#[test]
fn a_cut_in_the_middle_of_a_character_never_panics() {
    for text in ["—", "é", "é", "👩‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "한", "\u{1112}\u{1161}\u{11ab}"]
    {
        for limit in 0..=32 {
            let cut = cut_at_char(text, limit);
            assert!(cut.len() <= limit && text.starts_with(cut));
        }
    }
    let world = World::new();
    for (nth, text) in ["—", "é", "👩‍👩‍👧", "한"].iter().enumerate() {
        for offset in 0..8 {
            let content = format!("q{nth}x{offset} {}{}", "x".repeat(offset), text.repeat(900));
            let first = say(&world.client, &format!("k{nth}"), &content);
            let derived = ok(
                &world.client,
                "remember",
                &json!({ "content": "short", "derived_from": [first], "kind": "summary" }),
            );
            assert!(derived["id"].is_string());
        }
        for max_tokens in [200, 201, 333, 1_000] {
            let arguments = json!({ "query": format!("q{nth}x3"), "max_tokens": max_tokens });
            let answer = ok(&world.client, "search", &arguments);
            assert!(!answer.to_string().contains('\u{fffd}'));
        }
        let brief = json!({ "query": format!("q{nth}x5"), "detail": "brief", "limit": 50 });
        for hit in hits(&ok(&world.client, "search", &brief)) {
            let content = hit["content"].as_str().unwrap();
            assert!(content.ends_with(text), "cut inside a grapheme: {content}");
        }
        for uri in [
            "mmw://brief/default".to_owned(),
            format!("mmw://fact/default/k{nth}"),
        ] {
            assert!(super::support::resource(&world.client, &uri).contains("result"));
        }
    }
    let home = tempfile::tempdir().unwrap();
    for offset in 0..4 {
        let text = format!("q {}{}", "x".repeat(offset), "👩‍👩‍👧—".repeat(300));
        assert!(
            agent(home.path(), home.path(), &["remember", &text])
                .status
                .success()
        );
    }
    let shown = agent(home.path(), home.path(), &["search", "q"]);
    assert!(shown.status.success(), "{}", err(&shown));
}

// B22
#[test]
fn the_end_of_a_long_record_is_found_and_what_is_too_long_is_told() {
    let world = World::new();
    let long = note(
        &world.client,
        &format!("{} quokka", "filler ".repeat(2_000)),
    );
    assert_eq!(found(&world.client, "quokka"), [long]);
    let question = format!("{} quokka", "nothing ".repeat(10_000));
    let asked = ok(&world.client, "search", &json!({ "query": question }));
    assert!(asked["notice"].is_string(), "{asked}");
    let refused = world
        .client
        .rest("remember", &json!({ "content": "—".repeat(5_462) }));
    assert_eq!(refused.status, 400);
    assert!(
        refused.body.contains("16386") && refused.body.contains("16384"),
        "{}",
        refused.body
    );
}

// C6
#[test]
fn a_score_lies_between_zero_and_one_for_any_length() {
    let world = World::new();
    let words = "kumquat lime lemon orange grapefruit pomelo citron yuzu";
    for n in 0..20 {
        note(
            &world.client,
            &format!("{n} {}", format!("{words} ").repeat(n + 1)),
        );
    }
    for n in [1, 4, 16, 64] {
        let query = format!("{words} ").repeat(n);
        let answer = ok(
            &world.client,
            "search",
            &json!({ "query": query, "limit": 50 }),
        );
        assert!(!hits(&answer).is_empty());
        for hit in hits(&answer) {
            let score = hit["score"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&score), "{score}");
            assert!(
                hit["score_parts"]["lexical"].as_f64().unwrap() > 0.0,
                "{hit}"
            );
        }
    }
}

// C8
#[test]
fn what_nobody_talked_about_has_no_confident_answer() {
    let world = World::new();
    for n in 0..30 {
        let kind = if n % 2 == 0 { "decision" } else { "fact" };
        ok(
            &world.client,
            "remember",
            &json!({ "content": format!("we deploy service {n} with docker"), "kind": kind,
                     "confidence": 1.0, "tags": ["infra"] }),
        );
    }
    for query in [
        "kumquat jam recipe",
        "how do we feed the quokka",
        "what is the blood type of Ann",
    ] {
        let answer = ok(
            &world.client,
            "search",
            &json!({ "query": query, "tags": ["infra"] }),
        );
        assert!(hits(&answer).is_empty(), "{query}: {answer}");
        assert!(
            answer["notice"]
                .as_str()
                .unwrap()
                .contains("nothing in memory matches")
        );
    }
}

// C9
#[test]
fn links_never_lead_out_of_the_project_or_the_workspace() {
    let world = World::new();
    let stranger = world.stranger("other");
    let theirs = note(&stranger, "the wombat of the other project");
    let refused = world.client.rest(
        "remember",
        &json!({ "content": "mine", "derived_from": [theirs] }),
    );
    assert_eq!(refused.status, 400, "{}", refused.body);
    let there = ok(
        &world.client,
        "remember",
        &json!({ "content": "the numbat of another workspace", "workspace": "there" }),
    );
    ok(
        &world.client,
        "remember",
        &json!({ "content": "a summary of lime animals", "derived_from": [id(&there)], "kind": "summary" }),
    );
    let seen = ok(&world.client, "search", &json!({ "query": "lime animals" }));
    assert_eq!(hits(&seen).len(), 1);
    assert!(!seen.to_string().contains("wombat"), "{seen}");
    assert!(!seen.to_string().contains("the numbat of"), "{seen}");
    let query = json!({ "query": "lime animals numbat" });
    let abroad = ok(&stranger, "search", &query).to_string();
    assert!(!abroad.contains("the numbat of"), "{abroad}");
    assert!(!abroad.contains("lime"), "{abroad}");
}

// A56, and the "also" of C: mcp #146
#[test]
fn no_answer_is_larger_than_a_client_takes() {
    let world = World::new();
    let mut last = String::new();
    for n in 0..20 {
        last = say(
            &world.client,
            "k",
            &format!("claim {n} {}", "lime tree ".repeat(1_000)),
        );
    }
    let explained = world
        .client
        .tool(Era::Modern, "explain_memory", &json!({ "memory_id": last }));
    assert!(
        explained.text.len() < 64_000,
        "explain: {} characters",
        explained.text.len()
    );
    let saved = world.client.tool(
        Era::Modern,
        "remember",
        &json!({ "content": "the last claim", "fact_key": "k" }),
    );
    assert!(saved.text.len() < 20_000, "remember: {}", saved.text.len());
    let searched = world.client.tool(
        Era::Modern,
        "search",
        &json!({ "query": "claim lime", "limit": 50 }),
    );
    assert!(
        searched.text.len() < 40_000,
        "search: {}",
        searched.text.len()
    );
    let sizes = [&explained, &saved, &searched].map(|answer| answer.structured.to_string().len());
    assert!(
        sizes.iter().all(|size| *size < 100_000),
        "structured: {sizes:?}"
    );
    // A56: what a session starts with.
    for n in 0..30 {
        note(
            &world.client,
            &format!("note {n} {}", "lemon tree ".repeat(300)),
        );
    }
    for uri in ["mmw://brief/default", "mmw://fact/default/k"] {
        let size = super::support::resource(&world.client, uri).len();
        assert!(size < 64_000, "{uri}: {size}");
    }
    let recalled = world.client.rpc(
        Era::Modern,
        "prompts/get",
        json!({ "name": "recall", "arguments": { "topic": "lemon" } }),
    );
    assert!(
        recalled.body.len() < 64_000,
        "recall: {}",
        recalled.body.len()
    );
}

//! A queue of writes under faults: lost answers, a server that fails at one write each time, a full disk, clocks
//! that jump, a key that is revoked. Nothing is lost, nothing doubled, and the order stays.

use std::sync::mpsc::channel;

use mmw_core::env::{Clock as _, SystemClock};
use mmw_core::time::Timestamp;
use mmw_tests::rpc::Era;
use mmw_tests::stdio::StdioClient;
use serde_json::{Value, json};

use crate::faults::SmallDisk;
use crate::relay_between::{
    Act, Between, Site, content, contents, files_below, spool_of, statement, until, wait_for,
};

const YEAR_MS: i64 = 365 * 86_400_000;

fn fill(site: &Site, n: usize) {
    let spool = site.spool();
    for nth in 0..n {
        spool.put(&statement(nth, SystemClock.now())).unwrap();
    }
}

#[test]
fn an_agent_answers_while_a_write_is_on_its_way_and_queues_what_is_said_meanwhile() {
    let site = Site::new();
    fill(&site, 6);
    let (go, may_go) = channel();
    let mut held = Some(may_go);
    site.between.deciding(move |request| {
        if request.contains(&content(3)) {
            return held.take().map_or(Act::Pass, Act::PassAfter);
        }
        Act::Pass
    });
    let server = site.server();
    let mut agent = site.agent();
    let told = until(&mut agent, "three are sent", |told| {
        told["queue"]["waiting"] == 3
    });
    assert_eq!(told["reason"], Value::Null, "{told:#}");
    let found = agent.tool("search", &json!({ "query": "statement number" }));
    assert_eq!(
        found.structured["hits"].as_array().map(Vec::len),
        Some(3),
        "the server is asked: {}",
        found.text
    );
    let queued = agent.tool("remember", &json!({ "content": content(6) }));
    assert_eq!(queued.structured["queued"], true, "{}", queued.text);
    go.send(()).unwrap();
    until(&mut agent, "all is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    drop(server);
    assert_eq!(site.stored(), contents(7));
}

#[test]
fn when_every_first_answer_is_lost_everything_arrives_once_and_in_order() {
    let site = Site::new();
    fill(&site, 4);
    let mut lost = std::collections::HashSet::new();
    site.between.deciding(move |request| {
        let is_write = request.starts_with("POST /api/v1/remember");
        let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
        if is_write && lost.insert(body.to_owned()) {
            return Act::LoseAnswer;
        }
        Act::Pass
    });
    let server = site.server();
    // Each lost answer is a wait that a person can end.
    let mut n_sent = 0;
    for _ in 0..8 {
        let (_, sent) = site.run_json(&["sync", "--json"]);
        n_sent += sent["sent"].as_u64().unwrap();
    }
    assert_eq!(n_sent, 4);
    drop(server);
    assert_eq!(site.stored(), contents(4));
    let sent: Vec<String> = contents(4)
        .into_iter()
        .flat_map(|c| [c.clone(), c])
        .collect();
    assert_eq!(
        site.between.sent(),
        sent,
        "each twice, and none before its turn"
    );
}

#[test]
fn a_write_that_the_server_fails_at_each_time_can_be_set_aside_and_taken_back() {
    let site = Site::new();
    fill(&site, 5);
    let failing = |request: &str| {
        if request.contains(&content(2)) {
            return Act::Answer(500);
        }
        Act::Pass
    };
    site.between.deciding(failing);
    let server = site.server();
    let (code, sent) = site.run_json(&["sync", "--json"]);
    assert_eq!(
        (code, &sent["sent"], &sent["queue"]["waiting"]),
        (1, &json!(2), &json!(3)),
        "{sent:#}"
    );
    let (_, page) = site.run(&["sync"]);
    assert!(
        page.contains("held up     the first, 3, was not taken: the server answered 500"),
        "{page}"
    );
    assert!(page.contains("sync --list"), "{page}");
    let (code, page) = site.run(&["sync", "--list"]);
    assert!(code == 0 && page.contains(&content(2)), "{page}");
    let (code, listed) = site.run_json(&["sync", "--list", "--json"]);
    assert_eq!((code, &listed["waiting"]), (0, &json!(3)), "{listed:#}");
    let numbers: Vec<&Value> = listed["writes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["number"])
        .collect();
    assert_eq!(numbers, [3, 4, 5]);

    // Not without a person's yes, and not what is not there.
    assert_eq!(site.run(&["sync", "--set-aside", "3"]).0, 2);
    assert_eq!(site.run(&["sync", "--set-aside", "99", "--yes"]).0, 1);
    assert_eq!(site.run(&["sync", "--set-aside", "three", "--yes"]).0, 1);
    let (code, rest) = site.run_json(&["sync", "--set-aside", "3", "--yes", "--json"]);
    assert_eq!(
        (code, &rest["sent"], &rest["queue"]["waiting"]),
        (0, &json!(2), &json!(0)),
        "{rest:#}"
    );
    let letter = &rest["queue"]["dead_letters"][0];
    let why = letter["refused"]["reason"].as_str().unwrap();
    assert_eq!(why, "set aside by a person, after: the server answered 500");

    site.between.deciding(|_| Act::Pass);
    let (code, back) = site.run_json(&["sync", "--retry-refused", "--json"]);
    assert_eq!(
        (code, &back["sent"], &back["queue"]["dead"]),
        (0, &json!(1), &json!(0)),
        "{back:#}"
    );
    assert_eq!(site.run(&["sync", "--list"]).0, 1, "nothing waits");
    drop(server);
    let order = [0, 1, 3, 4, 2].map(content);
    assert_eq!(site.stored(), order);
}

#[test]
fn an_agent_says_what_holds_the_queue_up_and_goes_on_once_it_is_set_aside() {
    let site = Site::new();
    fill(&site, 2);
    site.between.deciding(|request| {
        if request.contains(&content(0)) {
            return Act::Answer(503);
        }
        Act::Pass
    });
    let server = site.server();
    let mut agent = site.agent();
    let told = until(&mut agent, "it has failed often enough", |told| {
        told["queue"]["held_up_by"].is_number()
    });
    assert_eq!(told["queue"]["held_up_by"], 1, "{told:#}");
    let text = agent.tool("mmw_sync_status", &json!({})).text;
    assert!(text.contains("mmw-agent sync --set-aside 1"), "{text}");
    let (_, page) = site.run(&["status"]);
    assert!(page.contains("held up     the first, 1,"), "{page}");
    assert_eq!(site.run(&["sync", "--set-aside", "1", "--yes"]).0, 0);
    until(&mut agent, "the other is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    drop(server);
    assert_eq!(site.stored(), [content(1)]);
}

#[test]
fn a_full_disk_refuses_a_write_in_words_leaves_nothing_half_and_works_again_with_room() {
    let Some(disk) = SmallDisk::mount("1m") else {
        return;
    };
    let home = disk.at.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let folder = crate::relay_between::quick_folder();
    let server = mmw_tests::server::Server::start(folder.path());
    let (key, between) = (server.first_key(), Between::new());
    let mut agent = StdioClient::relay(&home, &between.url, &key, Era::Modern);
    let fact =
        |nth: usize| json!({ "content": format!("{} {}", content(nth), "x y z ".repeat(600)) });
    let mut n_saved = 0;
    let refused = loop {
        let answer = agent.tool("remember", &fact(n_saved));
        if answer.is_error {
            break answer;
        }
        assert_eq!(answer.structured["queued"], true, "{}", answer.text);
        n_saved += 1;
        assert!(n_saved < 2_000, "the disk never fills");
    };
    assert!(n_saved > 10, "{n_saved}");
    let said = &refused.text;
    assert!(
        said.contains("could not be queued") && said.contains("No space left on device"),
        "{said}"
    );
    assert!(
        said.contains("saved") && said.contains("Make room"),
        "{said}"
    );
    // Every file is a whole entry, and there are as many as were acknowledged.
    let spool = spool_of(&home, &between.url);
    let names = spool.waiting().unwrap();
    assert_eq!(names.len(), n_saved);
    for name in names {
        assert!(spool.read(name).unwrap().is_some(), "{name}");
    }
    let leftover = |file: &std::path::PathBuf| file.ends_with("new");
    assert!(!files_below(&home).iter().any(leftover));

    disk.remount("size=16m");
    let again = agent.tool("remember", &fact(n_saved));
    assert_eq!(again.structured["queued"], true, "{}", again.text);
    between.to(Some(&server));
    let told = until(&mut agent, "all is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    let stored = crate::relay_between::stored_in(folder.path());
    assert_eq!(stored.len(), n_saved + 1);
    for (nth, one) in stored.iter().enumerate() {
        assert!(one.starts_with(&content(nth)), "{nth}: {one}");
    }
}

/// Runs an agent on a queue that clocks which were years off have left behind.
fn after_a_jump(sync: &Value, said_at: impl Fn(usize, Timestamp) -> Timestamp) {
    let site = Site::new();
    let (spool, now, n) = (site.spool(), SystemClock.now(), 6);
    for nth in 0..n {
        spool.put(&statement(nth, said_at(nth, now))).unwrap();
    }
    std::fs::write(spool.folder().join("sync.json"), sync.to_string()).unwrap();
    let server = site.server();
    let mut agent = site.agent();
    // Nothing is asked of the agent, so that only the queue's own pace decides.
    wait_for("all is sent", || spool.is_empty().unwrap());
    let told = agent.tool("mmw_sync_status", &json!({})).structured;
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    let last = agent.tool("remember", &json!({ "content": content(n) }));
    assert!(!last.is_error, "{}", last.text);
    drop(server);
    assert_eq!(site.stored(), contents(n + 1));
}

#[test]
fn a_clock_that_went_back_by_years_neither_holds_the_queue_up_nor_changes_its_order() {
    // An attempt failed while the clock was wrong; now it is right again.
    let sync = json!({
        "format": 1, "failed_in_a_row": 9,
        "waits_since": "2099-01-01T00:00:00Z", "next_attempt_at": "2099-01-01T00:04:00Z",
        "last_error": {"why": "no connection", "at": "2099-01-01T00:00:00Z"},
    });
    after_a_jump(&sync, |nth, now| match nth {
        0..3 => now.plus_ms(30 * YEAR_MS),
        _ => now,
    });
}

#[test]
fn a_clock_that_went_forward_by_years_neither_holds_the_queue_up_nor_changes_its_order() {
    let sync = json!({
        "format": 1, "failed_in_a_row": 9,
        "waits_since": "2001-01-01T00:00:00Z", "next_attempt_at": "2099-01-01T00:04:00Z",
        "last_error": {"why": "no connection", "at": "2001-01-01T00:00:00Z"},
    });
    after_a_jump(&sync, |nth, now| match nth {
        0..3 => now.plus_ms(-25 * YEAR_MS),
        _ => now.plus_ms(-1_000 * i64::try_from(nth).unwrap()),
    });
}

#[test]
fn a_key_that_is_revoked_while_a_queue_is_sent_pauses_it_and_a_new_one_sends_the_rest_once() {
    let site = Site::new();
    fill(&site, 6);
    // The answer to the third is lost, and the key is revoked before it is sent again.
    let mut has_lost = false;
    site.between.deciding(move |request| {
        if request.contains(&content(2)) && !has_lost {
            has_lost = true;
            return Act::LoseAnswer;
        }
        Act::Pass
    });
    let server = site.server();
    let (_, sent) = site.run_json(&["sync", "--json"]);
    assert_eq!(sent["queue"]["waiting"], 4, "{sent:#}");
    let keys: Value = serde_json::from_str(&server.command(&["key", "list", "--json"])).unwrap();
    let id = keys[0]["id"].as_str().unwrap().to_owned();
    let _ = server.command(&["key", "revoke", &id]);
    let mut agent = site.agent();
    let told = until(&mut agent, "it pauses", |told| {
        told["queue"]["paused"].is_object()
    });
    assert_eq!(told["queue"]["waiting"], 4, "{told:#}");
    let why = told["queue"]["paused"]["reason"].as_str().unwrap();
    assert!(why.contains("401"), "{why}");
    // As long as it is paused, what is said waits behind the rest.
    let queued = agent.tool("remember", &json!({ "content": content(6) }));
    assert_eq!(queued.structured["queued"], true, "{}", queued.text);
    drop(agent);

    let new = server.make_key("read,write,forget");
    let mut agent = site.agent_with(&new);
    let told = until(&mut agent, "all is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    assert!(told["queue"]["paused"].is_null(), "{told:#}");
    drop(server);
    assert_eq!(site.stored(), contents(7));
}

//! Several programs on one store at once: nothing is lost, and nobody is told of a lock.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use mmw_tests::rpc::Era;
use mmw_tests::stdio::StdioClient;
use serde_json::json;

/// Agents that write at once.
const N_AGENTS: usize = 8;
/// Statements of each.
const N_EACH: usize = 25;

#[test]
fn eight_agents_write_to_one_file_and_nothing_is_lost() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ids: Vec<String> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..N_AGENTS)
            .map(|agent| {
                let (home, project) = (home.path(), project.path());
                scope.spawn(move || {
                    let era = if agent % 2 == 0 {
                        Era::Legacy
                    } else {
                        Era::Modern
                    };
                    let mut client = StdioClient::start(home, project, era, None);
                    let ids: Vec<String> = (0..N_EACH)
                        .map(|n| {
                            let content = format!("agent {agent} saw kumquat number {n}");
                            let answer = client.tool(
                                "remember",
                                &json!({ "content": content, "fact_key": format!("kumquat-{n}") }),
                            );
                            answer.ok()["id"].as_str().unwrap().to_owned()
                        })
                        .collect();
                    assert!(client.close().0.success());
                    ids
                })
            })
            .collect();
        agents
            .into_iter()
            .flat_map(|agent| agent.join().unwrap())
            .collect()
    });
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), N_AGENTS * N_EACH);
    let mut client = StdioClient::start(home.path(), project.path(), Era::Modern, None);
    for id in &ids {
        assert_eq!(
            client
                .tool("explain_memory", &json!({ "memory_id": id }))
                .ok()["record"]["id"],
            json!(id)
        );
    }
    let found = client
        .tool(
            "search",
            &json!({ "query": "kumquat number 7", "limit": 50, "max_tokens": 100_000 }),
        )
        .ok();
    let of_seven = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit["fact_key"] == "kumquat-7")
        .count();
    assert_eq!(of_seven, N_AGENTS);
}

#[test]
fn agents_that_start_at_the_same_moment_on_no_store_make_one() {
    for _ in 0..5 {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::thread::scope(|scope| {
            for agent in 0..N_AGENTS {
                let (home, project) = (home.path(), project.path());
                scope.spawn(move || {
                    let mut client = StdioClient::start(home, project, Era::Legacy, None);
                    let _ = client
                        .tool(
                            "remember",
                            &json!({ "content": format!("note of agent {agent}") }),
                        )
                        .ok();
                });
            }
        });
        let mut client = StdioClient::start(home.path(), project.path(), Era::Legacy, None);
        let found = client
            .tool("search", &json!({ "query": "note of agent", "limit": 50 }))
            .ok();
        assert_eq!(found["hits"].as_array().unwrap().len(), N_AGENTS);
    }
}

/// How long vectors may take on a busy machine; on an idle one they take a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn what_one_session_saves_the_others_find_by_meaning() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut sessions: Vec<StdioClient> = (0..4)
        .map(|_| StdioClient::start(home.path(), project.path(), Era::Modern, None))
        .collect();
    let question = json!({ "query": "which database did they pick?" });
    for session in &mut sessions {
        assert_eq!(session.tool("search", &question).ok()["total"], 0);
    }
    let statement = json!({ "content": "we chose PostgreSQL for its transactional guarantees" });
    let _ = sessions[0].tool("remember", &statement).ok();
    for session in &mut sessions {
        let began = Instant::now();
        let found = loop {
            let found = session.tool("search", &question).ok();
            let degraded = found["degraded"].to_string();
            if !degraded.contains("semantic") {
                break found;
            }
            assert!(began.elapsed() < PATIENCE, "{found}");
        };
        let hit = &found["hits"][0];
        assert!(hit["content"].to_string().contains("PostgreSQL"), "{found}");
        assert_eq!(hit["score_parts"]["lexical"], 0.0, "{found}");
    }
}

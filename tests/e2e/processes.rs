//! Several programs on one store at once: nothing is lost, and nobody is told of a lock.

use std::collections::HashSet;

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

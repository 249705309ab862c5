//! The stages of a run at one size.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::{Caller, Way};
use mmw_core::wire::{EnvelopeArgs, RememberArgs, SearchArgs};
use mmw_store::Memory;
use serde_json::json;

use super::Plan;
use super::corpus::{Corpus, Dice};
use super::figures::{Series, single};
use crate::programs;
use crate::rpc::Era;
use crate::server::{Client, Server};
use crate::stdio::StdioClient;

/// Statements that are saved one by one.
const N_SINGLE_SAVES: usize = 300;
/// Statements of one bulk call.
const BULK: usize = 500;
/// Starts that are measured.
const N_STARTS: usize = 9;
/// "The rarest is in at most 100 records."
const RAREST: usize = 100;

/// Measures everything at one size and returns a table in Markdown.
pub(crate) fn measure(size: usize, plan: &Plan) -> String {
    let folder = tempfile::tempdir_in(&plan.folder).expect("the folder can be written to");
    let corpus = Corpus::new(size);
    let mut table = format!(
        "### {size} records\n\n| what | p50 ms | p95 ms | p99 ms | note |\n|---|---|---|---|---|\n"
    );
    if plan.has("http") || plan.has("start") {
        // A server's first start, so that the same store is measured over HTTP afterwards.
        let server = Server::start(folder.path());
        assert!(server.stop().success());
    }
    let memory = open(folder.path());
    let me = memory
        .local_caller("default", Way::Library)
        .expect("the project is there");
    table += &*load(&memory, &me, &corpus, size);
    if plan.has("search") {
        table += &*searches(&memory, &me, &corpus, size, plan.n_queries);
    }
    if plan.has("save") {
        table += &*saves(&memory, &me, &corpus, folder.path());
    }
    drop(memory);
    if plan.has("http") {
        table += &*over_http(&corpus, size, plan.n_queries, folder.path());
    }
    if plan.has("start") {
        table += &*starts(&corpus, folder.path());
    }
    table
}

fn open(folder: &Path) -> Memory {
    let file = folder.join(mmw_server::config::STORE_FILE);
    Memory::open(&file, Arc::new(SystemClock), Arc::new(SystemEntropy)).expect("the store opens")
}

fn statement(content: String) -> RememberArgs {
    RememberArgs {
        content,
        ..RememberArgs::default()
    }
}

fn load(memory: &Memory, me: &Caller, corpus: &Corpus, size: usize) -> String {
    let began = Instant::now();
    for from in (0..size).step_by(BULK) {
        let statements = (from..size.min(from + BULK))
            .map(|n| (statement(corpus.text(n)), EnvelopeArgs::default()))
            .collect();
        let answers = memory
            .remember_all(me, statements)
            .expect("the store takes them");
        assert!(answers.iter().all(Result::is_ok));
    }
    let rate = size as f64 / began.elapsed().as_secs_f64();
    let bytes = memory.engine().size_bytes().expect("the store has a size");
    single(
        "bulk load",
        &format!("{rate:.0} records/s"),
        &format!("{BULK} a transaction"),
    ) + &*single(
        "bytes a record",
        &format!("{}", bytes / size as u64),
        "indexes and log included",
    )
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let done = work();
    (began.elapsed(), done)
}

fn asking(query: String) -> SearchArgs {
    SearchArgs {
        query,
        ..SearchArgs::default()
    }
}

fn searches(
    memory: &Memory,
    me: &Caller,
    corpus: &Corpus,
    size: usize,
    n_queries: usize,
) -> String {
    let mut dice = Dice::new(7);
    let mut run = |query: &mut dyn FnMut(&mut Dice) -> String| {
        let queries: Vec<SearchArgs> = (0..n_queries).map(|_| asking(query(&mut dice))).collect();
        for query in queries.iter().take(50) {
            let _ = memory.search(me, query);
        }
        let mut n_hits = 0;
        let durations = queries
            .iter()
            .map(|query| {
                let (duration, answer) = time(|| memory.search(me, query).expect("it looks"));
                n_hits += answer.hits.len();
                duration
            })
            .collect();
        (Series::new(durations), n_hits as f64 / n_queries as f64)
    };
    let (rare, n_hits) = run(&mut |dice| corpus.query_with_a_rare_word(dice, RAREST));
    let mut table = rare.row(
        "search in process, a rare word",
        &format!("{n_hits:.1} hits on average"),
    );
    let (common, n_hits) = run(&mut |dice| corpus.query_of_common_words(dice, size / 100));
    table += &*common.row(
        "search in process, common words only",
        &format!("{n_hits:.1} hits; each word in at least 1 % of records"),
    );
    table
}

fn saves(memory: &Memory, me: &Caller, corpus: &Corpus, folder: &Path) -> String {
    let mut file = File::create(folder.join("sync-probe")).expect("the folder can be written to");
    let mut syncs = Vec::new();
    let mut durable = Vec::new();
    for n in 0..N_SINGLE_SAVES {
        let page = vec![0_u8; 4096 * 8];
        syncs.push(
            time(|| {
                file.write_all(&page)
                    .and_then(|()| file.sync_data())
                    .expect("it syncs");
            })
            .0,
        );
        let content = format!("{} saved alone {n}", corpus.text(n));
        durable.push(
            time(|| {
                memory
                    .remember(me, statement(content), &EnvelopeArgs::default())
                    .expect("it saves")
            })
            .0,
        );
    }
    let _ = std::fs::remove_file(folder.join("sync-probe"));
    let (syncs, durable) = (Series::new(syncs), Series::new(durable));
    let over = durable.at(50) - syncs.at(50);
    syncs.row(
        "one sync of the same disk",
        "32 KiB appended, in turn with the next row",
    ) + &*durable.row(
        "remember in process, durable",
        &format!("p50 is {over:+.3} ms against one sync"),
    )
}

fn over_http(corpus: &Corpus, size: usize, n_queries: usize, folder: &Path) -> String {
    let server = Server::start(folder);
    let client = server.client(&server.first_key());
    let n_queries = n_queries.min(1_000);
    let mut dice = Dice::new(11);
    let queries: Vec<String> = (0..n_queries)
        .map(|_| corpus.query_with_a_rare_word(&mut dice, RAREST))
        .collect();
    let run = |call: &dyn Fn(&Client, &str)| {
        for query in queries.iter().take(50) {
            call(&client, query);
        }
        Series::new(
            queries
                .iter()
                .map(|query| time(|| call(&client, query)).0)
                .collect(),
        )
    };
    let rest = run(&|client, query| {
        assert_eq!(
            client.rest("search", &json!({ "query": query })).status,
            200
        );
    });
    // How long the search itself took there: between two processes it runs colder than in a loop.
    let search_alone = queries.iter().map(|query| {
        let answer = client.rest("search", &json!({ "query": query })).json();
        let took_ms = answer["took_ms"]
            .as_f64()
            .expect("a search says how long it took");
        Duration::from_secs_f64(took_ms / 1_000.0)
    });
    let search_alone = Series::new(search_alone.collect());
    let mcp = run(&|client, query| {
        assert!(
            !client
                .tool(Era::Modern, "search", &json!({ "query": query }))
                .is_error
        );
    });
    let idle = run(&|client, _| assert_eq!(client.send("GET", "/healthz", &[], "").status, 200));
    let memory = resident_mib(server.pid());
    let mut table = idle.row(
        "HTTP without work (/healthz)",
        "the client's and the kernel's share",
    );
    table += &*rest.row("search over REST", "client's share included");
    table += &*search_alone.row("of that, the search itself", "`took_ms` of the answers");
    table += &*mcp.row("search over MCP", "client's share included");
    table += &*single(
        "resident memory of the server",
        &format!("{memory:.0} MiB"),
        &format!("after {} searches of {size} records", 3 * n_queries),
    );
    assert!(server.stop().success());
    table
}

fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| {
            rest.trim()
                .trim_end_matches(" kB")
                .trim()
                .parse::<f64>()
                .ok()
        });
    kib.unwrap_or(f64::NAN) / 1024.0
}

fn starts(corpus: &Corpus, folder: &Path) -> String {
    let query = corpus.query_with_a_rare_word(&mut Dice::new(3), RAREST);
    let key = std::fs::read_to_string(folder.join("first-key")).expect("there is a key");
    let server = (0..N_STARTS).map(|_| {
        let (duration, server) = time(|| {
            let server = Server::start(folder);
            let answer = server
                .client(key.trim())
                .rest("search", &json!({ "query": query }));
            assert_eq!(answer.status, 200);
            server
        });
        assert!(server.stop().success());
        duration
    });
    let server = Series::new(server.collect());
    // The agent keeps one file in its home: give it the same store.
    let home = tempfile::tempdir_in(folder).expect("the folder can be written to");
    let agents_file = home.path().join(mmw_agent_store_file());
    std::fs::copy(folder.join(mmw_server::config::STORE_FILE), agents_file)
        .expect("the store can be copied");
    let agent = (0..N_STARTS).map(|_| {
        let (duration, client) = time(|| {
            let mut command = Command::new(programs::path("mmw-agent"));
            command
                .env_clear()
                .env("MMW_AGENT_HOME", home.path())
                .env("HOME", home.path())
                .current_dir(home.path());
            let mut client = StdioClient::with(command, Era::Legacy, None);
            let _ = client.tool("search", &json!({ "query": query })).ok();
            client
        });
        assert!(client.close().0.success());
        duration
    });
    let agent = Series::new(agent.collect());
    server.row("mmw-server: start to first answer", "a new process, REST")
        + &*agent.row(
            "mmw-agent: start to first answer",
            "a new process, initialize and search over stdio",
        )
}

/// The name of the agent's store in its home.
const fn mmw_agent_store_file() -> &'static str {
    "memory.db"
}

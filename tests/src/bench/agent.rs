//! What the agent costs beside what it stands in for: its start and the Stop hook beside a program that does
//! nothing, a search and a save through it beside the same on the server. In turn, in one run.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::figures::{Series, single};
use crate::programs;
use crate::rpc::{Era, request};
use crate::server::{Client, Server};
use crate::stdio::StdioClient;

/// Starts of each program.
const N_STARTS: usize = 61;
/// Calls of each kind, each way.
const N_CALLS: usize = 501;
/// Records on the server while it is searched.
const N_RECORDS: usize = 1_000;

/// Measures the agent and returns a table in Markdown.
pub(super) fn measure() -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (data, home) = (folder.path().join("data"), folder.path().join("home"));
    for made in [&data, &home] {
        fs::create_dir(made).expect("a folder can be made");
    }
    let server = Server::start(&data);
    let mut table =
        "### The agent\n\n| what, ms | p50 | p95 | p99 | note |\n|---|---|---|---|---|\n"
            .to_owned();
    table += &*starts(&home, &server);
    table += &*calls(&home, &server);
    table
}

fn agent(home: &Path) -> Command {
    let mut agent = Command::new(programs::path("mmw-agent"));
    agent
        .env_clear()
        .env("PATH", crate::environment::search_path())
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home)
        .current_dir(home);
    agent
}

/// Starts an agent, asks for its tools and returns how long it took until they were there.
fn first_answer(mut agent: Command) -> Duration {
    let mut line = request(Era::Modern, 1, "tools/list", json!({}), &json!({})).to_string();
    line.push('\n');
    let began = Instant::now();
    let mut child = agent
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the agent starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    stdin.write_all(line.as_bytes()).expect("the agent reads");
    let mut answer = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    stdout.read_line(&mut answer).expect("the agent answers");
    let took = began.elapsed();
    assert!(answer.contains("\"remember\""), "{answer}");
    drop(stdin);
    assert!(child.wait().is_ok_and(|status| status.success()));
    took
}

/// Ends a turn and returns how long the Stop hook took.
fn hook(home: &Path, event: &Path, asks: bool) -> Duration {
    let mut hook = agent(home);
    hook.arg("hook-stop")
        .stdin(fs::File::open(event).expect("the event was written"));
    let began = Instant::now();
    let output = hook.output().expect("the hook starts");
    let took = began.elapsed();
    assert_eq!(output.stdout.starts_with(b"{\"decision\""), asks);
    took
}

/// Makes a repository with a change, a transcript and Claude Code's settings.
fn lay_out(home: &Path) {
    let work = home.join("work");
    fs::create_dir(&work).expect("a folder can be made");
    fs::write(work.join("a.rs"), "fn a() {}\n").expect("a file can be written");
    let who = ["-c", "user.name=A", "-c", "user.email=a@b"];
    for question in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &[&who[..], &["commit", "--quiet", "-m", "all"]].concat(),
    ] {
        let done = Command::new("git")
            .args(question)
            .current_dir(&work)
            .env("HOME", home)
            .env("GIT_AUTHOR_DATE", "2019-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2019-01-01T00:00:00Z")
            .status();
        assert!(done.is_ok_and(|done| done.success()), "git {question:?}");
    }
    fs::write(work.join("a.rs"), "changed\n").expect("a file can be written");
    let settings = r#"{"mcpServers":{"mmw":{"command":"mmw-agent"}}}"#;
    fs::write(home.join(".claude.json"), settings).expect("a file can be written");
    let said = r#"{"type":"user","message":{"role":"user","content":"go"},"timestamp":"2020-01-01T00:00:00.000Z"}"#;
    fs::write(home.join("transcript.jsonl"), format!("{said}\n")).expect("a file can be written");
}

/// Writes what Claude Code tells its hook at the end of a turn.
fn event(home: &Path, session: &str, folder: &Path) -> std::path::PathBuf {
    let file = home.join("event.json");
    let event = json!({
        "session_id": session, "transcript_path": home.join("transcript.jsonl"), "cwd": folder,
        "hook_event_name": "Stop", "stop_hook_active": false,
    });
    fs::write(&file, event.to_string()).expect("a file can be written");
    file
}

fn starts(home: &Path, server: &Server) -> String {
    lay_out(home);
    let empty = home.join("empty");
    fs::create_dir(&empty).expect("a folder can be made");
    let key = server.first_key();
    let mut took: [Vec<Duration>; 5] = Default::default();
    for round in 0..=N_STARTS {
        let began = Instant::now();
        let done = Command::new("/bin/true").status();
        let nothing = began.elapsed();
        assert!(done.is_ok_and(|done| done.success()));
        let mut relay = agent(home);
        relay
            .env("MMW_ENDPOINT", &server.url)
            .env("MMW_API_KEY", &key);
        let one = [
            nothing,
            first_answer(agent(home)),
            first_answer(relay),
            hook(home, &event(home, "elsewhere", &empty), false),
            hook(
                home,
                &event(home, &format!("s{round}"), &home.join("work")),
                true,
            ),
        ];
        // The first round fills the caches.
        if round > 0 {
            for (all, one) in took.iter_mut().zip(one) {
                all.push(one);
            }
        }
    }
    let [nothing, embedded, relay, quiet, asks] = took.map(Series::new);
    let beside = |what: &Series| format!("{:.1} × `/bin/true`", what.at(50) / nothing.at(50));
    nothing.row("`/bin/true`", "a process that does nothing")
        + &*embedded.row("agent: start to its tools", &beside(&embedded))
        + &*relay.row("the same in front of a server", &beside(&relay))
        + &*quiet.row("the Stop hook outside git", &beside(&quiet))
        + &*asks.row(
            "the Stop hook in a small repository, asks",
            &format!("{}; starts git", beside(&asks)),
        )
}

fn content(nth: usize) -> String {
    format!(
        "service number {nth} of the kumquat team listens on port {}",
        4_000 + nth
    )
}

/// Calls a tool in turn on the server and through the agent; `arguments` makes a call of its number.
fn in_turn(
    direct: &Client,
    through: &mut StdioClient,
    tool: &str,
    arguments: impl Fn(usize) -> serde_json::Value,
) -> (Series, Series) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for nth in 0..N_CALLS {
        let began = Instant::now();
        let answer = direct.tool(Era::Modern, tool, &arguments(2 * nth));
        let took = began.elapsed();
        assert!(!answer.is_error, "{}", answer.text);
        let began = Instant::now();
        let answer = through.tool(tool, &arguments(2 * nth + 1));
        let took_through = began.elapsed();
        assert!(!answer.is_error, "{}", answer.text);
        // The first ones open the connection.
        if nth > 10 {
            one.push(took);
            other.push(took_through);
        }
    }
    (Series::new(one), Series::new(other))
}

fn calls(home: &Path, server: &Server) -> String {
    let key = server.first_key();
    let direct = server.client(&key);
    for nth in 0..N_RECORDS {
        let saved = direct.rest("remember", &json!({ "content": content(nth) }));
        assert_eq!(saved.status, 200, "{}", saved.body);
    }
    let mut through = StdioClient::relay(home, &server.url, &key, Era::Modern);
    let mut table = String::new();
    let mut rows = |what: &str, (one, other): (Series, Series)| {
        table += &*one.row(
            &format!("{what} on the server"),
            "MCP over HTTP, keep-alive",
        );
        table += &*other.row("the same through the agent", "stdio, then the same");
        let (ratio, more) = (other.at(50) / one.at(50), other.at(50) - one.at(50));
        table += &*single(
            &format!("through the agent: {what}"),
            &format!("{ratio:.2} ×"),
            &format!("{more:.3} ms more"),
        );
    };
    let search = |nth: usize| json!({ "query": format!("port of kumquat service {}", nth / 2) });
    rows("search", in_turn(&direct, &mut through, "search", search));
    let fact = |nth: usize| json!({ "content": content(N_RECORDS + nth) });
    rows("remember", in_turn(&direct, &mut through, "remember", fact));
    table
}

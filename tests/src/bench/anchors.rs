//! What it costs that hits know their files: the same search with and without looking at them, in one run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::figures::{Series, single};
use crate::programs;
use crate::rpc::Era;
use crate::stdio::StdioClient;

const N_FACTS: usize = 50;
const FILE_BYTES: usize = 1_000_000;
const N_ROUNDS: usize = 41;

/// The bar of the second and every later search, in milliseconds.
const BAR_MS: f64 = 20.0;

/// As many short lines as a file may have that is still read: 4 million.
const N_LINES: usize = 4_000_000;

/// Times that are younger than this prove nothing to the agent.
const SETTLES: Duration = Duration::from_secs(3);

/// Measures it and returns a table in Markdown.
pub(super) fn measure() -> String {
    let mut table =
        "### Facts that know their file\n\n| what, ms | p50 | p95 | p99 | note |\n|---|---|---|---|---|\n"
            .to_owned();
    table += &*many_files();
    table += &*many_lines();
    table
}

/// Starts the agent on a folder; with `roots` another folder's files are the ones that may be read.
fn start(home: &Path, folder: &Path, roots: Option<&Path>) -> StdioClient {
    let mut command = Command::new(programs::path("mmw-agent"));
    command
        .env_clear()
        .env("PATH", crate::environment::search_path())
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home)
        .env("MMW_EMBEDDER", "off")
        .current_dir(folder);
    if let Some(roots) = roots {
        command.env("MMW_SOURCE_ROOTS", roots);
    }
    StdioClient::with(command, Era::Modern, None)
}

fn save(client: &mut StdioClient, content: &str, source_id: &str) {
    let statement = json!({"content": content, "source_id": source_id});
    let _ = client.tool("remember", &statement).ok();
}

fn search(client: &mut StdioClient, n_hits: usize) -> Duration {
    let question = json!({"query": "apples", "limit": 50, "max_tokens": 100_000});
    let began = Instant::now();
    let found = client.tool("search", &question).ok();
    let took = began.elapsed();
    let n_found = found["hits"].as_array().map_or(0, Vec::len);
    assert_eq!(n_found, n_hits, "{found}");
    took
}

fn many_files() -> String {
    let (home, folder) = folders();
    let (home, folder) = (home.path(), folder.path());
    let elsewhere = home.join("elsewhere");
    fs::create_dir_all(&elsewhere).expect("a folder can be made");
    let line = "a line of a file that facts rest on, of no interest at all\n";
    for nth in 0..N_FACTS {
        let text = format!("{nth}\n{}", line.repeat(FILE_BYTES / line.len()));
        fs::write(folder.join(format!("f{nth}.md")), text).expect("a file can be written");
    }
    let mut client = start(home, folder, None);
    for nth in 0..N_FACTS {
        save(&mut client, &format!("apples {nth}"), &format!("f{nth}.md"));
    }
    drop(client);
    let mut looking = start(home, folder, None);
    let mut blind = start(home, folder, Some(&elsewhere));
    // Meanwhile the one that looks at nothing warms up.
    let began = Instant::now();
    while began.elapsed() < SETTLES {
        search(&mut blind, N_FACTS);
    }
    let first = search(&mut looking, N_FACTS);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        without.push(search(&mut blind, N_FACTS));
        with.push(search(&mut looking, N_FACTS));
    }
    let (with, without) = (Series::new(with), Series::new(without));
    let more = with.at(50) - without.at(50);
    let mut rows = without.row("search, 50 hits, no file looked at", "");
    rows += &*single(
        "the same, 50 files of 1 MB, first time",
        &format!("{:.3}", first.as_secs_f64() * 1_000.0),
        "every file is read and hashed",
    );
    rows += &*with.row("the same, second time and later", "");
    let verdict = if more < BAR_MS { "met" } else { "missed" };
    let _ = writeln!(
        rows,
        "| files, second time | {more:.3} | | | bar: {BAR_MS} ms, {verdict} |"
    );
    rows
}

fn many_lines() -> String {
    let (home, folder) = folders();
    let (home, folder) = (home.path(), folder.path());
    let file = folder.join("long.txt");
    let half = "x\n".repeat(N_LINES / 2);
    let write = |above: &str| {
        let text = format!("{above}{half}needle\n{half}");
        fs::write(&file, text).expect("a file can be written");
    };
    write("");
    let mut client = start(home, folder, None);
    let place = format!("long.txt#L{}", N_LINES / 2 + 1);
    let began = Instant::now();
    save(&mut client, "apples of a long file", &place);
    let saved = began.elapsed();
    let unmoved = search(&mut client, 1);
    write("one more\n");
    let moved = search(&mut client, 1);
    let note = format!("{N_LINES} lines, {} bytes", half.len() * 2);
    let ms = |took: Duration| format!("{:.3}", took.as_secs_f64() * 1_000.0);
    single("remember a line of a long file", &ms(saved), &note)
        + &*single("search, the line where it was", &ms(unmoved), "read anew")
        + &*single("search, the line moved", &ms(moved), "read anew")
}

fn folders() -> (tempfile::TempDir, tempfile::TempDir) {
    let made = || tempfile::tempdir().expect("a folder can be made");
    (made(), made())
}

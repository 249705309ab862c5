//! No secret that is put anywhere reaches a disk.
//!
//! Made-up secrets of the shipped kinds go into every argument of every tool over every way in, and
//! into every option and argument of every command of both programs; then all files are searched:
//! store, write-ahead log, logs, whatever lies there. What there is to fill is read from the
//! programs themselves (`tools/list`, `--help`), so that a new tool, argument, command or option has
//! to join: one that this test does not know fails it. A new way in is a new [`Surface`].

mod commands;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use mmw_guard::samples::{Sample, samples};

/// How many secrets go through each way in, at least.
const N_SECRETS: usize = 200;

/// A way in. Whoever adds one is led to `fill` by the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surface {
    McpStdio,
    McpHttp,
    Rest,
    AgentCommands,
    ServerCommands,
}

/// A folder that holds everything a program writes.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the log of a program goes.
    fn log(&self) -> std::process::Stdio {
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path().join("log.txt"));
        file.unwrap().into()
    }

    /// Every file in it, at any depth.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files
    }

    /// Returns which of these secrets stand in a file, in any case of letters and as a fact key
    /// would have them.
    fn found(&self, secrets: &[&Sample]) -> Vec<(String, String)> {
        let wanted: Vec<String> = secrets
            .iter()
            .flat_map(|sample| {
                [
                    sample.secret.clone(),
                    sample.secret.replace(['_', ' '], "-"),
                ]
            })
            .collect();
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&wanted)
            .unwrap();
        let mut found = Vec::new();
        for file in self.files() {
            let bytes = fs::read(&file).unwrap();
            for hit in search.find_overlapping_iter(&bytes) {
                let sample = secrets[hit.pattern().as_usize() / 2];
                let name = file.strip_prefix(self.path()).unwrap();
                let hit = (name.display().to_string(), sample.rule.to_owned());
                if !found.contains(&hit) {
                    found.push(hit);
                }
            }
        }
        found
    }
}

/// Samples, dealt out in turn. Each is put in one place only, so that a leak tells where it began.
struct Deck {
    samples: Vec<Sample>,
    dealt: Vec<(usize, String)>,
}

impl Deck {
    fn shuffled(surface: Surface) -> Self {
        Self {
            samples: samples(surface as u64 + 20_261_130, 4 * N_SECRETS),
            dealt: Vec::new(),
        }
    }

    /// Returns the next secret, noted down with its place.
    fn deal(&mut self, place: &str) -> Sample {
        let nth = self.dealt.len();
        self.dealt.push((nth, place.to_owned()));
        self.samples[nth % self.samples.len()].clone()
    }

    fn is_done(&self) -> bool {
        self.dealt.len() >= N_SECRETS
    }
}

fn fill(surface: Surface, room: &Room, deck: &mut Deck) {
    match surface {
        Surface::McpStdio => tools::over_stdio(room, deck),
        Surface::McpHttp => tools::over_http(room, deck, false),
        Surface::Rest => tools::over_http(room, deck, true),
        Surface::AgentCommands => commands::of_agent(room, deck),
        Surface::ServerCommands => commands::of_server(room, deck),
    }
}

fn nothing_is_left_behind(surface: Surface) {
    let room = Room::new();
    let mut deck = Deck::shuffled(surface);
    fill(surface, &room, &mut deck);
    assert!(deck.is_done(), "{} secrets", deck.dealt.len());
    assert!(
        deck.dealt.len() <= deck.samples.len(),
        "each is used once: draw more"
    );
    let used: Vec<&Sample> = deck.samples[..deck.dealt.len()].iter().collect();
    let found = room.found(&used);
    let told: Vec<_> = found
        .iter()
        .map(|(file, rule)| {
            let places: Vec<&str> = deck
                .dealt
                .iter()
                .filter(|(nth, _)| deck.samples[*nth].rule == *rule)
                .map(|(_, place)| place.as_str())
                .collect();
            format!("{file}: {rule}, put into {places:?}")
        })
        .collect();
    assert!(told.is_empty(), "{surface:?}: {told:#?}");
    // The search does find what is there.
    fs::write(room.path().join("planted.txt"), &used[0].secret).unwrap();
    assert_eq!(room.found(&used).len(), 1);
}

#[test]
fn secrets_through_mcp_on_stdio_reach_no_file() {
    nothing_is_left_behind(Surface::McpStdio);
}

#[test]
fn secrets_through_mcp_over_http_reach_no_file() {
    nothing_is_left_behind(Surface::McpHttp);
}

#[test]
fn secrets_through_rest_reach_no_file() {
    nothing_is_left_behind(Surface::Rest);
}

#[test]
fn secrets_through_the_agents_commands_reach_no_file() {
    nothing_is_left_behind(Surface::AgentCommands);
}

#[test]
fn secrets_through_the_servers_commands_reach_no_file() {
    nothing_is_left_behind(Surface::ServerCommands);
}

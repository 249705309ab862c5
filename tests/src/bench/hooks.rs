//! What the Stop hook costs at the end of every turn, beside `git status` in the same repository and a
//! program that does nothing: all of them started in turn, in one run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figures::{Series, single};
use crate::programs;

const N_FOLDERS: usize = 500;
const N_FILES: usize = 50_000;
const N_ROUNDS: usize = 41;

/// The bar: so many times `git status`, and so much more.
const BAR_TIMES: f64 = 1.2;
const BAR_MORE_MS: f64 = 10.0;

/// The size of a long session's transcript, in bytes.
const LONG_BYTES: usize = 100_000_000;

/// Measures the hook and returns a table in Markdown.
pub(super) fn measure() -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let bench = Bench {
        home: folder.path(),
    };
    bench.lay_out();
    let mut table =
        "### The Stop hook\n\n| what, ms | p50 | p95 | p99 | note |\n|---|---|---|---|---|\n"
            .to_owned();
    table += &*bench.beside_git();
    table += &*bench.long_session();
    table
}

struct Bench<'a> {
    home: &'a Path,
}

impl Bench<'_> {
    /// Makes the repositories, Claude Code's settings and a short transcript.
    fn lay_out(&self) {
        let large = self.home.join("large");
        for folder in 0..N_FOLDERS {
            let inside = large.join(format!("d{}/s{folder}", folder / 20));
            fs::create_dir_all(&inside).expect("a folder can be made");
            for file in 0..N_FILES / N_FOLDERS {
                let text = format!("fn f{folder}_{file}() {{}}\n");
                fs::write(inside.join(format!("f{file}.rs")), text).expect("a file can be written");
            }
        }
        let small = self.home.join("small");
        fs::create_dir(&small).expect("a folder can be made");
        fs::write(small.join("a.rs"), "fn a() {}\n").expect("a file can be written");
        for repository in [&large, &small] {
            for question in [
                &["init", "--quiet"][..],
                &["add", "--all"],
                &[
                    "-c",
                    "user.name=A",
                    "-c",
                    "user.email=a@b",
                    "commit",
                    "--quiet",
                    "-m",
                    "all",
                ],
            ] {
                let status = self.git(repository, question).status();
                assert!(
                    status.is_ok_and(|status| status.success()),
                    "git {question:?}"
                );
            }
        }
        for file in 0..20 {
            fs::write(large.join(format!("d0/s0/f{file}.rs")), "changed\n")
                .expect("a file can be written");
        }
        fs::write(large.join("new.rs"), "new\n").expect("a file can be written");
        fs::write(small.join("a.rs"), "changed\n").expect("a file can be written");
        let settings = r#"{"mcpServers":{"mmw":{"command":"mmw-agent"}}}"#;
        fs::write(self.home.join(".claude.json"), settings).expect("a file can be written");
        self.transcript("short.jsonl", 1_000_000);
        self.transcript("long.jsonl", LONG_BYTES);
    }

    /// Writes a session of reading files, as Claude Code does, up to a size.
    fn transcript(&self, name: &str, n_bytes: usize) {
        let page = "    let answer = self.ask(\\\"question\\\"); // a line of code\\n".repeat(60);
        let mut text = String::from(
            "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"timestamp\":\"2020-01-01T00:00:00.000Z\"}\n",
        );
        let mut n = 0;
        while text.len() < n_bytes {
            n += 1;
            let _ = writeln!(
                text,
                "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/w/f{n}.rs\"}}}}]}},\"timestamp\":\"2020-01-01T00:00:01.000Z\"}}\n\
                 {{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"t{n}\",\"type\":\"tool_result\",\"content\":\"{page}\"}}]}},\"toolUseResult\":{{\"type\":\"text\",\"file\":{{\"filePath\":\"/w/f{n}.rs\",\"content\":\"{page}\"}}}},\"timestamp\":\"2020-01-01T00:00:02.000Z\"}}"
            );
        }
        fs::write(self.home.join(name), text).expect("a file can be written");
    }

    fn git(&self, repository: &Path, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(repository)
            .env("HOME", self.home)
            .env("GIT_OPTIONAL_LOCKS", "0")
            // Of before the session, which is not asked about them.
            .env("GIT_AUTHOR_DATE", "2019-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2019-01-01T00:00:00Z")
            .stdout(Stdio::null());
        git
    }

    /// Ends a turn in a repository and returns how long the hook took; every session is a new one,
    /// so that it goes all the way to the question.
    fn stop(&self, repository: &str, transcript: &str, session: &str) -> Duration {
        let event = self.home.join("event.json");
        let text = serde_json::json!({
            "session_id": session,
            "transcript_path": self.home.join(transcript),
            "cwd": self.home.join(repository),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
        });
        fs::write(&event, text.to_string()).expect("a file can be written");
        let mut hook = Command::new(programs::path("mmw-agent"));
        hook.arg("hook-stop")
            .env_clear()
            .env("PATH", crate::environment::search_path())
            .env("HOME", self.home)
            .stdin(fs::File::open(&event).expect("the event was written"));
        let began = Instant::now();
        let output = hook.output().expect("the hook starts");
        let took = began.elapsed();
        assert!(
            output.stdout.starts_with(b"{\"decision\""),
            "nobody was asked"
        );
        took
    }

    fn beside_git(&self) -> String {
        let large = self.home.join("large");
        let time = |command: &mut Command| {
            let began = Instant::now();
            let status = command.status();
            assert!(status.is_ok_and(|status| status.success()), "{command:?}");
            began.elapsed()
        };
        let (mut nothing, mut status, mut hook) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=N_ROUNDS {
            let one = (
                time(&mut Command::new("true")),
                time(&mut self.git(&large, &["status"])),
                self.stop("large", "short.jsonl", &format!("s{round}")),
            );
            // The first round fills the caches.
            if round > 0 {
                nothing.push(one.0);
                status.push(one.1);
                hook.push(one.2);
            }
        }
        let (nothing, status, hook) =
            (Series::new(nothing), Series::new(status), Series::new(hook));
        let bar = BAR_TIMES * status.at(50) + BAR_MORE_MS;
        let held = if hook.at(50) <= bar {
            "held"
        } else {
            "not held"
        };
        nothing.row("`true`", "a process that does nothing")
            + &*status.row(
                "`git status`",
                &format!("{N_FILES} files, 21 of them changed"),
            )
            + &*hook.row("the Stop hook there", "asks; a transcript of 1 MB")
            + &*single(
                "bar: 1.2 × `git status` + 10",
                &format!("{bar:.3}"),
                &format!(
                    "{held}; the hook is {:.2} × `git status`",
                    hook.at(50) / status.at(50)
                ),
            )
    }

    fn long_session(&self) -> String {
        let took = |transcript: &str| {
            let rounds = (0..=N_ROUNDS)
                .map(|round| self.stop("small", transcript, &format!("{transcript}-{round}")));
            Series::new(rounds.skip(1).collect())
        };
        took("short.jsonl").row(
            "the Stop hook in a small repository",
            "a transcript of 1 MB",
        ) + &*took("long.jsonl").row("the same", "a transcript of 100 MB")
    }
}

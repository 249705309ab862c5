//! What the guard costs: a first text in a new process, a record, a megabyte, the worst megabyte.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mmw_core::draft::Draft;
use mmw_guard::{Guard, Verdict};

use super::figures::{Series, single};

/// The argument with which this program screens one text and tells how long that took.
pub(super) const FIRST: &str = "guard-first";
/// A record of ordinary length, in bytes.
const RECORD_BYTES: usize = 500;
const TEXT_BYTES: usize = 1_000_000;
const N_RECORDS: usize = 2_000;
const N_STARTS: usize = 21;
const N_PASSES: usize = 7;

/// Texts of a megabyte that repeat what rules look for: work must grow with their length only.
const WORST: [&str; 24] = [
    "a",
    "eyJ",
    "eyJ-",
    "sk-",
    "ghp_",
    "-----BEGIN PRIVATE KEY-----",
    "token=",
    "password ",
    "password is ",
    "pw: hunter2x9 ",
    "://a:b@",
    "identified by ",
    "datadog ",
    "key: a1B2c3D4e5F6g7H8i9J0 ",
    "QUFB",
    "%3D",
    "\\n",
    "&lt;",
    "a\u{200b}",
    "<!-- ",
    "ignore all ",
    "[REDACTED:jwt]",
    "login x / ",
    "i g n o r e ",
];

/// Screens one text in this new process and returns how long that took, in microseconds.
pub(super) fn first() -> u128 {
    let text = "staging is deployed with the systemd unit `app-staging`; its token lives in the vault, \
                the password policy asks for 12 characters";
    let began = Instant::now();
    let draft = Draft::new(text).expect("the text is a valid statement");
    let allowed = matches!(Guard::standard().screen(draft), Verdict::Allow(_));
    let took = began.elapsed();
    assert!(allowed, "the text is honest");
    took.as_micros()
}

/// Measures the guard and returns a table in Markdown.
pub(super) fn measure() -> String {
    let mut table =
        "### The guard\n\n| what | p50 | p95 | p99 | note |\n|---|---|---|---|---|\n".to_owned();
    let text = developer_text();
    table += &*starts();
    table += &*records(&text);
    table += &*megabyte(&text);
    table += &*worst();
    table
}

fn starts() -> String {
    let program = std::env::current_exe().expect("this program has a file");
    let took: Vec<Duration> = (0..N_STARTS)
        .map(|_| {
            let output = Command::new(&program)
                .arg(FIRST)
                .output()
                .expect("this program starts");
            let text = String::from_utf8_lossy(&output.stdout);
            Duration::from_micros(text.trim().parse().expect("it prints a number"))
        })
        .collect();
    Series::new(took).row(
        "first text of a process, ms",
        "a new process each; the hook's whole budget is 2 ms",
    )
}

fn records(text: &str) -> String {
    let guard = Guard::standard();
    let mut took = Vec::new();
    let mut rest = text;
    while took.len() < N_RECORDS && rest.len() > RECORD_BYTES {
        let (record, after) = rest.split_at(rest.ceil_char_boundary(RECORD_BYTES));
        rest = after;
        let Ok(draft) = Draft::new(record) else {
            continue;
        };
        let began = Instant::now();
        std::hint::black_box(guard.screen(draft));
        took.push(began.elapsed());
    }
    let series = Series::new(took);
    format!(
        "| screening a record of {RECORD_BYTES} bytes, µs | {:.1} | {:.1} | {:.1} | {N_RECORDS} different ones |\n",
        series.at(50) * 1e3,
        series.at(95) * 1e3,
        series.at(99) * 1e3
    )
}

fn megabyte(text: &str) -> String {
    let guard = Guard::standard();
    let speed = |work: &dyn Fn()| {
        let took: Vec<Duration> = (0..N_PASSES)
            .map(|_| {
                let began = Instant::now();
                work();
                began.elapsed()
            })
            .collect();
        format!(
            "{:.0} MB/s",
            text.len() as f64 / 1e3 / Series::new(took).at(50)
        )
    };
    let redact = speed(&|| {
        std::hint::black_box(guard.redact(text));
    });
    let weigh = speed(&|| {
        std::hint::black_box(guard.weigh(text));
    });
    single(
        "looking for secrets in a megabyte",
        &redact,
        "this project's own sources and pages",
    ) + &*single("the same and for planted instructions", &weigh, "")
}

fn worst() -> String {
    let guard = Guard::standard();
    let mut rows = String::new();
    for piece in WORST {
        let text = piece.repeat(TEXT_BYTES / piece.len());
        let began = Instant::now();
        std::hint::black_box(guard.weigh(&text));
        let took = began.elapsed();
        let shown: String = piece.escape_debug().take(30).collect();
        let _ = writeln!(
            rows,
            "| a megabyte of `{shown}`, ms | {:.1} | | | |",
            took.as_secs_f64() * 1e3
        );
    }
    rows
}

/// Returns a megabyte of text that developers wrote: sources and pages of this project.
fn developer_text() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in [
        "mmw-core/src",
        "mmw-store/src",
        "mmw-server/src",
        "mmw-agent/src",
        "docs",
    ] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut text = String::new();
    for file in files {
        text += &*std::fs::read_to_string(file).unwrap_or_default();
        if text.len() >= TEXT_BYTES {
            break;
        }
    }
    assert!(
        !text.is_empty(),
        "the sources stand where this program was built"
    );
    while text.len() < TEXT_BYTES {
        let all = text.clone();
        text += &*all;
    }
    text.truncate(text.floor_char_boundary(TEXT_BYTES));
    // Made-up secrets of examples go: a second pass would be measured with them.
    for _ in 0..3 {
        for secret in Guard::standard().secrets_in(&text).into_iter().rev() {
            text.replace_range(secret.span, "gone");
        }
    }
    text
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|end| end == "rs" || end == "md")
        {
            files.push(path);
        }
    }
}

//! What the built-in model costs on one thread: loading, a query, facts in bulk, memory.
//!
//! Times are those of the processor where the system tells them (Linux), so that other programs on the
//! machine count little; elsewhere those of the clock.

use std::time::Instant;

use mmw_store::embed::{Embedder, Instructions, LocalModel};

use super::figures::single;

/// Questions as people and agents ask them.
const QUESTIONS: [&str; 8] = [
    "which unit runs staging?",
    "how do I restart the billing worker",
    "what database version do the integration tests need?",
    "why did we decide against redis",
    "who reviews changes to the deploy scripts?",
    "port of the metrics endpoint",
    "when are releases cut",
    "how long are sessions kept before they expire?",
];

/// Facts of about twenty tokens, before which date and speaker stand.
const FACTS: [&str; 8] = [
    "staging runs as the unit app-staging on the small machine",
    "the billing worker is restarted with systemctl restart billing-worker",
    "integration tests need PostgreSQL 16 on port 5433",
    "we decided against Redis because sessions fit into SQLite",
    "changes to the deploy scripts are reviewed by the platform team",
    "metrics are served on port 9464 and scraped every 15 seconds",
    "a release is cut on Tuesdays and Thursdays after the nightly tests",
    "sessions expire after 3600 seconds without a request",
];

/// Texts of a call in bulk.
const BULK: usize = 64;

/// Measures and returns a table in Markdown.
pub(crate) fn measure() -> String {
    let mut table = "| what | value | | | note |\n|---|---|---|---|---|\n".to_owned();
    let before = processor_ms();
    let model = LocalModel::built_in(Instructions::Best).expect("the built-in model is right");
    let loading = processor_ms() - before;
    table += &*single(
        "loading the model",
        &format!("{loading:.0} ms"),
        "tokenizer included",
    );
    let facts: Vec<String> = (0..BULK)
        .map(|n| {
            format!(
                "[2026-03-{:02}] Ann: {}",
                n % 28 + 1,
                FACTS[n % FACTS.len()]
            )
        })
        .collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    let n_tokens: usize = facts
        .iter()
        .map(|fact| model.tokenizer().encode(fact).len())
        .sum();
    let mean = n_tokens as f64 / BULK as f64;
    for model in model.with_all_instructions().iter().rev() {
        let name = model.instructions();
        let n_rounds = if name == "portable" { 1 } else { 20 };
        let query = each(n_rounds, || {
            for question in QUESTIONS {
                model.embed(&[question]).expect("it fits");
            }
        }) / QUESTIONS.len() as f64;
        let bulk = each(n_rounds, || {
            model.embed(&facts).expect("they fit");
        });
        table += &*single(
            &format!("a query, {name}"),
            &format!("{query:.2} ms"),
            "one by one",
        );
        table += &*single(
            &format!("facts in bulk, {name}"),
            &format!("{:.0} a second", BULK as f64 * 1_000.0 / bulk),
            &format!("{mean:.0} tokens each"),
        );
    }
    if let Some(memory) = resident() {
        table += &*single(
            "resident memory",
            &memory,
            "of it shared with other processes: the model",
        );
    }
    table
}

/// Returns how long a round takes, in milliseconds.
fn each(n_rounds: u32, mut work: impl FnMut()) -> f64 {
    work();
    let before = processor_ms();
    for _ in 0..n_rounds {
        work();
    }
    (processor_ms() - before) / f64::from(n_rounds)
}

/// Returns how long this thread has run, in milliseconds from any start.
pub(super) fn processor_ms() -> f64 {
    // The first number is what the scheduler gave to this thread, in nanoseconds.
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    ran.unwrap_or_else(|| since_start() * 1e9) / 1e6
}

fn since_start() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

pub(super) fn resident() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024)
    };
    Some(format!(
        "{} MiB: {} its own, {} of files",
        line("VmRSS:")?,
        line("RssAnon:")?,
        line("RssFile:")?
    ))
}

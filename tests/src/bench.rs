//! Measures the product as its users meet it: in process, over HTTP, from a cold start.
//!
//! Everything is measured in one run on one machine, with the disk's own sync beside it, so that
//! figures can be compared with each other. Absolute values of a busy machine mean little.

mod agent;
mod anchors;
mod corpus;
mod embed;
mod figures;
mod guard;
mod hooks;
mod search;
mod stages;
mod vectors;

use std::io::Write as _;
use std::process::ExitCode;

/// Sizes that are measured if none are named.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Runs the benchmark. Arguments: `guard` to measure the guard alone, `embed` the built-in model, `vectors` the index of vectors, `hooks` the Stop hook, `agent` the agent beside the server, `anchors` hits that know their file, `search 1000,100000` a search
/// by words and meaning, or `--sizes 1000,10000`, `--queries 2000`, `--folder DIR`, and
/// `--stages search,save,http,start` to measure only some.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let mut arguments = arguments.peekable();
    let mut out = std::io::stdout();
    let table = match arguments.peek().map(String::as_str) {
        Some("guard") => Some(guard::measure()),
        Some("embed") => Some(embed::measure()),
        Some("vectors") => Some(vectors::measure()),
        Some("hooks") => Some(hooks::measure()),
        Some("agent") => Some(agent::measure()),
        Some("anchors") => Some(anchors::measure()),
        Some("search") => Some(search::measure(
            &arguments.by_ref().skip(1).collect::<Vec<_>>(),
        )),
        Some(search::PROCESS) => Some(search::process(
            &arguments.by_ref().skip(1).collect::<Vec<_>>(),
        )),
        Some(guard::FIRST) => Some(guard::first().to_string()),
        _ => None,
    };
    if let Some(table) = table {
        // Nobody is left to tell if stdout is gone.
        let _ = writeln!(out, "{table}");
        return ExitCode::SUCCESS;
    }
    match read(arguments) {
        Ok(plan) => {
            for size in &plan.sizes {
                let table = stages::measure(*size, &plan);
                // Nobody is left to tell if stdout is gone.
                let _ = writeln!(out, "{table}");
            }
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            let _ = writeln!(std::io::stderr(), "bench: {wrong}");
            ExitCode::from(2)
        }
    }
}

/// What is to be measured.
pub(crate) struct Plan {
    pub(crate) sizes: Vec<usize>,
    pub(crate) n_queries: usize,
    pub(crate) folder: std::path::PathBuf,
    /// All of them if none are named.
    stages: Vec<String>,
}

impl Plan {
    /// Tells whether a stage is to be measured.
    pub(crate) fn has(&self, stage: &str) -> bool {
        self.stages.is_empty() || self.stages.iter().any(|named| named == stage)
    }
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan {
        sizes: SIZES.to_vec(),
        n_queries: 2_000,
        folder: std::env::temp_dir(),
        stages: Vec::new(),
    };
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        let number = |text: &str| {
            text.parse::<usize>()
                .map_err(|_| format!("{name}: no number: {text}"))
        };
        match name.as_str() {
            "--sizes" => plan.sizes = value.split(',').map(number).collect::<Result<_, _>>()?,
            "--queries" => plan.n_queries = number(&value)?,
            "--stages" => plan.stages = value.split(',').map(str::to_owned).collect(),
            "--folder" => plan.folder = value.into(),
            _ => return Err(format!("unknown argument {name}")),
        }
    }
    Ok(plan)
}

//! `verify`, `purge`, `audit verify`: what an operator does now and then.

use std::process::ExitCode;

use mmw_core::audit::Walk;
use mmw_core::place::{Scope, Way};
use mmw_core::time::DAY_MS;
use mmw_store::Memory;
use mmw_store::engine::{self, EngineError};
use serde_json::json;

use super::output::{self, Failed};
use crate::compose;
use crate::config::Config;

/// The exit code for damage.
const DAMAGED: u8 = 4;

/// Rows of the audit that are read at once.
const AUDIT_PAGE: usize = 1000;

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// Print data
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Purge {
    /// The project
    #[arg(long, default_value = "default")]
    project: String,
    /// Only what was forgotten at least that many days ago
    #[arg(long, default_value_t = 30, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    older_than_days: i64,
    /// Only tell what would be erased
    #[arg(long)]
    dry_run: bool,
    /// Print data
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum Audit {
    /// Check that no row was changed, reordered or taken out of the middle
    ///
    /// Rows cut off at the end can't be seen from the chain alone: it is sound up to where it ends.
    #[command(
        after_help = "Examples:\n  mmw-server audit verify\n  mmw-server audit verify --json"
    )]
    Verify(Verify),
}

pub(super) fn verify(config: &Config, options: &Verify) -> Result<ExitCode, Failed> {
    let memory = existing(config)?;
    let problems = memory.engine().verify()?;
    if options.json {
        output::json(&json!({ "ok": problems.is_empty(), "problems": problems }));
    } else if problems.is_empty() {
        output::text("The store is sound.");
    } else {
        output::text(&problems.join("\n"));
    }
    Ok(outcome(problems.is_empty()))
}

pub(super) fn purge(config: &Config, options: &Purge) -> Result<ExitCode, Failed> {
    let memory = existing(config)?;
    let known = memory.list_projects()?;
    if !known.iter().any(|project| project.name == options.project) {
        return Err(Failed::new("there is no project of that name"));
    }
    let mut caller = memory.local_caller(&options.project, Way::Command)?;
    // Whoever can run this can write to the store's file: they are its operator.
    caller.scopes = caller.scopes.with(Scope::Admin);
    let min_age_ms = options.older_than_days.saturating_mul(DAY_MS);
    let purged = memory.purge(&caller, min_age_ms, options.dry_run)?;
    if options.json {
        output::json(
            &json!({ "dry_run": options.dry_run, "ids": purged.ids, "compacted": purged.is_compacted }),
        );
    } else {
        let verb = if options.dry_run {
            "Would erase"
        } else {
            "Erased"
        };
        output::text(&format!(
            "{verb} the content of {} records.",
            purged.ids.len()
        ));
        if !purged.is_compacted {
            output::text(
                "Another process still holds the store's log: the text is out of every read, and \
                 leaves the disk when that process ends, or with the next purge that erases \
                 something.",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn audit(config: &Config, command: &Audit) -> Result<ExitCode, Failed> {
    let Audit::Verify(options) = command;
    let memory = existing(config)?;
    let checked = check_chain(&memory)?;
    if options.json {
        output::json(&json!({
            "ok": checked.broken_at.is_none(),
            "rows": checked.n_rows,
            "broken_at": checked.broken_at,
        }));
    } else {
        output::text(&match checked.broken_at {
            None => format!("The audit is whole: {} rows.", checked.n_rows),
            Some(seq) => format!("The audit is broken at row {seq}: it was changed there."),
        });
    }
    Ok(outcome(checked.broken_at.is_none()))
}

/// Opens a store that is there; looking at none must not make one.
fn existing(config: &Config) -> Result<Memory, Failed> {
    if !config.store_file().exists() {
        return Err(Failed::new(format!(
            "there is no store in {}",
            config.data_dir.display()
        )));
    }
    Ok(compose::open(config)?)
}

fn outcome(sound: bool) -> ExitCode {
    if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(DAMAGED)
    }
}

/// What walking along the chain came to.
struct Checked {
    n_rows: u64,
    broken_at: Option<u64>,
}

fn check_chain(memory: &Memory) -> Result<Checked, EngineError> {
    let mut walk = Walk::default();
    loop {
        let from = walk.next();
        let rows = engine::read(memory.engine(), |snapshot| snapshot.audit(from, AUDIT_PAGE))?;
        let is_whole = rows
            .iter()
            .all(|row| walk.step(row.seq, &row.entry, &row.hash));
        let gap = (!is_whole).then(|| walk.next());
        if rows.is_empty() || gap.is_some() {
            return Ok(Checked {
                n_rows: walk.next() - 1,
                broken_at: walk.broken_at().or(gap),
            });
        }
    }
}

//! `rescan`: applies the guard's rules of today to what is stored.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use mmw_core::place::{Scope, Way};
use mmw_store::{Memory, RescanReport};

use super::output::{self, Failed};
use crate::compose;
use crate::config::Config;
use crate::rescan_report;

/// The most things that are listed; `--json` has all.
const MAX_LISTED: usize = 50;

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Only this project; without one, all of the store
    #[arg(long)]
    project: Option<String>,
    /// Only tell what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print data
    #[arg(long)]
    json: bool,
}

pub(super) fn run(config: &Config, options: &Options) -> Result<ExitCode, Failed> {
    if !config.store_file().exists() {
        return Err(Failed::new(format!(
            "there is no store in {}",
            config.data_dir.display()
        )));
    }
    let memory = compose::open(config)?;
    let report = rescan(&memory, options)?;
    if options.json {
        output::json(&rescan_report::data(&report));
    } else {
        output::text(&in_words(&report));
    }
    Ok(ExitCode::SUCCESS)
}

fn rescan(memory: &Memory, options: &Options) -> Result<RescanReport, Failed> {
    let known = memory.list_projects()?;
    let project = match &options.project {
        Some(name) => match known.iter().find(|project| project.name == *name) {
            Some(project) => Some(project),
            None => return Err(Failed::new("there is no project of that name")),
        },
        None => None,
    };
    let Some(any) = project.or_else(|| known.first()) else {
        return Err(Failed::new("there is no project yet"));
    };
    let mut caller = memory.local_caller(&any.name, Way::Command)?;
    // Whoever can run this can write to the store's file: they are its operator.
    caller.scopes = caller.scopes.with(Scope::Admin);
    // Draws on stderr, and only on a terminal.
    let bar = ProgressBar::new(0).with_style(
        ProgressStyle::with_template("{bar:32} {pos} of {len}  {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let report = memory.rescan(
        &caller,
        project.map(|project| project.id),
        options.dry_run,
        &mut |done, all| {
            bar.set_length(all);
            bar.set_position(done);
        },
    );
    bar.finish_and_clear();
    Ok(report?)
}

fn in_words(report: &RescanReport) -> String {
    let would = if report.is_dry_run {
        "Would change"
    } else {
        "Changed"
    };
    let mut lines = vec![format!(
        "Looked at {}. {would}: {} records redacted, {} withdrawn to the review lane, {} waiting \
         items and {} other texts.",
        report.n_looked_at,
        report.n_redacted,
        report.n_withdrawn,
        report.n_lane_items,
        report.n_texts
    )];
    for ((field, rule), n) in &report.replaced {
        lines.push(format!("  {field}: {rule} ({n})"));
    }
    for touched in report.touched.iter().take(MAX_LISTED) {
        let rules = touched.rules.join(", ");
        lines.push(format!("  {} {} ({rules})", touched.done, touched.what));
    }
    if report.touched.len() > MAX_LISTED {
        let more = report.touched.len() - MAX_LISTED;
        lines.push(format!("  and {more} more; --json lists all"));
    }
    if report.n_reported > 0 {
        lines.push(
            "Names that are only reported hold a secret: make a project or key of another name, and \
             change the secret where it is used."
                .to_owned(),
        );
    }
    if !report.is_dry_run && report.n_changed() > 0 {
        if !report.is_compacted {
            lines.push(
                "Another process still holds the store's log: the text is out of every read, and \
                 leaves the disk when that process ends."
                    .to_owned(),
            );
        }
        lines.push("Backups that were made before still hold it.".to_owned());
    }
    lines.join("\n")
}

//! Applies the guard's rules of today to what is stored.

use indicatif::{ProgressBar, ProgressStyle};
use mmw_core::place::Scope;
use mmw_server::rescan_report;
use mmw_store::RescanReport;

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show::{self, Page};

/// The most things that are listed; `--json` has all.
const MAX_LISTED: usize = 50;

/// Apply the guard's rules of today to what is stored
///
/// Secrets that older rules let through are replaced and leave the disk; planted instructions go to
/// the review lane, where you can release them. Run it again as often as you like.
///
/// Examples:
///   mmw-agent rescan --dry-run
///   mmw-agent rescan --all
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Every project on this computer, and what belongs to you alone
    #[arg(long)]
    all: bool,
    /// Only tell what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let report = match desk.open_if_any()? {
            Some((memory, mut caller)) => {
                // Whoever can run this can write to the store's file.
                caller.scopes = caller.scopes.with(Scope::Admin);
                let project = (!self.all).then_some(caller.project);
                // Draws on standard error, and only on a terminal.
                let bar = ProgressBar::new(0).with_style(
                    ProgressStyle::with_template("{bar:32} {pos} of {len}  {eta} left")
                        .unwrap_or_else(|_| ProgressStyle::default_bar()),
                );
                let report = memory.rescan(&caller, project, self.dry_run, &mut |done, all| {
                    bar.set_length(all);
                    bar.set_position(done);
                });
                bar.finish_and_clear();
                report?
            }
            None => RescanReport {
                is_dry_run: self.dry_run,
                ..RescanReport::default()
            },
        };
        if self.json {
            show::print_json(&rescan_report::data(&report))?;
            return Ok(Exit::Done);
        }
        let mut page = desk.page();
        tell(&mut page, &report);
        page.print()?;
        Ok(Exit::Done)
    }
}

fn tell(page: &mut Page, report: &RescanReport) {
    page.line(format!("looked at {}", report.n_looked_at));
    if report.n_changed() + report.n_reported == 0 {
        page.line("nothing to change");
        return;
    }
    let would = if report.is_dry_run { "would be " } else { "" };
    page.line(format!(
        "{would}redacted: {} records, {} waiting items, {} other texts; {would}withdrawn to the \
         review lane: {} records",
        report.n_redacted, report.n_lane_items, report.n_texts, report.n_withdrawn
    ));
    for ((field, rule), n) in &report.replaced {
        page.remark("  ", "", &format!("{field}: {rule} ({n})"));
    }
    for touched in report.touched.iter().take(MAX_LISTED) {
        let rules = touched.rules.join(", ");
        page.remark(
            "  ",
            "",
            &format!("{} {} ({rules})", touched.done, touched.what),
        );
    }
    if report.touched.len() > MAX_LISTED {
        page.remark("  ", "", "and more; --json lists all");
    }
    if report.is_dry_run || report.n_changed() == 0 {
        return;
    }
    if !report.is_compacted {
        page.hint(
            "another process still holds the store: what was replaced leaves the disk when it ends",
        );
    }
    if report.n_withdrawn > 0 {
        page.hint("`mmw-agent review` shows what was withdrawn");
    }
    page.hint("backups that were made before still hold it");
}

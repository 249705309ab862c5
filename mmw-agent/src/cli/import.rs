//! Takes in what was exported.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use mmw_core::place::Reviewer;
use mmw_store::ImportReport;
use serde_json::{Value, json};

use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show::{self, Page};
use crate::transfer::{Parcel, input, own};

/// The most lines that are listed; `--json` has all.
const MAX_LISTED: usize = 20;

/// Take in what was exported
///
/// Everything keeps its id, author and moments, and passes the guard. Doing it again changes nothing.
/// Decisions in the file (resolved conflicts, approvals) count only if you confirm them, at a
/// terminal. A line that can't be taken in is reported by its number and leaves the others alone.
///
/// Examples:
///   mmw-agent import memory.jsonl
///   mmw-agent import memory.jsonl --dry-run
///   ssh laptop mmw-agent export | mmw-agent import -
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only tell what would be taken in
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let bytes = input::read(&self.file)?;
        let parcel = own::parse(&bytes).map_err(|unfit| Trouble::usage(unfit.to_string()))?;
        drop(bytes);
        let reviewer = self.reviewer(desk, &parcel)?;
        let (memory, caller) = desk.open()?;
        // Draws on standard error, and only on a terminal.
        let bar = ProgressBar::new(0).with_style(
            ProgressStyle::with_template("{bar:32} {pos} of {len}  {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let report = memory.import(
            &caller,
            reviewer,
            parcel.incoming,
            self.dry_run,
            &mut |done, all| {
                bar.set_length(all);
                bar.set_position(done);
            },
        );
        bar.finish_and_clear();
        let report = report?;
        if self.json {
            show::print_json(&data(&report, &parcel.notes))?;
        } else {
            let mut page = desk.page();
            tell(&mut page, &report, &parcel.notes);
            page.print()?;
        }
        Ok(if report.is_complete() {
            Exit::Done
        } else {
            Exit::Refused
        })
    }

    /// Asks the person whether the decisions in the file count.
    fn reviewer(&self, desk: &Desk, parcel: &Parcel) -> Result<Option<Reviewer>, Trouble> {
        let can_ask = !self.json && desk.terminal.needs_person(&desk.config, "import").is_ok();
        if parcel.n_decisions == 0 || !can_ask {
            return Ok(None);
        }
        let question = format!(
            "the file holds {} decisions (resolved conflicts, approvals). Take them over as yours?",
            parcel.n_decisions
        );
        Ok(ask::confirm(&question, false)?.then(Reviewer::at_terminal))
    }
}

fn data(report: &ImportReport, notes: &[String]) -> Value {
    let replaced: Vec<Value> = report
        .replaced
        .iter()
        .map(|((field, rule), n)| json!({ "field": field, "rule": rule, "count": n }))
        .collect();
    let held: Vec<Value> = report
        .held
        .iter()
        .map(|held| json!({ "line": held.line, "rule": held.rule }))
        .collect();
    let refused: Vec<Value> = report
        .refused
        .iter()
        .map(|refused| json!({ "line": refused.line, "reason": refused.reason }))
        .collect();
    json!({
        "dry_run": report.is_dry_run,
        "imported": report.n_imported,
        "already_there": report.n_already_there,
        "forgotten_here": report.n_forgotten,
        "redacted": report.n_redacted,
        "replaced": replaced,
        "proposed": report.n_proposed,
        "turned_down": report.n_turned_down,
        "links": report.n_links,
        "decisions": report.n_resolutions,
        "decisions_left_out": report.n_undecided,
        "held": held,
        "refused": refused,
        "notes": notes,
    })
}

fn tell(page: &mut Page, report: &ImportReport, notes: &[String]) {
    let would = if report.is_dry_run { "would be " } else { "" };
    page.line(format!(
        "{would}imported {}, already there {}, {would}held for review {}, refused {}",
        report.n_imported,
        report.n_already_there,
        report.held.len() as u64 + report.n_proposed,
        report.refused.len()
    ));
    for (n, what) in [
        (report.n_redacted, "had secrets, which were replaced"),
        (report.n_links, "links"),
        (report.n_resolutions, "decisions taken over"),
        (
            report.n_forgotten,
            "were forgotten here before, and stay so",
        ),
        (report.n_turned_down, "were turned down before"),
        (
            report.n_undecided,
            "decisions left out: only a person may take them over",
        ),
    ] {
        if n > 0 {
            page.remark("  ", "", &format!("{n} {what}"));
        }
    }
    for note in notes {
        page.remark("  ", "! ", note);
    }
    for held in report.held.iter().take(MAX_LISTED) {
        page.remark(
            "  ",
            "",
            &format!("line {}: held ({})", held.line, held.rule),
        );
    }
    for refused in report.refused.iter().take(MAX_LISTED) {
        page.remark(
            "  ",
            "! ",
            &format!("line {}: {}", refused.line, refused.reason),
        );
    }
    if report.held.len().max(report.refused.len()) > MAX_LISTED {
        page.remark("  ", "", "and more; --json lists all");
    }
    if !report.held.is_empty() || report.n_proposed > 0 {
        page.hint("`mmw-agent review` shows what waits");
    }
}

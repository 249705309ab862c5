//! Takes in what was exported, and what other programs kept.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ValueEnum;
use mmw_core::place::Reviewer;
use mmw_core::wire::EnvelopeArgs;
use mmw_server::actions::Object;
use mmw_server::desk::Order;
use mmw_store::{Arriving, ImportReport, Incoming};
use serde_json::{Value, json};

use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show::progress::Bar;
use crate::show::{self, Page};
use crate::transfer::foreign::As;
use crate::transfer::format::Format;
use crate::transfer::{Parcel, Unfit, input};

/// The most lines that are listed; `--json` has all.
const MAX_LISTED: usize = 20;

/// Take in what was exported, or what another program kept
///
/// An export of ours keeps ids, authors and moments; decisions in it (resolved conflicts, approvals)
/// count only if you confirm them, at a terminal. Of other programs, what people wrote becomes memory and
/// what machines captured waits in the review lane. Everything passes the guard and keeps its source.
/// Doing it again changes nothing. What can't be taken in is reported by its line.
///
/// Examples:
///   mmw-agent import memory.jsonl --dry-run
///   mmw-agent import CLAUDE.md
///   mmw-agent import ~/.claude-mem/claude-mem.db
///   ssh laptop mmw-agent export | mmw-agent import -
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the file is; found out if it is left out
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// Bring everything in as memory, or everything as candidates for review
    #[arg(long = "as", value_name = "WHAT")]
    becomes: Option<Becomes>,
    /// Where statements of another program go; an export says so itself
    #[arg(short, long)]
    workspace: Option<String>,
    /// Only tell what would be taken in
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What statements of another program become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Becomes {
    /// Memory; of what machines captured, only a person can say so
    Records,
    /// Candidates in the review lane
    Candidates,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let parcel = self.open(desk)?;
        let reviewer = self.reviewer(desk, &parcel)?;
        let (memory, caller) = desk.open()?;
        let bar = Bar::new();
        let report = memory.import(
            &caller,
            reviewer,
            parcel.incoming,
            self.dry_run,
            &mut |done, all| bar.at(done, all),
        );
        drop(bar);
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

    /// Reads the file.
    fn open(&self, desk: &Desk) -> Result<Parcel, Trouble> {
        let bytes = input::read(&self.file)?;
        let unfit = |unfit: Unfit| {
            let trouble = Trouble::usage(unfit.to_string());
            match unfit {
                Unfit::Unknown => trouble.hint("--from says which program it comes from"),
                _ => trouble,
            }
        };
        let format = match self.from {
            Some(format) => format,
            None => Format::of(&self.file, &bytes).ok_or_else(|| unfit(Unfit::Unknown))?,
        };
        let (anchors, given) = (desk.anchors(), self.file.to_string_lossy());
        let name = anchors.stored_name(&given).unwrap_or_else(|| {
            let name = self.file.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        });
        let workspace = desk.workspace(self.workspace.as_deref());
        let read = |how| format.read(&self.file, &bytes, &name, workspace.as_deref(), how);
        let mut parcel = match self.becomes {
            Some(Becomes::Candidates) => read(As::Candidates),
            None | Some(Becomes::Records) => read(As::Fitting),
        }
        .map_err(unfit)?;
        let n_captured = parcel.incoming.iter().filter(|one| waits(one)).count();
        if self.becomes == Some(Becomes::Records) && n_captured > 0 {
            // A machine wrote them, and only a person decides that such a thing becomes memory.
            desk.terminal
                .needs_person(&desk.config, "import --as records")?;
            let question = format!(
                "{n_captured} of these were captured by a machine. Make all of them memory?"
            );
            if ask::confirm(&question, false)? {
                parcel = read(As::Records).map_err(unfit)?;
            }
        }
        if format == Format::Markdown {
            anchor(desk, &mut parcel.incoming);
        }
        Ok(parcel)
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

/// Tells whether something is to wait for a person.
fn waits(one: &Incoming) -> bool {
    matches!(&one.what, Arriving::Foreign(foreign) if foreign.candidate.is_some())
}

/// Anchors statements to the file that they were taken from, as far as it may be read.
fn anchor(desk: &Desk, incoming: &mut [Incoming]) {
    let anchors = desk.anchors();
    // Many statements stand under one heading: it is looked at once.
    let mut known: HashMap<String, (Object, EnvelopeArgs)> = HashMap::new();
    for one in incoming {
        let Arriving::Foreign(foreign) = &mut one.what else {
            continue;
        };
        let Some(source_id) = foreign.args.source_id.clone() else {
            continue;
        };
        let (arguments, envelope) = known.entry(source_id).or_insert_with_key(|source_id| {
            let mut order = Order::default();
            let source = Value::from(source_id.as_str());
            order.arguments.insert("source_id".to_owned(), source);
            let _ = anchors.before("remember", &mut order);
            (order.arguments, order.envelope)
        });
        let text = |name: &str| Some(arguments.get(name)?.as_str()?.to_owned());
        foreign.args.source_id = text("source_id");
        foreign.args.source_hash = text("source_hash");
        foreign.args.source_revision = text("source_revision");
        foreign.envelope.source_hash_text = envelope.source_hash_text.clone();
        foreign.envelope.span = envelope.span.clone();
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
        "expired": report.n_expired,
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
        (report.n_expired, "waited for review for too long"),
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

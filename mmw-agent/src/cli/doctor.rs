//! Tries whether everything works.

use serde_json::{Value, json};

use super::Desk;
use super::connect::entry;
use super::serve::relay_to;
use crate::doctor::{Finding, State, examine};
use crate::exit::{Exit, Trouble};
use crate::show::clean::clean;
use crate::show::style::{ALARM, DIM, GOOD, HINT, WARN};
use crate::show::{self};

/// Try whether everything works, and say what mends what does not
///
/// Writes a record in a workspace of its own, finds it by words and by meaning, and forgets it; looks at
/// the folder, the disk and the clock, at the settings of the clients on this computer, runs the Stop hook
/// on an event of each client, and counts the connections that were opened. Nothing is mended by itself.
///
/// Examples:
///   mmw-agent doctor
///   mmw-agent doctor --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let entry = entry(&desk.config)?;
        let endpoint = desk.config.endpoint.as_deref();
        let relay = endpoint
            .map(|endpoint| relay_to(desk, endpoint))
            .transpose()?;
        let mut printed = Ok(());
        let mut tell = |finding: &Finding| {
            if !self.json && printed.is_ok() {
                let mut page = desk.page();
                line(&mut page, finding);
                printed = page.print();
            }
        };
        let findings = examine(
            &desk.local,
            &desk.config,
            &entry,
            relay.as_ref(),
            desk.now,
            &mut tell,
        );
        printed?;
        let worst = findings.iter().map(|one| one.state).max();
        let n_bad = count(&findings, State::Bad);
        if self.json {
            show::print_json(&json!({
                "ok": n_bad == 0,
                "version": env!("CARGO_PKG_VERSION"),
                "findings": findings.iter().map(as_json).collect::<Vec<_>>(),
            }))?;
        } else {
            let mut page = desk.page();
            page.line("");
            page.line(match (n_bad, count(&findings, State::Warning)) {
                (0, 0) => "everything works".to_owned(),
                (0, n) => format!("it works, and {n} could be better"),
                (n, _) => format!("{n} of {} do not work", findings.len()),
            });
            page.print()?;
        }
        Ok(match worst {
            Some(State::Bad) => Exit::Usage,
            _ => Exit::Done,
        })
    }
}

fn count(findings: &[Finding], state: State) -> usize {
    findings.iter().filter(|one| one.state == state).count()
}

fn line(page: &mut show::Page, finding: &Finding) {
    let (style, word) = match finding.state {
        State::Good => (GOOD, "good"),
        State::Warning => (WARN, "could be better"),
        State::Bad => (ALARM, "bad"),
        State::Skipped => (DIM, "left out"),
    };
    page.line(format!("{style}{word}{style:#}  {}", clean(&finding.said)));
    if let Some(fix) = &finding.fix {
        page.line(format!("      {HINT}→{HINT:#} {}", clean(fix)));
    }
}

fn as_json(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "state": match finding.state {
            State::Good => "good",
            State::Warning => "warning",
            State::Bad => "bad",
            State::Skipped => "skipped",
        },
        "said": finding.said,
        "fix": finding.fix,
    })
}

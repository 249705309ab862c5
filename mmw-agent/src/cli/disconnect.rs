//! Takes this program out of the settings of coding agents.

use std::path::PathBuf;

use serde_json::json;

use super::Desk;
use super::connect::{chosen, entry, needs_a_home, short};
use crate::connect::change::{self, Change, Refused};
use crate::connect::client::{ALL, Client};
use crate::connect::ledger::Ledger;
use crate::exit::{Exit, Trouble};
use crate::show::{self, clean::clean};

/// Take this program out of the settings of coding agents
///
/// A file that nobody has changed since it was connected is put back byte for byte; of any other only
/// what `connect` put in is taken out. The memory itself stays where it is.
///
/// Examples:
///   mmw-agent disconnect --dry-run
///   mmw-agent disconnect
///   mmw-agent disconnect --client cursor
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Disconnect this client only (may be given again)
    #[arg(long, value_name = "CLIENT", value_parser = clap::builder::PossibleValuesParser::new(ALL.iter().map(|client| client.id)))]
    client: Vec<String>,
    /// Only tell what would change
    #[arg(long)]
    dry_run: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What came of one file.
struct Outcome {
    client: &'static Client,
    file: PathBuf,
    /// `removed`, `restored`, `taken_out` or `refused`.
    state: &'static str,
    /// What of ours it is about, or why it was refused.
    detail: String,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        needs_a_home(&desk.config)?;
        let entry = entry(&desk.config)?;
        let is_named = !self.client.is_empty();
        // A client that is gone may have left its settings.
        let clients: Vec<&'static Client> = if is_named {
            chosen(&self.client, &desk.config)
        } else {
            ALL.iter().collect()
        };
        let mut ledger = Ledger::read(&desk.config.home);
        let mut outcomes = Vec::new();
        for client in clients {
            let settings = client.settings(&desk.config.places, &entry, true);
            for change in change::to_disconnect(&settings, &desk.config.home, &ledger) {
                let outcome = match change {
                    Ok(change) if change.is_nothing() => continue,
                    // Settings that nobody connected are nobody's trouble.
                    Err(refused) if !is_named && ledger.done(&refused.file).is_none() => continue,
                    Ok(change) => self.done(client, change, desk, &mut ledger),
                    Err(refused) => Outcome::refused(client, refused),
                };
                outcomes.push(outcome);
            }
        }
        if self.json {
            self.print_json(&outcomes)?;
        } else {
            self.print(desk, &outcomes)?;
        }
        let is_refused = |outcome: &Outcome| outcome.state == REFUSED;
        Ok(match outcomes.iter().any(is_refused) {
            true => Exit::Refused,
            false if outcomes.is_empty() => Exit::Nothing,
            false => Exit::Done,
        })
    }

    fn done(
        &self,
        client: &'static Client,
        change: Change,
        desk: &Desk,
        ledger: &mut Ledger,
    ) -> Outcome {
        if !self.dry_run
            && let Err(refused) = change::disconnect(&change, &desk.config.home, ledger)
        {
            return Outcome::refused(client, refused);
        }
        Outcome {
            client,
            state: match (&change.after, change.is_exact) {
                (None, _) => "removed",
                (Some(_), true) => "restored",
                (Some(_), false) => "taken_out",
            },
            detail: change.what.join(" and "),
            file: change.found.path,
        }
    }

    fn print_json(&self, outcomes: &[Outcome]) -> Result<(), Trouble> {
        let files = outcomes.iter().map(|outcome| {
            let reason = Some(&outcome.detail).filter(|_| outcome.state == REFUSED);
            json!({
                "client": outcome.client.id, "file": outcome.file, "state": outcome.state,
                "reason": reason,
            })
        });
        let files: Vec<_> = files.collect();
        show::print_json(&json!({"dry_run": self.dry_run, "files": files}))
    }

    fn print(&self, desk: &Desk, outcomes: &[Outcome]) -> Result<(), Trouble> {
        let mut page = desk.page();
        let is = if self.dry_run { "would be" } else { "is" };
        for outcome in outcomes {
            let (name, detail) = (outcome.client.name, clean(&outcome.detail));
            let file = short(&outcome.file, &desk.config);
            page.line(match outcome.state {
                "removed" => format!("{name}: {file} {is} gone, as before"),
                "restored" => format!("{name}: {file} {is} as it was before"),
                REFUSED => format!("{name}: {file} is left as it is, {detail}"),
                _ => format!("{name}: {file}, changed since, {is} without {detail}"),
            });
        }
        if outcomes.is_empty() {
            page.line("Nothing of this program is in any client's settings.");
        } else if self.dry_run {
            page.hint("nothing was changed; leave out --dry-run to do it");
        } else {
            page.hint(&format!(
                "the memory stays in {}",
                short(&desk.config.home, &desk.config)
            ));
        }
        page.print()
    }
}

const REFUSED: &str = "refused";

impl Outcome {
    fn refused(client: &'static Client, refused: Refused) -> Self {
        Self {
            client,
            file: refused.file,
            state: REFUSED,
            detail: refused.why,
        }
    }
}

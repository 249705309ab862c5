//! Forgets.

use mmw_core::wire::{ForgetAnswer, ForgetArgs};

use super::door::{self, Told};
use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show::{self, Page, answers};

/// Forget one record, or everything from a source
///
/// What is forgotten leaves every search, list and link at once. It is asked for first; a script
/// says --yes. With --dry-run nothing is done. While the server (MMW_ENDPOINT) is down it waits on this
/// computer, and is forgotten in its turn.
///
/// Examples:
///   mmw-agent forget 0192f0c1-8a6b-7c3d-9e4f-0123456789ab
///   mmw-agent forget --source docs/old.md --dry-run
///   mmw-agent forget --source docs/old.md --reason "the document is gone" --yes
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(clap::ArgGroup::new("what").required(true).args(["id", "source"]))
)]
pub(super) struct Args {
    /// The record
    id: Option<String>,
    /// Everything from this source
    #[arg(long, value_name = "SOURCE_ID")]
    source: Option<String>,
    /// With --source: where; `*` is everywhere in the project
    #[arg(short, long, requires = "source")]
    workspace: Option<String>,
    /// Only tell what would go
    #[arg(long)]
    dry_run: bool,
    /// Why; it is kept in the audit
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let may_ask = desk.terminal.is_interactive() && !self.json;
        if !(self.dry_run || self.yes || may_ask) {
            return Err(Trouble::usage("nobody is here to confirm it")
                .hint("add --yes to forget without asking, or --dry-run to see what would go"));
        }
        let workspace = self
            .source
            .as_ref()
            .and_then(|_| desk.workspace(self.workspace.as_deref()));
        let source_id = self.source.as_ref().map(|given| {
            desk.anchors()
                .stored_name(given)
                .unwrap_or_else(|| given.clone())
        });
        let args = ForgetArgs {
            memory_id: self.id.clone(),
            source_id,
            workspace,
            reason: self.reason.clone(),
            dry_run: self.dry_run,
        };
        let door = door::open(desk)?;
        if !(self.dry_run || self.yes) {
            let ask_first = ForgetArgs {
                dry_run: true,
                ..args.clone()
            };
            let mut would = door.forget(ask_first)?.answer;
            if would.forgotten == 0 {
                would.dry_run = false;
                page(desk, |page| answers::forgotten(page, &would))?;
                return Ok(exit(&would));
            }
            page(desk, |page| answers::forgotten(page, &would))?;
            if !ask::confirm("Forget it?", false)? {
                return Ok(Exit::Nothing);
            }
        }
        let told = door.forget(args)?;
        let exit = if told.is_queued() {
            Exit::Done
        } else {
            exit(&told.answer)
        };
        self.show(desk, &told, &door.place()?)?;
        door.settle();
        Ok(exit)
    }

    fn show(&self, desk: &Desk, told: &Told<ForgetAnswer>, place: &str) -> Result<(), Trouble> {
        if self.json {
            return show::print_json(&told.json);
        }
        page(desk, |page| {
            if told.is_queued() {
                answers::queued(page, place, None);
            } else {
                answers::forgotten(page, &told.answer);
            }
        })
    }
}

fn page(desk: &Desk, fill: impl FnOnce(&mut Page)) -> Result<(), Trouble> {
    let mut page = desk.page();
    fill(&mut page);
    page.print()
}

/// Forgetting twice is forgetting once; a source that nothing rests on was not found.
const fn exit(answer: &ForgetAnswer) -> Exit {
    if answer.forgotten == 0 && answer.already_forgotten == 0 {
        Exit::Nothing
    } else {
        Exit::Done
    }
}

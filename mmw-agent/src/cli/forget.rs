//! Forgets.

use mmw_core::wire::{ForgetAnswer, ForgetArgs};

use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show::{self, answers};

/// Forget one record, or everything from a source
///
/// What is forgotten leaves every search, list and link at once. It is asked for first; a script
/// says --yes. With --dry-run nothing is done.
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
        let source_id = self
            .source
            .map(|given| desk.anchors().stored_name(&given).unwrap_or(given));
        let args = ForgetArgs {
            memory_id: self.id,
            source_id,
            workspace,
            reason: self.reason,
            dry_run: self.dry_run,
        };
        let (memory, caller) = desk.open()?;
        let print = |answer: &ForgetAnswer| {
            if self.json {
                return show::print_json(answer);
            }
            let mut page = desk.page();
            answers::forgotten(&mut page, answer);
            page.print()
        };
        if !(self.dry_run || self.yes) {
            let would = memory.forget(
                &caller,
                &ForgetArgs {
                    dry_run: true,
                    ..args.clone()
                },
            )?;
            if would.forgotten == 0 {
                print(&ForgetAnswer {
                    dry_run: false,
                    ..would.clone()
                })?;
                return Ok(exit(&would));
            }
            print(&would)?;
            if !ask::confirm("Forget it?", false)? {
                return Ok(Exit::Nothing);
            }
        }
        let answer = memory.forget(&caller, &args)?;
        print(&answer)?;
        Ok(exit(&answer))
    }
}

/// Forgetting twice is forgetting once; a source that nothing rests on was not found.
const fn exit(answer: &ForgetAnswer) -> Exit {
    if answer.forgotten == 0 && answer.already_forgotten == 0 {
        Exit::Nothing
    } else {
        Exit::Done
    }
}

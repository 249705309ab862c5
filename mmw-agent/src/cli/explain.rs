//! The receipt of a record.

use mmw_core::wire::{EnvelopeArgs, ExplainArgs};

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show::{self, receipt};

/// Answer "why do you remember this?"
///
/// Shows who said it, when and from what, its versions and links, why its status is what it is, and
/// what was done to it.
///
/// Examples:
///   mmw-agent explain 0192f0c1-8a6b-7c3d-9e4f-0123456789ab
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The record
    id: String,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let (memory, caller) = desk.open()?;
        let given = (ExplainArgs { memory_id: self.id }, EnvelopeArgs::default());
        let (answer, _) = desk
            .anchors()
            .around("explain_memory", given, desk.now, |args, _| {
                memory.explain(&caller, &args)
            })?;
        if self.json {
            show::print_json(&answer)?;
        } else {
            let mut page = desk.page();
            receipt::explained(&mut page, &answer);
            page.print()?;
        }
        Ok(Exit::Done)
    }
}

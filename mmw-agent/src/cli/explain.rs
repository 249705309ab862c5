//! The receipt of a record.

use super::{Desk, door};
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
        let told = door::open(desk)?.explain(self.id)?;
        if self.json {
            show::print_json(&told.json)?;
        } else {
            let mut page = desk.page();
            receipt::explained(&mut page, &told.answer);
            page.print()?;
        }
        Ok(Exit::Done)
    }
}

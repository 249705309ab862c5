//! Checks the store from end to end.

use serde_json::json;

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show;
use crate::show::style::{ALARM, GOOD};

/// Check the store from end to end
///
/// Reads everything once: the database's own check, and whether indexes agree with what is stored.
/// A busy store is said to be busy, not damaged.
///
/// Examples:
///   mmw-agent verify
///   mmw-agent verify --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let problems = if desk.local.exists() {
            desk.local.memory()?.engine().verify()?
        } else {
            Vec::new()
        };
        let exit = if problems.is_empty() {
            Exit::Done
        } else {
            Exit::Store
        };
        if self.json {
            show::print_json(&json!({ "ok": problems.is_empty(), "problems": problems }))?;
            return Ok(exit);
        }
        let mut page = desk.page();
        if !desk.local.exists() {
            page.line("there is no store yet: nothing has been saved on this computer");
        } else if problems.is_empty() {
            page.line(format!(
                "{GOOD}sound{GOOD:#}  {}",
                desk.local.file().display()
            ));
        } else {
            page.line(format!(
                "{ALARM}damaged{ALARM:#}  {}",
                desk.local.file().display()
            ));
            for problem in &problems {
                page.remark("  ", "! ", problem);
            }
            page.hint("keep a copy of the folder before anything else, then restore a backup");
        }
        page.print()?;
        Ok(exit)
    }
}

//! Writes everything out: to be taken in elsewhere, or to be read.

use std::path::PathBuf;

use mmw_core::wire::transfer::{EXPORT_VERSION, ExportHeader, ExportLine};
use mmw_store::Exported;

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show;
use crate::transfer::{output, own, pages};

/// Write everything out: to be taken in elsewhere, or to be read
///
/// One JSON object a line, without loss: `import` makes the same memory of it. It holds this project
/// and your own workspace; what was forgotten is not in it, nor is what waits for review.
///
/// Examples:
///   mmw-agent export --output memory.jsonl
///   mmw-agent export --markdown --workspace backend
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Pages for people instead, by workspace and topic
    #[arg(long)]
    markdown: bool,
    /// Only this workspace
    #[arg(short, long)]
    workspace: Option<String>,
    /// Write to this file, for you alone, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let exported = match desk.open_if_any()? {
            Some((memory, caller)) => memory.export(&caller, self.workspace.as_deref())?,
            None => Exported {
                lines: vec![ExportLine::MmwExport(ExportHeader {
                    version: EXPORT_VERSION,
                    ..ExportHeader::default()
                })],
                n_withheld: 0,
            },
        };
        let text = if self.markdown {
            pages::text(&exported.lines)
        } else {
            own::text(&exported.lines)
                .map_err(|error| Trouble::usage(format!("it can't be written as JSON: {error}")))?
        };
        match &self.output {
            Some(file) => {
                output::write(file, &text, self.force)?;
                let n_records = exported
                    .lines
                    .iter()
                    .filter(|line| matches!(line, ExportLine::Record(_)))
                    .count();
                let mut page = desk.page();
                page.line(format!("exported {n_records} records"));
                page.print()?;
            }
            None => show::print_raw(&text)?,
        }
        if exported.n_withheld > 0 {
            show::say(&format!(
                "{} records are not in it: the guard withholds them (`mmw-agent rescan`)\n",
                exported.n_withheld
            ));
        }
        Ok(Exit::Done)
    }
}

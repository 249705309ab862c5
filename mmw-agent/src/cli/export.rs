//! Writes everything out: to be taken in elsewhere, or to be read.

use std::path::PathBuf;

use mmw_core::place::Reviewer;
use mmw_core::wire::transfer::{EXPORT_VERSION, ExportHeader, ExportLine};
use mmw_store::Exported;

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show;
use crate::show::progress::Bar;
use crate::transfer::{output, own, pages};

/// Write everything out: to be taken in elsewhere, or to be read
///
/// One JSON object a line, without loss: `import` makes the same memory of it. It holds this project
/// and your own workspace; what was forgotten is not in it. What waits for review is only with --review,
/// at a terminal: a model is not shown what the guard holds back.
///
/// Examples:
///   mmw-agent export --output memory.jsonl
///   mmw-agent export --review --output memory.jsonl
///   mmw-agent export --markdown --workspace backend
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Pages for people instead, by workspace and topic
    #[arg(long)]
    markdown: bool,
    /// What waits for review too; needs an interactive terminal
    #[arg(long, conflicts_with = "markdown")]
    review: bool,
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
        let reviewer = if self.review {
            desk.terminal
                .needs_person(&desk.config, "export --review")?;
            Some(Reviewer::at_terminal())
        } else {
            None
        };
        let exported = match desk.open_if_any()? {
            Some((memory, caller)) => {
                let bar = Bar::new();
                let workspace = self.workspace.as_deref();
                memory.export_with(&caller, workspace, reviewer, &mut |done, all| {
                    bar.at(done, all);
                })?
            }
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
                let n_waiting = exported
                    .lines
                    .iter()
                    .filter(|line| matches!(line, ExportLine::Waiting(_)))
                    .count();
                let waiting = if self.review {
                    format!(", and {n_waiting} that wait for review")
                } else {
                    String::new()
                };
                page.line(format!("exported {n_records} records{waiting}"));
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

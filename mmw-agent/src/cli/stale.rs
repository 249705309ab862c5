//! Lists facts that no longer say what their files say.

mod show;

use super::{Desk, door};
use crate::exit::{Exit, Trouble};
use crate::freshness;
use crate::show::{print_json, print_raw};

/// List facts whose files have changed
///
/// Compares every fact that is anchored to a file with the file in this working tree, and tells which
/// commits changed it and who wrote them. With --diff it answers for a pull request: which facts said
/// what their files say before these commits, and no longer do after them. Then the exit code is 6 if
/// there are any. Files that you may not read, or that lie elsewhere, are not compared.
/// In front of a server (MMW_ENDPOINT) all facts of the project are asked for, with a key that may read.
///
/// Examples:
///   mmw-agent stale
///   mmw-agent stale --workspace backend --json
///   mmw-agent stale --diff main...HEAD
///   mmw-agent stale --diff "origin/main...HEAD" --markdown > comment.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Only facts of this workspace; without it, of all of the project
    #[arg(short, long)]
    workspace: Option<String>,
    /// Compare two commits instead: A..B, A...B (since the two parted), or A for A..HEAD
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    diff: Option<String>,
    /// Print Markdown, for a comment
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let anchors = desk.anchors();
        let hits = door::open(desk)?.sourced(self.workspace.as_deref())?;
        let report = match &self.diff {
            None => freshness::of_the_tree(&anchors, hits),
            Some(range) => freshness::of_commits(&anchors, hits, range)
                .map_err(|bad| Trouble::usage(format!("--diff: {bad}")).hint(bad.hint()))?,
        };
        if self.json {
            print_json(&report)?;
        } else if self.markdown {
            print_raw(&show::in_markdown(&report))?;
        } else {
            let mut page = desk.page();
            show::report(&mut page, &report);
            page.print()?;
        }
        Ok(if self.diff.is_some() && !report.stale.is_empty() {
            Exit::Stale
        } else {
            Exit::Done
        })
    }
}

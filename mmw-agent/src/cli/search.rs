//! Finds statements.

use mmw_core::place::{ALL_WORKSPACES, DEFAULT_WORKSPACE};
use mmw_core::wire::{SearchAnswer, SearchArgs};

use super::Desk;
use super::remember::kinds;
use crate::exit::{Exit, Trouble};
use crate::show::{self, answers};

/// Find statements by words
///
/// Each hit says what it is worth: `unverified`, `stale` (what it rests on has changed) or
/// `conflict` (something else in memory says otherwise), with the reason. Your own workspace @user
/// is always read along.
///
/// Examples:
///   mmw-agent search how is staging deployed
///   mmw-agent search port --all --kind decision
///   mmw-agent search deploy --source-id docs/deploy.md --source-hash sha256:9f86d081…
///   mmw-agent search deploy --as-of 2026-03-01 --history
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Words or a question
    #[arg(required = true)]
    query: Vec<String>,
    /// Where to look
    #[arg(short, long)]
    workspace: Option<String>,
    /// Look in all workspaces of the project
    #[arg(short, long, conflicts_with = "workspace")]
    all: bool,
    /// How many hits, 1 to 50
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<i64>,
    /// Only this sort of statement
    #[arg(long, value_parser = kinds())]
    kind: Option<String>,
    /// Only with this label; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// What held at that time: a date or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Also list superseded versions
    #[arg(long)]
    history: bool,
    /// The source that --source-hash belongs to
    #[arg(long, value_name = "ID", requires = "source_hash")]
    source_id: Option<String>,
    /// The hash of that source now: hits that rest on another are stale
    #[arg(long, value_name = "HASH")]
    source_hash: Option<String>,
    /// Leave out what is stale
    #[arg(long)]
    exclude_stale: bool,
    /// Also show what each score is made of, and links
    #[arg(long)]
    explain: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let workspace = if self.all {
            Some(ALL_WORKSPACES.to_owned())
        } else {
            desk.workspace(self.workspace.as_deref())
        };
        let asked_workspace = workspace
            .clone()
            .unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned());
        let args = SearchArgs {
            query: self.query.join(" "),
            workspace,
            limit: self.limit,
            kind: self.kind,
            tags: self.tags,
            as_of: self.as_of,
            history: self.history,
            source_id: self.source_id,
            current_source_hash: self.source_hash,
            exclude_stale: self.exclude_stale,
            // A person scrolls; a model pays for every token.
            max_tokens: Some(100_000),
            detail: self.explain.then(|| "full".to_owned()),
            ..SearchArgs::default()
        };
        let answer = match desk.open_if_any()? {
            Some((memory, caller)) => memory.search(&caller, &args)?,
            None => nothing_yet(),
        };
        if self.json {
            show::print_json(&answer)?;
        } else {
            let mut page = desk.page();
            answers::found(&mut page, &answer, &asked_workspace, self.explain);
            page.print()?;
        }
        Ok(if answer.hits.is_empty() {
            Exit::Nothing
        } else {
            Exit::Done
        })
    }
}

/// Returns the answer of a memory that was never written to.
fn nothing_yet() -> SearchAnswer {
    SearchAnswer {
        hits: Vec::new(),
        total: 0,
        elsewhere: Vec::new(),
        degraded: Vec::new(),
        omitted: 0,
        took_ms: 0.0,
        notice: Some("nothing has been saved on this computer yet".to_owned()),
    }
}

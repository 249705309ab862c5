//! Finds statements.

use mmw_core::ids::RecordId;
use mmw_core::place::{ALL_WORKSPACES, DEFAULT_WORKSPACE};
use mmw_core::wire::{SearchAnswer, SearchArgs, WhyNotAnswer};

use super::remember::kinds;
use super::{Desk, door};
use crate::exit::{Exit, Trouble};
use crate::show::{self, answers};

/// Find statements by words and by meaning
///
/// Each hit says what it is worth: `unverified`, `stale` (what it rests on has changed) or
/// `conflict` (something else in memory says otherwise), with the reason. Your own workspace @user
/// is always read along. While the server (MMW_ENDPOINT) is down it goes through what waits for it, and
/// says that it could not look further.
///
/// Examples:
///   mmw-agent search how is staging deployed
///   mmw-agent search port --all --kind decision
///   mmw-agent search deploy --source-id docs/deploy.md --source-hash sha256:9f86d081…
///   mmw-agent search deploy --as-of 2026-03-01 --history
///   mmw-agent search deploy --explain
///   mmw-agent search deploy --why-not 019cec1c-1040-7e13-9bd5-42ee2ee1b4de
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
    /// Tell why this record is not among the hits
    #[arg(long, value_name = "ID", conflicts_with = "explain")]
    why_not: Option<RecordId>,
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
            source_id: self
                .source_id
                .map(|given| desk.anchors().stored_name(&given).unwrap_or(given)),
            current_source_hash: self.source_hash,
            exclude_stale: self.exclude_stale,
            // A person scrolls; a model pays for every token.
            max_tokens: Some(100_000),
            detail: self.explain.then(|| "full".to_owned()),
            ..SearchArgs::default()
        };
        let door = door::open(desk)?;
        if let Some(id) = self.why_not {
            return show_why_not(desk, &door.why_not(args, id)?, self.json);
        }
        let told = door.search(args)?;
        let answer = &told.answer;
        if self.json {
            show::print_json(&told.json)?;
        } else {
            let mut page = desk.page();
            answers::found(&mut page, answer, &asked_workspace, self.explain);
            page.print()?;
        }
        Ok(if !answer.hits.is_empty() {
            Exit::Done
        } else if is_without_server(answer) {
            // Nothing in what waits here says nothing of what the server has.
            Exit::Store
        } else {
            Exit::Nothing
        })
    }
}

fn show_why_not(desk: &Desk, answer: &WhyNotAnswer, json: bool) -> Result<Exit, Trouble> {
    if json {
        show::print_json(answer)?;
    } else {
        let mut page = desk.page();
        answers::why_not(&mut page, answer);
        page.print()?;
    }
    Ok(Exit::Done)
}

/// Tells whether only what waits on this computer was searched.
fn is_without_server(answer: &SearchAnswer) -> bool {
    answer.degraded.iter().any(|what| what == "server")
}

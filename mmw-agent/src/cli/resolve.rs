//! A person decides a conflict, at the terminal.

use mmw_core::place::DEFAULT_WORKSPACE;
use mmw_core::text::ContentDigest;
use mmw_core::wire::{ResolveArgs, VersionView};

use super::door::{self, Door};
use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show::claims::{Claim, side_by_side};
use crate::show::clean::clean;
use crate::show::style::{ALARM, DIM, GOOD, STRONG};

/// The longest line that a claim is picked by, in characters, where the width is not known.
const MAX_OPTION_CHARS: usize = 80;

/// What stands around a claim in that line: the pointer, its number and a free column.
const AROUND_OPTION: usize = 7;

/// Decide which of two contradicting statements holds
///
/// Shows the claims side by side, newest first; Enter takes the newest. The others stay readable as
/// history. Without a key it goes through all open conflicts. Only a person may do this: it needs
/// an interactive terminal, and takes no piped answers. On a server (MMW_ENDPOINT) your key needs the
/// scope `review`.
///
/// Examples:
///   mmw-agent resolve
///   mmw-agent resolve deploy-staging --workspace backend
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The topic; without one, all open conflicts in turn
    #[arg(value_name = "FACT_KEY")]
    fact_key: Option<String>,
    /// Where the topic is
    #[arg(short, long, requires = "fact_key")]
    workspace: Option<String>,
    /// Refused: a program may not decide
    #[arg(long, hide = true)]
    json: bool,
}

/// What the person did with a conflict.
enum Decided {
    Yes,
    Later,
    Stop,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        needs_person(desk, "resolve", self.json)?;
        let door = door::open(desk)?;
        let conflicts = match self.fact_key {
            Some(fact_key) => {
                let workspace = desk.workspace(self.workspace.as_deref());
                vec![(
                    workspace.unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned()),
                    fact_key,
                )]
            }
            None => door.conflicts()?,
        };
        if conflicts.is_empty() {
            return no_conflict(desk);
        }
        let n_conflicts = conflicts.len();
        let mut n_decided = 0;
        for (nth, (workspace, fact_key)) in conflicts.iter().enumerate() {
            let place = if n_conflicts > 1 {
                format!("{} of {n_conflicts}  ", nth + 1)
            } else {
                String::new()
            };
            match decide(desk, door.as_ref(), workspace, fact_key, &place)? {
                Decided::Yes => n_decided += 1,
                Decided::Later => {}
                Decided::Stop => break,
            }
        }
        Ok(if n_decided > 0 {
            Exit::Done
        } else {
            Exit::Nothing
        })
    }
}

/// Refuses programs: no piped answers, no JSON.
pub(super) fn needs_person(desk: &Desk, command: &str, json: bool) -> Result<(), Trouble> {
    desk.terminal.needs_person(&desk.config, command)?;
    if json {
        return Err(Trouble::new(
            Exit::NeedsPerson,
            format!("`{command}` is a person's decision: there is no --json for it"),
        ));
    }
    Ok(())
}

fn no_conflict(desk: &Desk) -> Result<Exit, Trouble> {
    let mut page = desk.page();
    page.line("no open conflicts: nothing to decide");
    page.print()?;
    Ok(Exit::Nothing)
}

fn decide(
    desk: &Desk,
    door: &dyn Door,
    workspace: &str,
    fact_key: &str,
    place: &str,
) -> Result<Decided, Trouble> {
    let versions = door.versions(workspace, fact_key)?;
    let mut claims = Vec::new();
    for version in open_claims(&versions) {
        let receipt = door.explain(version.id.to_string())?.answer;
        claims.push(Claim {
            record: receipt.record,
            differences: receipt.differences,
        });
    }
    let mut page = desk.page();
    page.line("");
    let topic = format!("{STRONG}{}{STRONG:#}", clean(fact_key));
    if claims.len() < 2 {
        page.line(format!(
            "{place}{topic}  {DIM}{}{DIM:#}  no open conflict",
            clean(workspace)
        ));
        page.print()?;
        return Ok(Decided::Later);
    }
    page.line(format!(
        "{place}{ALARM}conflict{ALARM:#}  {topic}  {DIM}{}{DIM:#}",
        clean(workspace)
    ));
    page.line("");
    side_by_side(&mut page, &claims);
    page.line("");
    page.print()?;

    let max_chars = page.width().unwrap_or(MAX_OPTION_CHARS) - AROUND_OPTION;
    let mut options: Vec<String> = claims
        .iter()
        .enumerate()
        .map(|(nth, claim)| format!("{}  {}", nth + 1, claim.in_short(max_chars)))
        .collect();
    let (n_claims, later) = (claims.len(), claims.len());
    options.push("decide later".to_owned());
    if !place.is_empty() {
        options.push("stop".to_owned());
    }
    let winner = match ask::choose("Which one holds?", options)? {
        Some(nth) if nth < n_claims => &claims[nth].record,
        Some(nth) if nth == later => return Ok(Decided::Later),
        Some(_) | None => return Ok(Decided::Stop),
    };
    let Some(note) = ask::line("Note:", "why, for whoever asks later; Enter for none", "")? else {
        return Ok(Decided::Later);
    };
    if !ask::confirm("Close this conflict?", true)? {
        return Ok(Decided::Later);
    }
    let args = ResolveArgs {
        fact_key: fact_key.to_owned(),
        workspace: Some(workspace.to_owned()),
        winner: winner.id.to_string(),
        note: Some(note).filter(|note| !note.is_empty()),
    };
    let answer = door.resolve(args)?;
    let mut page = desk.page();
    page.line(format!(
        "{GOOD}resolved{GOOD:#}  {topic}  {DIM}{} kept as history{DIM:#}",
        answer.resolution.closed.len()
    ));
    page.print()?;
    Ok(Decided::Yes)
}

/// Returns the claims that stand against each other, newest first; a repeated claim once.
fn open_claims(versions: &[VersionView]) -> Vec<&VersionView> {
    let mut seen = Vec::new();
    versions
        .iter()
        .filter(|version| !version.resolved_away && version.status == "conflict")
        .filter(|version| {
            let digest = ContentDigest::of(&version.content);
            let is_new = !seen.contains(&digest);
            seen.push(digest);
            is_new
        })
        .collect()
}

//! A person decides what waits in front of memory, at the terminal.

use mmw_core::wire::{LaneItemView, ReviewArgs};

use super::door::{self, Door};
use super::resolve::needs_person;
use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::show;
use crate::show::clean::clean;
use crate::show::lane::lane_item;
use crate::show::style::{DIM, GOOD, PLAIN, WARN};

/// Items that one run goes through: the most that one list gives.
const MAX_ITEMS: i64 = 50;

/// Decide what may enter memory
///
/// Goes through what waits: candidates, and writes that the guard held back. Nothing of it is
/// memory until you say so. Only a person may do this: it needs an interactive terminal, and takes
/// no piped answers. On a server (MMW_ENDPOINT) your key needs the scope `review`.
///
/// Examples:
///   mmw-agent review
///   mmw-agent review --kind quarantined --workspace backend
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Only this sort
    #[arg(long, value_parser = ["candidate", "quarantined", "suggestion"])]
    kind: Option<String>,
    /// Only what would go there
    #[arg(short, long)]
    workspace: Option<String>,
    /// Refused: a program may not decide
    #[arg(long, hide = true)]
    json: bool,
}

/// What can be done with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Approve,
    Release,
    Edit,
    Reject,
    Never,
    Later,
    Stop,
}

/// What a decision takes besides the item.
struct Details {
    content: Option<String>,
    note: Option<String>,
}

impl Choice {
    /// Returns what can be done with an item of that kind, the usual first.
    const fn for_kind(is_quarantined: bool) -> &'static [Self] {
        if is_quarantined {
            // What the guard held back is turned down unless somebody says why it is safe.
            &[
                Self::Reject,
                Self::Edit,
                Self::Release,
                Self::Never,
                Self::Later,
                Self::Stop,
            ]
        } else {
            &[
                Self::Approve,
                Self::Edit,
                Self::Reject,
                Self::Never,
                Self::Later,
                Self::Stop,
            ]
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Approve => "approve   it becomes memory as it is",
            Self::Release => "release   it becomes memory against the guard's advice; needs a note",
            Self::Edit => "edit      other words become memory",
            Self::Reject => "reject    it is turned down",
            Self::Never => "never     it is turned down for good, and its topic too",
            Self::Later => "skip      decide later",
            Self::Stop => "stop",
        }
    }

    /// Returns the action of the decision; `None` for putting it off.
    const fn action(self) -> Option<&'static str> {
        match self {
            Self::Approve => Some("approve"),
            Self::Release => Some("release"),
            Self::Edit => Some("edit"),
            Self::Reject => Some("reject"),
            Self::Never => Some("never"),
            Self::Later | Self::Stop => None,
        }
    }
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        needs_person(desk, "review", self.json)?;
        let list = ReviewArgs {
            kind: self.kind,
            workspace: self.workspace,
            limit: Some(MAX_ITEMS),
            ..ReviewArgs::default()
        };
        let door = door::open(desk)?;
        let items = door.lane(list)?.items;
        if items.is_empty() {
            let mut page = desk.page();
            page.line("nothing waits for review");
            page.print()?;
            return Ok(Exit::Nothing);
        }
        let mut n_decided = 0;
        for (nth, item) in items.iter().enumerate() {
            let mut page = desk.page();
            page.line("");
            page.line(format!("{DIM}{} of {}{DIM:#}", nth + 1, items.len()));
            lane_item(&mut page, item);
            page.line("");
            page.print()?;
            match decide(desk, door.as_ref(), item)? {
                Choice::Stop => break,
                Choice::Later => {}
                _ => n_decided += 1,
            }
        }
        Ok(if n_decided > 0 {
            Exit::Done
        } else {
            Exit::Nothing
        })
    }
}

/// Asks until the item is decided on or put off; a refused decision is told and asked again.
fn decide(desk: &Desk, door: &dyn Door, item: &LaneItemView) -> Result<Choice, Trouble> {
    let choices = Choice::for_kind(item.kind == "quarantined");
    loop {
        let options = choices
            .iter()
            .map(|choice| choice.words().to_owned())
            .collect();
        let choice = match ask::choose("What shall become of it?", options)? {
            Some(nth) => choices[nth],
            None => Choice::Stop,
        };
        let Some(action) = choice.action() else {
            return Ok(choice);
        };
        let Some(Details { content, note }) = details(choice, item)? else {
            continue;
        };
        let args = ReviewArgs {
            action: Some(action.to_owned()),
            ids: vec![item.candidate_id.clone()],
            content,
            note,
            ..ReviewArgs::default()
        };
        match door.decide(args) {
            Ok(answer) => {
                let mut page = desk.page();
                let record = answer.items.first().and_then(|item| item.record);
                let (style, word) = match record {
                    Some(_) => (GOOD, "in memory"),
                    None => (WARN, "turned down"),
                };
                page.line(format!("{style}{word}{style:#}"));
                if let Some(record) = record {
                    page.body("  ", PLAIN, &record.to_string());
                }
                page.print()?;
                return Ok(choice);
            }
            Err(refused) if refused.can_be_mended => show::print_trouble(&refused.trouble),
            Err(failed) => return Err(failed.trouble),
        }
    }
}

/// Returns the new words and the note that a decision takes; `None` if the person went back.
fn details(choice: Choice, item: &LaneItemView) -> Result<Option<Details>, Trouble> {
    let content = match choice {
        Choice::Edit => match ask::text("Save instead:", &clean(&item.content))? {
            Some(content) => Some(content),
            None => return Ok(None),
        },
        _ => None,
    };
    let note = match choice {
        Choice::Release => match ask::line("Why is it safe?", "it is kept; Esc goes back", "")? {
            Some(note) => Some(note).filter(|note| !note.is_empty()),
            None => return Ok(None),
        },
        _ => None,
    };
    Ok(Some(Details { content, note }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guard_held_back_can_not_be_approved_and_is_turned_down_by_default() {
        let held = Choice::for_kind(true);
        assert_eq!(held[0], Choice::Reject);
        assert!(!held.contains(&Choice::Approve) && held.contains(&Choice::Release));
        assert!(!Choice::for_kind(false).contains(&Choice::Release));
    }
}

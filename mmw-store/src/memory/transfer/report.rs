//! What an import came to: counts, lines, rules and reasons, never contents.

use std::collections::BTreeMap;

use super::prepare::{Item, What};
use super::take::Taken;

/// A line that was not taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The number of the line or entry.
    pub line: u64,
    /// Why, without what it says.
    pub reason: String,
}

/// A line that waits in the review lane because of what the guard found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The number of the line or entry.
    pub line: u64,
    /// The rule.
    pub rule: String,
}

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Nothing was changed; these are the numbers that there would be.
    pub is_dry_run: bool,
    /// Records that became memory.
    pub n_imported: u64,
    /// Records and waiting items that were here already.
    pub n_already_there: u64,
    /// Records that had been forgotten here; they stay so.
    pub n_forgotten: u64,
    /// Of what was taken in: how much had secrets replaced by the guard just now.
    pub n_redacted: u64,
    /// How many secrets of which field by which rule.
    pub replaced: BTreeMap<(&'static str, String), u64>,
    /// Statements that wait in the review lane because another program captured them.
    pub n_proposed: u64,
    /// Proposals that a person turned down before.
    pub n_turned_down: u64,
    /// What waited for review where it comes from, and for longer than anything waits.
    pub n_expired: u64,
    /// What the guard holds for review.
    pub held: Vec<Held>,
    /// Links that were made.
    pub n_links: u64,
    /// Decisions on conflicts that were taken over.
    pub n_resolutions: u64,
    /// Decisions that came along and were left out, since no person is here.
    pub n_undecided: u64,
    /// What was not taken in.
    pub refused: Vec<Refused>,
}

impl ImportReport {
    /// Tells whether everything that came is here now, or was before.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.refused.is_empty()
    }

    pub(super) fn refuse(&mut self, line: u64, reason: impl Into<String>) {
        self.refused.push(Refused {
            line,
            reason: reason.into(),
        });
    }

    pub(super) fn count(&mut self, item: &Item, taken: Taken) {
        let is_new = matches!(taken, Taken::Imported | Taken::Held(_) | Taken::Proposed);
        let replaced = match &item.what {
            What::Record(moving) => moving.screened.replaced(),
            What::Waiting(waiting) => &waiting.replaced_now,
            What::Rejected { .. } | What::Link(_) | What::Resolution(_) => &[],
        };
        if is_new {
            self.n_redacted += u64::from(!replaced.is_empty());
            for one in replaced {
                let n = self
                    .replaced
                    .entry((one.field, one.rule.clone()))
                    .or_default();
                *n += u64::from(one.count);
            }
        }
        if is_new && let What::Record(moving) = &item.what {
            let is_approved = moving.approval.is_some();
            self.n_undecided += u64::from(is_approved && moving.leaves_decision);
        }
        match taken {
            Taken::Imported => self.n_imported += 1,
            Taken::There => self.n_already_there += 1,
            Taken::Forgotten => self.n_forgotten += 1,
            Taken::Held(rule) => self.held.push(Held {
                line: item.line,
                rule,
            }),
            Taken::Proposed => self.n_proposed += 1,
            Taken::TurnedDown => self.n_turned_down += 1,
            Taken::Expired => self.n_expired += 1,
            Taken::Linked => self.n_links += 1,
            Taken::Resolved => self.n_resolutions += 1,
            Taken::Known => {}
            Taken::LeftToAPerson => self.n_undecided += 1,
            Taken::Refused(reason) => self.refuse(item.line, reason),
        }
    }

    pub(super) fn in_order(&mut self) {
        self.refused.sort_by_key(|refused| refused.line);
        self.held.sort_by_key(|held| held.line);
    }
}

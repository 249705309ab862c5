//! Forgets: a soft delete in one transaction with every index, vector and link.

use mmw_core::audit::Deed;
use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::place::{Caller, Scope, WorkspaceChoice};
use mmw_core::source::SourceId;
use mmw_core::time::Timestamp;
use mmw_core::wire::{ForgetAnswer, ForgetArgs, Forgettable};

use super::Memory;
use super::failure::Failure;
use super::remember::entry;
use crate::engine::{EngineResult, SourceMatch, Txn, rehearse, write};

/// What is to be forgotten.
enum Target {
    Record(RecordId),
    Source(SourceId, Vec<(ProjectId, WorkspaceChoice)>),
}

impl Memory {
    /// Forgets one record, or everything that names a source (a document with its spans).
    ///
    /// What is forgotten comes back on no surface. Forgetting again changes nothing. With `dry_run`
    /// the work is done and rolled back, so that the receipt is exact.
    ///
    /// # Errors
    /// [`Failure`]: `NotFound` if there never was such a record here; `Invalid` unless exactly one
    /// of `memory_id` and `source_id` is given.
    pub fn forget(&self, caller: &Caller, args: &ForgetArgs) -> Result<ForgetAnswer, Failure> {
        self.need(caller, Scope::Forget)?;
        let target = target(caller, args)?;
        let reason = self.clean_note(caller, "reason", args.reason.as_deref())?;
        let now = self.clock.now();
        let work = |txn: &mut dyn Txn| {
            carry_out(txn, caller, &target, reason.as_deref(), now, args.dry_run)
        };
        let answer = if args.dry_run {
            rehearse(self.engine(), work)?
        } else {
            write(self.engine(), work)?
        };
        answer.ok_or(Failure::NotFound("record"))
    }
}

fn target(caller: &Caller, args: &ForgetArgs) -> Result<Target, Failure> {
    Ok(match args.what()? {
        Forgettable::Record(id) => Target::Record(id),
        Forgettable::Source(source_id, workspace) => {
            Target::Source(source_id, places(caller, workspace))
        }
    })
}

/// Returns where a workspace choice leads: the person's own workspace only if it is named.
pub(super) fn places(
    caller: &Caller,
    choice: WorkspaceChoice,
) -> Vec<(ProjectId, WorkspaceChoice)> {
    match &choice {
        WorkspaceChoice::One(name) if name.is_user() => vec![(caller.user_project, choice)],
        WorkspaceChoice::One(_) | WorkspaceChoice::All => vec![(caller.project, choice)],
    }
}

fn carry_out(
    txn: &mut dyn Txn,
    caller: &Caller,
    target: &Target,
    reason: Option<&str>,
    now: Timestamp,
    dry_run: bool,
) -> EngineResult<Option<ForgetAnswer>> {
    let (ids, already_forgotten) = match target {
        Target::Record(id) => {
            let seen = txn
                .record(*id)?
                .filter(|stored| caller.sees(stored.record.place.project));
            if seen.is_some() {
                (vec![*id], 0)
            } else {
                let tombstones = txn.tombstones(&[*id])?;
                if !tombstones
                    .iter()
                    .any(|tombstone| caller.sees(tombstone.place.project))
                {
                    return Ok(None);
                }
                (Vec::new(), 1)
            }
        }
        Target::Source(source_id, places) => {
            let which = SourceMatch {
                places,
                source_id,
                limit: usize::MAX,
            };
            let ids = txn
                .of_source(&which)?
                .into_iter()
                .map(|stored| stored.record.id)
                .collect();
            (ids, 0)
        }
    };
    let gone = txn.forget(&ids, now, caller.principal, reason)?;
    if !ids.is_empty() {
        let shown = ids.iter().map(ToString::to_string).collect();
        txn.append_audit(&entry(caller, Deed::Forget, shown, reason, now))?;
    }
    Ok(Some(ForgetAnswer {
        forgotten: gone.records,
        already_forgotten,
        links: gone.links,
        index_rows: gone.index_rows,
        ids,
        dry_run,
    }))
}

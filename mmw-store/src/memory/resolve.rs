//! Resolves a conflict, by a person's decision.

use mmw_core::audit::Deed;
use mmw_core::fact::Resolution;
use mmw_core::ids::{RecordId, ResolutionId};
use mmw_core::link::{Link, LinkKind};
use mmw_core::place::{Caller, Place, Reviewer, Scope};
use mmw_core::record::FactKey;
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use mmw_core::wire::{ResolveAnswer, ResolveArgs, VersionView};

use super::Memory;
use super::explain::resolution_view;
use super::failure::Failure;
use super::judged::Judge;
use super::remember::entry;
use crate::engine::{EngineResult, Txn, read, write};

/// How many contested facts are looked at for open conflicts.
const MAX_CONTESTED: usize = 10_000;

impl Memory {
    /// Returns the versions of a fact as the caller sees them, newest first.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is none.
    pub fn versions(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        fact_key: &str,
    ) -> Result<Vec<VersionView>, Failure> {
        self.need(caller, Scope::Read)?;
        let place = caller.place(validation::workspace(workspace)?);
        let fact_key = validation::fact_key(fact_key)?;
        let now = self.clock.now();
        let versions = read(self.engine(), |snapshot| {
            Judge::new(self, snapshot, caller, now, &[]).versions(&place, &fact_key)
        })?;
        if versions.is_empty() {
            return Err(Failure::NotFound("fact"));
        }
        Ok(versions)
    }

    /// Closes the claims that stand against the winner: it loses `conflict`, the losers stay
    /// readable as superseded history. Choosing the winner of the last decision again changes
    /// nothing; choosing a loser reverses the decision.
    ///
    /// # Errors
    /// [`Failure`]: `NotFound` if the winner is no version of that fact; `Invalid` if there is
    /// nothing to resolve.
    pub fn resolve(
        &self,
        caller: &Caller,
        reviewer: Reviewer,
        args: &ResolveArgs,
    ) -> Result<ResolveAnswer, Failure> {
        self.need(caller, Scope::Read)?;
        let place = caller.place(validation::workspace(args.workspace.as_deref())?);
        let fact_key = validation::fact_key(&args.fact_key)?;
        let winner: RecordId = args
            .winner
            .parse()
            .map_err(|e| Invalid::new("winner", format!("{e}")))?;
        let note = self.clean_note(caller, "note", args.note.as_deref())?;
        let now = self.clock.now();
        let id = ResolutionId::from_parts(now, self.entropy.id_bytes());
        write(self.engine(), |txn| {
            let decision = Decision {
                id,
                place: &place,
                fact_key: &fact_key,
                winner,
                note: note.as_deref(),
                now,
            };
            decide(self, txn, caller, reviewer, &decision)
        })?
    }

    /// Returns the facts that are in conflict, as (workspace, fact key), at most `limit`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn open_conflicts(
        &self,
        caller: &Caller,
        limit: usize,
    ) -> Result<Vec<(String, String)>, Failure> {
        self.need(caller, Scope::Read)?;
        let now = self.clock.now();
        let conflicts = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut conflicts = Vec::new();
            for project in caller.visible_projects() {
                for (workspace, fact_key) in snapshot.contested_facts(project, MAX_CONTESTED)? {
                    if conflicts.len() == limit {
                        return Ok(conflicts);
                    }
                    let place = Place { project, workspace };
                    if judge.fact(&place, &fact_key)?.versions.in_conflict()
                        && judge
                            .are_clean(project, &[place.workspace.as_str(), fact_key.as_str()])?
                    {
                        conflicts.push((place.workspace.to_string(), fact_key.to_string()));
                    }
                }
            }
            Ok(conflicts)
        })?;
        Ok(conflicts)
    }
}

struct Decision<'a> {
    id: ResolutionId,
    place: &'a Place,
    fact_key: &'a FactKey,
    winner: RecordId,
    note: Option<&'a str>,
    now: Timestamp,
}

fn decide(
    memory: &Memory,
    txn: &mut dyn Txn,
    caller: &Caller,
    reviewer: Reviewer,
    decision: &Decision<'_>,
) -> EngineResult<Result<ResolveAnswer, Failure>> {
    let Decision {
        place,
        fact_key,
        winner,
        now,
        ..
    } = *decision;
    txn.take_turn(place, fact_key)?;
    let fact = Judge::new(memory, txn.snapshot(), caller, now, &[])
        .fact(place, fact_key)?
        .clone();
    let Some(closed) = fact.versions.closed_if_won_by(winner) else {
        return Ok(Err(Failure::NotFound("version of that fact")));
    };
    let last = fact
        .resolutions
        .iter()
        .max_by_key(|resolution| (resolution.at, resolution.id));
    let resolution = match last {
        Some(last) if last.winner == winner && !fact.versions.in_conflict() => last.clone(),
        _ if fact.versions.in_conflict() || fact.versions.is_closed(winner) => {
            let resolution = Resolution {
                id: decision.id,
                place: place.clone(),
                fact_key: fact_key.clone(),
                winner,
                closed,
                // Never before an earlier decision, whatever the clock says.
                at: last.map_or(now, |last| now.max(last.at.plus_ms(1))),
                by: caller.principal,
                way: reviewer.way(),
                note: decision.note.map(str::to_owned),
            };
            enact(txn, caller, &resolution, now)?;
            resolution
        }
        _ => {
            return Ok(Err(Invalid::new(
                "fact_key",
                "is not in conflict: its open versions say the same, nothing is to be resolved",
            )
            .into()));
        }
    };
    let versions =
        Judge::new(memory, txn.snapshot(), caller, now, &[]).versions(place, fact_key)?;
    Ok(Ok(ResolveAnswer {
        fact_key: fact_key.to_string(),
        workspace: place.workspace.to_string(),
        resolution: resolution_view(&resolution),
        versions,
    }))
}

fn enact(
    txn: &mut dyn Txn,
    caller: &Caller,
    resolution: &Resolution,
    now: Timestamp,
) -> EngineResult<()> {
    txn.insert_resolution(resolution)?;
    for loser in &resolution.closed {
        txn.insert_link(&Link {
            from: resolution.winner,
            to: *loser,
            kind: LinkKind::Outdates,
            created_at: now,
        })?;
    }
    let mut ids = vec![resolution.winner.to_string()];
    ids.extend(resolution.closed.iter().map(ToString::to_string));
    let why = match &resolution.note {
        Some(note) => format!("by {}: {note}", resolution.way.name()),
        None => format!("by {}", resolution.way.name()),
    };
    txn.append_audit(&entry(caller, Deed::Resolve, ids, Some(&why), now))
}

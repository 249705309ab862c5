//! What a session should know at its start.

use std::collections::HashSet;

use mmw_core::place::{Caller, Place, Scope, WorkspaceName};
use mmw_core::record::FactKey;
use mmw_core::time::Timestamp;
use mmw_core::validation;
use mmw_core::wire::Hit;

use super::Memory;
use super::failure::Failure;
use super::hits::{Found, hit, holds, shown_versions};
use super::judged::Judge;
use super::review::n_waiting;
use crate::engine::{EngineResult, Snapshot, read};

/// The most conflicts that a brief names.
const MAX_CONFLICTS: usize = 20;
/// How many records are looked at for each one that is shown.
const LOOKED_AT: usize = 8;

/// What is in force in a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// Facts in conflict, as (workspace, fact key).
    pub conflicts: Vec<(String, String)>,
    /// Items that wait for review.
    pub waiting: u64,
    /// The newest records in force, the person's own first.
    pub hits: Vec<Hit>,
    /// Records of the workspace in all.
    pub n_records: u64,
    /// Records that are not shown because today's guard sees an instruction in them.
    pub withheld: u32,
}

impl Memory {
    /// Returns what a session should know at its start: open conflicts, what waits for review, and
    /// at most `limit` of the newest records in force.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn brief(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        limit: usize,
    ) -> Result<Brief, Failure> {
        self.need(caller, Scope::Read)?;
        let place = caller.place(validation::workspace(workspace)?);
        let user = WorkspaceName::new(mmw_core::place::USER_WORKSPACE).unwrap_or_default();
        let mut places = vec![caller.place(user)];
        if !places.contains(&place) {
            places.push(place.clone());
        }
        let conflicts = self.open_conflicts(caller, MAX_CONFLICTS)?;
        let now = self.clock.now();
        let brief = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut hits = Vec::new();
            for place in &places {
                let room = limit - hits.len();
                hits.extend(newest_in_force(snapshot, &mut judge, place, room, now)?);
            }
            let n_records = snapshot
                .workspaces(place.project)?
                .into_iter()
                .find(|(name, _)| *name == place.workspace)
                .map_or(0, |(_, n_records)| n_records);
            Ok(Brief {
                conflicts: conflicts.clone(),
                waiting: u64::from(n_waiting(snapshot, caller, now)?),
                hits,
                n_records,
                withheld: u32::try_from(judge.n_withheld()).unwrap_or(u32::MAX),
            })
        })?;
        Ok(brief)
    }
}

fn newest_in_force(
    snapshot: &dyn Snapshot,
    judge: &mut Judge<'_>,
    place: &Place,
    limit: usize,
    now: Timestamp,
) -> EngineResult<Vec<Hit>> {
    let mut hits = Vec::new();
    let mut seen: HashSet<FactKey> = HashSet::new();
    for stored in snapshot.newest_records(place, limit * LOOKED_AT)? {
        let Some(record) = judge.know(stored)? else {
            continue;
        };
        let ids = match &record.fact_key {
            None => vec![record.id],
            Some(fact_key) if !seen.insert(fact_key.clone()) => continue,
            Some(fact_key) => {
                let versions = judge.fact(place, fact_key)?.versions.clone();
                shown_versions(&versions, false)
            }
        };
        for id in ids {
            let Some(stored) = judge
                .record(id)?
                .filter(|stored| holds(&stored.record, None, now))
            else {
                continue;
            };
            if hits.len() == limit {
                return Ok(hits);
            }
            hits.push(hit(
                judge,
                &stored.record,
                Found::default(),
                0,
                &mut Default::default(),
            )?);
        }
    }
    Ok(hits)
}

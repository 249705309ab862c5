//! Lists what rests on sources, so that a program that sees the files can compare them.

use std::collections::HashMap;

use mmw_core::place::{Caller, Place, Scope, WorkspaceChoice};
use mmw_core::validation;
use mmw_core::wire::Hit;

use super::Memory;
use super::failure::Failure;
use super::hits::{Found, hit};
use super::judged::Judge;
use crate::engine::read;

impl Memory {
    /// Returns every statement of the project that names a source or was derived from others, as far as
    /// it is in force: what a person decided against and what only repeats the newest version is
    /// history. Newest first; without a workspace, of all.
    ///
    /// They look like hits, so that whatever checks hits checks them. Nothing was asked: scores are 0.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn sourced(&self, caller: &Caller, workspace: Option<&str>) -> Result<Vec<Hit>, Failure> {
        self.need(caller, Scope::Read)?;
        let chosen = match workspace {
            None => WorkspaceChoice::All,
            some => validation::workspace_choice(some)?,
        };
        let now = self.clock.now();
        let mut hits = read(self.engine(), |snapshot| {
            let places: Vec<Place> = match &chosen {
                WorkspaceChoice::One(name) => vec![caller.place(name.clone())],
                WorkspaceChoice::All => snapshot
                    .workspaces(caller.project)?
                    .into_iter()
                    .map(|(name, _)| caller.place(name))
                    .collect(),
            };
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut hits = Vec::new();
            for place in &places {
                for stored in snapshot.newest_records(place, usize::MAX)? {
                    let record = &stored.record;
                    if record.origin.id.is_none() && record.derived_from.is_empty() {
                        continue;
                    }
                    let Some(record) = judge.know(stored)? else {
                        continue;
                    };
                    let is_history = judge
                        .fact_of(&record)?
                        .is_some_and(|fact| fact.versions.is_history(record.id));
                    if is_history || record.lies_ahead_of(now) {
                        continue;
                    }
                    hits.push(hit(
                        &mut judge,
                        &record,
                        Found::default(),
                        0,
                        &mut HashMap::new(),
                    )?);
                }
            }
            Ok(hits)
        })?;
        hits.sort_by_key(|hit| std::cmp::Reverse((hit.record.created_at, hit.record.id)));
        Ok(hits)
    }
}

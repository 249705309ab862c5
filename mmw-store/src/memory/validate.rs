//! Compares records with the current hash of their source.

use mmw_core::place::{Caller, Scope};
use mmw_core::record::Record;
use mmw_core::source::{Freshness, SourceId};
use mmw_core::status::Level;
use mmw_core::validation::{self, Invalid};
use mmw_core::wire::{ReasonView, ValidateAnswer, ValidateArgs, ValidatedView};

use super::Memory;
use super::failure::Failure;
use super::forget::places;
use super::judged::Judge;
use super::mention;
use crate::engine::{SourceMatch, read, write};

impl Memory {
    /// Tells which records rest on another state of a source. A document covers its spans.
    ///
    /// Looks at what is in force: versions that a person decided against, or that only repeat the
    /// newest one, are history. The report that this hash is the source's current one is kept, so
    /// that a later search knows which source a bare hash belongs to; it marks nothing by itself.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn validate(
        &self,
        caller: &Caller,
        args: &ValidateArgs,
    ) -> Result<ValidateAnswer, Failure> {
        self.need(caller, Scope::Read)?;
        let source_id = validation::source_id("source_id", &args.source_id)?;
        // As it was saved, and as the report may be kept: without secrets.
        let now = self.clock.now();
        let ward = read(self.engine(), |snapshot| {
            self.ward(snapshot, caller.project, now)
        })?;
        let source_id = SourceId::new(&ward.redact(source_id.as_str()).0)
            .ok_or_else(|| Invalid::new("source_id", "has a secret in it: leave that out"))?;
        let hash = validation::hash("current_source_hash", &args.current_source_hash)?;
        self.check_hash("current_source_hash", &hash)?;
        let places = places(
            caller,
            validation::workspace_choice(args.workspace.as_deref())?,
        );
        let current = [(source_id, hash)];
        let (source_id, hash) = &current[0];
        let answer = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &current);
            let mut answer = ValidateAnswer {
                checked: 0,
                unchanged: 0,
                unknown: 0,
                stale: Vec::new(),
                conflicts: Vec::new(),
                withheld: 0,
            };
            let which = SourceMatch {
                places: &places,
                source_id,
                limit: usize::MAX,
            };
            for stored in snapshot.of_source(&which)? {
                let Some(record) = judge.know(stored)? else {
                    continue;
                };
                let is_history = judge
                    .fact_of(&record)?
                    .is_some_and(|fact| fact.versions.is_history(record.id));
                if is_history {
                    continue;
                }
                answer.checked += 1;
                let status = judge.status(&record)?;
                let view = || validated(&record, status.level(), ReasonView::all_of(&status));
                match record.origin.compare(source_id, hash) {
                    Freshness::Unchanged => answer.unchanged += 1,
                    Freshness::Unknown => answer.unknown += 1,
                    Freshness::Changed => answer.stale.push(view()),
                }
                if status.level() == Level::Conflict {
                    answer.conflicts.push(view());
                }
            }
            answer.withheld = u32::try_from(judge.n_withheld()).unwrap_or(u32::MAX);
            let told = answer.stale.iter_mut().chain(&mut answer.conflicts);
            mention::fit(told.map(|record| &mut record.content));
            Ok(answer)
        })?;
        if ward.check().is_err() {
            return Ok(answer);
        }
        // A read must not fail because a note about it could not be kept.
        let _ = write(self.engine(), |txn| {
            let known = txn.sources_with_hash(&[caller.project], hash)?;
            if known.contains(source_id) {
                return Ok(());
            }
            txn.report_source(caller.project, source_id, hash, now)
        });
        Ok(answer)
    }
}

fn validated(record: &Record, level: Level, status_reasons: Vec<ReasonView>) -> ValidatedView {
    ValidatedView {
        id: record.id,
        workspace: record.place.workspace.to_string(),
        fact_key: record.fact_key.as_ref().map(ToString::to_string),
        content: record.content.clone(),
        source_id: record
            .origin
            .id
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        source_hash: record.origin.hash.as_ref().map(ToString::to_string),
        created_at: record.said.created_at,
        status: level.name().to_owned(),
        status_reasons,
    }
}

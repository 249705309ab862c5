//! A fact with its versions and what their sources can be compared with.

use mmw_core::place::{Caller, Scope};
use mmw_core::validation;
use mmw_core::wire::{FactView, SourcedVersion};

use super::Memory;
use super::failure::Failure;
use super::judged::{Judge, anchor_of};
use crate::engine::read;

impl Memory {
    /// Returns the versions of a fact, newest first, each with its source's hashes and what it derives from.
    ///
    /// # Errors
    /// [`Failure`]; `NotFound` if there is none.
    pub fn fact(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        fact_key: &str,
    ) -> Result<FactView, Failure> {
        self.need(caller, Scope::Read)?;
        let place = caller.place(validation::workspace(workspace)?);
        let key = validation::fact_key(fact_key)?;
        let now = self.clock.now();
        let versions = read(self.engine(), |snapshot| {
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let mut sourced = Vec::new();
            for version in judge.versions(&place, &key)? {
                let Some(stored) = judge.record(version.id)? else {
                    continue;
                };
                let record = &stored.record;
                let source = anchor_of(record);
                sourced.push(SourcedVersion {
                    workspace: record.place.workspace.to_string(),
                    status_reasons: judge.shown_status(record)?.1,
                    source_hash: source.as_ref().and_then(|it| it.source_hash.clone()),
                    source_hash_text: source.as_ref().and_then(|it| it.source_hash_text.clone()),
                    span: source.and_then(|it| it.span),
                    anchors: judge.anchors(record)?,
                    local_source: None,
                    local_span: None,
                    version,
                });
            }
            Ok(sourced)
        })?;
        if versions.is_empty() {
            return Err(Failure::NotFound("fact"));
        }
        Ok(FactView {
            workspace: place.workspace.to_string(),
            fact_key: fact_key.to_owned(),
            versions,
        })
    }
}

//! Counts and completions: what there is, without contents.

use mmw_core::capture::LaneKind;
use mmw_core::place::{Caller, Place, Scope};
use mmw_core::time::Timestamp;
use mmw_core::validation;

use super::Memory;
use super::failure::Failure;
use super::review::n_waiting;
use crate::engine::{LaneFilter, read};

/// When something last came in, as far as the caller can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pulse {
    /// When the newest record was received.
    pub last_write: Option<Timestamp>,
    /// When the newest statement that a machine captured came into the review lane.
    pub last_capture: Option<Timestamp>,
}

/// How much there is, as far as the caller can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// Workspaces of the project with the number of their records.
    pub workspaces: Vec<(String, u64)>,
    /// Records of the project.
    pub n_records: u64,
    /// Records of the person's own workspace.
    pub n_user_records: u64,
    /// Items that wait for review.
    pub waiting: u64,
    /// Bytes of the whole store on disk.
    pub size_bytes: u64,
}

impl Memory {
    /// Counts what the caller can see.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn census(&self, caller: &Caller) -> Result<Census, Failure> {
        self.need(caller, Scope::Read)?;
        let now = self.clock.now();
        let size_bytes = self.engine().size_bytes()?;
        let census = read(self.engine(), |snapshot| {
            let ward = self.ward(snapshot, caller.project, now)?;
            let workspaces = snapshot
                .workspaces(caller.project)?
                .into_iter()
                .filter(|(name, _)| ward.is_clean(name.as_str()))
                .map(|(name, n_records)| (name.to_string(), n_records))
                .collect();
            Ok(Census {
                workspaces,
                n_records: snapshot.n_records(caller.project)?,
                n_user_records: snapshot.n_records(caller.user_project)?,
                waiting: u64::from(n_waiting(snapshot, caller, now)?),
                size_bytes,
            })
        })?;
        Ok(census)
    }

    /// Tells when something last came in.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn pulse(&self, caller: &Caller) -> Result<Pulse, Failure> {
        self.need(caller, Scope::Read)?;
        let captured = LaneFilter {
            kind: Some(LaneKind::Candidate),
            ..LaneFilter::default()
        };
        let pulse = read(self.engine(), |snapshot| {
            let mut pulse = Pulse::default();
            for project in caller.visible_projects() {
                for (workspace, _) in snapshot.workspaces(project)? {
                    let place = Place { project, workspace };
                    let newest = snapshot.newest_records(&place, 1)?;
                    let received = newest.first().map(|stored| stored.record.said.received_at);
                    pulse.last_write = pulse.last_write.max(received);
                }
            }
            let items = snapshot.lane_items(&caller.visible_projects(), &captured, usize::MAX)?;
            pulse.last_capture = items.iter().map(|item| item.created_at).max();
            Ok(pulse)
        })?;
        Ok(pulse)
    }

    /// Returns at most `limit` workspaces that start with a prefix, by name; `@user` among them.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn complete_workspace(
        &self,
        caller: &Caller,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, Failure> {
        self.need(caller, Scope::Read)?;
        let now = self.clock.now();
        let names = read(self.engine(), |snapshot| {
            let mut names = Vec::new();
            for project in caller.visible_projects() {
                let ward = self.ward(snapshot, project, now)?;
                for (name, _) in snapshot.workspaces(project)? {
                    if name.as_str().starts_with(prefix)
                        && names.len() < limit
                        && ward.is_clean(name.as_str())
                    {
                        names.push(name.to_string());
                    }
                }
            }
            Ok(names)
        })?;
        Ok(names)
    }

    /// Returns at most `limit` fact keys of a workspace that start with a prefix, in order.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn complete_fact_key(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, Failure> {
        self.need(caller, Scope::Read)?;
        let place = caller.place(validation::workspace(workspace)?);
        let now = self.clock.now();
        let keys = read(self.engine(), |snapshot| {
            let ward = self.ward(snapshot, place.project, now)?;
            let keys = snapshot.fact_keys(&place, prefix, limit)?;
            let mut shown: Vec<String> = keys.iter().map(ToString::to_string).collect();
            shown.retain(|key| ward.is_clean(key));
            Ok(shown)
        })?;
        Ok(keys)
    }
}

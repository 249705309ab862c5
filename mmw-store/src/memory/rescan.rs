//! Applies the rules of today to everything that is stored.
//!
//! Secrets are replaced where they stand, and the bytes leave the disk as they do when something is
//! purged. A planted instruction goes to the review lane and out of memory, unless a person let the
//! record in. A record whose topic holds a secret goes to the lane without its topic: renaming it
//! would merge unrelated facts, and nobody would know. What was changed is in the audit, by rule and
//! field, never by value; a second run finds nothing to do.

mod records;
mod report;
mod texts;

use mmw_core::audit::Deed;
use mmw_core::ids::{CandidateId, ProjectId};
use mmw_core::place::{Caller, Scope};
use mmw_core::time::Timestamp;

pub use self::report::{RescanReport, Touched};
use super::Memory;
use super::failure::Failure;
use super::remember::entry;
use crate::engine::{EngineError, Loose, Txn, read, rehearse, write};

/// How many records or texts one transaction goes through: others write in between.
const CHUNK: usize = 100;

/// What a rescan works with in one transaction.
struct Round<'a> {
    memory: &'a Memory,
    caller: &'a Caller,
    project: ProjectId,
    now: Timestamp,
    /// Ids for what may go to the lane.
    fresh: &'a [CandidateId],
}

/// What one transaction came to, and where the next goes on.
struct Done<P> {
    report: RescanReport,
    next: Option<P>,
    n_seen: u64,
}

impl Memory {
    /// Applies the rules of today to what is stored: in one project, or in all of the store. With
    /// `dry_run` nothing is changed and the report tells what would be. `progress` is told how many of
    /// how many records and items of the lane were looked at. Needs the scope `admin`.
    ///
    /// Each hundred records are a transaction of their own, so that others can write in between; one
    /// that is stopped has done what it reported to the audit, and can be run again.
    ///
    /// # Errors
    /// [`Failure`]; `Rejected` if the policy of a project can't be read: nothing in that project is
    /// judged by half of its rules. What was done before stays done.
    pub fn rescan(
        &self,
        caller: &Caller,
        project: Option<ProjectId>,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RescanReport, Failure> {
        self.need(caller, Scope::Admin)?;
        let now = self.clock.now();
        let projects = match project {
            Some(project) => vec![project],
            None => read(self.engine(), |snapshot| snapshot.every_project())?,
        };
        let mut n_all = 0;
        for project in &projects {
            let n_kept = read(self.engine(), |snapshot| {
                let ward = self.ward(snapshot, *project, now)?;
                Ok(ward.check().map(|()| snapshot.n_kept(*project)))
            })?;
            n_all += n_kept??;
        }
        let mut report = RescanReport {
            is_dry_run: dry_run,
            ..RescanReport::default()
        };
        let mut n_seen = 0;
        progress(0, n_all);
        for project in projects {
            let mut seen = |n: u64| {
                n_seen += n;
                progress(n_seen, n_all);
            };
            self.all_of(
                caller,
                project,
                now,
                dry_run,
                &mut report,
                records::round,
                &mut seen,
            )?;
            self.all_of(
                caller,
                project,
                now,
                dry_run,
                &mut report,
                texts::lane,
                &mut seen,
            )?;
            for which in Loose::ALL {
                let round = |txn: &mut dyn Txn, round: &Round<'_>, behind: Option<&_>| {
                    texts::loose(txn, round, which, behind)
                };
                self.all_of(caller, project, now, dry_run, &mut report, round, &mut seen)?;
            }
        }
        if dry_run || report.n_changed() == 0 {
            return Ok(report);
        }
        let summary = report.summary();
        write(self.engine(), |txn| {
            txn.append_audit(&entry(
                caller,
                Deed::Rescan,
                Vec::new(),
                Some(&summary),
                now,
            ))
        })?;
        report.is_compacted = match self.engine().compact() {
            Ok(()) => true,
            Err(EngineError::Busy) => false,
            Err(other) => return Err(other.into()),
        };
        Ok(report)
    }

    /// Runs one sort of round until it has seen everything.
    #[expect(clippy::too_many_arguments, reason = "one place calls it")]
    fn all_of<P>(
        &self,
        caller: &Caller,
        project: ProjectId,
        now: Timestamp,
        dry_run: bool,
        report: &mut RescanReport,
        round: impl Fn(&mut dyn Txn, &Round<'_>, Option<&P>) -> crate::engine::EngineResult<Done<P>>,
        seen: &mut dyn FnMut(u64),
    ) -> Result<(), Failure> {
        let mut behind = None;
        loop {
            let fresh: Vec<CandidateId> = (0..CHUNK)
                .map(|_| CandidateId::from_parts(now, self.entropy.id_bytes()))
                .collect();
            let with = Round {
                memory: self,
                caller,
                project,
                now,
                fresh: &fresh,
            };
            let work = |txn: &mut dyn Txn| round(txn, &with, behind.as_ref());
            let done = if dry_run {
                rehearse(self.engine(), work)?
            } else {
                write(self.engine(), work)?
            };
            report.add(done.report);
            seen(done.n_seen);
            match done.next {
                Some(next) => behind = Some(next),
                None => return Ok(()),
            }
        }
    }
}

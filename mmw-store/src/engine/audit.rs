//! The audit chain and the table of background jobs.

use mmw_core::audit::{ChainHash, Entry};
use mmw_core::ids::{JobId, RecordId};
use mmw_core::time::Timestamp;

use super::EngineResult;

/// A row of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its number, from 1.
    pub seq: u64,
    /// What was done.
    pub entry: Entry,
    /// The hash of this row over the one before it.
    pub hash: ChainHash,
}

/// Reads of the audit.
pub trait AuditTrail {
    /// Returns at most `limit` rows from a number on, in order.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn audit(&self, from_seq: u64, limit: usize) -> EngineResult<Vec<AuditRow>>;

    /// Returns the rows that touched a record, in order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn audit_of(&self, id: RecordId) -> EngineResult<Vec<AuditRow>>;
}

/// Writes of the audit and of jobs.
pub trait AuditWrites {
    /// Adds a row to the chain.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn append_audit(&mut self, entry: &Entry) -> EngineResult<()>;

    /// Adds a job.
    ///
    /// # Errors
    /// If it can't be written.
    fn enqueue_job(
        &mut self,
        id: JobId,
        kind: &str,
        payload: &str,
        due_at: Timestamp,
    ) -> EngineResult<()>;

    /// Takes the oldest due job for a worker until the lease ends, and counts the attempt. A job
    /// whose lease has ended is due again: a worker that died loses nothing.
    ///
    /// # Errors
    /// If it can't be written.
    fn take_job(
        &mut self,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> EngineResult<Option<(JobId, String, String, u32)>>;

    /// Ends a job that is done.
    ///
    /// # Errors
    /// If it can't be written.
    fn finish_job(&mut self, id: JobId) -> EngineResult<()>;

    /// Puts a job that failed back, or aside for good if `due_at` is `None`.
    ///
    /// # Errors
    /// If it can't be written.
    fn postpone_job(
        &mut self,
        id: JobId,
        due_at: Option<Timestamp>,
        error: &str,
    ) -> EngineResult<()>;
}

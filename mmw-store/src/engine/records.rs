//! Records, their versions, links, sources and resolutions.

use mmw_core::draft::Replacement;
use mmw_core::fact::{Resolution, Version};
use mmw_core::ids::{CandidateId, PrincipalId, ProjectId, RecordId};
use mmw_core::link::{Direction, Link};
use mmw_core::place::{Place, WorkspaceChoice, WorkspaceName};
use mmw_core::record::{FactKey, Record};
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;

use super::{EngineResult, LexicalDoc, Row};

/// An unforgotten record as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Where it lies; rows of one project rise in the order of arrival.
    pub row: Row,
    /// The record.
    pub record: Record,
    /// What the guard replaced when it was saved.
    pub replaced: Vec<Replacement>,
    /// The item of the review lane that it came out of.
    pub approval: Option<CandidateId>,
    /// The number of the rules that it was screened with; 0 is before there was one.
    pub screened: u64,
}

/// A record to be written, with its index entry.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord<'a> {
    /// The record.
    pub record: &'a Record,
    /// The fingerprint of its content.
    pub digest: ContentDigest,
    /// Its words.
    pub words: &'a LexicalDoc,
    /// What the guard replaced.
    pub replaced: &'a [Replacement],
    /// The item of the review lane that it came out of.
    pub approval: Option<CandidateId>,
    /// The number of the rules that it was screened with; 0 is before there was one.
    pub screened: u64,
}

/// What is left of a forgotten record: ids, hashes, who and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The record.
    pub id: RecordId,
    /// Where it lived.
    pub place: Place,
    /// When it was forgotten.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// Its content was erased as well.
    pub purged: bool,
}

/// What left the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gone {
    /// Records.
    pub records: u32,
    /// Links.
    pub links: u32,
    /// Rows of indexes.
    pub index_rows: u32,
}

/// The answer that an idempotency key was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The fingerprint of the request.
    pub request: [u8; 32],
    /// The answer's ids as JSON; contents are looked up anew, so that forgotten text can't come back.
    pub answer: String,
    /// When.
    pub at: Timestamp,
}

/// Which records of a source are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMatch<'a> {
    /// The projects to look in, each with the workspaces.
    pub places: &'a [(ProjectId, WorkspaceChoice)],
    /// The source; a document covers its spans.
    pub source_id: &'a SourceId,
    /// The most records to return.
    pub limit: usize,
}

/// Reads of records.
pub trait Records {
    /// Returns the unforgotten record, whatever its project: the caller checks who may see it.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn record(&self, id: RecordId) -> EngineResult<Option<Stored>>;

    /// Returns the unforgotten ones of these records, in any order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn records(&self, ids: &[RecordId]) -> EngineResult<Vec<Stored>>;

    /// Returns the unforgotten records of these rows, in any order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn records_at(&self, rows: &[Row]) -> EngineResult<Vec<Stored>>;

    /// Returns of the unforgotten records of these rows what they are ordered by, see
    /// [`Record::order`](mmw_core::record::Record::order), in any order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn orders_at(&self, rows: &[Row]) -> EngineResult<Vec<(Row, (Timestamp, RecordId))>>;

    /// Returns the newest unforgotten records of a place, newest first.
    ///
    /// # Errors
    /// If the store can't be read.
    fn newest_records(&self, place: &Place, limit: usize) -> EngineResult<Vec<Stored>>;

    /// Returns what is left of those of these records that were forgotten.
    ///
    /// # Errors
    /// If the store can't be read.
    fn tombstones(&self, ids: &[RecordId]) -> EngineResult<Vec<Tombstone>>;

    /// Returns the unforgotten versions of a fact, in any order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn versions(&self, place: &Place, fact_key: &FactKey) -> EngineResult<Vec<Version>>;

    /// Returns the resolutions of a fact, in any order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn resolutions(&self, place: &Place, fact_key: &FactKey) -> EngineResult<Vec<Resolution>>;

    /// Returns the newest unforgotten record without a `fact_key` that says the same in that place.
    ///
    /// # Errors
    /// If the store can't be read.
    fn same_statement(&self, place: &Place, digest: ContentDigest) -> EngineResult<Option<Stored>>;

    /// Returns the unforgotten records of a source, newest first.
    ///
    /// # Errors
    /// If the store can't be read.
    fn of_source(&self, which: &SourceMatch<'_>) -> EngineResult<Vec<Stored>>;

    /// Returns the sources in these projects that this hash is known for: recorded with a record,
    /// or reported as current.
    ///
    /// # Errors
    /// If the store can't be read.
    fn sources_with_hash(
        &self,
        projects: &[ProjectId],
        hash: &ContentHash,
    ) -> EngineResult<Vec<SourceId>>;

    /// Returns the links of these records that start (`Out`) or end (`In`) there. Those to or from
    /// forgotten records are left out, but for `derived_from` links that lead to a forgotten one.
    ///
    /// # Errors
    /// If the store can't be read.
    fn links(&self, ids: &[RecordId], direction: Direction) -> EngineResult<Vec<Link>>;

    /// Returns the workspaces of a project with the number of their unforgotten records, by name.
    ///
    /// # Errors
    /// If the store can't be read.
    fn workspaces(&self, project: ProjectId) -> EngineResult<Vec<(WorkspaceName, u64)>>;

    /// Returns at most `limit` fact keys of a place that start with `prefix`, in order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn fact_keys(&self, place: &Place, prefix: &str, limit: usize) -> EngineResult<Vec<FactKey>>;

    /// Returns at most `limit` facts of a project whose unforgotten versions do not all say the
    /// same, by workspace and key. Whether they are in conflict is for the rules to say.
    ///
    /// # Errors
    /// If the store can't be read.
    fn contested_facts(
        &self,
        project: ProjectId,
        limit: usize,
    ) -> EngineResult<Vec<(WorkspaceName, FactKey)>>;

    /// Returns how many unforgotten records a project holds.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_records(&self, project: ProjectId) -> EngineResult<u64>;

    /// Returns the answer that a key was given in a project.
    ///
    /// # Errors
    /// If the store can't be read.
    fn answered(&self, project: ProjectId, key: &str) -> EngineResult<Option<Answered>>;
}

/// Writes of records.
pub trait RecordWrites {
    /// Makes every other transaction that takes a turn for this fact wait until this one ends.
    /// (SQLite has one writer: nothing to do there.)
    ///
    /// # Errors
    /// If the turn can't be taken.
    fn take_turn(&mut self, place: &Place, fact_key: &FactKey) -> EngineResult<()>;

    /// Writes a record with its words, its `derived_from` links and its workspace, and counts it.
    /// Returns its row.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn insert_record(&mut self, new: &NewRecord<'_>) -> EngineResult<Row>;

    /// Takes these records out of every read: rows, words, vectors and links. Those that are
    /// forgotten already are passed over. `derived_from` links that lead to them stay, so that what
    /// was derived from them shows it.
    ///
    /// # Errors
    /// If they can't be forgotten.
    fn forget(
        &mut self,
        ids: &[RecordId],
        at: Timestamp,
        by: PrincipalId,
        reason: Option<&str>,
    ) -> EngineResult<Gone>;

    /// Erases the content of forgotten records of a project that were forgotten before a moment.
    /// Returns their ids.
    ///
    /// # Errors
    /// If they can't be erased.
    fn purge(
        &mut self,
        project: ProjectId,
        forgotten_before: Timestamp,
    ) -> EngineResult<Vec<RecordId>>;

    /// Writes a link; one that is there already is left as it is.
    ///
    /// # Errors
    /// If it can't be written.
    fn insert_link(&mut self, link: &Link) -> EngineResult<()>;

    /// Writes a resolution.
    ///
    /// # Errors
    /// If it can't be written.
    fn insert_resolution(&mut self, resolution: &Resolution) -> EngineResult<()>;

    /// Keeps the answer of a key, and drops answers of this project from before `keep_from`.
    ///
    /// # Errors
    /// If it can't be written.
    fn keep_answer(
        &mut self,
        project: ProjectId,
        key: &str,
        answered: &Answered,
        keep_from: Timestamp,
    ) -> EngineResult<()>;

    /// Keeps that a hash was reported as a source's current one. At most
    /// [`MAX_SOURCE_REPORTS`] reports of a project are kept, the newest.
    ///
    /// # Errors
    /// If it can't be written.
    fn report_source(
        &mut self,
        project: ProjectId,
        source_id: &SourceId,
        hash: &ContentHash,
        at: Timestamp,
    ) -> EngineResult<()>;
}

/// The most source reports that are kept for one project.
pub const MAX_SOURCE_REPORTS: usize = 10_000;

//! What the guard keeps and looks over again: policies of projects, and every text that is stored.

use mmw_core::capture::LaneItem;
use mmw_core::draft::Replacement;
use mmw_core::ids::{CandidateId, PrincipalId, ProjectId, RecordId};
use mmw_core::record::Record;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;

use super::{EngineResult, LexicalDoc, Row, Stored};

/// What a project asks of the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// The text, as a person gave it.
    pub text: String,
    /// When it was set.
    pub set_at: Timestamp,
    /// By whom.
    pub set_by: PrincipalId,
}

/// A record that still has its text, forgotten or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The record.
    pub stored: Stored,
    /// It is forgotten, and waits to be purged.
    pub is_forgotten: bool,
}

/// The texts of a record as they are to be from now on.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten<'a> {
    /// The record. What can't be changed (`id`, place, `fact_key`, hashes, times) is left as it is.
    pub record: &'a Record,
    /// The fingerprint of its content.
    pub digest: ContentDigest,
    /// Its words; ignored for a forgotten record, which has none.
    pub words: &'a LexicalDoc,
    /// What the guard has replaced in it, all told.
    pub replaced: &'a [Replacement],
    /// The number of the rules that it was screened with.
    pub screened: u64,
}

/// A text that belongs to no draft: a note, a reason, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loose {
    /// The reason of a forgotten record.
    ForgetReason,
    /// The note of a resolution.
    ResolutionNote,
    /// The note of a decision on an item of the lane.
    DecisionNote,
    /// What the guard said of an item of the lane.
    FindingReason,
    /// A source that was reported with its current hash. It can only be dropped.
    ReportedSource,
    /// What was captured of a tool's output.
    CapturedOutput,
    /// The payload of a background job, and what it failed with.
    JobError,
    /// The reason of a row of the audit.
    AuditReason,
    /// The name of a workspace.
    WorkspaceName,
    /// The name of a project. It is only looked at: changing it would lose the project.
    ProjectName,
    /// The name of a key. It is only looked at.
    KeyName,
}

impl Loose {
    /// Every one.
    pub const ALL: [Self; 11] = [
        Self::ForgetReason,
        Self::ResolutionNote,
        Self::DecisionNote,
        Self::FindingReason,
        Self::ReportedSource,
        Self::CapturedOutput,
        Self::JobError,
        Self::AuditReason,
        Self::WorkspaceName,
        Self::ProjectName,
        Self::KeyName,
    ];

    /// Returns the name that reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ForgetReason => "forget_reason",
            Self::ResolutionNote => "resolution_note",
            Self::DecisionNote => "decision_note",
            Self::FindingReason => "finding_reason",
            Self::ReportedSource => "reported_source",
            Self::CapturedOutput => "captured_output",
            Self::JobError => "job_error",
            Self::AuditReason => "audit_reason",
            Self::WorkspaceName => "workspace_name",
            Self::ProjectName => "project_name",
            Self::KeyName => "key_name",
        }
    }

    /// Tells whether it can be changed where it stands; else it is only reported.
    #[must_use]
    pub const fn can_change(self) -> bool {
        !matches!(self, Self::ProjectName | Self::KeyName)
    }

    /// Tells whether it belongs to no project, so that a look at one project leaves it out.
    #[must_use]
    pub const fn is_of_the_store(self) -> bool {
        matches!(self, Self::JobError)
    }
}

/// Where a loose text lies, in the engine's own terms. It may be the text itself: never to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// By the number of a row.
    Number(i64),
    /// By an id.
    Bytes(Vec<u8>),
    /// By a name.
    Name(String),
}

/// A loose text with where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseText {
    /// Where; they come in this order.
    pub at: Spot,
    /// What it belongs to, as it may be reported.
    pub of: String,
    /// The text.
    pub text: String,
}

/// Reads for the guard.
pub trait GuardReads {
    /// Returns the policy of a project, `None` if it has none.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn policy(&self, project: ProjectId) -> EngineResult<Option<PolicyRow>>;

    /// Returns every project, hidden ones included, by age.
    ///
    /// # Errors
    /// If the store can't be read.
    fn every_project(&self) -> EngineResult<Vec<ProjectId>>;

    /// Returns at most `limit` records of a project that still have their text, forgotten ones too,
    /// behind a row, in the order of rows.
    ///
    /// # Errors
    /// If the store can't be read.
    fn kept_records(
        &self,
        project: ProjectId,
        behind: Option<Row>,
        limit: usize,
    ) -> EngineResult<Vec<Kept>>;

    /// Returns at most `limit` items of a project's lane that still have their text, in whatever
    /// state, behind an item, in the order of ids.
    ///
    /// # Errors
    /// If the store can't be read.
    fn kept_lane_items(
        &self,
        project: ProjectId,
        behind: Option<CandidateId>,
        limit: usize,
    ) -> EngineResult<Vec<LaneItem>>;

    /// Returns at most `limit` loose texts of a project (or of the store) behind a place, in order.
    ///
    /// # Errors
    /// If the store can't be read.
    fn loose_texts(
        &self,
        which: Loose,
        project: ProjectId,
        behind: Option<&Spot>,
        limit: usize,
    ) -> EngineResult<Vec<LooseText>>;

    /// Returns how many records and items of the lane a look over a project goes through.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_kept(&self, project: ProjectId) -> EngineResult<u64>;
}

/// Writes for the guard.
pub trait GuardWrites {
    /// Sets the policy of a project, or takes it away.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn set_policy(&mut self, project: ProjectId, policy: Option<&PolicyRow>) -> EngineResult<()>;

    /// Changes the texts of a record where they stand, with its words, and drops its vectors.
    ///
    /// # Errors
    /// If it can't be written.
    fn rewrite_record(&mut self, new: &Rewritten<'_>) -> EngineResult<()>;

    /// Notes that records were screened with the rules of that number and found clean.
    ///
    /// # Errors
    /// If it can't be written.
    fn mark_screened(&mut self, ids: &[RecordId], screened: u64) -> EngineResult<()>;

    /// Erases the content of these forgotten records, with their topics' resolutions where no other
    /// record is left of the topic.
    ///
    /// # Errors
    /// If it can't be written.
    fn purge_records(&mut self, ids: &[RecordId]) -> EngineResult<()>;

    /// Changes the texts of an item of the lane where they stand; what it is and how it was decided
    /// stay.
    ///
    /// # Errors
    /// If it can't be written.
    fn rewrite_lane_item(&mut self, item: &LaneItem) -> EngineResult<()>;

    /// Changes a loose text. A reported source is dropped instead. A reason of the audit is changed
    /// and its voucher returned, for the row that must follow.
    ///
    /// # Errors
    /// If it can't be written, or that text can't be changed.
    fn rewrite_loose(
        &mut self,
        which: Loose,
        at: &Spot,
        text: &str,
        now: Timestamp,
    ) -> EngineResult<Option<String>>;
}

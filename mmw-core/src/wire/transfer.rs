//! The lines of an export: what one store writes and another reads back without loss.
//!
//! One JSON object a line, with one key that says what the line holds. What is unknown in a line is
//! passed over, so that an older program reads what a newer one of the same version wrote.

use serde::{Deserialize, Serialize};

use super::{EnvelopeArgs, RememberArgs, ReplacedView, SpanArgs};
use crate::ids::{PrincipalId, RecordId, ResolutionId};
use crate::record::Record;
use crate::time::Timestamp;

/// The version of the form; a higher one is not read.
pub const EXPORT_VERSION: u32 = 1;

/// One line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportLine {
    /// The first line.
    MmwExport(ExportHeader),
    /// A record that others were derived from and that has been forgotten.
    Forgotten(ExportedForgotten),
    /// A record.
    Record(Box<ExportedRecord>),
    /// A link, other than `derived_from`.
    Link(ExportedLink),
    /// A person's decision on a conflict.
    Resolution(ExportedResolution),
    /// A statement that waits for review.
    Waiting(Box<ExportedWaiting>),
}

/// What the first line says: how many lines of each sort follow, so that a file that was cut off is
/// noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ExportHeader {
    pub version: u32,
    #[serde(default)]
    pub forgotten: u64,
    #[serde(default)]
    pub records: u64,
    #[serde(default)]
    pub links: u64,
    #[serde(default)]
    pub resolutions: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waiting: u64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What is left of a forgotten record: no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ExportedForgotten {
    pub id: RecordId,
    pub at: Timestamp,
    pub by: PrincipalId,
}

/// A record with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::record::Record`"
)]
pub struct ExportedRecord {
    pub id: RecordId,
    /// The statement as somebody would save it.
    #[serde(flatten)]
    pub statement: RememberArgs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanArgs>,
    pub author: PrincipalId,
    pub created_at: Timestamp,
    pub received_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What the guard replaced in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedView>,
    /// The item of the review lane that a person let it out of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Its status when it was exported. It is derived anew wherever the record is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The version that took its place, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RecordId>,
}

impl ExportedRecord {
    /// Returns the line of a record, without what is derived or kept beside it.
    #[must_use]
    pub fn of(record: &Record, statement: RememberArgs, envelope: EnvelopeArgs) -> Self {
        Self {
            id: record.id,
            statement,
            source_hash_text: envelope.source_hash_text,
            span: envelope.span,
            author: record.said.author,
            created_at: record.said.created_at,
            received_at: record.said.received_at,
            agent: envelope.agent,
            client: envelope.client,
            session_id: envelope.session_id,
            branch: envelope.branch,
            replaced: Vec::new(),
            approval: None,
            status: None,
            superseded_by: None,
        }
    }

    /// Returns the arguments and the envelope that the statement was saved with.
    #[must_use]
    pub fn into_statement(self) -> (RememberArgs, EnvelopeArgs) {
        let envelope = EnvelopeArgs {
            agent: self.agent,
            client: self.client,
            session_id: self.session_id,
            branch: self.branch,
            source_hash_text: self.source_hash_text,
            span: self.span,
            ..EnvelopeArgs::default()
        };
        (self.statement, envelope)
    }
}

/// A statement that waits for review, with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::capture::LaneItem`"
)]
pub struct ExportedWaiting {
    /// The id, `mem_cand_…`.
    pub id: String,
    /// `candidate`, `quarantined` or `suggestion`.
    pub lane: String,
    /// The statement as somebody would save it.
    pub statement: RememberArgs,
    /// What the agent added to it.
    #[serde(default)]
    pub envelope: EnvelopeArgs,
    pub author: PrincipalId,
    pub created_at: Timestamp,
    pub classification: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_durable: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What the guard replaced in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedView>,
    /// The guard's rule that held it back, and its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A link between two records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::link::Link`"
)]
pub struct ExportedLink {
    pub from: RecordId,
    pub kind: String,
    pub to: RecordId,
    pub created_at: Timestamp,
}

/// A person's decision on a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::fact::Resolution`"
)]
pub struct ExportedResolution {
    pub id: ResolutionId,
    pub workspace: String,
    pub fact_key: String,
    pub winner: RecordId,
    pub closed: Vec<RecordId>,
    pub at: Timestamp,
    pub by: PrincipalId,
    pub way: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

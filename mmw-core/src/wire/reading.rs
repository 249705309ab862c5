//! What is read as a resource or recalled by a prompt, before it is put into words.
//!
//! A program that sees the files of a caller compares them with what is here and puts it into words again.

use serde::{Deserialize, Serialize};

use super::{
    Anchor, ExplainAnswer, Hit, LocalSpan, ReasonView, SearchAnswer, SpanArgs, VersionView,
};

/// What was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reading", rename_all = "snake_case")]
pub enum Reading {
    /// A record with its receipt.
    Record(Box<ExplainAnswer>),
    /// A fact with its versions.
    Fact(FactView),
    /// What is in force in a workspace.
    Brief(BriefView),
    /// What was found on a topic.
    Recall {
        /// The topic, as the person wrote it.
        topic: String,
        /// What was found.
        found: SearchAnswer,
    },
}

/// A fact with its versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactView {
    /// Its workspace, as it was asked for.
    pub workspace: String,
    /// Its topic, as it was asked for.
    pub fact_key: String,
    /// The versions, newest first.
    pub versions: Vec<SourcedVersion>,
}

/// A version of a fact with what its source can be compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourcedVersion {
    /// The version.
    #[serde(flatten)]
    pub version: VersionView,
    /// The workspace that it lies in.
    pub workspace: String,
    /// Why it has its status.
    #[serde(default)]
    pub status_reasons: Vec<ReasonView>,
    /// The recorded hash of its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    /// The recorded hash with line ends folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash_text: Option<String>,
    /// The part that was anchored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanArgs>,
    /// The file sources of everything it derives from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// From the agent: `unchanged`, `changed` or `missing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_source: Option<String>,
    /// From the agent: the part of the file that was compared, if not the whole file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_span: Option<LocalSpan>,
}

/// What is in force in a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BriefView {
    /// The workspace, as it was asked for.
    pub workspace: String,
    /// Records of the workspace in all.
    pub records: u64,
    /// Facts in conflict, as (workspace, fact key).
    pub conflicts: Vec<(String, String)>,
    /// Items that wait for review.
    pub waiting: u64,
    /// Records that are not shown because today's guard sees an instruction in them.
    pub withheld: u32,
    /// The newest records in force.
    pub hits: Vec<Hit>,
}

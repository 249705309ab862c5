//! What programs ask that no model is offered: the same actions, over REST alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::whole_number;
use super::{Hit, SearchArgs, VersionView};
use crate::time::Timestamp;

/// Arguments of `list_sourced`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SourcedArgs {
    /// Only this workspace; all of the project without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Where the page before ended: its `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub after: Option<String>,
    /// The most statements of a page. Default 1000.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_number"
    )]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<i64>,
}

/// Answer of `list_sourced`: everything in force that names a source or derives from others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourcedAnswer {
    /// The statements, newest first, as hits; scores are 0, for nothing was asked.
    pub hits: Vec<Hit>,
    /// Where the next page begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Arguments of `memory_status`: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StatusArgs {}

/// How many records a workspace has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct WorkspaceView {
    pub workspace: String,
    pub records: u64,
}

/// A fact whose open versions disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ContestedView {
    pub workspace: String,
    pub fact_key: String,
}

/// Answer of `memory_status`: what there is, without contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    /// The version of the program that answers.
    pub version: String,
    /// The version of the store's schema, such as `1.2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the caller may do: the names of the scopes.
    pub scopes: Vec<String>,
    /// Records of the project.
    pub records: u64,
    /// Records of the caller's own workspace `@user`.
    pub user_records: u64,
    /// The workspaces of the project.
    pub workspaces: Vec<WorkspaceView>,
    /// Items that wait for review.
    pub waiting: u64,
    /// Facts in conflict, at most 100.
    pub conflicts: Vec<ContestedView>,
    /// When the newest record was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_write: Option<Timestamp>,
    /// When the newest statement that a machine captured came into the review lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_capture: Option<Timestamp>,
}

/// Arguments of `fact_versions`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct VersionsArgs {
    /// The topic.
    pub fact_key: String,
    /// Default `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Answer of `fact_versions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionsAnswer {
    /// The versions, newest first.
    pub versions: Vec<VersionView>,
}

/// Arguments of `why_not`: those of `search`, and the record that is missed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WhyNotArgs {
    /// The record.
    pub memory_id: String,
    /// The search that it is missed in.
    #[serde(flatten)]
    pub search: SearchArgs,
}

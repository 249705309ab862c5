//! The review lane: candidates, suggestions and quarantined writes.

use mmw_core::capture::{Decision, LaneItem, LaneKind, LaneState};
use mmw_core::ids::{CandidateId, ProjectId};
use mmw_core::place::WorkspaceName;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;

use super::EngineResult;

/// Which items are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaneFilter {
    /// Only items of this kind.
    pub kind: Option<LaneKind>,
    /// Only items that would go to this workspace.
    pub workspace: Option<WorkspaceName>,
    /// Only items that still wait at this moment.
    pub waiting_at: Option<Timestamp>,
}

/// Reads of the lane.
pub trait Lane {
    /// Returns an item, whatever its project: the caller checks who may see it.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn lane_item(&self, id: CandidateId) -> EngineResult<Option<LaneItem>>;

    /// Returns the newest item of a project with this content.
    ///
    /// # Errors
    /// If the store can't be read.
    fn lane_same(
        &self,
        project: ProjectId,
        digest: ContentDigest,
    ) -> EngineResult<Option<LaneItem>>;

    /// Returns at most `limit` items of these projects, oldest first.
    ///
    /// # Errors
    /// If the store can't be read.
    fn lane_items(
        &self,
        projects: &[ProjectId],
        filter: &LaneFilter,
        limit: usize,
    ) -> EngineResult<Vec<LaneItem>>;

    /// Returns how many items of these projects the filter lets through.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_lane_items(&self, projects: &[ProjectId], filter: &LaneFilter) -> EngineResult<u64>;
}

/// Writes of the lane.
pub trait LaneWrites {
    /// Writes a new item.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn insert_lane_item(&mut self, item: &LaneItem) -> EngineResult<()>;

    /// Moves an item to a state by a decision. Turned-down items lose their text, but for its
    /// fingerprint: `erase` tells whether.
    ///
    /// # Errors
    /// If it can't be written.
    fn decide_lane_item(
        &mut self,
        id: CandidateId,
        state: LaneState,
        decision: &Decision,
        erase: bool,
    ) -> EngineResult<()>;

    /// Adds evidence to a waiting item instead of proposing it again.
    ///
    /// # Errors
    /// If it can't be written.
    fn add_lane_evidence(&mut self, id: CandidateId, evidence: &[String]) -> EngineResult<()>;

    /// Erases the text of waiting items of a project from before a moment (they expired). Returns
    /// how many.
    ///
    /// # Errors
    /// If it can't be written.
    fn expire_lane_items(&mut self, created_before: Timestamp) -> EngineResult<u32>;
}

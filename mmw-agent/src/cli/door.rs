//! The memory that a person's commands work on: that of this computer or a server's, behind one door.
//!
//! A command asks the door and shows what comes back; which of the two is behind it is decided here and
//! nowhere else.

mod here;
mod there;

use mmw_core::ids::RecordId;
use mmw_core::wire::{
    EnvelopeArgs, ExplainAnswer, ForgetAnswer, ForgetArgs, Hit, RememberAnswer, RememberArgs,
    ResolveAnswer, ResolveArgs, ReviewAnswer, ReviewArgs, SearchAnswer, SearchArgs, VersionView,
    WhyNotAnswer,
};
use serde_json::Value;

use self::here::Here;
use self::there::There;
use super::Desk;
use super::serve::relay_to;
use crate::exit::Trouble;

/// What a command may ask a memory.
pub(super) trait Door {
    /// Returns where a record is, for people: the project, or the server.
    ///
    /// # Errors
    /// Why that can't be looked up.
    fn place(&self) -> Result<String, Trouble>;

    /// Saves a statement.
    ///
    /// # Errors
    /// Why it was neither saved nor queued.
    fn remember(
        &self,
        args: RememberArgs,
        envelope: EnvelopeArgs,
    ) -> Result<Told<RememberAnswer>, Trouble>;

    /// Finds statements.
    ///
    /// # Errors
    /// Why it could not be looked.
    fn search(&self, args: SearchArgs) -> Result<Told<SearchAnswer>, Trouble>;

    /// Tells why a record is not among the hits.
    ///
    /// # Errors
    /// Why it could not be looked; or there is no such record.
    fn why_not(&self, args: SearchArgs, id: RecordId) -> Result<WhyNotAnswer, Trouble>;

    /// Forgets, or tells what would be forgotten.
    ///
    /// # Errors
    /// Why it was neither forgotten nor queued.
    fn forget(&self, args: ForgetArgs) -> Result<Told<ForgetAnswer>, Trouble>;

    /// Returns the receipt of a record.
    ///
    /// # Errors
    /// Why it could not be looked; or there is no such record.
    fn explain(&self, memory_id: String) -> Result<Told<ExplainAnswer>, Trouble>;

    /// Returns everything in force that rests on a source, newest first.
    ///
    /// # Errors
    /// Why it could not be looked. Never a part of it.
    fn sourced(&self, workspace: Option<&str>) -> Result<Vec<Hit>, Trouble>;

    /// Returns open conflicts as (workspace, topic), at most 100.
    ///
    /// # Errors
    /// Why it could not be looked.
    fn conflicts(&self) -> Result<Vec<(String, String)>, Trouble>;

    /// Returns the versions of a fact, newest first.
    ///
    /// # Errors
    /// Why it could not be looked; or there is no such fact.
    fn versions(&self, workspace: &str, fact_key: &str) -> Result<Vec<VersionView>, Trouble>;

    /// Decides a conflict, for the person at the terminal.
    ///
    /// # Errors
    /// Why it was not decided.
    fn resolve(&self, args: ResolveArgs) -> Result<ResolveAnswer, Trouble>;

    /// Lists what waits for review.
    ///
    /// # Errors
    /// Why it could not be looked.
    fn lane(&self, args: ReviewArgs) -> Result<ReviewAnswer, Trouble>;

    /// Decides what waits, for the person at the terminal.
    ///
    /// # Errors
    /// [`Undecided`].
    fn decide(&self, args: ReviewArgs) -> Result<ReviewAnswer, Undecided>;

    /// Does for a moment what has time until the answer was shown: vectors, what waits for the server.
    fn settle(&self);
}

/// An answer, as it is shown and as it was given.
#[derive(Debug)]
pub(super) struct Told<T> {
    /// For people.
    pub(super) answer: T,
    /// For programs: whatever the memory said, also what this version does not know.
    pub(super) json: Value,
}

impl<T> Told<T> {
    /// Tells whether it is a write that waits on this computer for the server.
    pub(super) fn is_queued(&self) -> bool {
        self.json.get("queued") == Some(&Value::Bool(true))
    }
}

/// Why an item was not decided on.
#[derive(Debug)]
pub(super) struct Undecided {
    pub(super) trouble: Trouble,
    /// Other words or another decision may do.
    pub(super) can_be_mended: bool,
}

/// Returns the door to the memory that the settings name.
///
/// # Errors
/// If the server's address or the key is none, or this computer's disk can't be used.
pub(super) fn open(desk: &Desk) -> Result<Box<dyn Door + '_>, Trouble> {
    Ok(match &desk.config.endpoint {
        None => Box::new(Here::new(desk)),
        Some(endpoint) => Box::new(There::new(relay_to(desk, endpoint)?)),
    })
}

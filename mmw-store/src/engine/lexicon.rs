//! The words of records: which records have a word, and how often.
//!
//! The engine finds and counts; scoring and ranking are above it and the same for every engine.

use std::ops::Range;

use mmw_core::ids::ProjectId;
use mmw_core::place::{WorkspaceChoice, WorkspaceName};

use super::{EngineResult, Stored};

/// Where a record lies in its store.
///
/// A row is `project number << 41 | workspace number << 27 | sequence`: the records of one workspace
/// are consecutive numbers in the order of arrival, those of one project lie together. So a range of
/// rows *is* a workspace or a project, a distance between rows is a number of records, and word
/// statistics never look outside what the reader sees.
pub type Row = i64;

/// Bits of the sequence in a [`Row`]: at most 134 million records arrive in one workspace.
pub const SEQUENCE_BITS: u32 = 27;
/// Bits of the workspace number in a [`Row`]: at most 16,383 workspaces in one project.
pub const WORKSPACE_BITS: u32 = 14;

/// A word's fingerprint in a [`LexicalDoc`].
pub type TermId = u32;

/// The number of a change of a record's words in its store. Numbers only rise, by one.
pub type ChangeNumber = i64;

/// The words of one record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LexicalDoc {
    /// The words as they are indexed, separated by single spaces: what the engine makes findable.
    pub text: String,
    /// How often each word occurs, ascending by fingerprint.
    pub counts: Vec<(TermId, u16)>,
    /// How many words there are in all.
    pub length: u32,
}

/// How much a workspace holds, for the weights of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexical {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// The rows of its records: from the first that it could have up to the one that the next
    /// record will get. Rows of forgotten records lie among them.
    pub rows: Range<Row>,
    /// Unforgotten records.
    pub n_records: u64,
    /// The words of all of them together.
    pub n_words: u64,
}

/// How far the words of a store are those of one path from text to words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Analysis {
    /// The version of that path, see [`crate::words::ANALYSIS_VERSION`].
    pub version: u32,
    /// Up to which row records have been indexed again since a newer version came.
    pub done_to: Row,
}

/// Reads of words.
pub trait Lexicon {
    /// Returns with which version of the path from text to words the index was made.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn analysis(&self) -> EngineResult<Analysis>;

    /// Returns at most `limit` unforgotten records behind a row, whatever their project, by row.
    ///
    /// # Errors
    /// If the store can't be read.
    fn indexed_after(&self, row: Row, limit: usize) -> EngineResult<Vec<Stored>>;

    /// Returns the workspaces of a project that were chosen and exist, by name.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn lexica(&self, project: ProjectId, chosen: &WorkspaceChoice) -> EngineResult<Vec<Lexical>>;

    /// Returns at most `limit` rows of a range that have all of these words, the highest first.
    /// Words are taken as they are, never as syntax. Without words nothing is found.
    ///
    /// # Errors
    /// If the store can't be read.
    fn rows_with(&self, rows: &Range<Row>, words: &[&str], limit: usize) -> EngineResult<Vec<Row>>;

    /// Returns the word counts of these rows (`text` stays empty), in any order; rows of forgotten
    /// records are left out.
    ///
    /// # Errors
    /// If the store can't be read.
    fn lexical_docs(&self, rows: &[Row]) -> EngineResult<Vec<(Row, LexicalDoc)>>;

    /// Returns the word counts of at most `limit` unforgotten records of a range (`text` stays empty),
    /// ascending by row.
    ///
    /// # Errors
    /// If the store can't be read.
    fn lexical_docs_in(
        &self,
        rows: &Range<Row>,
        limit: usize,
    ) -> EngineResult<Vec<(Row, LexicalDoc)>>;

    /// Returns the number of the last change of words: a record was forgotten, or its words replaced. 0 if
    /// there was none. New records change nothing.
    ///
    /// # Errors
    /// If the store can't be read.
    fn last_change_of_words(&self) -> EngineResult<ChangeNumber>;

    /// Returns at most `limit` changes of words with numbers above `after`, ascending, with the record's
    /// row. Very old ones are not kept: if the first one's number is not the next, some are missing.
    ///
    /// # Errors
    /// If the store can't be read.
    fn changed_words_after(
        &self,
        after: ChangeNumber,
        limit: usize,
    ) -> EngineResult<Vec<(ChangeNumber, Row)>>;
}

/// Writes of words, beside those that come with a record.
pub trait LexiconWrites {
    /// Replaces the words of an unforgotten record. Of any other nothing is written.
    ///
    /// # Errors
    /// If they can't be written, like every other write here.
    fn put_words(&mut self, row: Row, words: &LexicalDoc) -> EngineResult<()>;

    /// Notes with which version of the path from text to words the index is made.
    ///
    /// # Errors
    /// If it can't be written.
    fn set_analysis(&mut self, analysis: Analysis) -> EngineResult<()>;
}

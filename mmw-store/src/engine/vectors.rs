//! The vectors of records: which model gave them, and which records wait for one.
//!
//! The engine keeps bytes; what they mean is known to [`crate::embed`]. A record that is saved waits
//! for a vector of every model that the store knows; one that is forgotten or changed loses its
//! vectors in the same transaction.

use std::ops::Range;

use mmw_core::time::Timestamp;

use super::{EngineResult, Row};

/// The number of a model in its store.
pub type ModelNumber = i64;

/// The number of a vector in its store. Numbers only rise and none is given twice.
pub type VectorNumber = i64;

/// The number of a removal of a vector in its store. Numbers only rise, by one.
pub type RemovalNumber = i64;

/// Up to where vectors have come and gone. Of two snapshots of a store the later one covers the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VectorReach {
    /// The highest number that a vector has been given; 0 if there was none.
    pub vector: VectorNumber,
    /// The number of the last removal; 0 if there was none.
    pub removal: RemovalNumber,
}

impl VectorReach {
    /// Tells whether whoever knows of everything up to here knows of everything up to there.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.vector >= other.vector && self.removal >= other.removal
    }
}

/// A vector that is no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedVector {
    /// The number of the removal.
    pub removal: RemovalNumber,
    /// The record.
    pub row: Row,
    /// The vector's own number: one with a higher number may have taken its place.
    pub vector: VectorNumber,
}

/// A vector as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptVector {
    /// Its number.
    pub number: VectorNumber,
    /// The record.
    pub row: Row,
    /// It is of the model that was asked for; one that is not comes without data.
    pub is_of_model: bool,
    /// The pieces of the record, see [`crate::embed::pack`]; empty if there is nothing to embed.
    pub data: Vec<u8>,
}

/// Reads of vectors.
pub trait Vectors {
    /// Returns the number of a model that the store knows, by its id.
    ///
    /// # Errors
    /// If the store can't be read, like every other read here.
    fn embedding_model(&self, id: &str) -> EngineResult<Option<ModelNumber>>;

    /// Returns up to where vectors have come and gone.
    ///
    /// # Errors
    /// If the store can't be read.
    fn vector_reach(&self) -> EngineResult<VectorReach>;

    /// Returns at most `limit` vectors of a model in a range of rows, ascending by row.
    ///
    /// # Errors
    /// If the store can't be read.
    fn vectors_in(
        &self,
        model: ModelNumber,
        rows: &Range<Row>,
        limit: usize,
    ) -> EngineResult<Vec<KeptVector>>;

    /// Returns at most `limit` vectors with numbers above `after`, of any model, ascending by number.
    ///
    /// # Errors
    /// If the store can't be read.
    fn vectors_after(
        &self,
        model: ModelNumber,
        after: VectorNumber,
        limit: usize,
    ) -> EngineResult<Vec<KeptVector>>;

    /// Returns at most `limit` removals with numbers above `after`, ascending. Very old ones are not kept:
    /// if the first one's number is not the next, some are missing.
    ///
    /// # Errors
    /// If the store can't be read.
    fn removals_after(
        &self,
        after: RemovalNumber,
        limit: usize,
    ) -> EngineResult<Vec<RemovedVector>>;

    /// Returns how many unforgotten records the whole store has.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_indexed(&self) -> EngineResult<u64>;

    /// Returns how many unforgotten records have a vector of a model.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_vectors(&self, model: ModelNumber) -> EngineResult<u64>;

    /// Returns how many records wait for a vector of a model, taken or not, as far as they have been looked
    /// through; one more if there are records that have not.
    ///
    /// # Errors
    /// If the store can't be read.
    fn n_unembedded(&self, model: ModelNumber) -> EngineResult<u64>;

    /// Tells whether records wait for a vector of a model that nobody has taken.
    ///
    /// # Errors
    /// If the store can't be read.
    fn has_unembedded(&self, model: ModelNumber, now: Timestamp) -> EngineResult<bool>;
}

/// Writes of vectors.
pub trait VectorWrites {
    /// Makes a model known, or notes that it is used, and returns its number. All records wait for a
    /// vector of a model that is new.
    ///
    /// # Errors
    /// If it can't be written, like every other write here.
    fn use_embedding_model(&mut self, id: &str, now: Timestamp) -> EngineResult<ModelNumber>;

    /// Takes at most `limit` records that wait for a vector of a model, until a moment: nobody else gets
    /// them before. The newest come first; what was there before the model came, last.
    ///
    /// # Errors
    /// If it can't be written.
    fn take_unembedded(
        &mut self,
        model: ModelNumber,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> EngineResult<Vec<Row>>;

    /// Keeps the vector of a record that waits for it. Returns `false` and keeps nothing if it does not
    /// wait (any more): it was forgotten, or somebody else was faster.
    ///
    /// # Errors
    /// If it can't be written.
    fn keep_vector(&mut self, model: ModelNumber, row: Row, data: &[u8]) -> EngineResult<bool>;

    /// Lets records wait again that were taken and could not be embedded, from a moment on.
    ///
    /// # Errors
    /// If it can't be written.
    fn give_back_unembedded(
        &mut self,
        model: ModelNumber,
        rows: &[Row],
        from: Timestamp,
    ) -> EngineResult<()>;

    /// Drops the models that were last used before a moment, with their vectors. Returns how many
    /// models went.
    ///
    /// # Errors
    /// If it can't be written.
    fn drop_embedding_models(&mut self, unused_since: Timestamp) -> EngineResult<u32>;
}

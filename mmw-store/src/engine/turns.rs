//! Conversations: which turns come before and after a turn.
//!
//! What a turn is, is decided in [`mmw_core::turn`]; an engine finds those around it.

use super::{EngineResult, Row};

/// The turns around a turn, of the same place and session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The turn.
    pub row: Row,
    /// Those before it, the nearest first.
    pub before: Vec<Row>,
    /// Those after it, the nearest first.
    pub after: Vec<Row>,
}

/// Reads of conversations.
pub trait Turns {
    /// Returns, for those of these rows that are unforgotten turns, at most `most` unforgotten turns before
    /// and as many after each, in the order in which they arrived. Rows that are no turns are left out.
    ///
    /// # Errors
    /// If the store can't be read.
    fn turns_around(&self, rows: &[Row], most: usize) -> EngineResult<Vec<Around>>;
}

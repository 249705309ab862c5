//! Typed links between records. They stand apart from records and are never search hits.

use crate::ids::RecordId;
use crate::record::named_choices;
use crate::time::Timestamp;

named_choices! {
    /// What a link says of its two records.
    LinkKind {
        /// `from` was derived from `to`.
        DerivedFrom = "derived_from",
        /// The two belong together.
        RelatesTo = "relates_to",
        /// `from` makes `to` more precise.
        Refines = "refines",
        /// `from` took the place of `to` by a person's decision.
        Outdates = "outdates",
        /// The two cannot both hold.
        Contradicts = "contradicts",
        /// The two have one source.
        SameSource = "same_source",
    }
}

/// A link from one record to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The record that the link starts from.
    pub from: RecordId,
    /// The record that it leads to.
    pub to: RecordId,
    /// What it says.
    pub kind: LinkKind,
    /// When it was made.
    pub created_at: Timestamp,
}

named_choices! {
    /// From which end a link is looked at.
    Direction {
        /// The record at hand is `from`.
        Out = "out",
        /// The record at hand is `to`.
        In = "in",
    }
}

//! Other finders of secrets, measured in the same run on the same rows.

use super::secrets::{Figures, Recall};

/// Another finder with its figures.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    /// The sources that are left out because the finder's own tests came from them.
    pub(crate) left_out: Vec<&'static str>,
    pub(crate) figures: Figures,
    /// Its recall on the rows that are left.
    pub(crate) own: Recall,
    /// This guard's recall on the same rows.
    pub(crate) ours: Recall,
}

//! Why a record did not come back from a search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScoreView;

/// What became of one record in a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyNotAnswer {
    /// `hit`, `behind_the_limit`, `too_weak`, `no_match`, `not_searched`, `filtered`, `not_in_force`,
    /// `folded`, `withheld`.
    pub code: String,
    /// The same in words, with what would bring it back.
    pub text: String,
    /// Its place among all that match, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// What its match is worth, 0 to 1; nothing for what is no match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What that is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_parts: Option<ScoreView>,
}

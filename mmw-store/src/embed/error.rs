//! Why texts could not be embedded.

/// Texts could not be embedded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text does not fit the model's window: embed its pieces.
    #[error("text {index} has {n_tokens} tokens, the model reads {window}: embed it in pieces")]
    TooLong {
        /// Which of the texts, from 0.
        index: usize,
        /// How many tokens it has, those around it included.
        n_tokens: usize,
        /// How many the model reads at once.
        window: usize,
    },
    /// The numbers of the model make no direction.
    #[error("the model gave no vector for text {index}: its weights are damaged")]
    NoVector {
        /// Which of the texts, from 0.
        index: usize,
    },
    /// The model can't be asked now; later it may.
    #[error("the model can't be asked now: {0}")]
    Unavailable(String),
    /// The model can't be used as it is set up, now or later.
    #[error("the model can't be used: {0}")]
    Unusable(String),
}

impl EmbedError {
    /// Tells whether one of the texts is the trouble, so that the others can be embedded without it.
    #[must_use]
    pub const fn is_about_a_text(&self) -> bool {
        matches!(self, Self::TooLong { .. } | Self::NoVector { .. })
    }
}

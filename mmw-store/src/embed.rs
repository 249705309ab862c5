//! From text to vectors: what an embedder is, and the one that is built in.
//!
//! | file | what is there |
//! |---|---|
//! | [`Passage`] | the text of a record as it is embedded, `[date] who: fact` |
//! | [`cut`] | long texts in overlapping pieces that fit a model's window |
//! | [`Vector`] | a unit vector, and its form in eight bits |
//! | [`WordPiece`] | the tokenizer of uncased BERT models |
//! | [`ModelFile`] | the file that holds a model, read where it lies |
//! | [`LocalModel`] | a BERT encoder with whole numbers in eight bits, run here |
//! | [`convert`] | makes a model file of a published folder |
//!
//! Nothing here searches, stores or waits for a network.

mod bert;
mod chunk;
mod convert;
mod error;
mod format;
mod kept;
mod local;
mod math;
mod product;
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "processors' vector instructions can be had in no other way: decision 14"
    )
)]
mod simd;
mod source;
mod template;
mod vector;
mod wordpiece;

pub use chunk::cut;
pub use convert::{ConvertError, convert};
pub use error::EmbedError;
pub use format::{Config, FormatError, ModelFile, Pooling};
pub use kept::{pack, unpack};
pub use local::{Instructions, LocalModel};
pub(crate) use simd::{Isa, Kernel};
pub use source::OpenError;
pub use template::{Passage, TEMPLATE_VERSION};
pub use vector::{Bytes8, Vector};
pub use wordpiece::WordPiece;

use std::fmt;

/// Which model made a vector, and from which form of text. Vectors with different ids do not compare.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// The model's name and, after `@`, the checksum of its weights.
    pub name: String,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// The version of [`Passage`]'s form.
    pub template: u32,
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.name, self.dimensions, self.template)
    }
}

/// Turns texts into vectors: texts of like meaning into near ones.
pub trait Embedder: Send + Sync {
    /// Returns the model's id. It never changes during the embedder's life.
    fn model(&self) -> &ModelId;

    /// Returns the texts to embed for a record: one, or several that overlap if it is longer than
    /// the model's window. Every word of the record is in at least one of them.
    fn pieces(&self, passage: &Passage<'_>) -> Vec<String>;

    /// Returns a vector for each text, in order. A text has the same vector whatever stands beside it.
    ///
    /// # Errors
    /// [`EmbedError::TooLong`] for a text beyond the window: nothing is cut off silently. Others say
    /// what kept the model from answering; no text gets a vector then.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError>;
}

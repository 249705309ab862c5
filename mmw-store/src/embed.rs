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
mod language;
mod local;
mod math;
mod product;
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
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
pub(crate) use simd::{Isa, Kernel, fetch_ahead};
pub use source::OpenError;
pub use template::{Passage, TEMPLATE_VERSION};
pub use vector::{Bytes8, Vector};
pub use wordpiece::WordPiece;

use std::fmt;
use std::sync::Arc;

use mmw_core::text::cut_at_char;

/// The longest part of a query that is embedded, in bytes: above the window of every model here.
const MAX_QUERY_BYTES: usize = 8_192;

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

/// Opens an embedder when something needs it first; called again after a failure.
pub type OpenEmbedder = dyn Fn() -> Result<Arc<dyn Embedder>, EmbedError> + Send + Sync;

/// Returns what opens the built-in model; nothing if this was built without it.
#[must_use]
pub fn built_in() -> Option<Box<OpenEmbedder>> {
    #[cfg(feature = "embedded-model")]
    {
        Some(Box::new(|| {
            let model = LocalModel::built_in(Instructions::Best)
                .map_err(|error| EmbedError::Unusable(error.to_string()))?;
            Ok(Arc::new(model))
        }))
    }
    #[cfg(not(feature = "embedded-model"))]
    None
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

    /// Returns the vector of a question. One that is longer than the window counts with its beginning.
    ///
    /// # Errors
    /// As [`Embedder::embed`], but for [`EmbedError::TooLong`]. An embedder that waits for a network
    /// answers within a deadline that a person does not notice.
    fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        let passage = Passage {
            fact: cut_at_char(text, MAX_QUERY_BYTES),
            ..Passage::default()
        };
        let pieces = self.pieces(&passage);
        let first = pieces.first().map_or(text, String::as_str);
        let mut vectors = self.embed(&[first])?;
        vectors.pop().ok_or(EmbedError::NoVector { index: 0 })
    }

    /// Tells whether the model was made for the language of a text. If not, its vector says nothing.
    fn reads(&self, _text: &str) -> bool {
        true
    }

    /// Tells whether texts leave this computer.
    fn is_remote(&self) -> bool {
        false
    }
}

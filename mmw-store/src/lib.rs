//! Storage and use cases of MMW, a memory for AI agents: embed [`Memory`] in a Rust program and get
//! the same rules as the server and the agent, without either.
//!
//! ```
//! use std::sync::Arc;
//! use mmw_core::{env::{SystemClock, SystemEntropy}, place::Way};
//! use mmw_core::wire::{EnvelopeArgs, ForgetArgs, RememberArgs, SearchArgs};
//! use mmw_store::Memory;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("memory.db");
//! let memory = Memory::open(&file, Arc::new(SystemClock), Arc::new(SystemEntropy))?;
//! let me = memory.local_caller("my-repository", Way::Library)?;
//! let say = |content: &str| RememberArgs {
//!     content: content.into(),
//!     fact_key: Some("deploy-staging".into()),
//!     ..RememberArgs::default()
//! };
//! memory.remember(&me, say("staging runs as the unit app"), &EnvelopeArgs::default())?;
//! let saved = memory.remember(&me, say("staging runs as the unit app-staging"), &EnvelopeArgs::default())?;
//! assert_eq!(saved.conflicts_with.len(), 1);
//!
//! let asked = SearchArgs { query: "which unit runs staging?".into(), ..SearchArgs::default() };
//! let found = memory.search(&me, &asked)?;
//! assert_eq!((found.hits.len(), found.hits[0].status.as_str()), (2, "conflict"));
//!
//! let wrong = ForgetArgs { memory_id: Some(found.hits[1].record.id.to_string()), ..ForgetArgs::default() };
//! memory.forget(&me, &wrong)?;
//! assert_eq!(memory.search(&me, &asked)?.hits[0].status, "unverified");
//! # Ok(())
//! # }
//! ```
//!
//! | room | what is there |
//! |---|---|
//! | [`memory`] | the façade, one file per use case: *screen, read, decide, write* |
//! | [`embed`] | from text to vectors: the built-in model |
//! | [`engine`] | what a storage engine must do |
//! | [`sqlite`] | the embedded engine |
//! | [`index`] | the vectors in memory, and which are nearest |
//! | [`inverted`] | the words in memory, and which records have them |
//! | [`words`] | from text to index words, one path for records and queries |
//! | [`graph`] | walking over links |
//! | [`testing`] | the suite that defines "engine", builders |

pub mod embed;
pub mod engine;
pub mod graph;
pub mod index;
pub mod inverted;
pub mod memory;
pub mod sqlite;
pub mod testing;
pub mod words;

pub use memory::Memory;
pub use memory::access::{
    Authenticated, FirstStart, KeyInfo, KeyOrder, NewKey, PolicyInfo, ProjectInfo,
};
pub use memory::brief::Brief;
pub use memory::census::{Census, Pulse};
pub use memory::failure::{Failure, RememberError};
pub use memory::meaning::{EmbeddingState, Progress};
pub use memory::purge::Purged;
pub use memory::rescan::{RescanReport, Touched};
pub use memory::search::recall::{Legs, Recalled, Recollection};
pub use memory::sourced::Behind;
pub use memory::transfer::{Arriving, Captured, Exported, Foreign, ImportReport, Incoming};

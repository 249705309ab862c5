//! The façade: *screen, read, decide, write* inside one transaction.
//!
//! One file per use case. Programs wrap [`Memory`]; other Rust tools embed it.

pub mod access;
pub mod brief;
pub mod census;
mod explain;
pub mod failure;
mod forget;
mod judged;
mod purge;
mod remember;
mod resolve;
mod review;
mod search;
mod validate;

use std::path::Path;
use std::sync::Arc;

use mmw_core::env::{Clock, Entropy};
use mmw_guard::Guard;

use crate::engine::{Engine, EngineError};
use crate::sqlite::Sqlite;

/// A memory on a storage engine. Cheap to clone; every clone is the same memory.
#[derive(Clone)]
pub struct Memory {
    engine: Arc<dyn Engine>,
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Memory {
    /// Opens (or makes) the store in a file, with the standard guard.
    ///
    /// # Errors
    /// If the file can't be opened as a store of this version.
    pub fn open(
        file: &Path,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, EngineError> {
        let engine = Sqlite::open(file)?;
        Ok(Self::with(Arc::new(engine), Guard::standard(), clock, entropy))
    }

    /// Puts a memory together from its parts.
    #[must_use]
    pub fn with(
        engine: Arc<dyn Engine>,
        guard: Guard,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            engine,
            guard: Arc::new(guard),
            clock,
            entropy,
        }
    }

    /// Returns the engine, for programs that look after it (backup, check).
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }
}

//! The embedder, opened when it is first needed. One that could not be opened is tried again after a
//! while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::embed::{EmbedError, Embedder, OpenEmbedder};

/// How long an embedder that could not be opened is left alone.
const REST: Duration = Duration::from_secs(20);

enum State {
    Closed,
    Open(Arc<dyn Embedder>),
    Failed(EmbedError, Instant),
}

/// The place of an embedder.
pub(super) struct Slot {
    open: Box<OpenEmbedder>,
    state: Mutex<State>,
}

impl Slot {
    pub(super) fn new(open: Box<OpenEmbedder>) -> Self {
        Self {
            open,
            state: Mutex::new(State::Closed),
        }
    }

    /// Returns the embedder if it is open, without waiting for who opens it.
    pub(super) fn opened(&self) -> Option<Arc<dyn Embedder>> {
        match &*self.state.try_lock().ok()? {
            State::Open(embedder) => Some(Arc::clone(embedder)),
            State::Closed | State::Failed(..) => None,
        }
    }

    /// Returns the embedder. The first call opens it; those that come meanwhile wait for it.
    pub(super) fn embedder(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Open(embedder) => return Ok(Arc::clone(embedder)),
            State::Failed(error, since) if since.elapsed() < REST => return Err(error.clone()),
            State::Closed | State::Failed(..) => {}
        }
        match (self.open)() {
            Ok(embedder) => {
                *state = State::Open(Arc::clone(&embedder));
                Ok(embedder)
            }
            Err(error) => {
                *state = State::Failed(error.clone(), Instant::now());
                Err(error)
            }
        }
    }
}

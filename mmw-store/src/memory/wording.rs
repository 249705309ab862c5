//! Wording: the words of records in memory, and the thread that loads them.
//!
//! Every search could go through the index of the store, and does until its workspaces are in memory. It is
//! the second search of a process that asks for them: a command that searches once loads nothing.
//!
//! | file | what is there |
//! |---|---|
//! | `sight` | the words in memory, brought up to what a snapshot holds |
//! | `loader` | the thread that loads workspaces beside the callers |

mod loader;
mod sight;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use mmw_core::place::{Caller, WorkspaceChoice};

use self::loader::Loader;
pub(super) use self::sight::HeldWords;
use self::sight::Sight;
use super::Memory;
use super::failure::Failure;
use crate::engine::{Engine, EngineResult, Lexical, Snapshot, read};

/// What the threads share.
struct Shared {
    engine: Arc<dyn Engine>,
    sight: RwLock<Sight>,
}

/// The words of one memory. The thread ends with it.
pub(super) struct Wording {
    shared: Arc<Shared>,
    loader: Loader,
    n_searches: AtomicU64,
}

impl Wording {
    pub(super) fn new(engine: &Arc<dyn Engine>) -> Self {
        Self {
            shared: Arc::new(Shared {
                engine: Arc::clone(engine),
                sight: RwLock::default(),
            }),
            loader: Loader::default(),
            n_searches: AtomicU64::new(0),
        }
    }

    /// Notes that somebody searches.
    pub(super) fn note_search(&self) {
        self.n_searches.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the words of these workspaces, at least up to what the snapshot holds; nothing if they are
    /// not all at hand.
    pub(super) fn view(
        &self,
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
    ) -> EngineResult<Option<HeldWords<'_>>> {
        let view = sight::view(&self.shared.sight, snapshot, lexica)?;
        if view.is_none() && self.n_searches.load(Ordering::Relaxed) > 1 {
            let to_load = sight::not_loaded(&self.shared.sight, lexica);
            self.loader.ask(&self.shared, to_load);
        }
        Ok(view)
    }
}

impl Memory {
    /// Loads the words of everything that the caller can search, on the calling thread. A search without
    /// them goes through the index of the store, which is slower and passes over more records that share only
    /// common words with the query; the second search of a process has them loaded beside it.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn warm_up_words(&self, caller: &Caller) -> Result<(), Failure> {
        for project in caller.visible_projects() {
            let lexica = read(self.engine(), |snapshot| {
                snapshot.lexica(project, &WorkspaceChoice::All)
            })?;
            for lexical in lexica {
                loader::load(&self.wording.shared, &lexical.rows, || false)?;
            }
        }
        Ok(())
    }
}

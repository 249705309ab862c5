//! Meaning: the embedder, the vectors in memory, and the thread that embeds what waits.
//!
//! Nothing is opened until a search or a saved record needs it. Words never wait for meaning: what is
//! not at hand yet is loaded beside, and the answer says that it went without.
//!
//! | file | what is there |
//! |---|---|
//! | `slot` | the embedder, opened when it is first needed |
//! | `sight` | the vectors in memory, brought up to what a snapshot holds |
//! | `embedding` | one batch of records that wait for a vector |
//! | `worker` | the thread that does both beside the callers |

mod embedding;
mod sight;
mod slot;
mod worker;

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use mmw_core::env::Clock;
use mmw_guard::Guard;

pub(super) use self::embedding::Step;
use self::sight::Sight;
pub(super) use self::sight::View;
use self::slot::Slot;
use self::worker::Desk;
use super::Memory;
use super::failure::Failure;
use crate::embed::{EmbedError, Embedder, OpenEmbedder, Vector};
use crate::engine::{Engine, EngineResult, Lexical, ModelNumber, Snapshot, read};

/// What became of a query's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    /// Searching by meaning is switched off.
    Off,
    /// The model was not made for the language of the query.
    Unread,
    /// The model can't be asked now.
    Unavailable,
    /// The query's vector.
    Vector(Vector),
}

/// How far a store is with the vectors of its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The model's id.
    pub model: String,
    /// Records that have a vector.
    pub n_embedded: u64,
    /// Records of the whole store.
    pub n_records: u64,
}

/// Whether and how far a store is searched by meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingState {
    /// Not at all: nothing but words was asked for.
    Off,
    /// The model can't be opened.
    Unavailable(EmbedError),
    /// As far as this.
    On(Progress),
}

/// What the threads share.
struct Shared {
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    /// Looks over what leaves for a model elsewhere.
    guard: Arc<Guard>,
    slot: Slot,
    sight: RwLock<Sight>,
    desk: Desk,
}

/// Meaning for one memory. The thread ends with it.
pub(super) struct Meaning {
    shared: Option<Arc<Shared>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Meaning {
    /// Returns a memory's meaning with an embedder, or none.
    pub(super) fn new(
        open: Option<Box<OpenEmbedder>>,
        engine: &Arc<dyn Engine>,
        clock: &Arc<dyn Clock>,
        guard: &Arc<Guard>,
    ) -> Self {
        let shared = open.map(|open| {
            Arc::new(Shared {
                engine: Arc::clone(engine),
                clock: Arc::clone(clock),
                guard: Arc::clone(guard),
                slot: Slot::new(open),
                sight: RwLock::default(),
                desk: Desk::default(),
            })
        });
        Self {
            shared,
            thread: Mutex::default(),
        }
    }

    /// Turns a query into a vector, before any transaction.
    pub(super) fn ask(&self, text: &str) -> Asked {
        let Some(shared) = &self.shared else {
            return Asked::Off;
        };
        let Ok(embedder) = shared.slot.embedder() else {
            return Asked::Unavailable;
        };
        if !embedder.reads(text) {
            return Asked::Unread;
        }
        let asked = if embedder.is_remote() {
            // A question leaves this computer no more than a record does with a secret in it.
            embedder.embed_query(&shared.guard.redact(text).0)
        } else {
            embedder.embed_query(text)
        };
        match asked {
            Ok(vector) => Asked::Vector(vector),
            Err(_) => Asked::Unavailable,
        }
    }

    /// Returns the vectors of these workspaces as far as they are at hand, at least up to what the
    /// snapshot holds where it says that it is complete.
    pub(super) fn view(
        &self,
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
    ) -> EngineResult<Option<View<'_>>> {
        let Some(shared) = &self.shared else {
            return Ok(None);
        };
        let Ok(embedder) = shared.slot.embedder() else {
            return Ok(None);
        };
        let view = sight::view(&shared.sight, snapshot, embedder.model(), lexica)?;
        if !view.is_complete {
            shared.desk.ask(&view.to_load);
            self.wake();
        }
        Ok(Some(view))
    }

    /// Sees to it that what waits for a vector gets one, beside the caller.
    pub(super) fn wake(&self) {
        let Some(shared) = &self.shared else {
            return;
        };
        shared.desk.wake();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread
            .as_ref()
            .is_none_or(std::thread::JoinHandle::is_finished)
        {
            let shared = Arc::clone(shared);
            // Without a thread (the system refuses one) words are all there is: no reason to fail.
            *thread = std::thread::Builder::new()
                .name("mmw-meaning".to_owned())
                .spawn(move || worker::run(&shared))
                .ok();
        }
    }
}

impl Drop for Meaning {
    /// Ends the thread after the batch that it is at, so that the store is closed when this returns; but
    /// for a model on a network, which may take its time.
    fn drop(&mut self) {
        let Some(shared) = &self.shared else {
            return;
        };
        shared.desk.stop();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let is_remote = |embedder: Arc<dyn Embedder>| embedder.is_remote();
        if let Some(thread) = thread
            && !shared.slot.opened().is_some_and(is_remote)
        {
            // What it panicked with has been told by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Returns the model's number, making it known if it is new.
    fn model(&self, id: &str) -> EngineResult<ModelNumber> {
        if let Some(number) = read(self.engine.as_ref(), |snapshot| {
            snapshot.embedding_model(id)
        })? {
            return Ok(number);
        }
        embedding::make_known(self.engine.as_ref(), id, self.clock.now())
    }
}

impl Memory {
    /// Embeds what waits for a vector, on the calling thread, and waits for what others are at, until
    /// nothing waits or the time is over. A model on a network may take longer than that for a batch: it is
    /// only waited for. Returns whether nothing waits any more. For programs that are about to end, and for
    /// tests.
    ///
    /// # Errors
    /// [`Failure`] if the store fails.
    pub fn settle(&self, max: Duration) -> Result<bool, Failure> {
        let Some(shared) = &self.meaning.shared else {
            return Ok(true);
        };
        let began = Instant::now();
        let is_remote = match shared.slot.embedder() {
            Ok(embedder) => embedder.is_remote(),
            Err(_) => return Ok(false),
        };
        if is_remote {
            self.meaning.wake();
        }
        while began.elapsed() < max {
            let step = if is_remote {
                Step::Done
            } else {
                embedding::step(shared)?
            };
            match step {
                Step::Embedded => {}
                Step::Later => return Ok(false),
                Step::Done if embedding::n_waiting(shared)? == 0 => return Ok(true),
                // A batch of another thread or program: it ends soon, or rests and is left to them.
                Step::Done if shared.desk.is_resting() => return Ok(false),
                Step::Done => shared.desk.wait_a_moment(),
            }
        }
        Ok(false)
    }

    /// Sees to it that what waits for a vector gets one, beside the caller. Returns how far the store is if
    /// anything waits. For programs that run on, after their start and now and then: a search and a saved
    /// record do the same.
    ///
    /// # Errors
    /// [`Failure`] if the store fails.
    pub fn embed_in_background(&self) -> Result<Option<Progress>, Failure> {
        let Some(shared) = &self.meaning.shared else {
            return Ok(None);
        };
        // A store without records needs no model.
        let n_records = read(self.engine(), |snapshot| snapshot.n_indexed())?;
        if n_records == 0 || embedding::n_waiting(shared)? == 0 {
            return Ok(None);
        }
        self.meaning.wake();
        Ok(match self.embedding_state()? {
            EmbeddingState::On(progress) => Some(progress),
            EmbeddingState::Off | EmbeddingState::Unavailable(_) => None,
        })
    }

    /// Tells whether a search may wait for something slower than the store: the model is on a network, or
    /// has to be opened first. Programs that may not block let such a search run on another thread.
    #[must_use]
    pub fn search_may_wait(&self) -> bool {
        let Some(shared) = &self.meaning.shared else {
            return false;
        };
        shared
            .slot
            .opened()
            .is_none_or(|embedder| embedder.is_remote())
    }

    /// Loads the vectors of everything that the caller can search, on the calling thread, so that the
    /// next search goes by meaning too however much there is. A server lets the first search do without
    /// instead.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn warm_up(&self, caller: &mmw_core::place::Caller) -> Result<(), Failure> {
        let Some(shared) = &self.meaning.shared else {
            return Ok(());
        };
        let Ok(embedder) = shared.slot.embedder() else {
            return Ok(());
        };
        let all = mmw_core::place::WorkspaceChoice::All;
        let engine = self.engine();
        for project in caller.visible_projects() {
            for lexical in read(engine, |snapshot| snapshot.lexica(project, &all))? {
                sight::load(
                    &shared.sight,
                    engine,
                    embedder.model(),
                    &lexical.rows,
                    || false,
                )?;
            }
        }
        Ok(())
    }

    /// Tells whether the store is searched by meaning, and how far it is with the vectors of its model.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn embedding_state(&self) -> Result<EmbeddingState, Failure> {
        let Some(shared) = &self.meaning.shared else {
            return Ok(EmbeddingState::Off);
        };
        let embedder = match shared.slot.embedder() {
            Ok(embedder) => embedder,
            Err(error) => return Ok(EmbeddingState::Unavailable(error)),
        };
        let model = embedder.model().to_string();
        let progress = read(self.engine(), |snapshot| {
            let n_embedded = match snapshot.embedding_model(&model)? {
                Some(number) => snapshot.n_vectors(number)?,
                None => 0,
            };
            Ok(Progress {
                model: model.clone(),
                n_embedded,
                n_records: snapshot.n_indexed()?,
            })
        })?;
        Ok(EmbeddingState::On(progress))
    }
}

//! Where async begins: a whole use case crosses to the blocking side at once, or, if it only takes a
//! short look, runs where the request is.
//!
//! Interactive errands share a few turns, background ones have one. A bounded line waits for a
//! turn; who finds it full is told at once. Work that has begun runs to its end even if the caller
//! has hung up. Nothing below this file is async.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mmw_store::{Failure, Memory};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::{Code, Fault};

/// Interactive errands that run at the same time if nothing else is said.
pub const DEFAULT_TURNS: usize = 8;

/// Interactive errands that may wait for a turn.
pub const MAX_WAITING: usize = 512;

/// Who waits for the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    /// A caller, and the work only reads: it waits for no writer and is over in milliseconds. It
    /// runs on the thread that has the request, since waking another one and being woken by it
    /// costs more than the work; unless the memory says that it may have to wait for its model.
    Look,
    /// A caller.
    Interactive,
    /// Nobody: upkeep.
    Background,
}

/// Opens the memory; called on the blocking side, again after a failure.
pub type Opener = dyn Fn() -> Result<Memory, Failure> + Send + Sync;

/// The way to the memory. Cheap to clone.
#[derive(Clone)]
pub struct Lane {
    inner: Arc<Inner>,
}

struct Inner {
    open: Box<Opener>,
    memory: Mutex<Option<Memory>>,
    interactive: Arc<Semaphore>,
    background: Arc<Semaphore>,
    n_turns: usize,
    n_waiting: AtomicUsize,
    max_waiting: usize,
}

/// One place in the waiting line, given back when dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lane {
    /// Returns a lane to an open memory.
    #[must_use]
    pub fn to(memory: Memory, n_turns: NonZeroUsize) -> Self {
        Self::opening(Box::new(move || Ok(memory.clone())), n_turns)
    }

    /// Returns a lane to a memory that is opened when the first errand needs it.
    #[must_use]
    pub fn opening(open: Box<Opener>, n_turns: NonZeroUsize) -> Self {
        Self {
            inner: Arc::new(Inner {
                open,
                memory: Mutex::new(None),
                interactive: Arc::new(Semaphore::new(n_turns.get())),
                background: Arc::new(Semaphore::new(1)),
                n_turns: n_turns.get(),
                n_waiting: AtomicUsize::new(0),
                max_waiting: MAX_WAITING,
            }),
        }
    }

    /// Returns the memory if an earlier errand has opened it.
    fn opened(&self) -> Option<Memory> {
        let slot = self.inner.memory.lock();
        slot.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the memory, opening it if this is the first errand.
    fn memory(&self) -> Result<Memory, Fault> {
        let slot = &self.inner.memory;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = slot.as_ref() {
            return Ok(memory.clone());
        }
        let memory = (self.inner.open)()?;
        *slot = Some(memory.clone());
        Ok(memory)
    }

    /// Takes a short look on the calling thread: for reads that wait for no writer and cost less
    /// than crossing to another thread would.
    ///
    /// # Errors
    /// Whatever opening the memory or the look itself ran into.
    pub fn glance<T>(&self, look: impl FnOnce(&Memory) -> Result<T, Fault>) -> Result<T, Fault> {
        look(&self.memory()?)
    }

    /// Runs the work on the blocking side and returns what it returned.
    ///
    /// # Errors
    /// `busy` if the line is full or the lane is closed; whatever opening the memory or the work
    /// itself ran into; `internal` if the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        errand: Errand,
        work: impl FnOnce(&Memory) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let turn = self.turn(errand).await?;
        // Opening the memory may take long; the first look crosses over like everything else.
        if errand == Errand::Look
            && let Some(memory) = self.opened()
            && !memory.search_may_wait()
        {
            let done = catch_unwind(AssertUnwindSafe(|| work(&memory)));
            drop(turn);
            return done.unwrap_or_else(|_| {
                tracing::error!("a look broke");
                Err(Fault::internal())
            });
        }
        let lane = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&lane.memory()?)
        });
        done.await.unwrap_or_else(|failed| {
            tracing::error!(error = &failed as &dyn std::error::Error, "an errand broke");
            Err(Fault::internal())
        })
    }

    async fn turn(&self, errand: Errand) -> Result<OwnedSemaphorePermit, Fault> {
        let inner = &self.inner;
        let turns = match errand {
            Errand::Look | Errand::Interactive => &inner.interactive,
            Errand::Background => &inner.background,
        };
        if let Ok(turn) = Arc::clone(turns).try_acquire_owned() {
            return Ok(turn);
        }
        let n_before = inner.n_waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&inner.n_waiting);
        if n_before >= inner.max_waiting {
            return Err(Fault::new(Code::Busy, "too many calls are waiting"));
        }
        Arc::clone(turns)
            .acquire_owned()
            .await
            .map_err(|_| Fault::new(Code::Busy, "the server is stopping"))
    }

    /// Returns how many errands wait for a turn.
    #[must_use]
    pub fn n_waiting(&self) -> usize {
        self.inner.n_waiting.load(Ordering::Relaxed)
    }

    /// Waits until everything that has begun is done, then lets nothing new begin.
    pub async fn drain(&self) {
        let n_turns = u32::try_from(self.inner.n_turns).unwrap_or(u32::MAX);
        let _interactive = self.inner.interactive.acquire_many(n_turns).await;
        let _background = self.inner.background.acquire().await;
        self.inner.interactive.close();
        self.inner.background.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::testing::memory;

    fn lane(n_turns: usize, max_waiting: usize) -> (Lane, tempfile::TempDir) {
        let (memory, folder) = memory();
        let mut lane = Lane::to(memory, NonZeroUsize::new(n_turns).unwrap());
        Arc::get_mut(&mut lane.inner).unwrap().max_waiting = max_waiting;
        (lane, folder)
    }

    #[tokio::test]
    async fn a_full_line_answers_busy_at_once() {
        let (lane, _folder) = lane(1, 0);
        let (go, wait) = mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let first = tokio::spawn({
            let lane = lane.clone();
            async move {
                lane.run(Errand::Interactive, move |_| {
                    begun.send(()).unwrap();
                    wait.recv().unwrap();
                    Ok(1)
                })
                .await
            }
        });
        has_begun.await.unwrap();
        let refused = lane.run(Errand::Interactive, |_| Ok(2)).await.unwrap_err();
        assert_eq!((refused.code, refused.retry_after_s), (Code::Busy, Some(1)));
        assert_eq!(lane.run(Errand::Background, |_| Ok(3)).await, Ok(3));
        go.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(1));
        assert_eq!(lane.n_waiting(), 0);
    }

    #[tokio::test]
    async fn work_that_has_begun_runs_to_its_end_when_the_caller_hangs_up() {
        let (lane, _folder) = lane(1, 1);
        let (go, wait) = mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let caller = tokio::spawn({
            let lane = lane.clone();
            async move {
                lane.run(Errand::Interactive, move |_| {
                    begun.send(()).unwrap();
                    wait.recv().unwrap();
                    done.send(()).unwrap();
                    Ok(())
                })
                .await
            }
        });
        has_begun.await.unwrap();
        caller.abort();
        go.send(()).unwrap();
        is_done.await.unwrap();
        lane.drain().await;
    }

    #[tokio::test]
    async fn after_draining_nothing_new_begins() {
        let (lane, _folder) = lane(2, 2);
        lane.drain().await;
        let refused = lane.run(Errand::Interactive, |_| Ok(())).await.unwrap_err();
        assert_eq!(refused.code, Code::Busy);
    }

    #[tokio::test]
    async fn work_that_panics_is_an_internal_fault_and_gives_its_turn_back() {
        let (lane, _folder) = lane(1, 1);
        let broken = lane
            .run::<()>(Errand::Interactive, |_| panic!("on purpose"))
            .await;
        assert_eq!(broken.unwrap_err().code, Code::Internal);
        assert_eq!(lane.run(Errand::Interactive, |_| Ok(1)).await, Ok(1));
    }
}

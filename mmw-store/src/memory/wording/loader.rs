//! The thread that loads workspaces, so that no search waits for one.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::Shared;
use super::sight::Reach;
use crate::engine::{EngineResult, Row, SEQUENCE_BITS, read};
use crate::inverted::Builder;

/// Rows that are read from the store at a time.
const PAGE: usize = 2_000;

/// Loads one batch of workspaces at a time. Ends with its owner.
#[derive(Default)]
pub(super) struct Loader {
    thread: Mutex<Option<JoinHandle<()>>>,
    is_stopped: Arc<AtomicBool>,
}

impl Loader {
    /// Sees to it that workspaces are loaded. While others are, nothing happens: the next search asks again.
    pub(super) fn ask(&self, shared: &Arc<Shared>, to_load: Vec<Range<Row>>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if to_load.is_empty() || thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (shared, is_stopped) = (Arc::clone(shared), Arc::clone(&self.is_stopped));
        let work = move || {
            let stop = || is_stopped.load(Ordering::Relaxed);
            // A store that can't be read now will be asked again; until then its own index answers.
            let _ = to_load
                .iter()
                .try_for_each(|rows| load(&shared, rows, stop));
        };
        // Without a thread (the system refuses one) the store's own index answers.
        *thread = std::thread::Builder::new()
            .name("mmw-wording".to_owned())
            .spawn(work)
            .ok();
    }
}

impl Drop for Loader {
    /// Ends the thread after the page or the merge that it is at, so that the store is closed when this returns.
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // What it panicked with has been told by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Loads a workspace page by page, until `stop` says so. It is seen by searches when it is whole. The rows are
/// those that it had in a snapshot before.
pub(super) fn load(
    shared: &Shared,
    rows: &Range<Row>,
    stop: impl Fn() -> bool,
) -> EngineResult<()> {
    let engine = shared.engine.as_ref();
    // What changes from here on is told by these numbers.
    let change = read(engine, |snapshot| snapshot.last_change_of_words())?;
    let end = (rows.start | ((1 << SEQUENCE_BITS) - 1)) + 1;
    let mut next = rows.start;
    let mut words = Builder::default();
    loop {
        if stop() {
            return Ok(());
        }
        let page = read(engine, |snapshot| {
            snapshot.lexical_docs_in(&(next..end), PAGE)
        })?;
        for (row, doc) in &page {
            words.add(*row, doc);
        }
        next = page.last().map_or(next, |(last, _)| last + 1);
        if page.len() < PAGE {
            break;
        }
    }
    words.settle();
    // The last rows may be those of forgotten records.
    let row = next.max(rows.end);
    let reach = Reach { row, change };
    let mut held = shared.sight.write().unwrap_or_else(PoisonError::into_inner);
    held.take_in(rows, words, reach);
    Ok(())
}

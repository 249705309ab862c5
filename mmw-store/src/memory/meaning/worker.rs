//! The thread that loads vectors and embeds what waits, so that no caller waits for either.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::embedding::{self, Step};
use super::{Shared, sight};
use crate::engine::Row;

/// How long the thread rests when the model or the store could not be asked.
const REST: Duration = Duration::from_secs(30);

/// How long somebody waits for a batch before looking again.
const MOMENT: Duration = Duration::from_millis(5);

/// What is asked of the thread.
#[derive(Default)]
pub(super) struct Desk {
    asked: Mutex<Asked>,
    bell: Condvar,
}

#[derive(Default)]
struct Asked {
    is_work_there: bool,
    is_stopped: bool,
    is_resting: bool,
    to_load: Vec<Range<Row>>,
}

impl Desk {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the vectors of these workspaces.
    pub(super) fn ask(&self, to_load: &[Range<Row>]) {
        let mut asked = self.asked();
        for rows in to_load {
            if !asked.to_load.iter().any(|known| known.start == rows.start) {
                asked.to_load.push(rows.clone());
            }
        }
    }

    /// Says that records may wait for a vector.
    pub(super) fn wake(&self) {
        self.asked().is_work_there = true;
        self.bell.notify_all();
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        self.asked().is_stopped = true;
        self.bell.notify_all();
    }

    /// Tells whether the thread rests because the model or the store could not be asked.
    pub(super) fn is_resting(&self) -> bool {
        self.asked().is_resting
    }

    /// Waits for a moment, or until something happens here.
    pub(super) fn wait_a_moment(&self) {
        let _ = self.bell.wait_timeout(self.asked(), MOMENT);
    }

    fn is_stopped(&self) -> bool {
        self.asked().is_stopped
    }

    /// Waits until something is asked or the rest is over. Returns what is to be loaded, nothing at the
    /// end.
    fn next(&self, rest: Option<Duration>) -> Option<Vec<Range<Row>>> {
        let mut asked = self.asked();
        asked.is_resting = rest.is_some();
        self.bell.notify_all();
        match rest {
            // What could not be done is not tried again sooner because somebody asks again.
            Some(rest) => {
                let until = |asked: &mut Asked| !asked.is_stopped && asked.to_load.is_empty();
                let waited = self.bell.wait_timeout_while(asked, rest, until);
                asked = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            None => {
                let until = |asked: &mut Asked| !asked.is_stopped && !asked.is_work_there;
                let waited = self.bell.wait_while(asked, until);
                asked = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        asked.is_work_there = false;
        let to_load = std::mem::take(&mut asked.to_load);
        (!asked.is_stopped).then_some(to_load)
    }
}

/// Works until the desk is closed.
pub(super) fn run(shared: &Shared) {
    let mut rest = None;
    while let Some(to_load) = shared.desk.next(rest) {
        let is_loaded = load(shared, &to_load);
        rest = match embed(shared) {
            Step::Later => Some(REST),
            _ if !is_loaded => Some(REST),
            _ => None,
        };
    }
}

/// Returns whether all of it could be loaded.
fn load(shared: &Shared, to_load: &[Range<Row>]) -> bool {
    let Ok(embedder) = shared.slot.embedder() else {
        return to_load.is_empty();
    };
    to_load.iter().all(|rows| {
        let engine = shared.engine.as_ref();
        let stop = || shared.desk.is_stopped();
        sight::load(&shared.sight, engine, embedder.model(), rows, stop).is_ok()
    })
}

fn embed(shared: &Shared) -> Step {
    while !shared.desk.is_stopped() {
        // A store that is busy or full now may not be later; the next search asks again anyway.
        match embedding::step(shared).unwrap_or(Step::Later) {
            Step::Embedded => {}
            end => return end,
        }
    }
    Step::Done
}

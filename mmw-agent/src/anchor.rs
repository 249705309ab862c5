//! Anchors a statement to the file that it speaks of, and tells later whether that file still says so.
//!
//! Two functions around every call, the same whoever keeps the memory: [`Anchors::before`] completes what
//! is sent, [`After::finish`] what came back.
//!
//! | room | what it is for |
//! |---|---|
//! | `before`, `after` | the arguments of a call, its answer |
//! | `span` | the part of a file that a fragment names |
//! | `hashes` | the hashes of a file and of its parts |
//! | `surroundings`, `kept` | what is around a part, kept here to find it again |
//! | `locate` | a part again, in what its file is now |
//! | `revision` | the commit, and whether the file differs from it |
//! | `check`, `cache` | what became of a source; files that were read already |
//!
//! Contents are read here and leave nowhere: hashes, names of parts and the commit are all that is sent.

mod after;
mod before;
mod cache;
mod check;
mod hashes;
mod kept;
mod locate;
mod revision;
mod span;
mod surroundings;

pub(crate) use self::after::After;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use mmw_core::env::{Clock, SystemClock};
use mmw_core::time::Timestamp;
use mmw_core::wire::EnvelopeArgs;
use mmw_server::actions::Answer;
use mmw_server::desk::Order;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::cache::Cache;
pub(crate) use self::check::{Checked, Recorded, State};
use self::kept::Kept;
use crate::config::Config;
use crate::roots::{Roots, uri};

/// Anchors statements and checks them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Anchors(Arc<Inner>);

struct Inner {
    roots: RwLock<Roots>,
    kept: Kept,
    cache: Cache,
}

impl Anchors {
    /// Returns those of the program's settings: over `MMW_SOURCE_ROOTS`, else the folder that it was
    /// started in.
    pub(crate) fn of(config: &Config) -> Self {
        let roots = roots_of(config, Vec::new());
        Self::new(roots, &config.home, Arc::new(SystemClock))
    }

    /// Reads the folders that a client works in too, unless `MMW_SOURCE_ROOTS` says which.
    pub(crate) fn follow(&self, config: &Config, uris: &[String]) {
        let folders = uris
            .iter()
            .filter_map(|uri| uri::folder(uri, cfg!(windows)))
            .collect();
        let roots = roots_of(config, folders);
        *self.0.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
    }

    /// Returns those over some roots, with what is kept in the agent's home.
    pub(crate) fn new(roots: Roots, home: &Path, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner {
            roots: RwLock::new(roots),
            kept: Kept::in_home(home),
            cache: Cache::new(clock),
        }))
    }

    /// Does a call of a person with its two sides: completes the arguments, calls, completes the answer.
    /// Returns it with what is to be said beside it.
    ///
    /// # Errors
    /// What the call runs into.
    pub(crate) fn around<A, R, E>(
        &self,
        action: &str,
        given: (A, EnvelopeArgs),
        now: Timestamp,
        call: impl FnOnce(A, EnvelopeArgs) -> Result<R, E>,
    ) -> Result<(R, String), E>
    where
        A: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let (arguments, envelope) = given;
        let mut order = Order {
            envelope,
            ..Order::default()
        };
        if let Ok(Value::Object(written)) = serde_json::to_value(&arguments) {
            order.arguments = written;
        }
        let after = self.before(action, &mut order);
        let arguments = A::deserialize(Value::Object(order.arguments)).unwrap_or(arguments);
        let given = call(arguments, order.envelope)?;
        let mut answer = Answer {
            structured: serde_json::to_value(&given).unwrap_or_default(),
            text: String::new(),
        };
        if let Some(after) = after {
            after.finish(&mut answer, now);
        }
        let completed = R::deserialize(answer.structured).unwrap_or(given);
        Ok((completed, answer.text.trim().to_owned()))
    }

    /// Returns the folder that names of files begin at: the top of the repository, else where the
    /// program was started.
    pub(crate) fn top(&self) -> PathBuf {
        self.roots().top()
    }

    /// Returns the folders whose files may be read.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.roots().folders().to_vec()
    }

    fn roots(&self) -> Roots {
        self.0
            .roots
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Returns the folders whose files may be read: those of the settings, else the one that the program was
/// started in and the client's. The top of the whole file system is never one by itself: some clients
/// start their programs there.
fn roots_of(config: &Config, of_the_client: Vec<PathBuf>) -> Roots {
    let folders = match &config.source_roots {
        Some(folders) => folders.clone(),
        None => [config.folder.clone()]
            .into_iter()
            .chain(of_the_client)
            .filter(|folder| folder.parent().is_some())
            .collect(),
    };
    Roots::new(&config.folder, folders)
}

/// Returns the document and the fragment.
fn split(source_id: &str) -> (&str, Option<&str>) {
    match source_id.split_once('#') {
        Some((document, fragment)) if !fragment.trim().is_empty() => (document, Some(fragment)),
        Some((document, _)) => (document, None),
        None => (source_id, None),
    }
}

#[cfg(test)]
mod tests;

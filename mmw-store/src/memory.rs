//! The façade: *screen, read, decide, write* inside one transaction.
//!
//! One file per use case. Programs wrap [`Memory`]; other Rust tools embed it.

pub mod access;
pub mod brief;
pub mod bulk;
pub mod census;
mod explain;
pub mod failure;
mod forget;
mod hits;
mod indexed;
mod judged;
pub mod meaning;
mod mention;
pub mod purge;
mod reading;
mod reindex;
mod remember;
pub mod rescan;
mod resolve;
mod review;
pub mod search;
mod second_look;
pub mod sourced;
pub mod transfer;
mod validate;
mod ward;
mod wording;

use std::path::Path;
use std::sync::Arc;

use mmw_core::env::{Clock, Entropy};
use mmw_core::place::{Caller, Scope};
use mmw_core::plan::{AccountState, may_use};
use mmw_core::source::ContentHash;
use mmw_core::validation::Invalid;
use mmw_guard::Guard;

use self::failure::Failure;
use self::meaning::Meaning;
use self::ward::ReadPolicies;
use self::wording::Wording;
use crate::embed::{OpenEmbedder, built_in};
use crate::engine::{Engine, EngineError, EngineResult, Snapshot, read};
use crate::sqlite::Sqlite;

/// The longest reason or note, in characters.
pub const MAX_NOTE_CHARS: usize = 1_000;

/// A memory on a storage engine. Cheap to clone; every clone is the same memory.
#[derive(Clone)]
pub struct Memory {
    engine: Arc<dyn Engine>,
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    policies: Arc<ReadPolicies>,
    meaning: Arc<Meaning>,
    wording: Arc<Wording>,
}

impl Memory {
    /// Opens (or makes) the store in a file, with the standard guard and, if this was built with it, the
    /// built-in model.
    ///
    /// # Errors
    /// If the file can't be opened as a store of this version.
    pub fn open(
        file: &Path,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, EngineError> {
        Self::open_with(file, Guard::standard(), built_in(), clock, entropy)
    }

    /// Opens (or makes) the store in a file, with this guard and this embedder. Without an embedder a
    /// search goes by words alone.
    ///
    /// # Errors
    /// As [`Memory::open`].
    pub fn open_with(
        file: &Path,
        guard: Guard,
        embedder: Option<Box<OpenEmbedder>>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, EngineError> {
        let engine = Sqlite::open(file)?;
        reindex::bring_up_to_date(&engine)?;
        Ok(Self::with(
            Arc::new(engine),
            guard,
            embedder,
            clock,
            entropy,
        ))
    }

    /// Puts a memory together from its parts. The embedder is opened when something needs it first.
    #[must_use]
    pub fn with(
        engine: Arc<dyn Engine>,
        guard: Guard,
        embedder: Option<Box<OpenEmbedder>>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let guard = Arc::new(guard);
        let meaning = Arc::new(Meaning::new(embedder, &engine, &clock, &guard));
        let wording = Arc::new(Wording::new(&engine));
        Self {
            engine,
            guard,
            clock,
            entropy,
            policies: Arc::default(),
            meaning,
            wording,
        }
    }

    /// Returns the engine, for programs that look after it (backup, check).
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    /// Checks that the caller's key has the scope and that the account's state allows its use.
    fn need(&self, caller: &Caller, scope: Scope) -> Result<(), Failure> {
        read(self.engine(), |snapshot| needed(snapshot, caller, scope))?
    }

    /// Checks that a hash is not a secret. A digest is told by its form: every other key of the same
    /// form looks like one.
    fn check_hash(&self, field: &str, hash: &ContentHash) -> Result<(), Invalid> {
        if hash.is_digest() {
            return Ok(());
        }
        let value = hash.as_str().split_once(':').map_or("", |(_, value)| value);
        for text in [hash.as_str(), value] {
            if let Some(found) = self.guard.redact(text).1.first() {
                let why = format!(
                    "holds a secret ({}); give the hash of the source",
                    found.rule
                );
                return Err(Invalid::new(field, why));
            }
        }
        Ok(())
    }

    /// Returns a reason or note as it may be kept: at most [`MAX_NOTE_CHARS`] characters, secrets
    /// replaced as the policy of the caller's project asks.
    fn clean_note(
        &self,
        caller: &Caller,
        field: &str,
        note: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let Some(note) = note.map(str::trim).filter(|note| !note.is_empty()) else {
            return Ok(None);
        };
        let n_chars = note.chars().count();
        if n_chars > MAX_NOTE_CHARS || note.contains('\0') {
            let why = format!(
                "has {n_chars} characters; at most {MAX_NOTE_CHARS} are kept, without U+0000"
            );
            return Err(Invalid::new(field, why).into());
        }
        let now = self.clock.now();
        let ward = read(self.engine(), |snapshot| {
            self.ward(snapshot, caller.project, now)
        })?;
        Ok(Some(ward.note(field, note)?))
    }
}

/// Checks what [`Memory::need`] checks, in a snapshot that is read from anyway.
fn needed(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    scope: Scope,
) -> EngineResult<Result<(), Failure>> {
    if !caller.scopes.has(scope) {
        return Ok(Err(Failure::Forbidden(scope)));
    }
    let account = snapshot.account(caller.account)?;
    let state = account.map_or(AccountState::Suspended, |account| account.state);
    Ok(may_use(state, scope).map_err(Failure::from))
}

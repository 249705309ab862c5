//! What was changed in which file, so that it can be undone byte for byte.
//!
//! A file of the agent's own, `connected.json` in its home, and copies of the files as they were, in
//! `backups` beside it: for their owner only, since settings may hold keys. Without the ledger what is ours
//! is still found and taken out; only the bytes around it can't be vouched for.
//!
//! Several commands may run at once: each change of the ledger is made to what it is at that moment, one
//! after the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::file::{self, FileError, Found};
use crate::local::make_private;

/// The ledger's file in the agent's home.
const LEDGER: &str = "connected.json";
/// The folder of the copies in the agent's home.
const BACKUPS: &str = "backups";
/// The file that is locked while the ledger is written.
const LOCK: &str = "connected.lock";
/// How much of a hash stands in the name of a copy, in digits.
const SHORT: usize = 12;

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// By path.
    #[serde(default)]
    files: BTreeMap<String, Done>,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The client whose file it is.
    pub(crate) client: String,
    /// The hash of what was written.
    pub(crate) after: String,
    /// What was there before.
    pub(crate) before: Before,
}

/// What a file was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Before {
    /// There was none.
    Nothing,
    /// A copy has it; by its name in the folder of copies.
    Copy(String),
    /// Something of ours was in it already: it is not known how it was without. The copy has it with ours.
    Ours(String),
}

impl Ledger {
    /// Reads the ledger; one that can't be read is as if nothing were known.
    pub(crate) fn read(home: &Path) -> Self {
        let text = file::read(&home.join(LEDGER))
            .ok()
            .and_then(|found| found.text);
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Returns what was done to a file.
    pub(crate) fn done(&self, path: &Path) -> Option<&Done> {
        self.files.get(&name(path))
    }

    /// Notes that a file is about to be changed, and keeps a copy of what is in it now.
    ///
    /// # Errors
    /// [`FileError`] about the agent's own files; nothing is to be changed then.
    pub(crate) fn note(
        &mut self,
        home: &Path,
        client: &str,
        found: &Found,
        after: &str,
        has_ours: bool,
    ) -> Result<Option<PathBuf>, FileError> {
        let _lock = self.renew(home)?;
        let now = found.text.as_deref();
        let known = self.done(&found.path).filter(|done| {
            // Nobody else touched it since: what was there before is still to be put back.
            now.is_some_and(|now| done.after == hash(now))
        });
        let before = match (known, now) {
            (Some(done), _) => done.before.clone(),
            (None, None) => Before::Nothing,
            (None, Some(text)) => {
                let copy = keep(home, client, &found.path, text)?;
                if has_ours {
                    Before::Ours(copy)
                } else {
                    Before::Copy(copy)
                }
            }
        };
        let copy = match &before {
            Before::Nothing => None,
            Before::Copy(copy) | Before::Ours(copy) => Some(home.join(BACKUPS).join(copy)),
        };
        let done = Done {
            client: client.to_owned(),
            after: hash(after),
            before,
        };
        self.files.insert(name(&found.path), done);
        self.write(home)?;
        Ok(copy)
    }

    /// Returns what a file was before, if nobody else has touched it since: `Some(None)` if there was none.
    ///
    /// # Errors
    /// If the copy can't be read.
    pub(crate) fn original(
        &self,
        home: &Path,
        found: &Found,
    ) -> Result<Option<Option<String>>, FileError> {
        let (Some(done), Some(now)) = (self.done(&found.path), found.text.as_deref()) else {
            return Ok(None);
        };
        if done.after != hash(now) {
            return Ok(None);
        }
        match &done.before {
            Before::Ours(_) => Ok(None),
            Before::Nothing => Ok(Some(None)),
            Before::Copy(copy) => {
                let kept = file::read(&home.join(BACKUPS).join(copy))?;
                // A copy that was damaged is none.
                let whole = kept.text.filter(|text| copy.ends_with(&short(text)));
                Ok(whole.map(Some))
            }
        }
    }

    /// Tells whether a file was made by us.
    pub(crate) fn was_made(&self, path: &Path) -> bool {
        let done = self.done(path);
        done.is_some_and(|done| done.before == Before::Nothing)
    }

    /// Forgets a file that is as it was, and its copy.
    ///
    /// # Errors
    /// [`FileError`] about the agent's own files.
    pub(crate) fn forget(&mut self, home: &Path, path: &Path) -> Result<(), FileError> {
        if self.done(path).is_none() {
            return Ok(());
        }
        let _lock = self.renew(home)?;
        let Some(done) = self.files.remove(&name(path)) else {
            return Ok(());
        };
        self.write(home)?;
        match done.before {
            Before::Nothing => Ok(()),
            Before::Copy(copy) | Before::Ours(copy) => {
                let kept = file::read(&home.join(BACKUPS).join(copy))?;
                file::replace(&kept, None)
            }
        }
    }

    /// Puts back what was noted of a file before, since nothing came of the change.
    ///
    /// # Errors
    /// [`FileError`] about the agent's own files.
    pub(crate) fn take_back(
        &mut self,
        home: &Path,
        path: &Path,
        before: Option<Done>,
    ) -> Result<(), FileError> {
        let Some(before) = before else {
            return self.forget(home, path);
        };
        let _lock = self.renew(home)?;
        self.files.insert(name(path), before);
        self.write(home)
    }

    /// Reads the ledger again, and keeps others from writing it as long as what is returned is held:
    /// another `connect` may be at work on other files.
    fn renew(&mut self, home: &Path) -> Result<Option<File>, FileError> {
        // What is kept may hold keys.
        make_private(home).map_err(FileError::Unwritable)?;
        let lock = file::lock(&home.join(LOCK)).map_err(FileError::Unwritable)?;
        *self = Self::read(home);
        Ok(lock)
    }

    fn write(&self, home: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let found = file::read(&home.join(LEDGER))?;
        file::replace(&found, Some(&text))
    }
}

fn keep(home: &Path, client: &str, path: &Path, text: &str) -> Result<String, FileError> {
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    // With the path, or two files with the same content would share a copy.
    let copy = format!(
        "{client}-{}-{}-{}",
        file_name.trim_start_matches('.'),
        short(&name(path)),
        short(text)
    );
    let found = file::read(&home.join(BACKUPS).join(&copy))?;
    file::replace(&found, Some(text))?;
    Ok(copy)
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn short(text: &str) -> String {
    let mut hash = hash(text);
    hash.truncate(SHORT);
    hash
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

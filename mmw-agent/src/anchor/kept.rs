//! Keeps what was around anchored parts, beside the store, to find the parts again.
//!
//! One small file a part, named by a hash of what it is of. Losing one costs nothing but that moved lines
//! count as changed; so a file that can't be read or written is passed over.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use mmw_core::source::ContentHash;
use sha2::{Digest as _, Sha256};

use super::surroundings::Surroundings;
use crate::local::make_private;

/// The folder in the agent's home.
const FOLDER: &str = "anchors";

/// A larger file is none of ours.
const MAX_BYTES: u64 = 16 * 1024;

/// The surroundings that are kept.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// Returns those of an agent's home.
    pub(super) fn in_home(home: &Path) -> Self {
        Self {
            folder: home.join(FOLDER),
        }
    }

    /// Keeps what was around a part.
    pub(super) fn put(&self, source_id: &str, hash: &ContentHash, surroundings: &Surroundings) {
        let _ = self.try_put(source_id, hash, surroundings);
    }

    fn try_put(
        &self,
        source_id: &str,
        hash: &ContentHash,
        surroundings: &Surroundings,
    ) -> std::io::Result<()> {
        let file = self.file(source_id, hash);
        let folder = file.parent().unwrap_or(&self.folder);
        make_private(folder)?;
        // Another agent may read it at this moment: it appears whole.
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(&serde_json::to_vec(surroundings)?)?;
        draft.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    /// Returns what was around a part when it was anchored, if that was here.
    pub(super) fn get(&self, source_id: &str, hash: &ContentHash) -> Option<Surroundings> {
        let file = self.file(source_id, hash);
        if std::fs::metadata(&file).ok()?.len() > MAX_BYTES {
            return None;
        }
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    fn file(&self, source_id: &str, hash: &ContentHash) -> PathBuf {
        let mut hasher = Sha256::new();
        hasher.update(source_id.as_bytes());
        hasher.update([0]);
        hasher.update(hash.as_str().as_bytes());
        let name = base16ct::lower::encode_string(&hasher.finalize()[..16]);
        let (group, rest) = name.split_at(2);
        self.folder.join(group).join(format!("{rest}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_damage_is_passed_over() {
        let home = tempfile::tempdir().unwrap();
        let kept = Kept::in_home(home.path());
        let lines = ["a", "b", "c"];
        let hash = super::super::hashes::of_lines(&lines[1..2]).unwrap();
        let noted = Surroundings::of(&lines, &(1..2), &hash).unwrap();
        assert_eq!(kept.get("x.md#L2", &hash), None);
        kept.put("x.md#L2", &hash, &noted);
        kept.put("x.md#L2", &hash, &noted);
        assert_eq!(kept.get("x.md#L2", &hash), Some(noted));
        assert_eq!(kept.get("y.md#L2", &hash), None);
        std::fs::write(kept.file("x.md#L2", &hash), "{").unwrap();
        assert_eq!(kept.get("x.md#L2", &hash), None);
    }
}

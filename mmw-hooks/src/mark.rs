//! The mark that a session was asked, kept on disk: a flag in the event is forgotten when a client
//! begins a new loop, and two copies of the hook may be installed.
//!
//! One small file a session, in a folder of the agent's home, readable by its owner only. Without a
//! mark nobody is asked: rather no question than the same one for ever.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use mmw_core::time::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::clients::Client;
use crate::private;

/// The folder in the agent's home.
const FOLDER: &str = "stop-hook";

/// The most marks that are kept; beyond that those of the longest ago are removed.
pub const MAX_MARKS: usize = 512;

/// A longer file is none of ours, in bytes.
const MAX_BYTES: u64 = 4096;

/// When a session was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The moment.
    pub at: Timestamp,
    /// How often a person had spoken in the session.
    pub n_prompts: usize,
}

/// Where the mark of a session is kept.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
    file: PathBuf,
}

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It was never asked.
    Never,
    /// It was asked.
    Asked(Mark),
    /// There is a mark that can't be read.
    Unclear,
}

/// Returns when the hook last asked anybody, in whatever session; nothing if it never did, or that can't be
/// read.
#[must_use]
pub fn last_asked(agent_home: &Path) -> Option<Timestamp> {
    let entries = fs::read_dir(agent_home.join(FOLDER)).ok()?;
    let asked = entries.flatten().filter_map(|entry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    });
    asked.max().map(Timestamp::from_ms)
}

impl Place {
    /// Returns the place of a session's mark.
    #[must_use]
    pub fn of(agent_home: &Path, client: Client, session: &str) -> Self {
        let folder = agent_home.join(FOLDER);
        // A session's name comes from outside and is no name of a file.
        let digest = Sha256::digest(format!("{client:?}\n{session}"));
        let name: String = digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let file = folder.join(name);
        Self { folder, file }
    }

    /// Returns what is known of the session.
    #[must_use]
    pub fn look(&self) -> Known {
        match File::open(&self.file) {
            Ok(mut file) => read(&mut file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Known::Never,
            Err(_) => Known::Unclear,
        }
    }

    /// Leaves the mark; tells whether it was left, and by this process. It is not if another one
    /// did so since `known` was looked up, or if the folder can't be written to.
    #[must_use]
    pub fn leave(&self, known: Known, mark: Mark) -> bool {
        self.try_leave(known, mark).unwrap_or(false)
    }

    fn try_leave(&self, known: Known, mark: Mark) -> std::io::Result<bool> {
        private::make_folder(&self.folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.file)?;
        // Another copy of the hook asks about the same turn.
        if file.try_lock().is_err() {
            return Ok(false);
        }
        let now_known = match file.metadata()?.len() {
            0 => Known::Never,
            _ => read(&mut file),
        };
        if now_known != known {
            return Ok(false);
        }
        file.set_len(0)?;
        file.rewind()?;
        let text = json!({ "asked_ms": mark.at.as_ms(), "prompts": mark.n_prompts });
        file.write_all(text.to_string().as_bytes())?;
        self.prune();
        Ok(true)
    }

    /// Removes the oldest marks beyond the limit.
    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut marks: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .filter(|(_, path)| *path != self.file)
            .collect();
        let Some(n_over) = marks.len().checked_sub(MAX_MARKS - 1) else {
            return;
        };
        marks.sort();
        for (_, path) in &marks[..n_over] {
            let _ = fs::remove_file(path);
        }
    }
}

fn read(file: &mut File) -> Known {
    let mut bytes = Vec::new();
    let whole = file.take(MAX_BYTES).read_to_end(&mut bytes);
    let mark = whole.ok().and_then(|_| {
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        Some(Mark {
            at: Timestamp::from_ms(value.get("asked_ms")?.as_i64()?),
            n_prompts: usize::try_from(value.get("prompts")?.as_u64()?).ok()?,
        })
    });
    mark.map_or(Known::Unclear, Known::Asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(home: &Path, session: &str) -> Place {
        Place::of(home, Client::ClaudeCode, session)
    }

    fn mark(ms: i64, n_prompts: usize) -> Mark {
        Mark {
            at: Timestamp::from_ms(ms),
            n_prompts,
        }
    }

    #[test]
    fn a_session_is_known_again() {
        let home = tempfile::tempdir().unwrap();
        let place = place(&home.path().join("new"), "../../s\n");
        assert_eq!(place.look(), Known::Never);
        assert!(place.leave(Known::Never, mark(5, 1)));
        assert_eq!(place.look(), Known::Asked(mark(5, 1)));
        assert!(place.leave(place.look(), mark(123_456, 2)));
        assert_eq!(place.look(), Known::Asked(mark(123_456, 2)));
        let other = Place::of(&home.path().join("new"), Client::Codex, "../../s\n");
        assert_eq!(other.look(), Known::Never);
    }

    #[test]
    fn it_is_told_when_anybody_was_last_asked() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(last_asked(home.path()), None);
        assert!(place(home.path(), "s").leave(Known::Never, mark(5, 1)));
        let touched = File::open(place(home.path(), "s").file).unwrap();
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_millis(77_000);
        touched.set_modified(moment).unwrap();
        assert_eq!(last_asked(home.path()), Some(Timestamp::from_ms(77_000)));
    }

    #[test]
    fn of_two_that_ask_at_once_one_does() {
        let home = tempfile::tempdir().unwrap();
        let place = place(home.path(), "s");
        let known = place.look();
        assert!(place.leave(known, mark(5, 1)));
        assert!(!place.leave(known, mark(5, 1)));
    }

    #[test]
    fn a_mark_that_can_not_be_read_is_no_leave_to_ask() {
        let home = tempfile::tempdir().unwrap();
        let place = place(home.path(), "s");
        assert!(place.leave(Known::Never, mark(5, 1)));
        fs::write(&place.file, "{").unwrap();
        assert_eq!(place.look(), Known::Unclear);
        assert!(!place.leave(Known::Never, mark(6, 1)));
    }

    #[test]
    fn where_nothing_can_be_written_nobody_is_asked() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(!place(&file, "s").leave(Known::Never, mark(5, 1)));
    }

    #[test]
    fn marks_do_not_pile_up() {
        let home = tempfile::tempdir().unwrap();
        for n in 0..MAX_MARKS + 3 {
            assert!(place(home.path(), &n.to_string()).leave(Known::Never, mark(5, 1)));
        }
        let n_kept = fs::read_dir(home.path().join(FOLDER)).unwrap().count();
        assert_eq!(n_kept, MAX_MARKS);
    }

    #[cfg(unix)]
    #[test]
    fn a_mark_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let place = place(&home.path().join("a/b"), "s");
        assert!(place.leave(Known::Never, mark(5, 1)));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&place.file), 0o600);
        assert_eq!(mode(&place.folder), 0o700);
    }
}

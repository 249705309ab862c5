//! When files changed, as far as their times and the session's tools tell.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use mmw_core::time::Timestamp;

use crate::git::Changes;
use crate::transcript::{Session, When};

/// A file that differs or was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Relative to the top of the working tree.
    pub path: PathBuf,
    /// When its content was last written; of a file that is gone, when something was last made or
    /// removed where it was.
    pub written: Option<Timestamp>,
    /// When a tool of the session last edited it.
    pub edited: Option<When>,
    /// When it was committed, by the second; `None` if it differs from the last commit.
    pub committed: Option<Timestamp>,
}

/// Looks at every file of the changes.
#[must_use]
pub fn look(top: &Path, changes: &Changes, session: &Session) -> Vec<Seen> {
    let edited = edited_in(top, session);
    let seen = |path: &PathBuf, committed| Seen {
        written: written(top, path),
        edited: edited.get(path.as_path()).copied(),
        committed,
        path: path.clone(),
    };
    let dirty = changes.dirty.iter().map(|path| seen(path, None));
    let committed = changes
        .committed
        .iter()
        .map(|(path, at)| seen(path, Some(*at)));
    dirty.chain(committed).collect()
}

/// Returns the session's edits by paths relative to the top, whatever way led to the file.
fn edited_in(top: &Path, session: &Session) -> HashMap<PathBuf, When> {
    let mut edited = HashMap::new();
    for (path, when) in &session.edited {
        let inside = match path.strip_prefix(top) {
            Ok(inside) => inside.to_owned(),
            // The folder may have been named by a link; the file itself may be gone by now.
            Err(_) => match resolved(path).and_then(|path| {
                let inside = path.strip_prefix(top).ok()?;
                Some(inside.to_owned())
            }) {
                Some(inside) => inside,
                None => continue,
            },
        };
        let last = edited.entry(inside).or_insert(*when);
        *last = (*last).max(*when);
    }
    edited
}

fn resolved(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?.canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// Returns when a file was written, or when its nearest folder that is still there changed.
fn written(top: &Path, path: &Path) -> Option<Timestamp> {
    let full = top.join(path);
    // Links are not followed: the link itself is what git keeps.
    let found = full
        .ancestors()
        .take_while(|folder| folder.starts_with(top))
        .find_map(|there| there.symlink_metadata().ok())?;
    moment(found.modified().ok()?)
}

/// Returns a moment of the file system, to the millisecond.
#[must_use]
pub fn moment(time: SystemTime) -> Option<Timestamp> {
    let ms = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_millis()).ok()?,
    };
    Some(Timestamp::from_ms(ms))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use filetime::{FileTime, set_file_mtime};

    use super::*;

    #[test]
    fn a_file_that_is_gone_has_the_time_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir(top.join("d")).unwrap();
        fs::write(top.join("d/a"), "").unwrap();
        set_file_mtime(top.join("d/a"), FileTime::from_unix_time(100, 999_000_000)).unwrap();
        set_file_mtime(top.join("d"), FileTime::from_unix_time(200, 0)).unwrap();
        set_file_mtime(top, FileTime::from_unix_time(300, 0)).unwrap();
        let ms = |path: &str| written(top, Path::new(path)).unwrap().as_ms();
        assert_eq!(ms("d/a"), 100_999);
        assert_eq!(ms("d/gone"), 200_000);
        assert_eq!(ms("e/gone"), 300_000);
    }

    #[test]
    fn an_edit_is_found_by_whatever_path_led_there() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("top");
        fs::create_dir_all(top.join("d")).unwrap();
        let mut session = Session::default();
        let at = Some(Timestamp::from_ms(5));
        session.edited(top.join("a").to_str().unwrap(), at);
        session.edited(top.join("d/../b").to_str().unwrap(), at);
        session.edited("/elsewhere/c", at);
        let mut found: Vec<_> = edited_in(&top, &session).into_keys().collect();
        found.sort();
        assert!(found.contains(&PathBuf::from("a")), "{found:?}");
        assert!(!found.iter().any(|path| path.ends_with("c")));
    }

    #[test]
    fn moments_before_1970_are_moments() {
        let before = UNIX_EPOCH - Duration::from_millis(7);
        assert_eq!(moment(before).unwrap().as_ms(), -7);
    }
}

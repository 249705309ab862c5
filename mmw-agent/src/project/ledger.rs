//! The file in the agent's home that notes what places were known by.
//!
//! Losing it costs little: what a place was known by first is told by where it is. So a file that can't be
//! read or written keeps nobody from their memory; one that is damaged is set aside.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use mmw_store::Failure;

use super::known::{Here, Known, Settled, Stamp, World};
use super::{Identity, Project};
use crate::connect::file::{self, FileError};
use crate::exit::chain;

/// The file in the agent's home.
const FILE: &str = "projects.json";
/// The file that is locked while the other is written.
const LOCK: &str = "projects.lock";
/// Where a damaged one is kept.
const DAMAGED: &str = "projects.json.damaged";
/// What git calls its folder in a working tree.
const DOT_GIT: &str = ".git";

/// The ledger of an agent's home.
pub(crate) struct Ledger<'h> {
    home: &'h Path,
}

impl<'h> Ledger<'h> {
    /// Returns that of a home that exists.
    pub(crate) const fn in_home(home: &'h Path) -> Self {
        Self { home }
    }

    /// Decides which memory a project works on. `holds` tells how much a memory holds.
    ///
    /// # Errors
    /// What `holds` runs into.
    pub(crate) fn settle(
        &self,
        here: &Here,
        holds: &mut dyn FnMut(&str) -> Result<u64, Failure>,
    ) -> Result<Settled, Failure> {
        if let Some(settled) = self.read().unwrap_or_default().same_as_ever(here) {
            return Ok(settled);
        }
        // Two agents that start at once decide one after the other.
        let lock = file::lock(&self.home.join(LOCK)).map_err(FileError::Unwritable);
        let known = self.read();
        let is_readable = known.is_ok();
        let mut known = known.unwrap_or_default();
        let settled = known.settle(here, &mut Disk { holds })?;
        let noted = match &lock {
            Ok(_) if is_readable => self.write(&known),
            Ok(_) => Ok(()),
            Err(_) => lock.map(drop),
        };
        if let Err(error) = noted {
            let why = chain(&error);
            tracing::warn!(%why, "what this project is known by can't be noted");
        }
        Ok(settled)
    }

    /// Has what a project is known by lead to a memory.
    ///
    /// # Errors
    /// If it can't be noted.
    pub(crate) fn choose(&self, here: &Here, memory: &str) -> Result<(), FileError> {
        let _lock = file::lock(&self.home.join(LOCK)).map_err(FileError::Unwritable)?;
        let mut known = self.read()?;
        known.choose(here, memory);
        self.write(&known)
    }

    fn read(&self) -> Result<Known, FileError> {
        let found = file::read(&self.home.join(FILE))?;
        let Some(text) = found.text else {
            return Ok(Known::default());
        };
        Ok(serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "{FILE} is damaged and is set aside as {DAMAGED}");
            let _ = std::fs::rename(&found.path, self.home.join(DAMAGED));
            Known::default()
        }))
    }

    fn write(&self, known: &Known) -> Result<(), FileError> {
        let found = file::read(&self.home.join(FILE))?;
        let text = serde_json::to_string_pretty(known).unwrap_or_default() + "\n";
        file::replace(&found, Some(&text))
    }
}

struct Disk<'f> {
    holds: &'f mut dyn FnMut(&str) -> Result<u64, Failure>,
}

impl World<Failure> for Disk<'_> {
    fn holds(&mut self, name: &str) -> Result<u64, Failure> {
        (self.holds)(name)
    }

    fn is_gone(&mut self, path: &str) -> bool {
        Path::new(path).symlink_metadata().is_err()
    }
}

impl Project {
    /// Returns the project as the ledger knows it. `clean` takes secrets out of names, as the store does.
    pub(crate) fn here(&self, clean: impl Fn(&str) -> String) -> Here {
        let name = |path: &Path| clean(&path.display().to_string());
        Here {
            place: name(&self.place),
            stamp: std::fs::metadata(&self.place)
                .ok()
                .and_then(|about| stamp(&about)),
            name: clean(&self.identity.to_string()),
            was: self.was().iter().map(|path| name(path)).collect(),
        }
    }

    /// Returns the places that it would have had before it became a repository, or while it was one.
    fn was(&self) -> Vec<PathBuf> {
        match &self.identity {
            Identity::Folder(folder) => vec![folder.join(DOT_GIT)],
            Identity::Repository(_) | Identity::Remote(_) => {
                let is_in_a_tree = self.place.ends_with(DOT_GIT);
                let tree = self.place.parent().filter(|_| is_in_a_tree);
                tree.map(Path::to_owned).into_iter().collect()
            }
        }
    }
}

/// Returns what tells a folder from any other; nothing where the system does not say when it was made.
#[cfg(unix)]
fn stamp(about: &Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;
    let made = about
        .created()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    Some(Stamp {
        device: about.dev(),
        number: about.ino(),
        made_ns: u64::try_from(made.as_nanos()).ok()?,
    })
}

#[cfg(not(unix))]
fn stamp(_: &Metadata) -> Option<Stamp> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(place: &Path) -> Here {
        let project = Project {
            identity: Identity::Folder(place.to_owned()),
            place: place.to_owned(),
            branch: None,
        };
        project.here(str::to_owned)
    }

    #[test]
    fn what_was_noted_is_known_to_the_next_start_and_damage_is_set_aside() {
        let desk = tempfile::tempdir().unwrap();
        let (home, place) = (desk.path(), desk.path().join("notes"));
        std::fs::create_dir(&place).unwrap();
        let here = here(&place);
        let ledger = Ledger::in_home(home);
        let start = || ledger.settle(&here, &mut |_| Ok(1)).unwrap().name;
        assert_eq!(start(), here.name);
        let noted = std::fs::read_to_string(home.join(FILE)).unwrap();
        assert!(noted.contains(&here.name), "{noted}");
        ledger.choose(&here, "h/other").unwrap();
        assert_eq!(start(), "h/other");
        std::fs::write(home.join(FILE), "{\"names\": 7").unwrap();
        assert_eq!(start(), here.name);
        assert!(home.join(DAMAGED).exists());
    }

    #[test]
    fn a_home_that_can_not_be_written_keeps_nobody_from_their_memory() {
        let desk = tempfile::tempdir().unwrap();
        let nowhere = desk.path().join("gone");
        let here = here(desk.path());
        let settled = Ledger::in_home(&nowhere).settle(&here, &mut |_| Ok(0));
        assert_eq!(settled.unwrap().name, here.name);
        let refused = Ledger::in_home(&nowhere.join("x")).choose(&here, "h/other");
        assert!(refused.is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_moved_folder_has_the_stamp_that_it_had() {
        let desk = tempfile::tempdir().unwrap();
        let (from, to) = (desk.path().join("a"), desk.path().join("b"));
        std::fs::create_dir(&from).unwrap();
        let before = here(&from).stamp;
        std::fs::rename(&from, &to).unwrap();
        assert_eq!(here(&to).stamp, before);
        std::fs::create_dir(&from).unwrap();
        // Where the system does not tell when a folder was made, there are no stamps at all.
        assert!(before.is_none() || here(&from).stamp != before);
    }
}

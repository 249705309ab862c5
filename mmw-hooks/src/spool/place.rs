//! Where the files of one queue are, and what they are called. Knows names only, no content.
//!
//! ```text
//! <base>/<16 hex digits of the endpoint>/
//!     endpoint                          the endpoint in words
//!     waiting/00000000000000000042.json one file an entry, oldest first
//!     dead/…                            what the server refused, with its reason
//!     corrupt/…                         what can't be read; 0…42.why says why
//!     ledger                            the next number, and how much there is at most
//!     sync.json                         how sending went, and when the next attempt is
//!     new                               what is being written
//!     change.lock, drain.lock
//! ```

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// How many digits the number of an entry has: as many as the largest.
const N_DIGITS: usize = 20;

/// What an entry is called: its number. Entries with smaller numbers were queued before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(pub(super) u64);

impl EntryName {
    /// Reads the name of a file; `None` for any other file than an entry.
    #[must_use]
    pub fn parse(file_name: &str) -> Option<Self> {
        let digits = file_name.strip_suffix(".json")?;
        let is_plain = digits.len() == N_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        is_plain.then(|| digits.parse().ok().map(Self))?
    }

    /// Reads what a person names an entry by: its number, or the name of its file.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        Self::parse(text).or_else(|| is_number.then(|| text.parse().ok().map(Self))?)
    }

    /// Returns its number, by which a person can name it.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}.json", self.0, width = N_DIGITS)
    }
}

/// The three folders in which entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tray {
    Waiting,
    Dead,
    Corrupt,
}

impl Tray {
    pub(super) const ALL: [Self; 3] = [Self::Waiting, Self::Dead, Self::Corrupt];

    fn folder(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Dead => "dead",
            Self::Corrupt => "corrupt",
        }
    }
}

/// The folder of one queue.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) root: PathBuf,
}

impl Place {
    /// Returns the place of an endpoint's queue.
    pub(super) fn of(base: &Path, endpoint: &str) -> Self {
        let digest = Sha256::digest(endpoint);
        let name: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
        Self {
            root: base.join(name),
        }
    }

    pub(super) fn tray(&self, tray: Tray) -> PathBuf {
        self.root.join(tray.folder())
    }

    pub(super) fn file(&self, tray: Tray, name: EntryName) -> PathBuf {
        self.tray(tray).join(name.to_string())
    }

    /// Returns where it stands why an entry can't be read.
    pub(super) fn why(&self, name: EntryName) -> PathBuf {
        self.file(Tray::Corrupt, name).with_extension("why")
    }

    pub(super) fn endpoint(&self) -> PathBuf {
        self.root.join("endpoint")
    }

    pub(super) fn ledger(&self) -> PathBuf {
        self.root.join("ledger")
    }

    pub(super) fn sync(&self) -> PathBuf {
        self.root.join("sync.json")
    }

    pub(super) fn new_file(&self) -> PathBuf {
        self.root.join("new")
    }

    pub(super) fn change_lock(&self) -> PathBuf {
        self.root.join("change.lock")
    }

    pub(super) fn drain_lock(&self) -> PathBuf {
        self.root.join("drain.lock")
    }

    /// Returns a path as it may be shown: from the queue's folder on.
    pub(super) fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.display().to_string()
    }

    /// Tells whether an entry is in a folder, without reading more of the folder than it takes to find one.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub(super) fn has_any(&self, tray: Tray) -> io::Result<bool> {
        let files = match fs::read_dir(self.tray(tray)) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        for file in files {
            if file?
                .file_name()
                .to_str()
                .and_then(EntryName::parse)
                .is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the entries in a folder, oldest first. Other files are left out; a folder that is not
    /// there is empty.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub(super) fn list(&self, tray: Tray) -> io::Result<Vec<EntryName>> {
        let files = match fs::read_dir(self.tray(tray)) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for file in files {
            let file_name = file?.file_name();
            names.extend(file_name.to_str().and_then(EntryName::parse));
        }
        names.sort_unstable();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_their_numbers_and_are_read_again() {
        let numbers = [0, 9, 10, 99, 1 << 40, u64::MAX];
        let shown: Vec<String> = numbers.map(|n| EntryName(n).to_string()).to_vec();
        assert!(shown.is_sorted());
        let read: Vec<_> = shown.iter().map(|name| EntryName::parse(name)).collect();
        assert_eq!(read, numbers.map(|n| Some(EntryName(n))));
    }

    #[test]
    fn a_person_names_an_entry_by_its_number_or_its_file() {
        let named = |text| EntryName::named(text).map(EntryName::number);
        assert_eq!(named("42"), Some(42));
        assert_eq!(named(" 00000000000000000042.json "), Some(42));
        assert_eq!(named("00000000000000000042"), Some(42));
        for other in [
            "",
            "-1",
            "+1",
            "1.5",
            "forty-two",
            "42.json",
            "99999999999999999999",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn a_folder_has_an_entry_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::of(folder.path(), "https://mmw.example");
        assert!(!place.has_any(Tray::Waiting).unwrap());
        fs::create_dir_all(place.tray(Tray::Waiting)).unwrap();
        fs::write(place.tray(Tray::Waiting).join("notes.txt"), "x").unwrap();
        assert!(!place.has_any(Tray::Waiting).unwrap());
        fs::write(place.file(Tray::Waiting, EntryName(7)), "x").unwrap();
        assert!(place.has_any(Tray::Waiting).unwrap());
    }

    #[test]
    fn other_files_are_no_entries() {
        let others = [
            "",
            "notes.json",
            "42.json",
            "00000000000000000042",
            "00000000000000000042.json.swp",
            ".00000000000000000042.json",
            "0000000000000000004٣.json",
            "+0000000000000000042.json",
            "99999999999999999999.json",
            "00000000000000000042.JSON",
        ];
        for other in others {
            assert_eq!(EntryName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn every_file_has_a_name_that_windows_takes() {
        let place = Place::of(Path::new("base"), "https://mmw.example:8443/a?b");
        let name = EntryName(u64::MAX);
        let paths = [
            place.file(Tray::Waiting, name),
            place.file(Tray::Dead, name),
            place.file(Tray::Corrupt, name),
            place.why(name),
            place.endpoint(),
            place.ledger(),
            place.sync(),
            place.new_file(),
            place.change_lock(),
            place.drain_lock(),
        ];
        let devices = ["con", "prn", "aux", "nul", "com", "lpt"];
        for path in paths {
            for part in path.components() {
                let part = part.as_os_str().to_str().unwrap();
                let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.';
                assert!(part.bytes().all(is_plain), "{part}");
                assert!(!part.ends_with('.') && part.len() <= 32, "{part}");
                let stem = part.split('.').next().unwrap();
                assert!(!devices.contains(&stem), "{part}");
            }
        }
    }
}

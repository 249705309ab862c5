//! The folders whose files may be read, and the one way to open a file in them.
//!
//! A source id comes from a model, so it is no more trusted than a web page: it may be
//! `../../etc/passwd`, a link that leads out, a pipe that never ends. A path is resolved first, in full,
//! and compared with the resolved roots; only then is the file opened, without following a link and
//! without waiting, and looked at again through the open handle: what it is and where. Nothing here writes.
//!
//! One file has one name, whichever folder or worktree of a repository somebody works in: its path from
//! the top of the repository, else from the root.

pub(crate) mod path;
mod secret;
pub(crate) mod uri;
mod windows;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes. Larger ones are data, not sources of facts.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

#[cfg(unix)]
const TOO_MANY_LINKS: i32 = libc::ELOOP;
#[cfg(not(unix))]
const TOO_MANY_LINKS: i32 = -1;

/// The folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Roots {
    /// Where the program was started; resolved.
    start: PathBuf,
    /// What may be read; resolved.
    folders: Vec<PathBuf>,
    /// What names are relative to, the likeliest first; resolved.
    bases: Vec<PathBuf>,
}

/// Why a source is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// The path leads to a place outside the roots.
    #[error("it lies outside the folders whose files may be read (MMW_SOURCE_ROOTS)")]
    Outside,
    /// A file that usually holds secrets: the hash of a short one gives it away.
    #[error("files like this hold secrets, and a hash can give a short one away")]
    Secret,
    /// A folder, device, pipe or socket.
    #[error("it is no regular file")]
    NoFile,
    /// Larger than [`MAX_FILE_BYTES`].
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// The system refuses to open or read it.
    #[error("it can't be read")]
    Unreadable,
}

/// What a source id leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A file that may be read.
    File(Opened),
    /// No file is there, in any root.
    Missing,
}

/// How a relative path is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    /// As a name that was stored: from the top of the repository.
    Stored,
    /// As somebody writes it who works where the program was started.
    Here,
}

/// A file in a root.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its place, resolved.
    pub(crate) path: PathBuf,
    file: File,
}

impl Opened {
    /// Returns what the file is now, asked through the handle.
    ///
    /// # Errors
    /// [`Refused::Unreadable`].
    pub(crate) fn about(&self) -> Result<Metadata, Refused> {
        self.file.metadata().map_err(|_| Refused::Unreadable)
    }

    /// Reads the file whole.
    ///
    /// # Errors
    /// [`Refused::TooLarge`] if it has grown meanwhile, [`Refused::Unreadable`].
    pub(crate) fn read(&mut self) -> Result<Vec<u8>, Refused> {
        let expected = self.about()?.len().min(MAX_FILE_BYTES);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
        self.file.rewind().map_err(|_| Refused::Unreadable)?;
        (&self.file)
            .take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|_| Refused::Unreadable)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(Refused::TooLarge);
        }
        Ok(bytes)
    }
}

impl Roots {
    /// Returns these folders as roots of a program that was started in `start`; those that are not
    /// there are left out.
    pub(crate) fn new(start: &Path, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
        let mut resolved: Vec<PathBuf> = Vec::new();
        for folder in folders {
            if let Ok(folder) = folder.canonicalize()
                && folder.is_dir()
                && !resolved.contains(&folder)
            {
                resolved.push(folder);
            }
        }
        Self {
            bases: bases(&start, &resolved),
            folders: resolved,
            start,
        }
    }

    /// Returns the folder that names begin at: the top of the repository that the program was started
    /// in, else where it was started.
    pub(crate) fn top(&self) -> PathBuf {
        base_of(&self.start)
    }

    /// Returns the folders, resolved.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Opens the file that the document of a source id leads to.
    ///
    /// A relative path is looked up in several folders, the first that has it wins. A file that is a
    /// link is the file that it leads to, if that lies in a root too.
    ///
    /// # Errors
    /// [`Refused`], without a byte read.
    pub(crate) fn open(&self, document: &str, meant: Meant) -> Result<Found, Refused> {
        let mut refused = None;
        for candidate in self.candidates(document, meant) {
            match self.open_one(&candidate) {
                Ok(Some(opened)) => return Ok(Found::File(opened)),
                Ok(None) => {}
                Err(why) => {
                    refused.get_or_insert(why);
                }
            }
        }
        match refused {
            Some(why) => Err(why),
            None => Ok(Found::Missing),
        }
    }

    /// Returns the one name of a file in a root: its path from the top of the repository, else from
    /// the root, with `/`; its whole path where that would be another file's name too.
    pub(crate) fn name_of(&self, resolved: &Path) -> Option<String> {
        let name = self
            .bases
            .iter()
            .chain(&self.folders)
            .find_map(|base| path::name_within(base, resolved))
            .map(|name| {
                // Alone it would not be taken for a path.
                if path::looks_like_one(&name) {
                    name
                } else {
                    format!("./{name}")
                }
            })?;
        let leads_back = matches!(
            self.open(&name, Meant::Stored),
            Ok(Found::File(opened)) if opened.path == resolved
        );
        let name = if leads_back {
            name
        } else {
            path::shown(resolved)?
        };
        // What follows a `#` would be taken for a part of the file.
        (!name.contains('#')).then_some(name)
    }

    /// Returns the name that a path would have that leads to no file now; `None` if it is no name of
    /// something in a root.
    pub(crate) fn name_of_absent(&self, document: &str) -> Option<String> {
        let is_explicit = path::is_explicit(document);
        let candidate = self
            .candidates(document, Meant::Here)
            .into_iter()
            .next()
            .filter(|_| is_explicit)?;
        let resolved = path::resolved_as_far_as_it_is(&candidate);
        let within = self.holds(&resolved);
        within.then(|| {
            self.bases
                .iter()
                .chain(&self.folders)
                .find_map(|base| path::name_within(base, &resolved))
        })?
    }

    /// Tells whether a relative path is that of something from the top of the repository, as names that
    /// were stored are. Nothing is opened.
    pub(crate) fn is_there_from_the_top(&self, document: &str) -> bool {
        path::native(document).iter().any(|path| {
            self.bases.iter().any(|base| {
                let place = path::folded(&base.join(path));
                place.starts_with(base) && place.symlink_metadata().is_ok()
            })
        })
    }

    fn candidates(&self, document: &str, meant: Meant) -> Vec<PathBuf> {
        let document = document.trim();
        let from_here = document.starts_with("./") && meant == Meant::Here;
        let places: Vec<&PathBuf> = match meant {
            Meant::Stored => self.bases.iter().chain(&self.folders).collect(),
            Meant::Here if from_here => vec![&self.start],
            Meant::Here => [&self.start]
                .into_iter()
                .chain(&self.folders)
                .chain(&self.bases)
                .collect(),
        };
        let mut candidates: Vec<PathBuf> = Vec::new();
        for path in path::native(document) {
            if path.is_absolute() {
                candidates.push(path);
            } else {
                candidates.extend(places.iter().map(|place| place.join(&path)));
            }
        }
        let mut seen = std::collections::HashSet::new();
        candidates.retain(|candidate| seen.insert(candidate.clone()));
        candidates
    }

    fn open_one(&self, candidate: &Path) -> Result<Option<Opened>, Refused> {
        // The name as it was written may be the telling one, or that of the file behind a link.
        if secret::is_secret(candidate) {
            return Err(Refused::Secret);
        }
        if cfg!(windows) && windows::is_special(&candidate.to_string_lossy()) {
            return Err(Refused::NoFile);
        }
        let resolved = match candidate.canonicalize() {
            Ok(resolved) => resolved,
            Err(error) => {
                // Where there is nothing, the way there must lie inside all the same: whether a file
                // outside exists is nobody's business.
                return if !self.holds(&path::resolved_as_far_as_it_is(candidate)) {
                    Err(Refused::Outside)
                } else if is_absence(&error) {
                    Ok(None)
                } else if leads_round(&error) {
                    Err(Refused::NoFile)
                } else {
                    Err(Refused::Unreadable)
                };
            }
        };
        if !self.holds(&resolved) {
            return Err(Refused::Outside);
        }
        if secret::is_secret(&resolved) {
            return Err(Refused::Secret);
        }
        self.open_resolved(resolved).map(Some)
    }

    /// Opens a resolved path, and looks where the opened file really is: a folder on the way may have become
    /// a link that leads out since it was resolved.
    fn open_resolved(&self, resolved: PathBuf) -> Result<Opened, Refused> {
        let opened = open_regular(resolved)?;
        let Some(place) = place_of(&opened) else {
            return Err(Refused::Unreadable);
        };
        if !self.holds(&place) {
            return Err(Refused::Outside);
        }
        if secret::is_secret(&place) {
            return Err(Refused::Secret);
        }
        Ok(opened)
    }

    fn holds(&self, resolved: &Path) -> bool {
        self.folders.iter().any(|root| resolved.starts_with(root))
    }
}

/// Returns what names are relative to: the repository that the program was started in, then the nearest
/// repository or root. A plain folder above them, such as a person's home, gives no names to what lies in
/// a repository.
fn bases(start: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let own = base_of(start);
    let is_repository = own.join(".git").symlink_metadata().is_ok();
    let mut bases: Vec<PathBuf> = folders.iter().map(|folder| base_of(folder)).collect();
    bases.push(own.clone());
    bases.sort_by_key(|base| {
        let is_first = is_repository && *base == own;
        (!is_first, std::cmp::Reverse(base.components().count()))
    });
    let mut seen = std::collections::HashSet::new();
    bases.retain(|base| seen.insert(base.clone()));
    bases
}

/// Returns the top of the repository that a folder lies in, else the folder.
fn base_of(folder: &Path) -> PathBuf {
    let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    folder
        .ancestors()
        .find(has_git)
        .unwrap_or(folder)
        .to_owned()
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Links that lead to each other are there and no file.
fn leads_round(error: &io::Error) -> bool {
    cfg!(unix) && error.raw_os_error() == Some(TOO_MANY_LINKS)
}

fn open_regular(path: PathBuf) -> Result<Opened, Refused> {
    // Opening a pipe or a device can do things; so it is looked at first, and again once it is open.
    let before = std::fs::symlink_metadata(&path).map_err(|_| Refused::Unreadable)?;
    if !before.is_file() {
        return Err(Refused::NoFile);
    }
    let file = quietly(&path).map_err(|_| Refused::Unreadable)?;
    let opened = Opened { path, file };
    let about = opened.about()?;
    if !about.is_file() {
        return Err(Refused::NoFile);
    }
    if about.len() > MAX_FILE_BYTES {
        return Err(Refused::TooLarge);
    }
    Ok(opened)
}

/// Returns where an opened file really is; `None` if that can't be told.
fn place_of(opened: &Opened) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let handle = format!("/proc/self/fd/{}", opened.file.as_raw_fd());
        if let Ok(place) = std::fs::read_link(handle) {
            return Some(place);
        }
    }
    // Elsewhere: that the path leads there now, by no link.
    let place = opened.path.canonicalize().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let there = std::fs::symlink_metadata(&place).ok()?;
        let here = opened.about().ok()?;
        ((there.dev(), there.ino()) == (here.dev(), here.ino())).then_some(())?;
    }
    Some(place)
}

/// Opens for reading without following a link that has just been put there, and without waiting for the
/// other end of a pipe.
fn quietly(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    }
    options.open(path)
}

#[cfg(test)]
mod tests;

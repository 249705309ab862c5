//! Reads and replaces a settings file without ever leaving half of one.
//!
//! A link is followed, so that whoever keeps settings elsewhere and links to them keeps the link. What was
//! changed by somebody else in between is not overwritten.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::roots::path::resolved_as_far_as_it_is;

/// The most bytes of a settings file that are read: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;

/// The most links to nothing yet that are followed, as many as Linux does.
const MAX_LINKS: usize = 40;

/// A settings file as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The file itself, behind all links.
    pub(crate) path: PathBuf,
    /// What was in it; nothing if there is no such file.
    pub(crate) text: Option<String>,
}

/// Why a settings file can't be read or replaced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It can't be read.
    #[error("it can't be read")]
    Unreadable(#[source] io::Error),
    /// It is a folder or a device.
    #[error("it is no file")]
    NoFile,
    /// It is too large.
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// It is not UTF-8.
    #[error("it is not text in UTF-8")]
    NoText,
    /// It may not be changed.
    #[error("it is read-only")]
    ReadOnly,
    /// Somebody else changed it in between.
    #[error("somebody changed it at the same moment; run the command again")]
    Changed,
    /// It can't be replaced.
    #[error("it can't be written")]
    Unwritable(#[source] io::Error),
}

/// Reads a settings file.
///
/// # Errors
/// [`FileError`]; that there is none is no error.
pub(crate) fn read(path: &Path) -> Result<Found, FileError> {
    let path = behind_links(path);
    let text = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(FileError::Unreadable(error)),
        Ok(about) if !about.is_file() => return Err(FileError::NoFile),
        Ok(_) => Some(read_text(&path)?),
    };
    Ok(Found { path, text })
}

fn read_text(path: &Path) -> Result<String, FileError> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(FileError::Unreadable)?;
    let mut limited = file.take(MAX_BYTES + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(FileError::Unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(FileError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| FileError::NoText)
}

/// Returns where links lead, also if nothing is there yet: a file has the same path before it is made and
/// after, or what was done to it would not be found again.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for _ in 0..MAX_LINKS {
        if path.exists() {
            break;
        }
        let (Ok(target), Some(folder)) = (fs::read_link(&path), path.parent()) else {
            break;
        };
        path = folder.join(target);
    }
    resolved_as_far_as_it_is(&path)
}

/// Puts a text in place of what was found; `None` removes the file. Permissions stay; a new file is for its
/// owner only.
///
/// # Errors
/// [`FileError`]; what is there is then as it was.
pub(crate) fn replace(found: &Found, text: Option<&str>) -> Result<(), FileError> {
    let path = &found.path;
    let permissions = match fs::metadata(path) {
        Ok(about) if about.permissions().readonly() => return Err(FileError::ReadOnly),
        Ok(about) => Some(about.permissions()),
        Err(_) => None,
    };
    let Some(text) = text else {
        unchanged(found)?;
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::Unwritable(error))
            }
            _ => Ok(()),
        };
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(FileError::Unwritable)?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(FileError::Unwritable)?;
    new.write_all(text.as_bytes())
        .map_err(FileError::Unwritable)?;
    if let Some(permissions) = permissions {
        let file = new.as_file();
        file.set_permissions(permissions)
            .map_err(FileError::Unwritable)?;
    }
    new.as_file().sync_all().map_err(FileError::Unwritable)?;
    unchanged(found)?;
    match new.persist(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(FileError::Unwritable(error.error)),
    }
}

/// Keeps others from what a file stands for as long as what is returned is held; it is made if it is not
/// there. Nothing is held where the file system has no locks.
///
/// # Errors
/// If the file can't be made or locked.
pub(crate) fn lock(path: &Path) -> io::Result<Option<fs::File>> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lock = options.open(path)?;
    match lock.lock() {
        Ok(()) => Ok(Some(lock)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

/// Some clients write their file all the time.
fn unchanged(found: &Found) -> Result<(), FileError> {
    if read(&found.path)?.text == found.text {
        Ok(())
    } else {
        Err(FileError::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_file_that_is_not_there_is_made_with_its_folder() {
        let folder = folder();
        let path = folder.path().join("a").join("b.json");
        let found = read(&path).unwrap();
        assert_eq!(found.text, None);
        replace(&found, Some("{}")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        replace(&read(&path).unwrap(), None).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_somebody_wrote_in_between_is_not_overwritten() {
        let folder = folder();
        let path = folder.path().join("a.json");
        fs::write(&path, "1").unwrap();
        let found = read(&path).unwrap();
        fs::write(&path, "2").unwrap();
        let replaced = replace(&found, Some("3"));
        assert!(matches!(replaced, Err(FileError::Changed)));
        assert!(matches!(replace(&found, None), Err(FileError::Changed)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "no half of a file is left");
    }

    #[test]
    fn a_folder_and_what_is_no_text_are_refused() {
        let folder = folder();
        assert!(matches!(read(folder.path()), Err(FileError::NoFile)));
        let path = folder.path().join("utf16.json");
        fs::write(&path, [0xff, 0xfe, b'{', 0, b'}', 0]).unwrap();
        assert!(matches!(read(&path), Err(FileError::NoText)));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = folder();
        let real = folder.path().join("dotfiles.json");
        fs::write(&real, "1").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("link.json");
        symlink("dotfiles.json", &link).unwrap();
        replace(&read(&link).unwrap(), Some("2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "2");
        let mode = fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_yet_leads_to_the_new_file() {
        let folder = folder();
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink("later.json", &link).unwrap();
        replace(&read(&link).unwrap(), Some("1")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::read_to_string(folder.path().join("later.json")).unwrap(),
            "1"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_same_path_before_it_is_made_and_after() {
        use std::os::unix::fs::symlink;
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        // A home behind a link, a link to a folder that is not there, a link to a link to nothing.
        fs::create_dir_all(at("var/home")).unwrap();
        symlink("var/home", at("home")).unwrap();
        symlink("../elsewhere/deep/b.json", at("home/b.json")).unwrap();
        symlink("second.json", at("first.json")).unwrap();
        symlink("third.json", at("second.json")).unwrap();
        for name in ["home/.claude/a.json", "home/b.json", "first.json"] {
            let found = read(&at(name)).unwrap();
            replace(&found, Some("1")).unwrap();
            assert_eq!(read(&at(name)).unwrap().path, found.path, "{name}");
        }
        assert!(at("second.json").symlink_metadata().unwrap().is_symlink());
        symlink("loop.json", at("loop.json")).unwrap();
        assert!(matches!(
            read(&at("loop.json")),
            Err(FileError::Unreadable(_))
        ));
    }

    #[test]
    fn a_read_only_file_is_refused_untouched() {
        let folder = folder();
        let path = folder.path().join("a.json");
        fs::write(&path, "1").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let found = read(&path).unwrap();
        assert!(matches!(
            replace(&found, Some("2")),
            Err(FileError::ReadOnly)
        ));
        assert!(matches!(replace(&found, None), Err(FileError::ReadOnly)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
    }
}

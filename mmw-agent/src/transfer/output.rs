//! Writes a file whole or not at all, for its owner only.

use std::io::{self, Write as _};
use std::path::Path;

use crate::exit::Trouble;

/// Writes the text to a file that its owner alone can read. One that is there is replaced only on demand,
/// and in one step: nobody ever sees half of it.
///
/// # Errors
/// If there is something already, or it can't be written.
pub(crate) fn write(path: &Path, text: &str, replace: bool) -> Result<(), Trouble> {
    let name = path.display();
    let is_there =
        || Trouble::usage(format!("{name} is there already")).hint("--force writes over it");
    let unwritable =
        |error: &io::Error| Trouble::usage(format!("{name} can't be written: {error}"));
    if path.symlink_metadata().is_ok() {
        if !replace {
            return Err(is_there());
        }
        if path.is_dir() {
            return Err(Trouble::usage(format!("{name} is a folder")));
        }
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // Made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| unwritable(&e))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(|e| unwritable(&e))?;
    if replace {
        file.persist(path).map_err(|e| unwritable(&e.error))?;
    } else {
        // Somebody may have made it in between.
        file.persist_noclobber(path)
            .map_err(|failed| match failed.error.kind() {
                io::ErrorKind::AlreadyExists => is_there(),
                _ => unwritable(&failed.error),
            })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_there_is_replaced_only_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.jsonl");
        write(&file, "one", false).unwrap();
        let refused = write(&file, "two", false).unwrap_err();
        assert!(refused.hint.unwrap().contains("--force"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        write(&file, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(folder.path(), "three", true).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn it_is_for_its_owner_only_and_a_link_is_not_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.jsonl");
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "untouched").unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert!(write(&file, "one", false).is_err());
        write(&file, "one", true).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

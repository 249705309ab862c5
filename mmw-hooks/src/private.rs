//! Folders that are for their owner only.
//!
//! Which folders may be closed that were there before is not decided here: somebody's home is not ours to
//! close.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// What the owner may do, and nobody else.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o700;

/// Makes a folder, and those above it that are missing, for its owner only. One that is there stays as it is.
///
/// # Errors
/// If it can't be made, or something else is in its place.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, OWNER_ONLY);
    builder.create(folder)
}

/// Tells whether others than its owner may do something in a folder; never on systems without such rights.
///
/// # Errors
/// If the folder can't be looked at.
pub fn is_open(folder: &Path) -> io::Result<bool> {
    let permissions = std::fs::metadata(folder)?.permissions();
    #[cfg(unix)]
    let is_open = std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o077 != 0;
    #[cfg(not(unix))]
    let is_open = {
        let _ = permissions;
        false
    };
    Ok(is_open)
}

/// Closes a folder to others than its owner, where the system has such rights.
///
/// # Errors
/// If they can't be changed.
pub fn close(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(OWNER_ONLY);
        std::fs::set_permissions(folder, permissions)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_new_folder_is_closed_and_an_old_one_stays_as_it_is_until_it_is_closed() {
        let desk = tempfile::tempdir().unwrap();
        let folder = desk.path().join("a/b");
        make_folder(&folder).unwrap();
        assert!(!is_open(&folder).unwrap() && !is_open(&desk.path().join("a")).unwrap());
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o750)).unwrap();
        make_folder(&folder).unwrap();
        assert!(is_open(&folder).unwrap());
        close(&folder).unwrap();
        assert!(!is_open(&folder).unwrap());
        std::fs::write(desk.path().join("file"), "x").unwrap();
        assert!(make_folder(&desk.path().join("file")).is_err());
    }
}

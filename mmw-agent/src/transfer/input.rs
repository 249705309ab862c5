//! Reads a file or standard input within its limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::exit::Trouble;

/// The most bytes of a file that are read: 256 MiB.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// Reads standard input, or a file behind whatever links the person named. Devices, pipes and folders are
/// refused without being opened: they may never end.
///
/// # Errors
/// If it can't be read, is no file, or is larger than [`MAX_BYTES`].
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    if path == Path::new("-") {
        return all(io::stdin().lock(), "standard input");
    }
    let name = path.display().to_string();
    let unreadable = |error: io::Error| Trouble::usage(format!("{name} can't be read: {error}"));
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Trouble::usage(format!("{name} is no file")));
    }
    all(File::open(path).map_err(unreadable)?, &name)
}

fn all(from: impl Read, name: &str) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Trouble::usage(format!("{name} can't be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Trouble::usage(format!(
            "{name} is larger than {} MiB; import it in parts",
            MAX_BYTES >> 20
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            read(folder.path())
                .unwrap_err()
                .message
                .ends_with("is no file")
        );
        assert!(read(&folder.path().join("absent")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_that_never_ends_is_not_opened() {
        let trouble = read(Path::new("/dev/zero")).unwrap_err();
        assert!(trouble.message.ends_with("is no file"));
    }
}

//! The few things that the queue does to a disk, each of which is durable or undone when it returns.
//!
//! A trait, so that tests can fail at each of them, stop at each of them, or take back what was not
//! synchronised. Reading is not part of it.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

/// Changes to files and folders.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Makes a folder for its owner only, and its parents, if it is not there.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Writes a new file for its owner only, in place of what has the name, and waits until its
    /// content is on the disk. Its name is not, before the folder is synchronised.
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Writes over the beginning of a file, which is made if it is not there, and waits until its
    /// content is on the disk.
    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file another name, in place of what has that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The disk of this computer.
#[derive(Debug, Clone, Copy)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        // It may have been there, open to others.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let permissions = fs::metadata(path)?.permissions();
            if permissions.mode() & 0o077 != 0 {
                fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
            }
        }
        Ok(())
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Not truncated: should the file have a second name by now, that one keeps its content.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().create_new(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private().create(true).truncate(false).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// A lock on a file, held until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Waits until nobody has it.
    pub(super) fn wait(path: &Path) -> io::Result<Self> {
        let file = lock_file(path)?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(Self(file)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes it, if nobody has it.
    pub(super) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = lock_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    /// Not left to the closing of the file: a process that is just being started by another thread has the
    /// file too for a moment, and the lock with it.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    private().create(true).truncate(false).open(path)
}

/// Returns how a file of the queue is written: readable by its owner only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_again_though_a_process_that_is_being_started_has_its_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_take(&path).unwrap().expect("nobody has it");
        let inherited = lock.0.try_clone().unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none());
        drop(lock);
        assert!(Lock::try_take(&path).unwrap().is_some());
        drop(inherited);
        drop(Lock::wait(&path).unwrap());
    }
}

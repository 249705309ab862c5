//! A disk that fails, dies at a step, or forgets what was not synchronised. It writes real files, without
//! waiting for a real disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::super::disk::Disk;

/// How much of the step at which a process dies was still done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Half,
    All,
}

/// What is to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    Nothing,
    /// The process ends at that step: from there on nothing is done.
    Die(usize, Done),
    /// That step fails, with half of the bytes written.
    Fail(usize, io::ErrorKind),
    /// There is no room for a new byte.
    Full,
    /// Nothing can be changed at all.
    ReadOnly,
}

/// A change of names that is not on the disk yet.
#[derive(Debug)]
enum Pending {
    MadeFolder(PathBuf),
    Made(PathBuf),
    Renamed {
        from: PathBuf,
        to: PathBuf,
        /// What had the name before.
        before: Option<Vec<u8>>,
        /// Whether the new name is on the disk, and only the old one is not removed there.
        is_half: bool,
    },
    Removed(PathBuf, Vec<u8>),
}

#[derive(Debug)]
struct Inner {
    plan: Plan,
    n_steps: usize,
    is_dead: bool,
    pending: Vec<Pending>,
}

/// The disk.
#[derive(Debug)]
pub(super) struct FaultyDisk(Mutex<Inner>);

enum Step {
    Whole,
    Half(io::Error),
    None(io::Error),
    WholeThenDead,
}

impl FaultyDisk {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Inner {
            plan: Plan::Nothing,
            n_steps: 0,
            is_dead: false,
            pending: Vec::new(),
        }))
    }

    /// Sets what goes wrong, counting steps from 0 anew.
    pub(super) fn plan(&self, plan: Plan) {
        let mut inner = self.0.lock().unwrap();
        inner.plan = plan;
        inner.n_steps = 0;
        inner.is_dead = false;
    }

    pub(super) fn n_steps(&self) -> usize {
        self.0.lock().unwrap().n_steps
    }

    pub(super) fn is_dead(&self) -> bool {
        self.0.lock().unwrap().is_dead
    }

    /// Takes back changes of names that were not synchronised: all but the first `n_kept`.
    pub(super) fn lose_power(&self, n_kept: usize) {
        let mut inner = self.0.lock().unwrap();
        let n_kept = n_kept.min(inner.pending.len());
        let lost = inner.pending.split_off(n_kept);
        inner.pending.clear();
        for pending in lost.into_iter().rev() {
            match pending {
                Pending::MadeFolder(path) => drop(fs::remove_dir_all(path)),
                Pending::Made(path) => drop(fs::remove_file(path)),
                Pending::Removed(path, bytes) => fs::write(path, bytes).unwrap(),
                Pending::Renamed {
                    from,
                    to,
                    before,
                    is_half,
                } => {
                    // What was renamed may have been removed since, durably.
                    let Ok(bytes) = fs::read(&to) else {
                        continue;
                    };
                    fs::write(&from, bytes).unwrap();
                    match before {
                        _ if is_half => {}
                        Some(before) => fs::write(&to, before).unwrap(),
                        None => fs::remove_file(&to).unwrap(),
                    }
                }
            }
        }
    }

    /// Counts a step and says how much of it is done.
    fn step(&self, needs_room: bool) -> Step {
        let mut inner = self.0.lock().unwrap();
        let dead = || io::Error::other("the process is dead");
        if inner.is_dead {
            return Step::None(dead());
        }
        let nth = inner.n_steps;
        inner.n_steps += 1;
        match inner.plan {
            Plan::Die(at, done) if at == nth => {
                inner.is_dead = true;
                match done {
                    Done::Nothing => Step::None(dead()),
                    Done::Half => Step::Half(dead()),
                    Done::All => Step::WholeThenDead,
                }
            }
            Plan::Fail(at, kind) if at == nth => Step::Half(kind.into()),
            Plan::Full if needs_room => Step::Half(io::ErrorKind::StorageFull.into()),
            Plan::ReadOnly => Step::None(io::ErrorKind::ReadOnlyFilesystem.into()),
            _ => Step::Whole,
        }
    }

    fn pending(&self, pending: Pending) {
        self.0.lock().unwrap().pending.push(pending);
    }

    /// Does a step that is done whole or not at all.
    fn whole(&self, needs_room: bool, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        match self.step(needs_room) {
            Step::Whole => act(),
            Step::Half(error) | Step::None(error) => Err(error),
            Step::WholeThenDead => {
                act()?;
                Err(io::Error::other("the process is dead"))
            }
        }
    }

    /// Does a step of which half may be done.
    fn writing(&self, bytes: &[u8], write: impl FnOnce(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self.step(true) {
            Step::Whole => write(bytes),
            Step::None(error) => Err(error),
            Step::Half(error) => {
                write(&bytes[..bytes.len() / 2])?;
                Err(error)
            }
            Step::WholeThenDead => {
                write(bytes)?;
                Err(io::Error::other("the process is dead"))
            }
        }
    }
}

impl Disk for FaultyDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut missing: Vec<_> = path.ancestors().filter(|path| !path.is_dir()).collect();
        missing.reverse();
        self.whole(!missing.is_empty(), || {
            fs::create_dir_all(path)?;
            for folder in missing {
                self.pending(Pending::MadeFolder(folder.to_owned()));
            }
            Ok(())
        })
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.writing(bytes, |bytes| {
            let _ = fs::remove_file(path);
            fs::write(path, bytes)?;
            // That the name was used before matters no longer.
            self.0
                .lock()
                .unwrap()
                .pending
                .retain(|pending| match pending {
                    Pending::Made(made) => made != path,
                    Pending::Renamed { from, is_half, .. } => !is_half || from != path,
                    Pending::MadeFolder(_) | Pending::Removed(..) => true,
                });
            self.pending(Pending::Made(path.to_owned()));
            Ok(())
        })
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.writing(bytes, |bytes| {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(false);
            options.open(path)?.write_all(bytes)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole(false, || {
            let before = fs::read(to).ok();
            fs::rename(from, to)?;
            self.pending(Pending::Renamed {
                from: from.to_owned(),
                to: to.to_owned(),
                before,
                is_half: false,
            });
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.whole(false, || {
            let bytes = fs::read(path)?;
            fs::remove_file(path)?;
            self.pending(Pending::Removed(path.to_owned(), bytes));
            Ok(())
        })
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.whole(false, || {
            let mut inner = self.0.lock().unwrap();
            inner.pending.retain_mut(|pending| match pending {
                Pending::MadeFolder(made) | Pending::Made(made) | Pending::Removed(made, _) => {
                    made.parent() != Some(path)
                }
                Pending::Renamed {
                    from, to, is_half, ..
                } => {
                    *is_half |= to.parent() == Some(path);
                    !(*is_half && from.parent() == Some(path))
                }
            });
            Ok(())
        })
    }
}

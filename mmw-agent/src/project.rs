//! Which project a folder belongs to.
//!
//! "The git common directory's remote, normalised, else the common directory, else the folder"
//! (`3-surface.md`, environment). So two clones of one remote, a subfolder and a worktree are one
//! project, and two repositories that merely share a name are two. The branch is no part of it.
//!
//! Asks `git`; where git is not installed, does not answer or does not trust the folder, the few
//! files that hold the same facts are read instead. Nothing of a remote's credentials is kept.
//!
//! What a project is known by changes: it gets its first remote, the remote is renamed, the folder becomes
//! a repository or is moved. `ledger` notes what each place was known by, and `known` goes on with the same
//! memory.

mod files;
mod git;
pub(crate) mod known;
pub(crate) mod ledger;
mod remote;

use std::fmt;
use std::path::{Path, PathBuf};

/// What a project is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A repository with a remote, for example `github.com/acme/api`.
    Remote(String),
    /// A repository without one: the git directory that its worktrees share.
    Repository(PathBuf),
    /// A folder outside any repository.
    Folder(PathBuf),
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(remote) => f.write_str(remote),
            Self::Repository(path) | Self::Folder(path) => path.display().fmt(f),
        }
    }
}

/// A project and where in it somebody works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// What it is known by.
    pub identity: Identity,
    /// What stays when that changes: the git directory that all worktrees share, else the folder; absolute.
    pub place: PathBuf,
    /// The branch that is checked out; none outside a repository or on no branch.
    pub branch: Option<String>,
}

/// What git, or its files, say about a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Repository {
    /// The git directory that all worktrees share, absolute.
    common_dir: PathBuf,
    /// Names and addresses of the remotes, in the order in which they are configured.
    remotes: Vec<(String, String)>,
    /// The branch.
    branch: Option<String>,
}

impl Project {
    /// Finds out which project the folder belongs to.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        match git::look(&folder).or_else(|| files::look(&folder)) {
            Some(repository) => repository.into_project(),
            None => Self {
                identity: Identity::Folder(folder.clone()),
                place: folder,
                branch: None,
            },
        }
    }
}

/// What `HEAD` holds where branches are kept in another format than files.
const NO_FILE_BRANCH: &str = ".invalid";

/// Returns the branch that is checked out in a folder now. A session outlives a branch, so it is
/// looked up for every write; that takes two small files and no process.
#[must_use]
pub fn branch_of(folder: &Path) -> Option<String> {
    match files::look(folder)?.branch {
        Some(branch) if branch == NO_FILE_BRANCH => git::look(folder)?.branch,
        branch => branch,
    }
}

impl Repository {
    fn into_project(self) -> Project {
        let remote = self.main_remote().and_then(remote::normalise);
        Project {
            identity: match remote {
                Some(remote) => Identity::Remote(remote),
                None => Identity::Repository(self.common_dir.clone()),
            },
            place: self.common_dir,
            branch: self.branch,
        }
    }

    /// Returns the address of `origin`, else of the only remote: among several others there is no
    /// telling which one the repository is.
    fn main_remote(&self) -> Option<&str> {
        let origin = self.remotes.iter().find(|(name, _)| name == "origin");
        let chosen = origin.or_else(|| {
            let first = self.remotes.first()?;
            let alone = self.remotes.iter().all(|(name, _)| *name == first.0);
            alone.then_some(first)
        });
        chosen.map(|(_, address)| address.as_str())
    }
}

#[cfg(test)]
mod tests;

//! What git says about a working tree: which files differ from the last commit, and which were in
//! commits that were made here since a moment.
//!
//! Nothing is written and nothing that the repository's configuration names is started, as far as
//! git can be told: no file system monitor, no hook, no pager, no fetching of what is missing.
//! Clean filters are the exception: git needs them to tell whether a file differs, and every
//! `git status` runs them.
//!
//! | room | what it is for |
//! |---|---|
//! | [`place`] | finds the working tree of a folder, without starting git |
//! | [`ask`] | one question to git, within a time and a size |
//! | [`status`] | the files that differ |
//! | [`commits`] | the files in commits that were made here |

pub mod ask;
pub mod commits;
pub mod place;
pub mod status;

use std::path::PathBuf;

use mmw_core::time::Timestamp;

/// What changed in a working tree; paths are relative to its top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files that differ from the last commit.
    pub dirty: Vec<PathBuf>,
    /// The files in commits that were made here, with the time of the commit, which is known by the
    /// second. A file is named once a commit.
    pub committed: Vec<(PathBuf, Timestamp)>,
}

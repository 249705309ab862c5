//! What git tells of files: who changed them, and what they were at a commit.
//!
//! Names of files and of commits come from outside: a commit that a record names has to look like one, a
//! range is resolved before it is used, paths stand behind `--` and are never patterns.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use crate::git::{Patience, ask};
use crate::roots::MAX_FILE_BYTES;

/// The most answers that are kept.
const MAX_TOLD: usize = 256;

/// The most bytes that are kept of them.
const MAX_TOLD_BYTES: usize = 64 * 1024 * 1024;

/// The most commits that are told for a file.
const MAX_COMMITS: &str = "--max-count=5";

/// Commit, author, day, subject, each ended by a character that can't be in it.
const FORMAT: &str = "--format=%h%x00%an%x00%as%x00%s%x00";

/// A commit that changed a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Commit {
    /// Its short name.
    pub(crate) commit: String,
    /// Who wrote it.
    pub(crate) author: String,
    /// The day, `2026-11-30`.
    pub(crate) date: String,
    /// Its first line.
    pub(crate) subject: String,
}

/// A range that can't be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRange {
    /// It names nothing at all, as when variables in it are empty.
    #[error("`{0}` names no commit")]
    Empty(String),
    /// There is nobody to ask.
    #[error("git finds no repository here, or is not there itself")]
    NoRepository,
    /// Something in it is no commit.
    #[error("`{0}` names no commit of this repository")]
    NoCommit(String),
    /// The two sides have no commit in common.
    #[error("the two sides of `{0}` have no commit in common")]
    Unrelated(String),
    /// git does not tell what differs.
    #[error("git does not tell what the commits change")]
    Silent,
}

/// What git said; nothing if it could not tell.
type Told = Option<Rc<Vec<u8>>>;

/// The working tree that is asked about. What was asked once is not asked again: many facts rest on one
/// file.
pub(super) struct Repository {
    top: PathBuf,
    told: RefCell<Known>,
}

/// What was told, by what was asked.
#[derive(Default)]
struct Known {
    answers: HashMap<Vec<String>, Told>,
    n_bytes: usize,
}

/// What a file was at a commit.
pub(super) enum Content {
    /// These bytes.
    Known(Rc<Vec<u8>>),
    /// Nothing was there, or no file.
    Absent,
    /// More than is ever read of a file.
    TooLarge,
    /// git does not give it: a partial clone lacks it, for example.
    Unknown,
}

impl BadRange {
    /// Returns what would help.
    pub(crate) const fn hint(&self) -> &'static str {
        match self {
            Self::Empty(_) => "say which, such as main...HEAD",
            Self::NoRepository => "go to the repository, and see that `git status` works there",
            Self::NoCommit(_) | Self::Unrelated(_) | Self::Silent => {
                "a shallow clone may lack the commit: fetch its history first"
            }
        }
    }
}

impl Repository {
    pub(super) fn at(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
            told: RefCell::default(),
        }
    }

    fn ask(&self, question: &[&str]) -> Option<Rc<Vec<u8>>> {
        let key: Vec<String> = question.iter().map(|word| (*word).to_owned()).collect();
        if let Some(told) = self.told.borrow().answers.get(&key) {
            return told.clone();
        }
        let answer = ask(&self.top, question, Patience::LONG);
        let answer = answer.filter(|answer| answer.code == 0);
        let told = answer.map(|answer| Rc::new(answer.bytes));
        let n_bytes = told.as_ref().map_or(0, |told| told.len());
        let mut known = self.told.borrow_mut();
        if known.answers.len() >= MAX_TOLD || known.n_bytes + n_bytes > MAX_TOLD_BYTES {
            *known = Known::default();
        }
        known.n_bytes += n_bytes;
        known.answers.insert(key, told.clone());
        told
    }

    fn text(&self, question: &[&str]) -> Option<String> {
        String::from_utf8(self.ask(question)?.to_vec()).ok()
    }

    /// Returns what changed a file since it was seen at a revision, the newest first; if that is not
    /// known, what changed it last.
    pub(super) fn changes(&self, document: &str, revision: Option<&str>) -> Vec<Commit> {
        let commit = revision.and_then(commit_of);
        let since = commit.and_then(|commit| {
            let range = format!("{commit}..HEAD");
            self.text(&["log", MAX_COMMITS, FORMAT, &range, "--", document])
        });
        let since = since.map(|told| read(&told)).unwrap_or_default();
        if !since.is_empty() {
            return since;
        }
        let last = self.text(&["log", "--max-count=1", FORMAT, "HEAD", "--", document]);
        // A change that is not committed has nobody's name on it.
        last.filter(|_| !self.differs(document))
            .map(|told| read(&told))
            .unwrap_or_default()
    }

    /// Tells whether a file differs from what is committed.
    pub(super) fn differs(&self, document: &str) -> bool {
        let question = ["status", "--porcelain", "-z", "--", document];
        self.text(&question).is_some_and(|told| !told.is_empty())
    }

    /// Returns the two commits of a range as git writes them: `a..b`, `a...b` (from where the two
    /// parted), or `a`, which is `a..HEAD`.
    ///
    /// # Errors
    /// [`BadRange`].
    pub(super) fn range(&self, range: &str) -> Result<(String, String), BadRange> {
        if range.trim_matches('.').trim().is_empty() {
            return Err(BadRange::Empty(range.to_owned()));
        }
        if self.ask(&["rev-parse", "--git-dir"]).is_none() {
            return Err(BadRange::NoRepository);
        }
        let head = |side: &str| if side.is_empty() { "HEAD" } else { side }.to_owned();
        if let Some((from, to)) = range.split_once("...") {
            let (from, to) = (self.commit(&head(from))?, self.commit(&head(to))?);
            let base = self.text(&["merge-base", &from, &to]);
            let base = base.ok_or_else(|| BadRange::Unrelated(range.to_owned()))?;
            return Ok((base.trim().to_owned(), to));
        }
        let (from, to) = range.split_once("..").unwrap_or((range, ""));
        Ok((self.commit(&head(from))?, self.commit(&head(to))?))
    }

    fn commit(&self, name: &str) -> Result<String, BadRange> {
        let question = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{name}^{{commit}}"),
        ];
        let told = self.text(&question).and_then(|told| {
            let told = told.trim();
            commit_of(told).map(str::to_owned)
        });
        told.ok_or_else(|| BadRange::NoCommit(name.to_owned()))
    }

    /// Returns the files that differ between two commits, from the top of the repository.
    ///
    /// # Errors
    /// [`BadRange::Silent`].
    pub(super) fn changed_files(&self, from: &str, to: &str) -> Result<HashSet<String>, BadRange> {
        let question = ["diff", "--name-only", "--no-renames", "-z", from, to, "--"];
        let told = self.text(&question).ok_or(BadRange::Silent)?;
        Ok(told
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// Returns what a file was at a commit.
    pub(super) fn content(&self, commit: &str, document: &str) -> Content {
        let name = format!("{commit}:{document}");
        if let Some(bytes) = self.ask(&["cat-file", "blob", &name]) {
            return Content::Known(bytes);
        }
        match self.text(&["ls-tree", "-z", commit, "--", document]) {
            Some(told) if told.split(' ').nth(1) != Some("blob") => return Content::Absent,
            _ => {}
        }
        let size = self.text(&["cat-file", "-s", &name]);
        match size.and_then(|size| size.trim().parse::<u64>().ok()) {
            Some(size) if size > MAX_FILE_BYTES => Content::TooLarge,
            _ => Content::Unknown,
        }
    }

    /// Returns which commits of a range changed a file, the newest first.
    pub(super) fn commits(&self, document: &str, from: &str, to: &str) -> Vec<Commit> {
        let range = format!("{from}..{to}");
        self.text(&["log", MAX_COMMITS, FORMAT, &range, "--", document])
            .map(|told| read(&told))
            .unwrap_or_default()
    }
}

/// Returns the commit of a `source_revision`: what is no name of one is not shown to git.
fn commit_of(revision: &str) -> Option<&str> {
    let commit = revision.split('+').next()?;
    let is_name = (7..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_name.then_some(commit)
}

fn read(told: &str) -> Vec<Commit> {
    let mut fields = told.split('\0').map(|field| field.trim_start_matches('\n'));
    let mut commits = Vec::new();
    while let (Some(commit), Some(author), Some(date), Some(subject)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    {
        commits.push(Commit {
            commit: commit.to_owned(),
            author: author.to_owned(),
            date: date.to_owned(),
            subject: subject.to_owned(),
        });
    }
    commits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_whole() {
        let told = "4c53\0Ann Lee\x002026-11-30\0docs: a | b\0\n9f86\0Bo\x002026-11-29\0\0\n";
        let commits = read(told);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0].subject, "docs: a | b");
        assert_eq!(
            (commits[1].commit.as_str(), commits[1].subject.as_str()),
            ("9f86", "")
        );
        assert!(read("").is_empty());
    }

    #[test]
    fn only_what_looks_like_a_commit_is_shown_to_git() {
        assert_eq!(commit_of("4c536992+modified"), Some("4c536992"));
        for other in ["", "v1.2", "--output=x", "HEAD", "4c53", "4c536992 -x"] {
            assert_eq!(commit_of(other), None, "{other}");
        }
    }
}

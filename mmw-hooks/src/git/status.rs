//! The files of a working tree that differ from the last commit, untracked ones among them.
//!
//! Whether untracked files are looked for at all is the repository's own setting: one that lies over
//! a whole home folder switches it off, and to look there would take minutes.

use std::path::PathBuf;

use super::ask::{ask, path};
use super::place::Tree;
use crate::deadline::Deadline;

/// The most files that are looked at; more are no list that anybody reads.
pub const MAX_FILES: usize = 20_000;

/// The most folders without any tracked file that are looked into.
const MAX_FOLDERS: usize = 200;

/// Without renames: they would need contents, which may have to be fetched.
const QUESTION: [&str; 5] = [
    "status",
    "--porcelain=v1",
    "-z",
    "--ignore-submodules=all",
    "--no-renames",
];

/// What is in folders of which the first question names only themselves.
const INSIDE: [&str; 6] = [
    "--literal-pathspecs",
    "ls-files",
    "--others",
    "--exclude-standard",
    "-z",
    "--",
];

/// Returns the files that differ, at most 20,000.
#[must_use]
pub fn dirty(tree: &Tree, deadline: Deadline) -> Option<Vec<PathBuf>> {
    let answer = ask(tree, &QUESTION, b"", deadline)?;
    let (mut files, folders) = read(&answer);
    if !folders.is_empty() {
        let question: Vec<&str> = INSIDE.into_iter().chain(folders).collect();
        let inside = ask(tree, &question, b"", deadline)?;
        let inside = whole_entries(&inside).filter(|name| is_file(name));
        files.extend(inside.map(path));
        files.truncate(MAX_FILES);
    }
    Some(files)
}

/// Reads `XY <path>` entries: files, and folders whose names are text.
fn read(answer: &[u8]) -> (Vec<PathBuf>, Vec<&str>) {
    let names = || whole_entries(answer).filter_map(|entry| entry.get(3..));
    let files = names().filter(|name| is_file(name)).take(MAX_FILES);
    let folders = names()
        .filter(|name| name.ends_with(b"/"))
        .filter_map(|name| std::str::from_utf8(name).ok())
        .take(MAX_FOLDERS);
    (files.map(path).collect(), folders.collect())
}

/// Returns the entries that end with a NUL character; a last one that is cut off is dropped.
fn whole_entries(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memrchr(0, answer).unwrap_or(0);
    answer[..end].split(|byte| *byte == 0)
}

/// A repository in the repository is no file of it.
fn is_file(name: &[u8]) -> bool {
    !name.is_empty() && !name.ends_with(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_whole() {
        let names = |answer| read(answer).0;
        let answer = b" M a b.rs\0?? x\ny\0D  gone\0?? nested/\0";
        let files = ["a b.rs", "x\ny", "gone"].map(PathBuf::from);
        assert_eq!(read(answer), (files.to_vec(), vec!["nested/"]));
        assert_eq!(names(b" M whole\0?? cut of"), [PathBuf::from("whole")]);
        assert!(names(b"").is_empty());
        assert!(names(b"x\0\0").is_empty());
    }
}

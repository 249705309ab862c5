//! The files of a working tree that differ from the last commit, untracked ones among them.

use std::path::PathBuf;

use super::ask::{ask, path};
use super::place::Tree;
use crate::deadline::Deadline;

/// The most files that are looked at; more are no list that anybody reads.
pub const MAX_FILES: usize = 20_000;

/// Without renames: they would need contents, which may have to be fetched.
const QUESTION: [&str; 6] = [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=all",
    "--no-renames",
];

/// Returns the files that differ, at most 20,000.
#[must_use]
pub fn dirty(tree: &Tree, deadline: Deadline) -> Option<Vec<PathBuf>> {
    Some(read(&ask(&tree.top, &QUESTION, b"", deadline)?))
}

/// Reads `XY <path>` entries that end with a NUL character; a last one that is cut off is dropped.
fn read(answer: &[u8]) -> Vec<PathBuf> {
    let Some(end) = memchr::memrchr(0, answer) else {
        return Vec::new();
    };
    answer[..end]
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.get(3..))
        // A repository in the repository is no file of it.
        .filter(|name| !name.is_empty() && !name.ends_with(b"/"))
        .take(MAX_FILES)
        .map(path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_whole() {
        let names = |answer: &[u8]| read(answer);
        assert_eq!(
            names(b" M a b.rs\0?? x\ny\0D  gone\0?? nested/\0"),
            ["a b.rs", "x\ny", "gone"].map(PathBuf::from)
        );
        assert_eq!(names(b" M whole\0?? cut of"), [PathBuf::from("whole")]);
        assert!(names(b"").is_empty());
        assert!(names(b"x\0\0").is_empty());
    }
}

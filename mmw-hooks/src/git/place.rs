//! Finds the working tree that a folder lies in, by the files of git alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The most that is read of a `.git` file, in bytes.
const MAX_LINK_BYTES: u64 = 64 * 1024;

/// What git leaves lying while it is in the midst of something.
const UNDER_WAY: [&str; 5] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
];

/// A working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Its top folder, without links in its path.
    pub top: PathBuf,
    /// Where git keeps what belongs to this tree alone.
    pub own: PathBuf,
    /// The person's home, whose settings git reads; that of the process if there is none.
    pub home: Option<PathBuf>,
}

impl Tree {
    /// Returns the working tree of a folder; `None` if it is in none.
    #[must_use]
    pub fn of(folder: &Path, home: Option<&Path>) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().find_map(|top| {
            let link = top.join(".git");
            let own = if link.join("HEAD").is_file() {
                link
            } else if link.is_file() {
                linked(top, &link)?
            } else {
                return None;
            };
            Some(Self {
                top: top.to_owned(),
                own,
                home: home.map(Path::to_owned),
            })
        })
    }

    /// Tells whether a merge, a rebase or the like is under way.
    #[must_use]
    pub fn in_the_midst(&self) -> bool {
        UNDER_WAY.iter().any(|name| self.own.join(name).exists())
    }
}

/// Reads the `.git` file of a linked working tree or a submodule.
fn linked(top: &Path, link: &Path) -> Option<PathBuf> {
    (link.metadata().ok()?.len() <= MAX_LINK_BYTES).then_some(())?;
    let text = fs::read_to_string(link).ok()?;
    let own = top.join(text.strip_prefix("gitdir:")?.trim());
    own.join("HEAD").is_file().then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_found_from_a_folder_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        assert_eq!(Tree::of(&top, None), None);
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        let tree = Tree::of(&top.join("a/b"), None).unwrap();
        assert_eq!((&tree.top, &tree.own), (&top, &top.join(".git")));
        assert!(!tree.in_the_midst());
        fs::write(top.join(".git/MERGE_HEAD"), "").unwrap();
        assert!(tree.in_the_midst());
        assert_eq!(Tree::of(&top.join("gone"), None), None);
    }

    #[test]
    fn a_linked_tree_has_a_folder_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let own = top.join("main/.git/worktrees/w");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(top.join("w")).unwrap();
        fs::write(top.join("w/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        assert_eq!(Tree::of(&top.join("w"), None), None);
        fs::write(own.join("HEAD"), "").unwrap();
        let tree = Tree::of(&top.join("w"), None).unwrap();
        assert_eq!(tree.own, top.join("w/../main/.git/worktrees/w"));
    }
}

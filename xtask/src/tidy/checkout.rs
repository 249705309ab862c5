//! The files of the repository as the rules see them.
//!
//! Tracked files, and new ones that are not ignored, so that a rule is broken before the commit and
//! not after it. Without git (an unpacked archive) the folders are walked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::process::{Outcome, Problem, Repository, Step};

/// Folders that hold no source where git can't tell.
const NOT_SOURCE: [&str; 5] = ["target", ".git", "node_modules", "__pycache__", ".venv"];

/// The files of a repository by their path with `/` between folders.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    files: BTreeMap<String, Vec<u8>>,
}

impl Checkout {
    /// Reads all files of the repository.
    pub(super) fn read(repository: &Repository) -> Outcome<Self> {
        let root = repository.root();
        let listed = Step::cargo("git ls-files -z --cached --others --exclude-standard")
            .output(repository)
            .map(|text| {
                text.split('\0')
                    .filter(|path| !path.is_empty())
                    .map(str::to_owned)
                    .collect()
            });
        let paths = match listed {
            Ok(paths) => paths,
            Err(_) => walk(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let file = root.join(&path);
            // A file that git still lists may have been deleted; a link is not followed.
            if !fs::symlink_metadata(&file).is_ok_and(|found| found.is_file()) {
                continue;
            }
            let bytes = fs::read(&file).map_err(|error| Problem(format!("{path}: {error}")))?;
            files.insert(path, bytes);
        }
        Ok(Self { files })
    }

    /// Returns a checkout of these files.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        Self { files }
    }

    /// Returns the bytes of a file.
    pub(super) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Returns the text of a file, if it is text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.bytes(path)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns all paths in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns all text files in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.paths()
            .filter_map(|path| Some((path, self.text(path)?)))
    }

    /// Returns all Rust files in order.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| {
            Path::new(path)
                .extension()
                .is_some_and(|extension| extension == "rs")
        })
    }
}

fn walk(root: &Path) -> Outcome<Vec<String>> {
    let failed = |error: std::io::Error| Problem(format!("{}: {error}", root.display()));
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            if entry.file_type().map_err(failed)?.is_dir() {
                if !NOT_SOURCE.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_git_the_folders_are_walked() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/b/c.rs", "//! c"),
            ("d.toml", ""),
            ("target/debug/e.rs", ""),
            ("a/node_modules/f.rs", ""),
        ] {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let checkout = Checkout::read(&Repository::at(folder.path())).unwrap();
        assert_eq!(checkout.paths().collect::<Vec<_>>(), ["a/b/c.rs", "d.toml"]);
        assert_eq!(checkout.rust().collect::<Vec<_>>(), [("a/b/c.rs", "//! c")]);
    }

    #[test]
    fn the_repository_lists_its_own_files() {
        let checkout = Checkout::read(&Repository::of_this_build()).unwrap();
        assert!(checkout.text("Cargo.toml").is_some());
        assert!(checkout.text("xtask/src/tidy/checkout.rs").is_some());
        assert!(!checkout.paths().any(|path| path.starts_with("target/")));
    }
}

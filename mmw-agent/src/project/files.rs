//! The same facts from git's own files, for where git is not installed or will not answer.
//!
//! A client often starts the agent with a short search path; a project must not become another one
//! because of that. Included configuration files are not followed.

use std::fs;
use std::path::{Path, PathBuf};

use super::Repository;

/// The largest configuration file that is read, in bytes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Returns what the files say; `None` if no folder upwards is a repository.
pub(super) fn look(folder: &Path) -> Option<Repository> {
    let git_dir = folder.ancestors().find_map(git_dir)?;
    let common_dir = match text(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path.trim_end()),
        None => git_dir.clone(),
    };
    let common_dir = common_dir.canonicalize().ok()?;
    Some(Repository {
        remotes: text(&common_dir.join("config"))
            .map(|config| read_remotes(&config))
            .unwrap_or_default(),
        branch: text(&git_dir.join("HEAD"))
            .and_then(|head| Some(head.trim_end().strip_prefix("ref: refs/heads/")?.to_owned())),
        common_dir,
    })
}

/// Returns the git directory of a folder: in it, named by a `.git` file, or the folder itself.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if dot_git.is_file() {
        let named = text(&dot_git)?;
        return Some(folder.join(named.trim_end().strip_prefix("gitdir: ")?));
    }
    [dot_git, folder.to_owned()].into_iter().find(|dir| {
        dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
    })
}

fn text(file: &Path) -> Option<String> {
    let small = fs::metadata(file).ok()?.len() <= MAX_CONFIG_BYTES;
    small.then(|| fs::read_to_string(file).ok())?
}

/// Reads the addresses of all remotes from a configuration file.
fn read_remotes(config: &str) -> Vec<(String, String)> {
    let mut remotes = Vec::new();
    let mut remote = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            remote = section
                .split_once(']')
                .and_then(|(section, _)| section.trim().strip_prefix("remote"))
                .map(|name| name.trim().trim_matches('"').to_owned());
        } else if let (Some(name), Some((key, value))) = (&remote, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
        {
            let address = value.trim().trim_matches('"');
            remotes.push((name.clone(), address.to_owned()));
        }
    }
    remotes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_remotes_are_read() {
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/a.git\n\tfetch = \
                      +refs/*\n[branch \"main\"]\n\turl = no\n[remote \"fork\"]\n\tURL=\"h:b\"\n";
        assert_eq!(
            read_remotes(config),
            [
                ("origin".to_owned(), "https://h/a.git".to_owned()),
                ("fork".to_owned(), "h:b".to_owned())
            ]
        );
    }
}

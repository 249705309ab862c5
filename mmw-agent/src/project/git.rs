//! What the program `git` says about a folder.

use std::path::Path;

use super::Repository;
use crate::git::{Patience, ask};

/// Returns what git says; `None` if there is no repository or git can't be asked.
pub(super) fn look(folder: &Path) -> Option<Repository> {
    const REMOTES: &[&str] = &["config", "-z", "--get-regexp", r"^remote\..*\.url$"];
    // Starting git takes longer than its answers do, so all questions are asked at once.
    let (common_dir, remotes, branch) = std::thread::scope(|scope| {
        let remotes = scope.spawn(|| ask(folder, REMOTES, Patience::SHORT));
        let branch = scope.spawn(|| {
            let question = ["symbolic-ref", "--quiet", "--short", "HEAD"];
            ask(folder, &question, Patience::SHORT)
        });
        let common_dir = ask(folder, &["rev-parse", "--git-common-dir"], Patience::SHORT);
        Some((common_dir, remotes.join().ok()?, branch.join().ok()?))
    })?;
    let common_dir = common_dir.filter(|answer| answer.code == 0)?.text()?;
    let common_dir = folder.join(common_dir.trim_end_matches(['\n', '\r']));
    Some(Repository {
        common_dir: common_dir.canonicalize().ok()?,
        remotes: match remotes? {
            answer if answer.code == 0 => read_remotes(&answer.text()?),
            answer if answer.code == 1 => Vec::new(),
            // Without its remote the project would be another one: let the files say.
            _ => return None,
        },
        branch: branch
            .filter(|answer| answer.code == 0)
            .and_then(crate::git::Answer::text)
            .map(|branch| branch.trim().to_owned())
            .filter(|branch| !branch.is_empty()),
    })
}

/// Reads `remote.<name>.url\n<address>` entries that end with a NUL character.
fn read_remotes(answer: &str) -> Vec<(String, String)> {
    answer
        .split('\0')
        .filter_map(|entry| {
            let (key, address) = entry.split_once('\n')?;
            let name = key.strip_prefix("remote.")?.strip_suffix(".url")?;
            Some((name.to_owned(), address.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_read_whole() {
        assert_eq!(
            read_remotes("remote.origin.url\nhttps://h/a b\0remote.my.fork.url\nh:x\0"),
            [
                ("origin".to_owned(), "https://h/a b".to_owned()),
                ("my.fork".to_owned(), "h:x".to_owned())
            ]
        );
        assert!(read_remotes("").is_empty());
    }
}

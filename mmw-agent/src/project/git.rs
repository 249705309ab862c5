//! What the program `git` says about a folder. No shell, no terminal, a time limit.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::Repository;

/// How long one question may take; after that the files are read instead.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most that is read of one answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 256 * 1024;

/// Variables with which a caller's git points at another repository than the folder's own.
const MISLEADING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// Returns what git says; `None` if there is no repository or git can't be asked.
pub(super) fn look(folder: &Path) -> Option<Repository> {
    const REMOTES: &[&str] = &["config", "-z", "--get-regexp", r"^remote\..*\.url$"];
    // Starting git takes longer than its answers do, so all questions are asked at once.
    let (common_dir, remotes, branch) = std::thread::scope(|scope| {
        let remotes = scope.spawn(|| ask(folder, REMOTES));
        let branch = scope.spawn(|| ask(folder, &["symbolic-ref", "--quiet", "--short", "HEAD"]));
        let common_dir = ask(folder, &["rev-parse", "--git-common-dir"]);
        Some((common_dir, remotes.join().ok()?, branch.join().ok()?))
    })?;
    let common_dir = common_dir.filter(|answer| answer.code == 0)?.text;
    let common_dir = folder.join(common_dir.trim_end_matches(['\n', '\r']));
    Some(Repository {
        common_dir: common_dir.canonicalize().ok()?,
        remotes: match remotes? {
            Answer { code: 0, text } => read_remotes(&text),
            Answer { code: 1, .. } => Vec::new(),
            // Without its remote the project would be another one: let the files say.
            Answer { .. } => return None,
        },
        branch: branch
            .filter(|answer| answer.code == 0)
            .map(|answer| answer.text.trim().to_owned())
            .filter(|branch| !branch.is_empty()),
    })
}

/// What git said; 1 means that there is no such thing.
struct Answer {
    code: i32,
    text: String,
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

/// Asks git one question; `None` if it could not be asked or did not answer in time.
fn ask(folder: &Path, question: &[&str]) -> Option<Answer> {
    let mut git = Command::new("git");
    git.args(question)
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for name in MISLEADING {
        git.env_remove(name);
    }
    let mut child = git.spawn().ok()?;
    let answer = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = answer.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = tell.send(whole.map(|_| bytes));
    });
    let Ok(Ok(bytes)) = told.recv_timeout(PATIENCE) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    Some(Answer {
        code: child.wait().ok()?.code()?,
        text: String::from_utf8(bytes).ok()?,
    })
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

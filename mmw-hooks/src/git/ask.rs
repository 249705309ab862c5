//! One question to git: no shell, no terminal, nothing of the repository's started, within a time
//! and a size.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use super::place::Tree;
use crate::deadline::Deadline;

/// The most that is read of one answer, in bytes; what was read until then is the answer.
pub const MAX_ANSWER_BYTES: u64 = 8 * 1024 * 1024;

/// What every question begins with: whatever in a repository's configuration would start another
/// program is switched off.
const QUIETLY: [&str; 8] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",
];

/// Variables with which a caller's git points at another repository, or says more than it is asked.
const MISLEADING: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_PERFORMANCE",
    "GIT_LITERAL_PATHSPECS",
];

/// Asks git at the top of a working tree and returns what it wrote; `None` if it could not be asked, failed, or did
/// not answer in time.
#[must_use]
pub fn ask(tree: &Tree, question: &[&str], told: &[u8], deadline: Deadline) -> Option<Vec<u8>> {
    if deadline.is_over() {
        return None;
    }
    let mut git = Command::new("git");
    git.args(QUIETLY)
        .args(question)
        .current_dir(&tree.top)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for name in MISLEADING {
        git.env_remove(name);
    }
    if let Some(home) = &tree.home {
        git.env("HOME", home);
    }
    let mut child = git.spawn().ok()?;
    let input = child.stdin.take();
    let output = child.stdout.take()?;
    let (tell, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = output.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = tell.send(whole.map(|_| bytes));
    });
    if let Some(mut input) = input {
        // What is told is a list of commits, far less than a pipe holds; a git that has ended
        // already shows in its answer.
        let _ = input.write_all(told);
    }
    let answer = answered.recv_timeout(deadline.left());
    let Ok(Ok(bytes)) = answer else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    if bytes.len() as u64 >= MAX_ANSWER_BYTES {
        // It may still be writing.
        let _ = child.kill();
        let _ = child.wait();
        return Some(bytes);
    }
    child.wait().ok()?.success().then_some(bytes)
}

/// Returns the path that git names, relative to the top.
#[must_use]
pub fn path(bytes: &[u8]) -> std::path::PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        std::ffi::OsStr::from_bytes(bytes).into()
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(bytes).into_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_answer_comes_in_time_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |path: std::path::PathBuf| Tree {
            own: path.join(".git"),
            top: path,
            home: None,
        };
        let here = in_folder(folder.path().to_owned());
        let gone = in_folder(folder.path().join("gone"));
        let far = Deadline::after(Duration::from_secs(600));
        let version = ask(&here, &["version"], b"", far).unwrap();
        assert!(version.starts_with(b"git version"));
        assert_eq!(ask(&here, &["status"], b"", far), None);
        let over = Deadline::after(Duration::ZERO);
        assert_eq!(ask(&here, &["version"], b"", over), None);
        assert_eq!(ask(&gone, &["version"], b"", far), None);
    }
}

//! One question to git: no shell, no terminal, nothing of the repository's started, within a time
//! and a size.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

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

/// Variables with which a caller's git points at another repository, reads paths in another way, or says
/// more than it is asked.
const MISLEADING: [&str; 20] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_PERFORMANCE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
];

/// What git said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// How it ended; for many questions 1 means that there is no such thing. `None` if it was ended.
    pub code: Option<i32>,
    /// What it wrote.
    pub bytes: Vec<u8>,
    /// There was no more than that.
    pub is_whole: bool,
}

/// Returns git in a folder, without a question yet.
#[must_use]
pub fn command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(QUIETLY)
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    for name in MISLEADING {
        git.env_remove(name);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        // Without it a black window flashes up for every question.
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        git.creation_flags(CREATE_NO_WINDOW);
    }
    git
}

/// Starts git, tells it something, and returns what it says, up to `max_bytes`; `None` if it could not be
/// started or did not end in time.
#[must_use]
pub fn answer(mut git: Command, told: &[u8], max_bytes: u64, deadline: Deadline) -> Option<Answer> {
    git.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = git.spawn().ok()?;
    let input = child.stdin.take();
    let output = child.stdout.take()?;
    let (tell, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = output.take(max_bytes).read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = tell.send(whole.map(|_| bytes));
    });
    if let Some(mut input) = input {
        // What is told is a list of commits, far less than a pipe holds; a git that has ended
        // already shows in its answer.
        let _ = input.write_all(told);
    }
    let Ok(Ok(bytes)) = answered.recv_timeout(deadline.left()) else {
        end(&mut child);
        return None;
    };
    if bytes.len() as u64 >= max_bytes {
        // It may still be writing.
        end(&mut child);
        return Some(Answer {
            code: None,
            bytes,
            is_whole: false,
        });
    }
    Some(Answer {
        code: ended(&mut child, deadline)?.code(),
        bytes,
        is_whole: true,
    })
}

/// Waits for the end of a program that has nothing more to say; one that does not end is ended.
fn ended(child: &mut Child, deadline: Deadline) -> Option<ExitStatus> {
    // Nothing comes through it: to wait for a child within a time, the system has no call.
    let (_never, pause) = mpsc::channel::<()>();
    let mut step = Duration::from_micros(50);
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if deadline.is_over() {
            end(child);
            return None;
        }
        let _ = pause.recv_timeout(step.min(deadline.left()));
        step = (step * 2).min(Duration::from_millis(5));
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Asks git at the top of a working tree and returns what it wrote; `None` if it could not be asked, failed, or did
/// not answer in time.
#[must_use]
pub fn ask(tree: &Tree, question: &[&str], told: &[u8], deadline: Deadline) -> Option<Vec<u8>> {
    if deadline.is_over() {
        return None;
    }
    let mut git = command(&tree.top);
    git.args(question).env("GIT_NO_LAZY_FETCH", "1");
    if let Some(home) = &tree.home {
        git.env("HOME", home);
    }
    let answer = answer(git, told, MAX_ANSWER_BYTES, deadline)?;
    (answer.code == Some(0) || !answer.is_whole).then_some(answer.bytes)
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

    #[cfg(unix)]
    #[test]
    fn a_program_that_says_its_say_and_does_not_end_is_ended() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo said; exec >&-; exec sleep 600"]);
        let soon = Deadline::after(Duration::from_millis(300));
        assert_eq!(answer(shell, b"", 100, soon), None);
        let mut endless = Command::new("yes");
        endless.env("LC_ALL", "C");
        let far = Deadline::after(Duration::from_secs(600));
        let cut = answer(endless, b"", 100, far).unwrap();
        assert_eq!((cut.bytes.len(), cut.is_whole), (100, false));
    }
}

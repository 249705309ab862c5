//! The program `git`, asked questions: no shell, no terminal, a time limit, an answer of bounded size.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Variables with which a caller's git points at another repository than the folder's own.
const MISLEADING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// How much one question may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long it may take.
    pub(crate) time: Duration,
    /// The most that is read of the answer, in bytes.
    pub(crate) bytes: u64,
}

impl Patience {
    /// For a question whose answer is short.
    pub(crate) const SHORT: Self = Self {
        time: Duration::from_secs(2),
        bytes: 256 * 1024,
    };

    /// For one that a person waits for.
    pub(crate) const LONG: Self = Self {
        time: Duration::from_secs(30),
        bytes: 16 * 1024 * 1024,
    };
}

/// What git said; for many questions the code 1 means that there is no such thing.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    /// Returns the answer as text; `None` if it is none.
    pub(crate) fn text(self) -> Option<String> {
        String::from_utf8(self.bytes).ok()
    }
}

/// Asks git one question; `None` if it could not be asked or did not answer in time. Paths are taken
/// as they are written, never as patterns.
pub(crate) fn ask(folder: &Path, question: &[&str], patience: Patience) -> Option<Answer> {
    let mut git = Command::new("git");
    git.arg("--literal-pathspecs")
        .args(question)
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_PAGER", "cat")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
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
    let mut child = git.spawn().ok()?;
    let answer = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = answer.take(patience.bytes).read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = tell.send(whole.map(|_| bytes));
    });
    let Ok(Ok(bytes)) = told.recv_timeout(patience.time) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    Some(Answer {
        code: child.wait().ok()?.code()?,
        bytes,
    })
}

//! The program `git`, asked questions: as `mmw-hooks` asks it, with an answer of bounded size and a time
//! limit.

use std::path::Path;
use std::time::Duration;

use mmw_hooks::deadline::Deadline;
use mmw_hooks::git::ask;

use crate::roots::MAX_FILE_BYTES;

/// How much one question may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long it may take.
    pub(crate) time: Duration,
    /// The largest answer, in bytes; a larger one is none.
    pub(crate) bytes: u64,
    /// What a partial clone lacks may be fetched.
    pub(crate) may_fetch: bool,
}

impl Patience {
    /// For a question whose answer is short.
    pub(crate) const SHORT: Self = Self {
        time: Duration::from_secs(2),
        bytes: 256 * 1024,
        may_fetch: false,
    };

    /// For one that a person waits for.
    pub(crate) const LONG: Self = Self {
        time: Duration::from_secs(30),
        // One more than a file may have, so that the largest one is whole.
        bytes: MAX_FILE_BYTES + 1,
        may_fetch: true,
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

/// Asks git one question; `None` if it could not be asked, did not answer in time, or said too much. Paths
/// are taken as they are written, never as patterns.
pub(crate) fn ask(folder: &Path, question: &[&str], patience: Patience) -> Option<Answer> {
    let mut git = ask::command(folder);
    git.arg("--literal-pathspecs").args(question);
    if !patience.may_fetch {
        git.env("GIT_NO_LAZY_FETCH", "1");
    }
    let deadline = Deadline::after(patience.time);
    let answer = ask::answer(git, b"", patience.bytes, deadline)?;
    let code = answer.code.filter(|_| answer.is_whole)?;
    Some(Answer {
        code,
        bytes: answer.bytes,
    })
}

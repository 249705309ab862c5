//! Whether a transcript holds the end of the turn yet: Claude Code writes it a moment after it starts the hook.
//!
//! What was saved last may be among what is not there yet, and who saved must not be asked to. So before a
//! question the end is waited for, and only then: a turn that ends in silence is not held up.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use memchr::memmem;

use crate::deadline::Deadline;

/// How long the end is waited for at most. It was there within a tenth of that.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked for.
const STEP: Duration = Duration::from_millis(20);
/// How much of a transcript's end is looked at: the last message and a few rows behind it.
const TAIL_BYTES: u64 = 256 * 1024;
/// How much of what was said is looked for.
const SAID_CHARS: usize = 200;

/// Waits until the last message of a transcript is what the agent said last. Tells whether that took
/// any waiting: then there is more to read than there was before.
pub fn waited(transcript: &Path, said: &str, deadline: Deadline) -> bool {
    let limit = Deadline::after(PATIENCE.min(deadline.left() / 2));
    let mut has_waited = false;
    while !is_whole(transcript, said) {
        if limit.is_over() {
            break;
        }
        has_waited = true;
        pause();
    }
    has_waited
}

#[allow(
    clippy::disallowed_methods,
    reason = "a file that another program writes says nothing of it, and the wait is bounded"
)]
fn pause() {
    std::thread::sleep(STEP);
}

/// Tells whether the last message in a transcript is the agent's, and this.
fn is_whole(transcript: &Path, said: &str) -> bool {
    let Some(tail) = tail(transcript) else {
        // What can't be read now won't be waited for.
        return true;
    };
    let escaped: String = said.chars().take(SAID_CHARS).collect();
    let escaped = serde_json::to_string(&escaped).unwrap_or_default();
    let wanted = escaped.trim_matches('"').as_bytes();
    let is_of = |line: &[u8], word: &str| memmem::find(line, word.as_bytes()).is_some();
    let mut lines = tail.split(|byte| *byte == b'\n').rev();
    let last = lines
        .find(|line| is_of(line, "\"type\":\"assistant\"") || is_of(line, "\"type\":\"user\""));
    last.is_some_and(|line| {
        is_of(line, "\"type\":\"assistant\"") && memmem::find(line, wanted).is_some()
    })
}

fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"go"}}"#;
    const DONE: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"it's \"done\"\nnow"}]}}"#;
    const ROW: &str = r#"{"type":"system","subtype":"x"}"#;
    const SAID: &str = "it's \"done\"\nnow";

    #[test]
    fn a_transcript_is_whole_when_its_last_message_is_what_was_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let check = |lines: &[&str], whole: bool| {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            assert_eq!(is_whole(&path, SAID), whole, "{lines:?}");
        };
        check(&[PROMPT, DONE], true);
        check(&[PROMPT, DONE, ROW], true);
        check(&[PROMPT, DONE, PROMPT], false);
        check(&[PROMPT], false);
        check(&[], false);
        assert!(
            is_whole(&folder.path().join("none"), SAID),
            "nothing is waited for"
        );
    }

    #[test]
    fn what_is_written_meanwhile_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, format!("{PROMPT}\n")).unwrap();
        let deadline = Deadline::after(Duration::from_secs(600));
        let writing = path.clone();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| waited(&path, SAID, deadline));
            std::fs::write(writing, format!("{PROMPT}\n{DONE}\n")).unwrap();
            let _ = waiting.join().unwrap();
        });
        assert!(!waited(&path, SAID, deadline), "it is there now");
    }

    #[test]
    fn what_never_comes_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, format!("{PROMPT}\n")).unwrap();
        assert!(waited(
            &path,
            SAID,
            Deadline::after(Duration::from_millis(100))
        ));
    }
}

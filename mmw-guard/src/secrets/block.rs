//! Private keys between their marks, whole, cut off, on one line or wrapped into code.

use std::ops::Range;

use super::token::Done;
use crate::views::base64_runs;

/// The rule's place is of no matter to the done: no rule of the table has this number.
const BLOCK: usize = usize::MAX;
/// The shortest line of a key, in bytes.
const MIN_LINE_BYTES: usize = 24;
/// The shortest run of a key that was cut off, in bytes.
const MIN_CUT_BYTES: usize = 16;
/// The longest label of a mark (`ENCRYPTED PRIVATE KEY BLOCK`), in bytes.
const MAX_LABEL_BYTES: usize = 48;
/// The longest key that is read, in bytes.
const MAX_KEY_BYTES: usize = 64 << 10;

/// Returns the span of the key whose opening mark has the words at `words`.
pub(super) fn around(text: &str, words: &Range<usize>, done: &mut Done) -> Option<Range<usize>> {
    if done.covers(BLOCK, words.start) {
        return None;
    }
    let bytes = text.as_bytes();
    let label = bytes[words.start.saturating_sub(MAX_LABEL_BYTES)..words.start]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ')
        .count();
    let before = &bytes[..words.start - label];
    let n_dashes = before
        .iter()
        .rev()
        .take_while(|byte| **byte == b'-')
        .count();
    let opens = bytes[words.start - label..words.start]
        .trim_ascii_start()
        .starts_with(b"BEGIN");
    if n_dashes < 4 || !opens {
        return None;
    }
    let start = before.len() - n_dashes.min(5);
    let body = words.end + bytes[words.end..].iter().position(|byte| *byte == b'-')?;
    if body - words.end > " BLOCK ".len() {
        return None;
    }
    let body = body
        + bytes[body..]
            .iter()
            .take_while(|byte| **byte == b'-')
            .count();
    let limit = text.floor_char_boundary(bytes.len().min(body + MAX_KEY_BYTES));
    // The next mark ends it, whichever it is: no two keys share a stretch.
    let next = memchr::memmem::find(&bytes[body..limit], b"----").map(|n| body + n);
    done.note(BLOCK, next.unwrap_or(limit));
    if let Some(next) = next
        && bytes[next..].trim_ascii_start_dashes().starts_with(b"END")
        && !base64_runs(&text[body..next], MIN_LINE_BYTES).is_empty()
    {
        let mark = next
            + bytes[next..]
                .iter()
                .take_while(|byte| **byte == b'-')
                .count();
        let close = memchr::memmem::find(&bytes[mark..bytes.len().min(mark + 64)], b"----");
        let end = close.map_or(mark, |n| {
            let dashes = mark + n;
            dashes
                + bytes[dashes..]
                    .iter()
                    .take_while(|byte| **byte == b'-')
                    .count()
        });
        return Some(start..end);
    }
    // Cut off: up to the last long run that stands close to the one before.
    let runs = base64_runs(&text[body..next.unwrap_or(limit)], MIN_CUT_BYTES);
    let mut end = body;
    for run in runs {
        if body + run.start > end + 80 {
            break;
        }
        end = body + run.end;
    }
    (end > body).then_some(start..end)
}

trait Dashes {
    fn trim_ascii_start_dashes(&self) -> &[u8];
}

impl Dashes for [u8] {
    fn trim_ascii_start_dashes(&self) -> &[u8] {
        let n = self
            .iter()
            .take_while(|byte| matches!(byte, b'-' | b' '))
            .count();
        &self[n..]
    }
}

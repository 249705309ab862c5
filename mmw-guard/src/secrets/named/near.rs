//! A long mixed run of characters soon after a word for a key: `key … <20 characters or more>` on
//! the same line.

use std::ops::Range;

use super::judge::is_near;
use super::scan::{Place, before, byte};
use crate::shape;

/// How far the run may begin from the word, in bytes.
const MAX_DISTANCE_BYTES: usize = 40;
/// The longest run that is read, in bytes.
const MAX_RUN_BYTES: usize = 200;
/// The fewest bytes of a run.
const MIN_RUN_BYTES: usize = 20;

/// Words between that say that the run is a digest or an identifier.
const OTHERWISE: &[&str] = &[
    "sha",
    "hash",
    "digest",
    "commit",
    "checksum",
    "integrity",
    "uuid",
    "fingerprint",
    "revision",
    "etag",
    "public",
    "cache",
    "version",
    "sri",
    "trace",
    "span",
    "request_id",
    "requestid",
    "nonce",
    "path",
    "model",
    "url",
];

/// Returns the run of a key that stands within reach after the keyword.
pub(super) fn run(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    let mut at = place.end;
    // What is left of the keyword's own name.
    let name = at + 30;
    while at < name && is_word(byte(bytes, at)) {
        at += 1;
    }
    // The next of a list, or the next key of an object.
    if matches!(byte(bytes, at), b'"' | b'\'') && byte(bytes, at + 1) == b',' {
        return None;
    }
    let reach = at + MAX_DISTANCE_BYTES;
    while at < reach && at < bytes.len() {
        let b = bytes[at];
        if b == b'\n' || b == crate::placeholder::FILLER {
            return None;
        }
        if !is_run(b) || b == b'=' || b == b'/' && !is_run(before(bytes, at)) {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take(MAX_RUN_BYTES + 1)
            .take_while(|b| is_run(**b))
            .count();
        if (MIN_RUN_BYTES..=MAX_RUN_BYTES).contains(&length) {
            let whole = place.text.get(at..at + length)?;
            let trimmed = whole.trim_end_matches(['.', '-', '=', '/']);
            let trimmed = if whole[trimmed.len()..].starts_with('=') {
                whole.trim_end_matches(['.', '-', '/'])
            } else {
                trimmed
            };
            // The value of `name=value` and of `name.value`.
            let value = trimmed
                .find('=')
                .filter(|n| n + MIN_RUN_BYTES < trimmed.len())
                .map_or(trimmed, |n| &trimmed[n + 1..]);
            let start = at + trimmed.len() - value.len();
            let between = place
                .text
                .get(place.start.saturating_sub(12)..start)
                .or_else(|| place.text.get(place.start..start))?;
            let next = byte(bytes, at + length);
            let fits = is_near(value)
                && !matches!(next, b'(' | b'[' | b'@' | b':' | b'\\')
                && (start > at
                    || !matches!(
                        before(bytes, at),
                        b'@' | b'$' | b'#' | b'%' | b'&' | b'\\' | b'{'
                    ))
                && !OTHERWISE.iter().any(|word| shape::contains(between, word));
            return fits.then(|| start..start + value.len());
        }
        at += length;
    }
    None
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn is_run(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_mixed_run_near_a_word_for_a_key_is_one() {
        for (text, expected) in [
            (
                "key (staging, old) AIhq5Xyb1Gga9Q7x2Kd8",
                Some("AIhq5Xyb1Gga9Q7x2Kd8"),
            ),
            (
                "\"key\": \"2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I\"",
                Some("2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I"),
            ),
            (
                "keys?x=1&k=2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I",
                Some("2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I"),
            ),
            ("key sha256-2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I", None),
            (
                "key for commit 4c536992c26b46b68ffc68ff99b453c1d3041341",
                None,
            ),
            ("key 0192f0c1-8a6b-7c3d-9e4f-0123456789ab", None),
            ("key in src/auth/token_refresh_handler_v2.rs", None),
            ("key\n2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I", None),
        ] {
            let place = Place {
                text,
                start: text.find("key").unwrap(),
                end: text.find("key").unwrap() + 3,
                any_case: false,
            };
            assert_eq!(run(&place).map(|span| &text[span]), expected, "{text}");
        }
    }
}

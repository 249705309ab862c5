//! Secrets without a beginning of their own, known by their vendor's name before them.

use std::ops::Range;

use crate::entropy::shannon;
use crate::rules::{Part, Rule, end_of};
use crate::shape;

/// How far behind the name the value may begin, in bytes.
const REACH_BYTES: usize = 64;
/// What stands between a name and a value that follows it directly, at most, in bytes.
const ADJACENT_BYTES: usize = 4;
/// The least entropy of a value, in bits per byte, unless the rule asks for more.
const MIN_ENTROPY: f64 = 2.5;
/// Words that say that a value is a secret.
const WORDS: [&str; 9] = [
    "key",
    "token",
    "secret",
    "auth",
    "credential",
    "passw",
    "api",
    "pat",
    "bearer",
];

/// Returns the span of the value that follows the name at `name`.
pub(super) fn after(
    rule: &Rule,
    forms: &[&[Part]],
    text: &str,
    name: Range<usize>,
    any_case: bool,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !stands_alone(bytes, name.start) {
        return None;
    }
    let mut n_breaks = 0;
    let mut at = name.end;
    let last = bytes.len().min(name.end + REACH_BYTES);
    // The rest of the name's own word belongs to the name.
    while at < last {
        let begins = !is_word(bytes[at - 1]) || !is_word(bytes[at]);
        if begins && bytes[at].is_ascii_graphic() {
            for form in forms {
                let Ok(end) = end_of(form, bytes, at, any_case) else {
                    continue;
                };
                if end > at && is_secret(rule, text, &name, at..end) {
                    return Some(at..end);
                }
            }
        }
        if bytes[at] == b'\n' {
            n_breaks += 1;
        }
        if n_breaks > 1 || !bytes[at].is_ascii() {
            return None;
        }
        at += 1;
    }
    None
}

/// Tells whether a name begins where it stands: after no letter, or with a capital after a small one.
fn stands_alone(bytes: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).map(|before| bytes[before]);
    before.is_none_or(|before| {
        !before.is_ascii_alphanumeric()
            || before.is_ascii_lowercase() && bytes[start].is_ascii_uppercase()
    })
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_secret(rule: &Rule, text: &str, name: &Range<usize>, value: Range<usize>) -> bool {
    let (Some(between), Some(said)) = (text.get(name.end..value.start), text.get(value.clone()))
    else {
        return false;
    };
    // The value is a word of its own, and no part of a longer one.
    let goes_on = text
        .as_bytes()
        .get(value.end)
        .is_some_and(|byte| is_word(*byte));
    if goes_on || !is_value(rule, said) {
        return false;
    }
    let lower = between.to_ascii_lowercase();
    let named = text[name.clone()].to_ascii_lowercase();
    let speaks = WORDS
        .iter()
        .any(|word| lower.contains(word) || named.contains(word));
    let assigns = between.contains(['=', ':']) || between.contains("->");
    let is_adjacent = between.len() <= ADJACENT_BYTES
        && between.bytes().all(|byte| !byte.is_ascii_alphanumeric());
    if shape::is_uuid(said) {
        return speaks;
    }
    if is_digest(said) || said.bytes().all(|byte| byte.is_ascii_digit()) {
        return speaks || assigns || is_adjacent;
    }
    speaks || assigns || is_adjacent || mixed_case(said)
}

/// A value that could be a git id or a digest of a file.
fn is_digest(said: &str) -> bool {
    matches!(said.len(), 32 | 40 | 64) && said.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn mixed_case(said: &str) -> bool {
    said.bytes().any(|byte| byte.is_ascii_uppercase())
        && said.bytes().any(|byte| byte.is_ascii_lowercase())
        && said.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_value(rule: &Rule, said: &str) -> bool {
    let letters = said.bytes().any(|byte| byte.is_ascii_alphabetic());
    let least = if rule.entropy > 0.0 {
        rule.entropy
    } else {
        MIN_ENTROPY
    };
    let is_name = letters && shape::is_identifier(said);
    let is_shown = shape::is_monotone(said) || shape::is_example(said);
    !is_name && !is_shown && shannon(said) >= least
}

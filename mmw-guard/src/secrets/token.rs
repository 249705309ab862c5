//! Secrets that their own beginning gives away.

use std::ops::Range;

use crate::entropy::shannon;
use crate::rules::{Checksum, Form, Rule, end_of, run_before};
use crate::shape;

/// The fewest characters after a distinctive beginning that are taken for a token of another length.
const MIN_LOOSE_BYTES: usize = 16;
/// The most that are read of such a token.
const MAX_LOOSE_BYTES: usize = 512;
/// The least entropy of such a token, in bits per byte.
const MIN_LOOSE_ENTROPY: f64 = 3.0;
/// How many bytes the checksum of GitHub and npm has.
const CHECKSUM_BYTES: usize = 6;

/// What is known of the text already: up to where a rule need not look again.
#[derive(Debug, Default)]
pub(super) struct Done(Vec<(usize, usize)>);

impl Done {
    /// Tells whether a rule is done with everything before a place.
    pub(super) fn covers(&self, rule: usize, at: usize) -> bool {
        self.0
            .iter()
            .any(|(known, until)| *known == rule && at < *until)
    }

    /// Notes that a rule is done with everything before a place.
    pub(super) fn note(&mut self, rule: usize, until: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, known)) => *known = until.max(*known),
            None => self.0.push((rule, until)),
        }
    }
}

/// Returns the span of the token whose beginning stands at `prefix`.
pub(super) fn at(
    rule: &Rule,
    index: usize,
    text: &str,
    prefix: Range<usize>,
    any_case: bool,
    done: &mut Done,
) -> Option<Range<usize>> {
    let Form::Token {
        before,
        forms,
        checksum,
        is_loose,
    } = &rule.form
    else {
        return None;
    };
    if done.covers(index, prefix.end) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut start = prefix.start;
    for part in *before {
        start = run_before(part, bytes, start, any_case)?;
    }
    let first = bytes[start];
    let is_glued = first.is_ascii_alphanumeric()
        && start
            .checked_sub(1)
            .is_some_and(|before| bytes[before].is_ascii_alphanumeric());
    let mut hopeless = usize::MAX;
    for form in *forms {
        let end = match end_of(form, bytes, prefix.end, any_case) {
            Ok(end) => without_stop(bytes, prefix.end, end),
            Err(until) => {
                hopeless = hopeless.min(until);
                continue;
            }
        };
        let value = &text[start..text.floor_char_boundary(end)];
        let is_checked = checksum.is_some_and(|check| holds(check, &value[prefix.end - start..]));
        let body = &text[prefix.end..start + value.len()];
        let is_plausible = !shape::is_monotone(value)
            && !is_filled(body)
            && !is_words(body)
            && (rule.entropy <= 0.0 || shannon(body) >= rule.entropy);
        if is_checked || !is_glued && is_plausible {
            done.note(index, end);
            return Some(start..end);
        }
        hopeless = hopeless.min(end);
    }
    if *is_loose && !is_glued && is_distinctive(&text[prefix.clone()]) {
        let n = bytes[prefix.end..]
            .iter()
            .take(MAX_LOOSE_BYTES)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let end = without_stop(bytes, prefix.end, prefix.end + n);
        let body = &text[prefix.end..end];
        hopeless = hopeless.min(end);
        if is_mixed(body) {
            done.note(index, end);
            return Some(start..end);
        }
    }
    if hopeless != usize::MAX {
        done.note(index, hopeless);
    }
    None
}

/// Returns the end without the full stops and dashes of the sentence around it.
fn without_stop(bytes: &[u8], start: usize, end: usize) -> usize {
    let stops = bytes[start..end]
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'.' | b'-'))
        .count();
    end - stops
}

/// A beginning that nothing else has: long enough, with a mark at its end.
fn is_distinctive(prefix: &str) -> bool {
    prefix.len() >= 5 && prefix.ends_with(['_', '-', '.'])
}

/// Tells whether what follows a beginning is a value and no name.
fn is_mixed(body: &str) -> bool {
    body.len() >= MIN_LOOSE_BYTES
        && body.bytes().any(|byte| byte.is_ascii_digit())
        && body.bytes().any(|byte| byte.is_ascii_alphabetic())
        && shannon(body) >= MIN_LOOSE_ENTROPY
        && !shape::is_identifier(body)
        && !shape::is_example(body)
}

/// Tells whether a body is words that go on behind the beginning (`-with-two-factor-authentication`,
/// `PlayerItemMetadataCollector`).
fn is_words(body: &str) -> bool {
    const MIN_BYTES: usize = 18;
    let words = || body.split(['-', '_']).filter(|word| !word.is_empty());
    let phrase = words().count() >= 3 && words().filter(|word| word.len() >= 4).count() >= 2;
    let small = !body.bytes().any(|b| b.is_ascii_uppercase());
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    body.len() >= MIN_BYTES
        && shape::is_identifier(body)
        && (phrase && small && digits <= 2 || digits == 0)
}

/// Tells whether a body is `xxxx…`, `....` or the like somewhere: documentation.
fn is_filled(body: &str) -> bool {
    let lower = body.as_bytes();
    lower.windows(6).any(|six| {
        matches!(six[0], b'x' | b'X' | b'*' | b'.' | b'0') && six.iter().all(|b| *b == six[0])
    })
}

/// Tells whether the vendor's own check holds for what follows the beginning.
fn holds(check: Checksum, body: &str) -> bool {
    match check {
        Checksum::Crc32 => {
            let Some((said, sum)) = body
                .len()
                .checked_sub(CHECKSUM_BYTES)
                .and_then(|at| body.split_at_checked(at))
            else {
                return false;
            };
            let expected = base62::encode_fmt(u128::from(crc32fast::hash(said.as_bytes())));
            format!("{expected:0>6}") == sum
        }
    }
}

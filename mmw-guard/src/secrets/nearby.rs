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

/// Where no value of a rule begins, as the names before found out: names that follow each other
/// closely share most of their reach.
#[derive(Debug, Default)]
pub(super) struct Barren(Vec<(usize, Range<usize>)>);

impl Barren {
    /// Returns where the first value may begin at that place or behind it.
    fn skip(&self, rule: usize, at: usize) -> usize {
        let known = self.0.iter().find(|(known, _)| *known == rule);
        known
            .filter(|(_, barren)| barren.contains(&at))
            .map_or(at, |(_, barren)| barren.end)
    }

    fn note(&mut self, rule: usize, barren: Range<usize>) {
        match self.0.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, known)) if known.contains(&barren.start) => {
                known.end = known.end.max(barren.end);
            }
            Some((_, known)) => *known = barren,
            None => self.0.push((rule, barren)),
        }
    }
}

/// Returns the span of the value that follows the name at `name`.
pub(super) fn after(
    (index, rule): (usize, &Rule),
    forms: &[&[Part]],
    text: &str,
    name: Range<usize>,
    any_case: bool,
    barren: &mut Barren,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !stands_alone(bytes, name.start) {
        return None;
    }
    let last = name.end + reach(&bytes[name.end..bytes.len().min(name.end + REACH_BYTES)]);
    let mut first_fit = None;
    // The rest of the name's own word belongs to the name.
    for at in barren.skip(index, name.end)..last {
        let begins = !is_word(bytes[at - 1]) || !is_word(bytes[at]);
        if begins && bytes[at].is_ascii_graphic() {
            for form in forms {
                let Ok(end) = end_of(form, bytes, at, any_case) else {
                    continue;
                };
                if end > at {
                    first_fit = first_fit.or(Some(at));
                    if is_secret(rule, text, &name, at..end) {
                        return Some(at..end);
                    }
                }
            }
        }
    }
    barren.note(index, name.end..first_fit.unwrap_or(last));
    None
}

/// Returns how much of a stretch a name reaches: up to the second line break, and over ASCII only.
fn reach(stretch: &[u8]) -> usize {
    let lines = memchr::memchr_iter(b'\n', stretch)
        .nth(1)
        .unwrap_or(stretch.len());
    let stretch = &stretch[..lines];
    if stretch.is_ascii() {
        return lines;
    }
    stretch.iter().take_while(|byte| byte.is_ascii()).count()
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

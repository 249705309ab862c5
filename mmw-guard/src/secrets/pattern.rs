//! Secrets that take a regular expression: it runs around its keywords only.

use std::ops::Range;

use super::Hit;
use crate::entropy::shannon;
use crate::placeholder::FILLER;
use crate::rules::{Form, Judge, Pattern, RULES};
use crate::shape;

/// How far around a keyword an expression may reach, in bytes.
const BEFORE_BYTES: usize = 160;
const AFTER_BYTES: usize = 640;
/// The least entropy of an assigned value without digits, in bits per byte.
const MIN_LETTERS_ENTROPY: f64 = 4.0;

/// Where each rule has to look; stretches that touch are one.
#[derive(Debug, Default)]
pub(super) struct Windows(Vec<(usize, Vec<Range<usize>>)>);

impl Windows {
    /// Adds the surroundings of a keyword.
    pub(super) fn add(&mut self, rule: usize, text: &str, at: &Range<usize>) {
        let start = text.floor_char_boundary(at.start.saturating_sub(BEFORE_BYTES));
        let end = text.ceil_char_boundary(text.len().min(at.end + AFTER_BYTES));
        let ranges = match self.0.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, ranges)) => ranges,
            None => {
                self.0.push((rule, Vec::new()));
                let last = self.0.len() - 1;
                &mut self.0[last].1
            }
        };
        match ranges.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => ranges.push(start..end),
        }
    }

    /// Returns the stretches, by rule.
    pub(super) fn all(self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.0
            .into_iter()
            .flat_map(|(rule, ranges)| ranges.into_iter().map(move |range| (rule, range)))
    }
}

/// Finds what an expression matches in a stretch.
pub(super) fn within(
    index: usize,
    text: &str,
    window: Range<usize>,
    any_case: bool,
    found: &mut impl FnMut(Hit),
) {
    let rule = &RULES[index];
    let Form::Pattern(pattern) = &rule.form else {
        return;
    };
    let form = if any_case {
        pattern.folded_form()
    } else {
        pattern.form()
    };
    let haystack = &text.as_bytes()[..window.end];
    let mut at = window.start;
    while let Some(groups) = form.captures_at(haystack, at) {
        let Some(whole) = groups.get(0) else { break };
        let group = groups.iter().skip(1).flatten().next().unwrap_or(whole);
        let range = text.floor_char_boundary(group.start())..text.ceil_char_boundary(group.end());
        let before = &text[text.floor_char_boundary(whole.start())..range.start];
        let value = accept(pattern, before, text, range)
            .filter(|span| rule.entropy <= 0.0 || shannon(&text[span.clone()]) >= rule.entropy);
        let next = if let Some(span) = value {
            let next = span.end;
            let value = Some(text[span.clone()].to_owned());
            found(Hit {
                span,
                rule: index,
                value,
            });
            next
        } else if matches!(pattern.judge, Judge::Token | Judge::Any) {
            whole.end()
        } else {
            // Not this one: the next may begin inside what this one took for its value.
            group.start()
        };
        at = next.max(whole.start() + 1);
        if at > window.end {
            break;
        }
    }
}

/// Returns the span of the value if it is one.
fn accept(
    pattern: &Pattern,
    before: &str,
    text: &str,
    range: Range<usize>,
) -> Option<Range<usize>> {
    let (span, quoted) = match pattern.judge {
        Judge::Token | Judge::Any => (range, false),
        Judge::Assigned
        | Judge::Password
        | Judge::QuotedPassword
        | Judge::PlainPassword
        | Judge::ProsePassword => trimmed(text, range),
    };
    let value = text.get(span.clone())?;
    if value
        .bytes()
        .all(|b| b == FILLER || b.is_ascii_whitespace())
    {
        return None;
    }
    let called = text[span.end..].starts_with('(');
    let is_value = || {
        !(called
            || shape::is_example(value)
            || shape::is_code(value)
            || shape::is_path(value)
            || shape::is_named_hash(value))
    };
    let accepted = match pattern.judge {
        Judge::Any => true,
        Judge::Token => !shape::is_monotone(value),
        Judge::Assigned => {
            let digit = value.bytes().any(|b| b.is_ascii_digit());
            let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
            value.len() >= 8
                && letter
                && (digit || shannon(value) >= MIN_LETTERS_ENTROPY)
                && is_value()
                && !shape::is_identifier(value)
                && !(shape::is_uuid(value) && names_a_session(before))
                && !shape::is_term(value)
        }
        Judge::Password => {
            value.len() >= 4 && shape::is_strong(value) && is_value() && !shape::is_term(value)
        }
        Judge::QuotedPassword => {
            let whole =
                before.ends_with(['"', '\'', '`']) && !before.contains(',') && !value.contains(' ');
            value.len() >= 3
                && is_value()
                && !shape::is_term(value)
                && (shape::is_strong(value) || whole)
        }
        Judge::PlainPassword => value.len() >= 3 && is_value(),
        Judge::ProsePassword => {
            let name =
                value.contains('_') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            value.len() >= 4
                && is_value()
                && !shape::is_term(value)
                && (shape::is_strong(value) || quoted && !name)
        }
    };
    accepted.then_some(span)
}

/// Tells whether a name speaks of sessions only: their ids are in every log.
fn names_a_session(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !["key", "secret", "token", "credential"]
        .iter()
        .any(|word| name.contains(word))
}

/// Returns a value without quotes, emphasis and the end of its sentence, and whether it was quoted.
fn trimmed(text: &str, range: Range<usize>) -> (Range<usize>, bool) {
    const QUOTES: [char; 9] = ['"', '\'', '`', '“', '”', '‘', '’', '«', '»'];
    let value = &text[range.clone()];
    let inner = value.trim_start_matches("**").trim_start_matches(QUOTES);
    let start = range.end - inner.len();
    let inner = inner.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '。', '，', '、', '；']);
    let closed = inner.trim_end_matches("**").trim_end_matches(QUOTES);
    let bare = closed.trim_end_matches(['.', ',', ';', ':', '。', '，', '、']);
    let end = start + bare.len();
    (
        start..end,
        value.starts_with(QUOTES) && closed.len() < inner.len(),
    )
}

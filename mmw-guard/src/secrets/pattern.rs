//! Secrets that take a regular expression: it runs around its keywords only.

use std::ops::Range;

use super::Hit;
use crate::entropy::shannon;
use crate::placeholder::FILLER;
use crate::rules::{Form, RULES};
use crate::shape;

/// How far around a keyword an expression may reach, in bytes.
const BEFORE_BYTES: usize = 160;
const AFTER_BYTES: usize = 640;

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
        let value = text.get(range.clone()).filter(|value| {
            is_value(value) && (rule.entropy <= 0.0 || shannon(value) >= rule.entropy)
        });
        let next = match value {
            Some(value) => {
                let next = range.end;
                found(Hit {
                    span: range,
                    rule: index,
                    value: Some(value.to_owned()),
                });
                next
            }
            None => whole.end(),
        };
        at = next.max(whole.start() + 1);
        if at > window.end {
            break;
        }
    }
}

/// Tells whether a value is more than an example of its form.
fn is_value(value: &str) -> bool {
    !shape::is_monotone(value)
        && !value
            .bytes()
            .all(|b| b == FILLER || b.is_ascii_whitespace())
}

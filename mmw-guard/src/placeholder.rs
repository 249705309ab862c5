//! What stands in the place of a secret, and how it is recognised when it comes in again.
//!
//! A placeholder grants nothing: it is only left alone itself. What stands beside it is screened as
//! if it were not there, and one that names no rule of ours is ordinary text.

use std::borrow::Cow;
use std::ops::Range;

const OPEN: &str = "[REDACTED:";
/// Stands for every byte of a placeholder while rules run. No rule's form contains it.
pub(crate) const FILLER: u8 = 0x01;
const MAX_RULE_BYTES: usize = 48;

/// Returns the placeholder of a rule.
#[cfg(test)]
pub(crate) fn of(rule: &str) -> String {
    let mut text = String::new();
    write(rule, &mut text);
    text
}

/// Writes the placeholder of a rule behind a text.
pub(crate) fn write(rule: &str, text: &mut String) {
    text.push_str(OPEN);
    text.push_str(rule);
    text.push(']');
}

/// Returns the rule that a placeholder names.
pub(crate) fn rule_of(placeholder: &str) -> &str {
    placeholder
        .strip_prefix(OPEN)
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or("")
}

/// Returns where placeholders of known rules stand.
pub(crate) fn spans(text: &str, known: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Many of one rule stand in a row.
    let mut last = "";
    for start in memchr::memmem::find_iter(text.as_bytes(), OPEN) {
        let rest = &text[start + OPEN.len()..];
        let Some(length) = rest
            .bytes()
            .take(MAX_RULE_BYTES + 1)
            .position(|b| b == b']')
        else {
            continue;
        };
        let rule = &rest[..length];
        if !rule.is_empty() && rule == last || known(rule) {
            last = rule;
            found.push(start..start + OPEN.len() + length + 1);
        }
    }
    found
}

/// Returns the text with every byte of these spans replaced by [`FILLER`]: same length, no content.
pub(crate) fn masked<'t>(text: &'t str, spans: &[Range<usize>]) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        masked.push_str(&text[done..span.start]);
        masked.extend(std::iter::repeat_n(char::from(FILLER), span.len()));
        done = span.end;
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_of_known_rules_are_masked() {
        assert_eq!(rule_of(&of("jwt")), "jwt");
        let text = "a [REDACTED:jwt] b [REDACTED:hunter2] [REDACTED:";
        let found = spans(text, |rule| rule == "jwt");
        assert_eq!(found, vec![2..16; 1]);
        let masked = masked(text, &found);
        assert_eq!(masked.len(), text.len());
        assert!(masked.ends_with(" b [REDACTED:hunter2] [REDACTED:"));
        assert!(!masked.contains("jwt"));
    }
}

//! Values that stand for "put yours here": placeholders, templates, fillings.

use super::{contains, has_digit, is_measure, is_name, is_strong, is_term};
use crate::placeholder::FILLER;

/// Tells whether a value stands for "put yours here".
pub(crate) fn is_example(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "your",
        "placeholder",
        "example.com",
        "xxxx",
        "changeme_",
        "change_me",
        "insert_",
        "insert-",
        "replace",
        "dummy",
        "fake",
        "notreal",
        "not-a-",
        "not_a_",
        "goes_here",
        "goes-here",
        "some_secret",
    ];
    let opens = value.starts_with(['{', '[', '(']) && value.ends_with(['}', ']', ')'])
        || value.starts_with('$')
            && (is_name(&value[1..]) || value[1..].bytes().all(|b| b.is_ascii_digit()))
        || value.len() > 2 && value.starts_with('%') && value.ends_with('%')
        || value.starts_with("%s")
        || value
            .trim_matches(['[', ']', '(', ')', '<', '>'])
            .eq_ignore_ascii_case("redacted");
    let marked = value
        .as_bytes()
        .windows(3)
        .any(|three| matches!(three, b"..." | b"***"))
        || !value.is_ascii() && (value.contains('…') || value.contains("••"));
    opens && !is_wrapped_secret(value)
        || value.starts_with("${") && value.ends_with('}')
        || marked
        || has_template(value)
        || is_monotone(value)
        || WORDS.iter().any(|word| contains(value, word))
}

/// `(hunter2x9)`: brackets of a sentence around a value, not around its description.
fn is_wrapped_secret(value: &str) -> bool {
    let inner = value
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or("");
    inner.len() >= 6
        && is_strong(inner)
        && has_digit(inner)
        && inner.bytes().all(|b| b.is_ascii_graphic())
        && !inner.contains(['(', ')', '[', ']', '<', '|', ',', '-', '=', '.', '/'])
        && !is_term(inner)
        && !is_measure(inner)
}

/// Tells whether a slot of a template stands in a value: `${X}`, `{{ x }}`, `$(cmd)`, `<name>`, `{}`.
fn has_template(value: &str) -> bool {
    const SLOTS: &[(&str, &str)] = &[
        ("${", "}"),
        ("{{", "}}"),
        ("$(", ")"),
        ("%(", ")"),
        ("<", ">"),
        ("#{", "}"),
        ("{", "}"),
    ];
    if memchr::memchr3(b'{', b'(', b'<', value.as_bytes()).is_none() {
        return false;
    }
    SLOTS.iter().any(|(open, close)| {
        value.match_indices(open).any(|(at, _)| {
            let rest = &value[at + open.len()..];
            // A slot that is cut by the end of the value is one too.
            let inner = match rest.find(close) {
                Some(end) => &rest[..end],
                None if open.len() == 2 => rest,
                None => return false,
            };
            // `${NAME:-default}`: what follows the name is the shell's.
            let shell = *open == "${"
                && inner
                    .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
                    .starts_with([':', '-', '=', '?', '+', '#', '%', '/'])
                && is_name(
                    inner
                        .split([':', '-', '=', '?', '+', '#', '%', '/'])
                        .next()
                        .unwrap_or(""),
                );
            let named = shell
                || inner.bytes().all(|b| {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'_' | b'-' | b'.' | b' ' | b':' | b'/')
                });
            named && (open.len() == 2 || inner.len() != 1 || at == 0)
        })
    })
}

/// Tells whether a token is its prefix and one character over and over, as in documentation.
pub(crate) fn is_monotone(value: &str) -> bool {
    let tail = value.rsplit(['_', '-', '.', ':']).next().unwrap_or(value);
    let mut bytes = tail.bytes();
    let first = bytes.next();
    value.bytes().all(|b| b == FILLER)
        || tail.len() >= 3
            && bytes.all(|b| Some(b.to_ascii_lowercase()) == first.map(|f| f.to_ascii_lowercase()))
}

/// Tells whether a long value is the same few characters over and over: `x1x1x1…`.
pub(crate) fn is_periodic(value: &str) -> bool {
    const MAX_PERIOD: usize = 8;
    let bytes = value.as_bytes();
    (1..=MAX_PERIOD.min(bytes.len() / 3))
        .any(|period| bytes[period..].iter().eq(&bytes[..bytes.len() - period]))
}

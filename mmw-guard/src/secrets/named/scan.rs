//! Walks over the bytes around a keyword. Every walk has a limit, so that a hit costs the same
//! whatever stands around it. Nothing is judged here.

use std::ops::Range;

use crate::placeholder::FILLER;

/// The longest value that is read, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 300;

/// The surroundings of one keyword.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'t> {
    /// The whole text.
    pub(super) text: &'t str,
    /// Where the keyword begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Whether capitals were lost.
    pub(super) any_case: bool,
}

impl<'t> Place<'t> {
    /// Returns the bytes of the text.
    pub(super) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }
}

/// A value as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// Where, without its quotes.
    pub(super) span: Range<usize>,
    /// Whether quotes stand around it.
    pub(super) quoted: bool,
}

/// Returns the byte there, 0 at the end of the text.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Returns the byte before that place, 0 at the beginning of the text.
pub(super) fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| byte(bytes, at))
}

/// Returns where the blanks end that begin there; at most `max` of them.
pub(super) fn blanks(bytes: &[u8], at: usize, max: usize) -> usize {
    let skipped = bytes[at.min(bytes.len())..]
        .iter()
        .take(max)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    at + skipped
}

/// Returns where the blanks begin that end there; at most `max` of them.
pub(super) fn blanks_back(bytes: &[u8], at: usize, max: usize) -> usize {
    let skipped = bytes[..at]
        .iter()
        .rev()
        .take(max)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    at - skipped
}

/// Returns what stands before that place on its line; of a long line its end.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    const MAX_BYTES: usize = 120;
    let start = text.ceil_char_boundary(at.saturating_sub(MAX_BYTES));
    let window = text.get(start..at).unwrap_or("");
    window.rsplit('\n').next().unwrap_or("")
}

/// Tells whether a lower-case word stands there, in any case of its ASCII letters.
pub(super) fn stands(bytes: &[u8], at: usize, word: &str) -> bool {
    let word = word.as_bytes();
    // Most words are told by their first letter.
    let (Some(first), Some(there)) = (word.first(), bytes.get(at)) else {
        return word.is_empty();
    };
    first.eq_ignore_ascii_case(there)
        && bytes
            .get(at..at + word.len())
            .is_some_and(|there| there.eq_ignore_ascii_case(word))
}

/// Tells whether a lower-case word ends there, in any case of its ASCII letters.
pub(super) fn ends(bytes: &[u8], at: usize, word: &str) -> bool {
    at.checked_sub(word.len())
        .is_some_and(|start| stands(bytes, start, word))
}

/// Returns the length of the first of these words that stands there as a whole word.
pub(super) fn word_of(bytes: &[u8], at: usize, words: &[&str]) -> Option<usize> {
    bytes.get(at)?;
    words
        .iter()
        .find(|word| stands(bytes, at, word) && !goes_on(bytes, at + word.len()))
        .map(|word| word.len())
}

/// Tells whether a word goes on there: an ASCII letter or digit, `_`, or a Latin or Cyrillic letter.
pub(super) fn goes_on(bytes: &[u8], at: usize) -> bool {
    let b = byte(bytes, at);
    b.is_ascii_alphanumeric() || b == b'_' || (0xc3..=0xd4).contains(&b)
}

/// Tells whether a byte can be a part of a name: `db-password`, `spring.datasource.password`.
pub(super) fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// Opening quotes and what closes each.
const QUOTES: &[(&str, &str)] = &[
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("‘", "’"),
    ("«", "»"),
    ("„", "“"),
    ("„", "”"),
    ("”", "”"),
    ("’", "’"),
    ("‚", "‘"),
    ("»", "«"),
    ("「", "」"),
    ("『", "』"),
    ("&quot;", "&quot;"),
];

/// Returns the value in quotes that begins there, on one line, if both quotes stand.
pub(super) fn quoted(text: &str, at: usize) -> Option<Value> {
    // Nothing else begins a quote.
    let rest = text.get(at..)?;
    if !matches!(
        rest.as_bytes().first(),
        Some(b'"' | b'\'' | b'`' | b'&' | 0xc2 | 0xe2 | 0xe3)
    ) {
        return None;
    }
    let (open, close) = QUOTES.iter().find(|(open, close)| {
        // „ has two that close it.
        rest.starts_with(open)
            && (*open != "„" || rest[..rest.floor_char_boundary(MAX_VALUE_BYTES)].contains(close))
    })?;
    // Three quotes, or two of Markdown's, are one.
    let mut start = at + open.len();
    let mut doubled = 1;
    while doubled < 3 && *open != "&quot;" && text[start..].starts_with(open) {
        start += open.len();
        doubled += 1;
    }
    if doubled == 2 && *open != "`" {
        return None;
    }
    let window = &text[start..text.floor_char_boundary(start + MAX_VALUE_BYTES)];
    let mut from = 0;
    while let Some(found) = window[from..].find(close) {
        let end = from + found;
        let escaped = window[..end]
            .bytes()
            .rev()
            .take_while(|b| *b == b'\\')
            .count()
            % 2
            == 1;
        if !escaped {
            let span = start..start + end;
            return (end > 0 && !window[..end].contains('\n'))
                .then_some(Value { span, quoted: true });
        }
        from = end + close.len();
    }
    None
}

/// Returns where the quotes end that close a value there.
pub(super) fn after_quotes(text: &str, mut at: usize) -> usize {
    for _ in 0..3 {
        let rest = text.get(at..).unwrap_or("");
        match QUOTES.iter().find(|(_, close)| rest.starts_with(close)) {
            Some((_, close)) => at += close.len(),
            None => break,
        }
    }
    at
}

/// Bytes that a value without quotes has anywhere, whatever follows.
static IS_PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = b'!';
    while b <= b'~' {
        plain[b as usize] = !matches!(
            b,
            b'"' | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'|'
                | b','
                | b';'
                | b'\\'
                | b'&'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
        );
        b += 1;
    }
    plain
};

/// Returns the value without quotes that begins there: up to white space, a quote, a comma or what
/// else ends a value in configuration, code or a sentence.
pub(super) fn bare(text: &str, at: usize) -> Option<Value> {
    let rest = text.get(at..text.floor_char_boundary(at + MAX_VALUE_BYTES))?;
    let bytes = rest.as_bytes();
    let mut end = 0;
    let mut open = 0_usize;
    while end < bytes.len() {
        if IS_PLAIN[usize::from(bytes[end])] {
            end += 1;
            continue;
        }
        let next = byte(bytes, end + 1);
        let ends_here = |b: u8| {
            b == 0
                || b.is_ascii_whitespace()
                || matches!(
                    b,
                    b';' | b',' | b'"' | b'\'' | b'`' | b'.' | b')' | b']' | b'}' | b'<' | b'|'
                )
        };
        match bytes[end] {
            b if b.is_ascii_whitespace() || b.is_ascii_control() => break,
            b'"' | b'\'' | b'`' | b'<' | b'|' | b',' | b';' => break,
            b'\\' if matches!(next, b'n' | b'r' | b't' | b'"' | b'\'') || next == 0 => break,
            b'&' if next.is_ascii_lowercase()
                && rest[end..].find([';', '=']).is_some_and(|n| n < 30) =>
            {
                break;
            }
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' if open > 0 => open -= 1,
            b')' | b']' | b'}' | b'>' if ends_here(next) || !next.is_ascii() => break,
            0xc3 => end += 1,
            0x80.. => break,
            _ => {}
        }
        end += 1;
    }
    let value = rest.get(..end)?.trim_end_matches(['.', ':', '*']);
    (!value.is_empty()).then_some(Value {
        span: at..at + value.len(),
        quoted: false,
    })
}

/// Returns the length of the pictures and arrows that a text begins with, at most four.
fn pictures(text: &str) -> usize {
    if text.is_empty() || text.as_bytes()[0] < 0xe2 {
        return 0;
    }
    text.chars()
        .take(4)
        .take_while(
            |c| matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'),
        )
        .map(char::len_utf8)
        .sum()
}

/// Returns the value that begins there, with or without quotes or emphasis.
pub(super) fn value(text: &str, at: usize) -> Option<Value> {
    let mut at = at;
    while text.get(at..)?.starts_with('*') {
        at += 1;
    }
    at += pictures(text.get(at..)?);
    // What a placeholder stands before is a value as if it stood alone.
    while byte(text.as_bytes(), at) == FILLER {
        at += 1;
    }
    // Without quotes, two braces open a template's slot.
    quoted(text, at)
        .or_else(|| bare(text, at).filter(|value| !opens_slot(&text[value.span.clone()])))
}

/// Tells whether two braces stand in a value.
fn opens_slot(value: &str) -> bool {
    memchr::memchr_iter(b'{', value.as_bytes()).any(|at| value[at + 1..].starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(
            value(text, 0).map(|value| &text[value.span]),
            expected,
            "{text}"
        );
    }

    #[test]
    fn a_value_ends_where_its_quotes_or_its_line_say() {
        check("\"a b\" c", Some("a b"));
        check("``root``, and", Some("root"));
        check("'it\\'s' x", Some("it\\'s"));
        check("“wide” x", Some("wide"));
        check("”wide” x", Some("wide"));
        check("„wide” x", Some("wide"));
        check("„wide“ x", Some("wide"));
        check("🔑hunter2🔒", Some("hunter2"));
        check("\"\" x", None);
        check("**Pa55word**", Some("Pa55word"));
    }

    #[test]
    fn a_value_without_quotes_ends_where_a_word_does() {
        check("hunter2, then", Some("hunter2"));
        check("hunter2.", Some("hunter2"));
        check("hunter2) and", Some("hunter2"));
        check("m{h}o)p${e]n x", Some("m{h}o)p${e]n"));
        check("m{{h}}o", None);
        check("f(x) y", Some("f(x)"));
        check("a&b=c", Some("a"));
        check("a&Bc!", Some("a&Bc!"));
        check("hunter2입니다", Some("hunter2"));
        check("Dw7&lt;/b", Some("Dw7"));
        check("", None);
    }

    #[test]
    fn walks_stay_inside_the_text() {
        assert_eq!(blanks(b"  x", 0, 9), 2);
        assert_eq!(blanks(b"", 5, 9), 5);
        assert_eq!(blanks_back(b"x  ", 3, 9), 1);
        assert!(stands(b"Password", 0, "pass"));
        assert!(!stands(b"Pass", 2, "pass"));
        assert!(ends(b"my PASS", 7, "pass"));
        assert_eq!(word_of(b"is it", 0, &["is", "i"]), Some(2));
        assert_eq!(word_of(b"island", 0, &["is"]), None);
    }
}

//! Passwords and keys that a sentence tells, before or after the word for them.
//!
//! "The password for the router is X", "set the password to X", "X is the new password",
//! "密码是X", "пароль от сервера — X". After a link a value needs quotes, a digit or a symbol: "the
//! password is incorrect" tells none.

use std::ops::Range;

use super::judge::{is_evident_password, is_near, is_possible, is_secret, is_told_password};
use super::scan::{
    Place, Value, blanks, blanks_back, byte, goes_on, quoted, stands, value, word_of,
};
use super::tongues::Tongue;

/// How far a link may stand from its keyword, in bytes.
const MAX_PHRASE_BYTES: usize = 90;
/// How many words of a phrase may stand between.
const MAX_PHRASE_WORDS: usize = 9;
/// How many words may stand between a value and the keyword that follows it.
const MAX_BACK_WORDS: usize = 5;
/// The most fillers between a link and its value.
const MAX_FILLERS: usize = 3;

/// Returns the password that a sentence tells after or before the keyword.
pub(super) fn password(place: &Place<'_>, tongue: &Tongue) -> Option<Range<usize>> {
    let accept = |value: &Value| is_told_password(&place.text[value.span.clone()], value.quoted);
    after(place, tongue, accept).or_else(|| before(place, tongue))
}

/// Returns the key or token that a sentence tells after the keyword.
pub(super) fn secret(place: &Place<'_>, tongue: &Tongue) -> Option<Range<usize>> {
    after(place, tongue, |value| {
        let said = &place.text[value.span.clone()];
        said.len() >= 12
            && (is_secret(value, place.text, true) && crate::entropy::disorder(said) >= 0.2
                || is_near(said))
    })
}

fn after(
    place: &Place<'_>,
    tongue: &Tongue,
    accept: impl Fn(&Value) -> bool,
) -> Option<Range<usize>> {
    if tongue.joined {
        return after_joined(place, tongue, accept);
    }
    let text = place.text;
    let bytes = place.bytes();
    let mut at = ending(bytes, place.end)?;
    let limit = (at + MAX_PHRASE_BYTES).min(text.len());
    for n in 0..=MAX_PHRASE_WORDS {
        let next = blanks(bytes, at, 2);
        if next == at || next >= limit {
            return None;
        }
        at = next;
        // The same word again is no value, and what follows it is read from there.
        if is_again(place, at) && (n == 0 || is_linked_again(place, at, tongue)) {
            return None;
        }
        let weak = word_of(bytes, at, tongue.weak);
        if let Some(length) = word_of(bytes, at, tongue.links).or(weak) {
            let linked = at + length;
            let found = linked_value(text, linked, tongue)
                .filter(&accept)
                .filter(|found| {
                    weak.is_none()
                        || is_evident_password(&text[found.span.clone()])
                        || found.quoted && is_changed(text, place.start, at)
                });
            if let Some(found) = found {
                return ends_well(text, &found).then_some(found.span);
            }
            // "to the server is X": the link may be a word of the phrase.
            if n > 0 && tongue.phrases.is_empty() {
                return None;
            }
        } else if n == 0 {
            if let Some(direct) = direct(place, at) {
                return Some(direct);
            }
            word_of(bytes, at, tongue.phrases)?;
        }
        if n == 0 && word_of(bytes, at, tongue.about).is_some() {
            return None;
        }
        let word = text.get(at..)?;
        let length = word
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ';' | '!' | '?' | '"' | '=' | '|' | '<' | '>')
            })
            .unwrap_or(word.len())
            .min(60);
        let word = word.get(..length)?;
        if length == 0 {
            return None;
        }
        at += length;
        if word.ends_with([':', '：']) {
            let line_end = (0..3).fold(blanks(bytes, at, 3), |at, _| {
                if byte(bytes, at) == b'\n' {
                    blanks(bytes, at + 1, 8)
                } else {
                    at
                }
            });
            let found = value(text, line_end).filter(&accept)?;
            let same_line = !text.get(at..line_end)?.contains('\n');
            let fits = same_line || is_evident_password(&text[found.span.clone()]);
            return (fits && ends_well(text, &found)).then_some(found.span);
        }
        // "the password for root:x"
        if n > 0
            && !word.contains("::")
            && !word.contains("://")
            && let Some((_, said)) = word.split_once(':')
            && is_evident_password(said)
        {
            return Some(at - said.len()..at);
        }
        if word.ends_with(['.', ';']) {
            return None;
        }
    }
    None
}

/// Tells whether the keyword stands there again, as a word of its own with a blank behind it.
fn is_again(place: &Place<'_>, at: usize) -> bool {
    let bytes = place.bytes();
    let end = at + (place.end - place.start);
    bytes.get(at..end) == bytes.get(place.start..place.end) && blanks(bytes, end, 1) > end
}

/// Tells whether a link stands behind the keyword there.
fn is_linked_again(place: &Place<'_>, at: usize, tongue: &Tongue) -> bool {
    let bytes = place.bytes();
    let next = blanks(bytes, at + (place.end - place.start), 2);
    word_of(bytes, next, tongue.links).is_some()
}

/// Tells whether a verb of changing stands before the link: "set the password to".
fn is_changed(text: &str, keyword: usize, link: usize) -> bool {
    const VERBS: &[&str] = &[
        "set",
        "chang",
        "reset",
        "updat",
        "rotat",
        "switch",
        "default",
        "both",
        "cambi",
        "remplac",
        "défini",
        "mud",
        "alter",
        "troc",
        "änder",
        "setz",
        "смен",
        "измен",
        "поменя",
    ];
    let start = text.ceil_char_boundary(keyword.saturating_sub(60));
    text.get(start..link).is_some_and(|window| {
        VERBS
            .iter()
            .any(|verb| crate::shape::contains(window, verb))
    })
}

/// Returns where the keyword ends with what grammar adds to it; none if it is a part of another word.
fn ending(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let plural = usize::from(matches!(byte(rest, 0), b's' | b'S'));
    // Russian cases: one or two Cyrillic letters, two bytes each.
    let cyrillic = rest
        .chunks(2)
        .take(3)
        .take_while(|pair| matches!(pair, [0xd0 | 0xd1, _]))
        .count()
        * 2;
    let mut end = at + plural + cyrillic;
    for closer in ["\"", "'", "`", "**", ")"] {
        if stands(bytes, end, closer) {
            end += closer.len();
            break;
        }
    }
    (!goes_on(bytes, end)).then_some(end)
}

/// Returns the value after a link and its fillers.
fn linked_value(text: &str, link: usize, tongue: &Tongue) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = link;
    if matches!(byte(bytes, at), b':' | b',') {
        at += 1;
    }
    for _ in 0..=MAX_FILLERS {
        let next = blanks(bytes, at, 3);
        if next == at && byte(bytes, at) != b'\n' {
            return None;
        }
        at = next;
        // A colon at the end of the line: the value stands on the next one.
        if byte(bytes, at) == b'\n' && super::scan::before(bytes, at) == b':' {
            at = blanks(bytes, at + 1, 8);
        }
        match word_of(bytes, at, tongue.fillers).or_else(|| {
            tongue
                .fillers
                .iter()
                .find(|word| word.ends_with(':') && stands(bytes, at, word))
                .map(|word| word.len())
        }) {
            Some(length) => at += length,
            None => return value(text, at).map(|value| pair_half(text, value)),
        }
    }
    None
}

/// Returns the second half of `user` / `password`, `user:password` in quotes.
fn pair_half(text: &str, first: Value) -> Value {
    let end = super::scan::after_quotes(text, first.span.end);
    let bytes = text.as_bytes();
    if first.quoted {
        let slash = blanks(bytes, end, 2);
        if byte(bytes, slash) == b'/'
            && let Some(second) = quoted(text, blanks(bytes, slash + 1, 2))
        {
            return second;
        }
    }
    first
}

/// A value in quotes is followed by the end of its word: "`bcrypt`-hashed" tells none.
fn ends_well(text: &str, value: &Value) -> bool {
    let end = super::scan::after_quotes(text, value.span.end);
    let next = byte(text.as_bytes(), end);
    !(value.quoted && (next.is_ascii_alphanumeric() || matches!(next, b'-' | b'_' | b'(' | b'[')))
}

/// Returns the value that follows the keyword without any link: it has to look like a password.
fn direct(place: &Place<'_>, at: usize) -> Option<Range<usize>> {
    let text = place.text;
    let found = value(text, at)?;
    let said = &text[found.span.clone()];
    // "Pass `a=1` to it": the verb.
    let fits = is_evident_password(said) && ends_well(text, &found) && !is_passed(place, said);
    fits.then_some(found.span)
}

/// "Pass `a=1` to it": the verb and what is passed.
pub(super) fn is_passed(place: &Place<'_>, said: &str) -> bool {
    place.end - place.start == "pass".len() && said.contains(['=', '(', '.', ':', '&'])
}

/// The same in scripts without spaces: particles follow the keyword directly.
fn after_joined(
    place: &Place<'_>,
    tongue: &Tongue,
    accept: impl Fn(&Value) -> bool,
) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let mut at = place.end;
    let mut linked = false;
    for _ in 0..4 {
        at = blanks(bytes, at, 2);
        let rest = text.get(at..)?;
        let mark = ["：", ":", "，", "、", "（", "("]
            .iter()
            .find(|mark| rest.starts_with(**mark));
        if let Some(link) = tongue
            .links
            .iter()
            .chain(tongue.fillers)
            .find(|link| rest.starts_with(**link))
        {
            at += link.len();
            linked = true;
        } else if let Some(mark) = mark {
            at += mark.len();
            linked = true;
        } else {
            break;
        }
    }
    at = blanks(bytes, at, 2);
    let found = value(text, at)?;
    let said = &text[found.span.clone()];
    let taken = if linked {
        accept(&found)
    } else {
        accept(&found)
            && (is_evident_password(said) || found.quoted && super::judge::is_strong_password(said))
    };
    taken.then_some(found.span)
}

/// Returns the password that stands before the keyword: "X is the password", "X 是密码".
fn before(place: &Place<'_>, tongue: &Tongue) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let floor = text.ceil_char_boundary(place.start.saturating_sub(MAX_PHRASE_BYTES));
    if tongue.joined {
        return before_joined(place, tongue, floor);
    }
    let end = ending(bytes, place.end)?;
    let next = blanks(bytes, end, 2);
    // "`x` is the password field": the sentence goes on about something else.
    if word_of(bytes, next, tongue.about).is_some()
        || matches!(byte(bytes, end), b'-' | b'_' | b'(' | b'=' | b':' | b'/')
    {
        return None;
    }
    let mut at = place.start;
    for n in 0..MAX_BACK_WORDS {
        let edge = blanks_back(bytes, at, 2);
        if edge == at || edge <= floor {
            return None;
        }
        let start = text[floor..edge]
            .rfind([' ', '\t', '\n'])
            .map_or(floor, |n| floor + n + 1);
        let word = &text[start..edge];
        // What stands before the same word was read with it.
        let is_again = word.starts_with(&text[place.start..place.end])
            && ending(bytes, start + (place.end - place.start)) == Some(edge);
        if n == 0 && is_again {
            return None;
        }
        if tongue
            .back
            .iter()
            .any(|back| back.eq_ignore_ascii_case(word))
            && start > floor
        {
            let end = blanks_back(bytes, start, 2);
            let found = ending_at(text, end, floor)?;
            let said = &text[found.span.clone()];
            let told = if found.quoted {
                is_told_password(said, true)
            } else {
                is_evident_password(said)
            };
            return (told && is_possible(said)).then_some(found.span);
        }
        if word.is_empty()
            || !word
                .chars()
                .all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '/'))
            || word.chars().count() > 16
        {
            return None;
        }
        at = start;
    }
    None
}

/// Returns the value that ends there, with or without quotes.
fn ending_at(text: &str, end: usize, floor: usize) -> Option<Value> {
    let window = text.get(floor..end)?;
    let closing = window.chars().next_back()?;
    let trimmed = window.trim_end_matches([',', ')']);
    let closing_quote = trimmed
        .chars()
        .next_back()
        .filter(|c| matches!(c, '"' | '\'' | '`' | '”' | '»' | '」'));
    if let Some(close) = closing_quote {
        let open = match close {
            '”' => '“',
            '»' => '«',
            '」' => '「',
            same => same,
        };
        let inner = trimmed.trim_end_matches(close);
        let start = inner.rfind(open)? + open.len_utf8();
        let span = floor + start..floor + inner.len();
        return (!span.is_empty() && !text[span.clone()].contains('\n'))
            .then_some(Value { span, quoted: true });
    }
    if closing.is_whitespace() {
        return None;
    }
    let start = trimmed
        .rfind(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '('))
        .map_or(0, |n| {
            n + trimmed[n..].chars().next().map_or(1, char::len_utf8)
        });
    let span = floor + start..floor + trimmed.len();
    (!span.is_empty()).then_some(Value {
        span,
        quoted: false,
    })
}

fn before_joined(place: &Place<'_>, tongue: &Tongue, floor: usize) -> Option<Range<usize>> {
    let text = place.text;
    let window = text.get(floor..place.start)?;
    // The value is the run of ASCII before a few characters that hold a link.
    let run_end = window
        .rfind(|c: char| c.is_ascii_graphic())
        .map(|n| n + 1)?;
    let between = window[run_end..].trim();
    if between.is_empty()
        || between.chars().count() > 6
        || !tongue.back.iter().any(|back| between.starts_with(back))
    {
        return None;
    }
    let found = ending_at(text, floor + run_end, floor)?;
    let mut span = found.span;
    if !found.quoted {
        let said = &text[span.clone()];
        let start = said.rfind(|c: char| !c.is_ascii()).map_or(0, |n| {
            n + said[n..].chars().next().map_or(1, char::len_utf8)
        });
        span = span.start + start..span.end;
    }
    let said = &text[span.clone()];
    (if found.quoted {
        is_told_password(said, true)
    } else {
        is_evident_password(said)
    })
    .then_some(span)
}

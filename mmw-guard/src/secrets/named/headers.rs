//! Credentials in headers of HTTP: `Authorization`, `Bearer`, `Basic`, `Cookie`, and session ids.

use std::ops::Range;

use super::judge::{is_near, is_possible};
use super::names::name_of;
use super::scan::{MAX_VALUE_BYTES, Place, before, blanks, byte, stands};
use crate::entropy::disorder;
use crate::shape;
use crate::views::base64_text;

/// The fewest bytes of a token in a header, and of one after "bearer" alone.
const MIN_HEADER_BYTES: usize = 8;
const MIN_BEARER_BYTES: usize = 20;
/// The fewest bytes of a cookie's value.
const MIN_COOKIE_BYTES: usize = 16;
/// How much of a cookie header is read, in bytes.
const MAX_COOKIE_BYTES: usize = 1000;

const SCHEMES: &[&str] = &[
    "bearer ",
    "token ",
    "apikey ",
    "api-key ",
    "key ",
    "ntlm ",
    "negotiate ",
    "splunk ",
    "bot ",
    "jwt ",
];

/// Returns the credentials of an `Authorization` header, with the rule they fall under.
pub(super) fn authorization(place: &Place<'_>) -> Option<(Range<usize>, &'static str)> {
    let bytes = place.bytes();
    let mut at = place.end;
    while at < place.end + 3 && matches!(byte(bytes, at), b'"' | b'\'' | b'`' | b']' | b'\\') {
        at += 1;
    }
    at = blanks(bytes, at, 3);
    let sign = match byte(bytes, at) {
        b'=' if byte(bytes, at + 1) == b'>' => 2,
        b':' | b'=' | b',' => 1,
        _ => return None,
    };
    at = blanks(bytes, at + sign, 3);
    while matches!(byte(bytes, at), b'"' | b'\'' | b'`' | b'\\') {
        at += 1;
    }
    if stands(bytes, at, "basic ") {
        let start = blanks(bytes, at + 6, 4);
        let span = run(place.text, start);
        return is_basic(&place.text[span.clone()]).then_some((span, "basic-credentials"));
    }
    let scheme = SCHEMES.iter().find(|scheme| stands(bytes, at, scheme));
    if let Some(scheme) = scheme {
        at += scheme.len();
    }
    for label in ["token=", "\"", "'"] {
        if stands(bytes, at, label) {
            at += label.len();
        }
    }
    let span = run(place.text, blanks(bytes, at, 4));
    let value = &place.text[span.clone()];
    let floor = if scheme.is_some() {
        MIN_HEADER_BYTES
    } else {
        MIN_BEARER_BYTES
    };
    (value.len() >= floor && is_token(value)).then_some((span, "bearer-token"))
}

/// Returns the token after the word "bearer".
pub(super) fn bearer(place: &Place<'_>) -> Option<Range<usize>> {
    if before(place.bytes(), place.start).is_ascii_alphanumeric() {
        return None;
    }
    let span = run(place.text, blanks(place.bytes(), place.end, 2));
    let value = &place.text[span.clone()];
    (value.len() >= MIN_BEARER_BYTES && is_token(value) && disorder(value) >= 0.2).then_some(span)
}

/// Returns the base64 after the word "basic" if it says a user and a password.
pub(super) fn basic(place: &Place<'_>) -> Option<Range<usize>> {
    if before(place.bytes(), place.start).is_ascii_alphanumeric() {
        return None;
    }
    let span = run(place.text, blanks(place.bytes(), place.end, 2));
    let value = &place.text[span.clone()];
    (value.len() >= 12 && says_pair(value)).then_some(span)
}

fn is_basic(value: &str) -> bool {
    value.len() >= MIN_HEADER_BYTES
        && (says_pair(value)
            || value.bytes().any(|b| b.is_ascii_digit())
                && !shape::is_identifier(value)
                && is_possible(value)
            || value.ends_with('=') && is_possible(value))
}

fn says_pair(value: &str) -> bool {
    base64_text(value).is_some_and(|said| said.contains(':') && said.len() >= 5)
}

fn is_token(value: &str) -> bool {
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    letter
        && (digit || disorder(value) >= 0.35)
        && !shape::is_identifier(value)
        && is_possible(value)
}

/// Returns the run of characters that a token has.
fn run(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let length = bytes[at..]
        .iter()
        .take(4 * MAX_VALUE_BYTES)
        .take_while(|b| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b'%' | b':'
                )
        })
        .count();
    let end = at + text[at..at + length].trim_end_matches(['.', ':']).len();
    at..end
}

/// Returns the first telling value of a cookie header or variable.
pub(super) fn cookie(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let name = name_of(place, true, false)?;
    let mut at = name.end;
    while at < name.end + 3 && matches!(byte(bytes, at), b'"' | b'\'' | b'`' | b']') {
        at += 1;
    }
    at = blanks(bytes, at, 3);
    if !matches!(byte(bytes, at), b':' | b'=' | b',') {
        return None;
    }
    at = blanks(bytes, at + 1, 3);
    while matches!(byte(bytes, at), b'"' | b'\'' | b'`' | b'\\') {
        at += 1;
    }
    let end = text.floor_char_boundary(at + MAX_COOKIE_BYTES);
    let line = text.get(at..end)?;
    let stop = memchr::memchr3(b'\n', b'"', b'\'', line.as_bytes()).unwrap_or(line.len());
    let line = &line[..memchr::memchr(b'`', &line.as_bytes()[..stop]).unwrap_or(stop)];
    let mut offset = 0;
    for part in line.split_inclusive(';') {
        let start = at + offset;
        offset += part.len();
        let bare = part.trim_end_matches(';');
        let lead = bare.len() - bare.trim_start().len();
        let value = memchr::memchr(b'=', bare.as_bytes())
            .filter(|n| *n < 60 && bare.len() - n > 8)
            .map_or(lead, |n| n + 1);
        let span = run(text, start + value);
        let said = &text[span.start..span.end.min(start + bare.len()).max(span.start)];
        if said.len() >= MIN_COOKIE_BYTES && is_session(said) {
            return Some(span.start..span.start + said.len());
        }
    }
    None
}

/// Returns the value of a session's id: `PHPSESSID=…`, `connect.sid=…`.
pub(super) fn session(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    let mut at = place.end;
    while at < place.end + 16
        && (byte(bytes, at).is_ascii_alphanumeric() || matches!(byte(bytes, at), b'_' | b'.'))
    {
        at += 1;
    }
    for _ in 0..2 {
        if matches!(byte(bytes, at), b'"' | b'\'') {
            at += 1;
        }
    }
    at = blanks(bytes, at, 2);
    if !matches!(byte(bytes, at), b'=' | b':') {
        return None;
    }
    at = blanks(bytes, at + 1, 2);
    while matches!(byte(bytes, at), b'"' | b'\'') {
        at += 1;
    }
    let span = run(place.text, at);
    let value = &place.text[span.clone()];
    (value.len() >= MIN_COOKIE_BYTES && is_session(value)).then_some(span)
}

fn is_session(value: &str) -> bool {
    let hex = value.len() >= 24 && value.bytes().all(|b| b.is_ascii_hexdigit());
    is_possible(value)
        && !shape::is_uuid(value)
        && !shape::is_identifier(value)
        && (hex
            || is_near(value)
            || value.bytes().any(|b| b.is_ascii_digit()) && disorder(value) >= 0.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'t>(text: &'t str, keyword: &str) -> Place<'t> {
        let start = text.to_ascii_lowercase().find(keyword).unwrap();
        Place {
            text,
            start,
            end: start + keyword.len(),
            any_case: false,
        }
    }

    #[test]
    fn a_header_gives_its_credentials_away() {
        for (text, expected) in [
            (
                "Authorization: Basic dXNlcjpwYXNzd29yZA==",
                Some(("dXNlcjpwYXNzd29yZA==", "basic-credentials")),
            ),
            (
                "'Authorization': 'Bearer a1B2c3D4e5F6g7'",
                Some(("a1B2c3D4e5F6g7", "bearer-token")),
            ),
            (
                "headers[\"Authorization\"] = \"Token 9f86d081884c7d65\"",
                Some(("9f86d081884c7d65", "bearer-token")),
            ),
            (
                "Authorization: 9f86d081884c7d659a2feaa0c55ad015",
                Some(("9f86d081884c7d659a2feaa0c55ad015", "bearer-token")),
            ),
            ("Authorization: Bearer <token>", None),
            ("Authorization: Bearer $TOKEN", None),
            ("Authorization: Basic <credentials>", None),
            ("Authorization header", None),
            ("authorization: required-for-all-users", None),
        ] {
            let found = authorization(&place(text, "authorization"));
            assert_eq!(
                found.map(|(span, rule)| (&text[span], rule)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn cookies_and_sessions_are_told_from_ids_in_logs() {
        let hex = "4c536992c26b46b68ffc68ff99b453c1d3041341";
        for (text, expected) in [
            (format!("COOKIE={hex}"), Some(hex)),
            (format!("Cookie: theme=dark; sid={hex}; x=1"), Some(hex)),
            (
                format!("Set-Cookie: session={hex}; Path=/; HttpOnly"),
                Some(hex),
            ),
            ("COOKIE=$COOKIE".to_owned(), None),
            ("Cookie: session=<id>".to_owned(), None),
            ("cookie: SameSite-Strict-Secure-HttpOnly".to_owned(), None),
            ("cookie_name=9f86d081884c7d659a2f".to_owned(), None),
        ] {
            assert_eq!(
                cookie(&place(&text, "cookie")).map(|span| &text[span]),
                expected,
                "{text}"
            );
        }
        for (text, expected) in [
            (format!("PHPSESSID={hex}"), Some(hex)),
            (
                "sessid=0192f0c1-8a6b-7c3d-9e4f-0123456789ab".to_owned(),
                None,
            ),
        ] {
            assert_eq!(
                session(&place(&text, "sessid")).map(|span| &text[span]),
                expected,
                "{text}"
            );
        }
    }
}

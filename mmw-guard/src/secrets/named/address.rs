//! Passwords and tokens in addresses: `scheme://user:password@host`, `scheme://token@host`.

use std::ops::Range;

use super::judge::{is_near, is_possible};
use super::scan::{Place, byte};

/// The most bytes of user information.
const MAX_USERINFO_BYTES: usize = 300;

/// Returns the password of the address whose `://` the keyword is.
pub(super) fn password(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    let scheme = bytes[..place.start]
        .iter()
        .rev()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        .count();
    if scheme == 0 {
        return None;
    }
    let window = &bytes[place.end..(place.end + MAX_USERINFO_BYTES).min(bytes.len())];
    let authority = window
        .iter()
        .position(|b| {
            b.is_ascii_whitespace()
                || b.is_ascii_control()
                || matches!(b, b'/' | b'"' | b'`' | b'<' | b'>' | b'\\')
        })
        .unwrap_or(window.len());
    // A password may hold `@`, `?` and `#`, as people write them; a host holds none.
    let at = window[..authority]
        .iter()
        .rposition(|b| *b == b'@')
        .or_else(|| slashed(window))?;
    let userinfo = &window[..at];
    if !is_host(byte(window, at + 1)) {
        return None;
    }
    let Some(colon) = userinfo.iter().position(|b| *b == b':') else {
        let token = place.text.get(place.end..place.end + at)?;
        return is_near(token).then_some(place.end..place.end + at);
    };
    if userinfo[..colon]
        .iter()
        .any(|b| matches!(b, b'?' | b'#' | b'=' | b'(' | b')' | b'|' | b','))
    {
        return None;
    }
    let span = place.end + colon + 1..place.end + at;
    let value = place.text.get(span.clone())?;
    let user = place.text.get(place.end..place.end + colon)?;
    let port = value.bytes().take_while(u8::is_ascii_digit).count();
    let is_port =
        port > 0 && !byte(value.as_bytes(), port).is_ascii_alphanumeric() && user.contains('.');
    (!value.is_empty()
        && !is_port
        && !value.contains("://")
        && !is_slot(user)
        && !is_slot(value)
        && is_a_password(value))
    .then_some(span)
}

/// `{user}:{pass}@`, `user:****@`
fn is_slot(value: &str) -> bool {
    value.starts_with(['{', '<', '[', '$', '%'])
        && value.len() < 40
        && (crate::shape::is_example(value) || value.ends_with(['}', '>', ']']))
}

/// In an address a password needs no form: only slots and stars are none.
fn is_a_password(value: &str) -> bool {
    is_possible(value)
        || value.starts_with('/')
        || value.contains('.') && !crate::shape::is_example(value)
}

/// A password with a slash in it: the `@` stands before the end of the word, and a host behind.
fn slashed(window: &[u8]) -> Option<usize> {
    let end = window
        .iter()
        .position(|b| {
            b.is_ascii_whitespace()
                || b.is_ascii_control()
                || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>')
        })
        .unwrap_or(window.len());
    let slash = window[..end].iter().position(|b| *b == b'/')?;
    let colon = window[..slash].iter().position(|b| *b == b':')?;
    // `host:8080/@scope` has a port there.
    if window[colon + 1..slash].iter().all(u8::is_ascii_digit) {
        return None;
    }
    window[..end]
        .iter()
        .position(|b| *b == b'@')
        .filter(|at| *at > slash)
}

fn is_host(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'[' | b'_' | b'%' | b'$' | b'{' | b'<' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_information_gives_its_password_away() {
        for (text, expected) in [
            (
                "postgres://app:hunter2@db.internal:5432/app",
                Some("hunter2"),
            ),
            ("redis://:s3cret@10.0.0.1:6379/0", Some("s3cret")),
            ("mongodb+srv://u:p@ss#w@c0.example.net/x", Some("p@ss#w")),
            ("amqp://u:a/b9@mq", Some("a/b9")),
            ("адрес=mysql://root:toor@db/x", Some("toor")),
            ("\"http://user:pass@127.0.0.1:8080\"", Some("pass")),
            ("https://example.org:8080/@scope/name", None),
            ("http://localhost:3000/users/me@example.org", None),
            ("postgres://user:${PASSWORD}@host/db", None),
            ("https://{user}:{pass}@host", None),
            ("postgres://<user>:<password>@host", None),
            ("redis://user:****@host", None),
            ("://a:b@c", None),
            ("https://example.org/a?b=c:d@e", None),
        ] {
            let start = text.find("://").unwrap();
            let place = Place {
                text,
                start,
                end: start + 3,
                any_case: false,
            };
            assert_eq!(password(&place).map(|span| &text[span]), expected, "{text}");
        }
    }
}

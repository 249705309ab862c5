//! A user name and a password side by side: `login admin / x`, `id/pw: a/b`, `10.0.0.7(root/x)`.
//!
//! The password of a pair has to look like one by itself, or to stand in quotes after a word that
//! announces credentials.

use std::ops::Range;

use super::judge::{is_evident_password, is_told_password};
use super::scan::{
    Place, Value, after_quotes, before, blanks, byte, goes_on, quoted, stands, value,
};

/// The longest user name, in bytes.
const MAX_USER_BYTES: usize = 64;
/// How far a pair may stand from the word that announces it, in bytes.
const MAX_LEAD_BYTES: usize = 48;

/// Signs and words between the two.
const BETWEEN: &[&str] = &[
    " / ", "/", " // ", " : ", ":", " | ", " and ", " with ", " y ", " und ", " et ", " и ",
];

/// Returns the password of the pair that is announced by the keyword (`login`, `credentials`).
pub(super) fn announced(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    if before(bytes, place.start).is_ascii_alphabetic() && bytes[place.start].is_ascii_lowercase() {
        return None;
    }
    let limit = (place.end + MAX_LEAD_BYTES).min(text.len());
    let keyword = &text[place.start..place.end];
    let mut at = place.end;
    while at < limit && byte(bytes, at) != b'\n' {
        // A pair begins where a word or a quote does.
        let here = byte(bytes, at);
        let begins = !goes_on(bytes, at.saturating_sub(1))
            // A part of a path or an address is no user.
            && !matches!(before(bytes, at), b'/' | b'#' | b'?' | b'=' | b'.')
            && (here.is_ascii_alphanumeric() || matches!(here, b'"' | b'\'' | b'`'));
        if begins
            && at > place.end
            && let Some((user, pass)) = pair_at(text, at)
        {
            let said = &text[pass.span.clone()];
            let listed = text[user.span.end..pass.span.start].contains(',');
            let told = if user.quoted && pass.quoted && !listed {
                is_told_password(said, true) && !text[user.span.clone()].contains('/')
            } else {
                is_evident_password(said)
                    || pass.quoted && !listed && is_told_password(said, true) && at <= place.end + 4
            };
            if told {
                return Some(pass.span);
            }
        }
        // The same word again announces what follows it.
        if begins && at > place.end && stands(bytes, at, keyword) {
            return None;
        }
        let in_word = goes_on(bytes, at);
        at += 1;
        while in_word
            && at < limit
            && goes_on(bytes, at)
            && !matches!(byte(bytes, at), b'"' | b'\'' | b'`')
        {
            at += 1;
        }
    }
    None
}

/// Returns the password of the pair in the value that is assigned to `id/pw`.
pub(super) fn half(text: &str, value: &Value) -> Option<Range<usize>> {
    let (_, pass) = pair_at(text, value.span.start)?;
    Some(pass.span)
}

/// Returns the user and the password that begin there.
pub(super) fn pair_at(text: &str, at: usize) -> Option<(Value, Value)> {
    let bytes = text.as_bytes();
    let user = match quoted(text, at) {
        Some(user) => user,
        None => {
            let length = bytes[at..]
                .iter()
                .take(MAX_USER_BYTES)
                .take_while(|b| {
                    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'@' | b'+')
                })
                .count();
            if length == 0 || !byte(bytes, at).is_ascii_alphanumeric() {
                return None;
            }
            Value {
                span: at..at + length,
                quoted: false,
            }
        }
    };
    if user.span.len() > MAX_USER_BYTES || text[user.span.clone()].contains(' ') {
        return None;
    }
    let after = if user.quoted {
        after_quotes(text, user.span.end)
    } else {
        user.span.end
    };
    let rest = text.get(after..)?;
    let between = BETWEEN
        .iter()
        .find(|sign| stands(bytes, after, sign))
        .map(|sign| sign.len())
        .or_else(|| {
            (rest.starts_with(',') && byte(bytes, after + 1).is_ascii_alphanumeric()).then_some(1)
        })
        .or_else(|| (rest.starts_with(", ") && user.quoted).then_some(2))
        .or_else(|| rest.starts_with('(').then_some(1))?;
    // `name: Type` is code, `user:password` and `user : password` are pairs.
    if between == 1
        && !user.quoted
        && rest.starts_with(':')
        && matches!(byte(bytes, after + 1), b' ' | b':')
    {
        return None;
    }
    let mut start = blanks(bytes, after + between, 3);
    for label in ["password ", "pass ", "pw "] {
        if stands(bytes, start, label) {
            start += label.len();
        }
    }
    let mut pass = value(text, start)?;
    if !pass.quoted {
        // `a/b/c` is a path, `root:x:0:0` a line of a table.
        let said = &text[pass.span.clone()];
        let argument = rest.starts_with('(') && said.contains('=');
        if argument
            || said.contains(['/', '(', '['])
            || said.starts_with('&')
            || said.matches(':').count() > 1
        {
            return None;
        }
        let said = said.trim_end_matches(['.', ',', ')', '!', '?', ':']);
        let kept = if text[pass.span.clone()]
            .trim_end_matches(['.', ',', ')', ':'])
            .len()
            > said.len()
            && said.len() < pass.span.len()
        {
            text[pass.span.clone()]
                .trim_end_matches(['.', ',', ')', ':'])
                .len()
        } else {
            said.len()
        };
        pass.span.end = pass.span.start + kept;
    }
    Some((user, pass))
}

/// Returns the password of the pair that follows an IP address, given its beginning.
pub(super) fn beside_address(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let start = place.start
        - bytes[..place.start]
            .iter()
            .rev()
            .take(2)
            .take_while(|b| b.is_ascii_digit())
            .count();
    if matches!(before(bytes, start), b'.' | b'-' | b'_')
        || before(bytes, start).is_ascii_alphanumeric()
    {
        return None;
    }
    let mut at = start;
    for n in 0..4 {
        let digits = bytes[at..]
            .iter()
            .take(4)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        at += digits;
        if n < 3 {
            if byte(bytes, at) != b'.' {
                return None;
            }
            at += 1;
        }
    }
    if byte(bytes, at) == b':' {
        let digits = bytes[at + 1..]
            .iter()
            .take(5)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if digits >= 2 {
            at += 1 + digits;
        }
    }
    let signs = bytes[at..]
        .iter()
        .take(4)
        .take_while(|b| matches!(b, b' ' | b',' | b'(' | b'/' | b':' | b'-' | b'\t' | b'|'))
        .count();
    if signs == 0 {
        return None;
    }
    at += signs;
    let (user, pass) = pair_at(text, at)?;
    let said = &text[pass.span.clone()];
    (is_evident_password(said) && byte(bytes, user.span.start).is_ascii_alphabetic())
        .then_some(pass.span)
}

/// Returns the password that a well-known account's name and its sign (`root/`, `admin:`) precede.
pub(super) fn of_account(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let edge = before(bytes, place.start);
    if edge.is_ascii_alphanumeric()
        || matches!(edge, b'/' | b'.' | b'-' | b'_' | b'@' | b':' | b'\\')
    {
        return None;
    }
    let found = value(text, place.end)?;
    let said = text.get(found.span.clone())?;
    let upper = said.bytes().any(|b| b.is_ascii_uppercase());
    let lower = said.bytes().any(|b| b.is_ascii_lowercase());
    let symbol = said
        .bytes()
        .any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*'));
    let digit = said.bytes().any(|b| b.is_ascii_digit());
    let mixed = digit && (symbol || upper && lower) && !said.contains(['/', ':', '(']);
    (mixed && said.len() >= 6 && is_evident_password(said)).then_some(found.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        of: fn(&Place<'_>) -> Option<Range<usize>>,
        keyword: &str,
        cases: &[(&str, Option<&str>)],
    ) {
        for (text, expected) in cases {
            let start = text.find(keyword).unwrap();
            let place = Place {
                text,
                start,
                end: start + keyword.len(),
                any_case: false,
            };
            assert_eq!(of(&place).map(|span| &text[span]), *expected, "{text}");
        }
    }

    #[test]
    fn a_pair_follows_the_word_that_announces_it() {
        check(
            announced,
            "login",
            &[
                ("login admin / Secret1x!", Some("Secret1x!")),
                ("login: admin/Secret1x", Some("Secret1x")),
                ("login is `admin` / `admin`", Some("admin")),
                ("login page / sign-up page", None),
                ("login via src/auth/Login2.tsx", None),
                ("login with username and password", None),
                ("login: user and password2", None),
                (
                    "login: https://tools.example/html/rfc6749#section-4.3",
                    None,
                ),
                ("login keys = self.get_keys(refresh=True)", None),
                ("login [x](docs/issue-codes.md#E004)", None),
            ],
        );
    }

    #[test]
    fn a_pair_stands_beside_an_address() {
        check(
            beside_address,
            "10.2",
            &[
                ("10.20.30.40 root/Secr3tXy", Some("Secr3tXy")),
                ("10.20.30.40(admin/Secr3t!x)", Some("Secr3t!x")),
                ("10.20.30.40:22, master/iP32dT_o", Some("iP32dT_o")),
                ("10.20.30.0/24 net/core", None),
                ("10.20.30.4 docs/setup.md", None),
                ("v10.2.1 a/B2c3d4", None),
            ],
        );
        check(
            of_account,
            "root/",
            &[
                ("root/Prl23Db#@", Some("Prl23Db#@")),
                (concat!("/", "root/Prl23Db"), None),
                ("root/setup", None),
                ("root/v2beta1", None),
            ],
        );
    }
}

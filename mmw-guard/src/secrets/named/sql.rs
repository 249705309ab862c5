//! Passwords in SQL: `IDENTIFIED BY 'x'`, `CREATE USER a WITH PASSWORD 'x'`, `PASSWORD('x')`.

use std::ops::Range;

use super::judge::{is_plain_password, is_strong_password};
use super::scan::{Place, blanks, byte, quoted, stands, value, word_of};

/// Words between `IDENTIFIED` and the value, in any order the grammars have.
const GRAMMAR: &[&str] = &[
    "by",
    "with",
    "as",
    "using",
    "password",
    "values",
    "mysql_native_password",
    "caching_sha2_password",
    "sha256_password",
    "sha256_hash",
    "plaintext_password",
    "ed25519",
];
/// How far before the keyword its statement may begin, in bytes.
const MAX_STATEMENT_BYTES: usize = 160;
/// Words of statements that set a password.
const STATEMENTS: &[&str] = &[
    "create user",
    "create role",
    "alter user",
    "alter role",
    "alter login",
    "create login",
    "set password",
    "grant ",
];

/// Returns the password after `IDENTIFIED`.
pub(super) fn identified(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let mut at = place.end;
    let mut by = false;
    let mut with = false;
    for _ in 0..5 {
        at = white(bytes, at);
        if let Some(length) = word_of(bytes, at, GRAMMAR) {
            // "identified as" alone is a sentence.
            with |= stands(bytes, at, "with");
            by |= stands(bytes, at, "by") || with && stands(bytes, at, "as");
            at += length;
        } else if let Some(plugin) = quoted(text, at).filter(|_| !by) {
            // A plugin's name, or the value after `WITH`.
            let next = white(bytes, super::scan::after_quotes(text, plugin.span.end));
            word_of(bytes, next, GRAMMAR)?;
            at = next;
        } else {
            break;
        }
    }
    // No statement has a value in backticks, but sentences do.
    if !by || byte(bytes, at) == b'`' {
        return None;
    }
    let found = value(text, at)?;
    let said = &text[found.span.clone()];
    let fits = if found.quoted {
        is_plain_password(said)
    } else {
        is_strong_password(said)
    };
    fits.then_some(found.span)
}

/// Returns the password after the keyword `PASSWORD` of a statement.
pub(super) fn password(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let mut at = white(bytes, place.end);
    if matches!(byte(bytes, at), b'=' | b'(') {
        at = white(bytes, at + 1);
    }
    if at == place.end {
        return None;
    }
    let found = value(text, at)?;
    let said = &text[found.span.clone()];
    let single = byte(bytes, at) == b'\'';
    let plain = found.quoted && single && is_plain_password(said);
    let shouted = byte(bytes, place.start) == b'P' && byte(bytes, place.end - 1) == b'D';
    let fits = shouted && plain || (plain || is_strong_password(said)) && states(place);
    fits.then_some(found.span)
}

/// Tells whether the statement before the keyword sets a password.
fn states(place: &Place<'_>) -> bool {
    let start = place
        .text
        .ceil_char_boundary(place.start.saturating_sub(MAX_STATEMENT_BYTES));
    let head = place.text.get(start..place.start).unwrap_or("");
    let statement = head.rsplit(';').next().unwrap_or(head);
    STATEMENTS
        .iter()
        .any(|words| crate::shape::contains(statement, words))
}

fn white(bytes: &[u8], at: usize) -> usize {
    let mut at = blanks(bytes, at, 8);
    while matches!(byte(bytes, at), b'\n' | b'\r') {
        at = blanks(bytes, at + 1, 16);
    }
    at
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
            let start = text.to_ascii_lowercase().rfind(keyword).unwrap();
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
    fn identified_is_followed_by_its_password() {
        check(
            identified,
            "identified",
            &[
                ("CREATE USER a IDENTIFIED BY 'hunter';", Some("hunter")),
                (
                    "create user a@'%' identified with mysql_native_password by 'hunter'",
                    Some("hunter"),
                ),
                (
                    "ALTER USER a IDENTIFIED BY PASSWORD '*2470C0C06'",
                    Some("*2470C0C06"),
                ),
                ("CREATE USER a IDENTIFIED BY hunter2;", Some("hunter2")),
                ("a user is identified by name", None),
                ("the process identified by `pid`", None),
                ("errors identified by `code: 'ERR_INVALID_TOKEN'`", None),
                ("memory identified as 'Slow Memory'", None),
                ("IDENTIFIED BY '<password>'", None),
                ("IDENTIFIED BY '${PW}'", None),
            ],
        );
    }

    #[test]
    fn a_statement_sets_its_password() {
        check(
            password,
            "password",
            &[
                ("CREATE ROLE a LOGIN PASSWORD 'hunter';", Some("hunter")),
                ("ALTER LOGIN a WITH PASSWORD = 'hunter'", Some("hunter")),
                (
                    "CREATE ROLE a WITH LOGIN PASSWORD SqLpa5sW0rD;",
                    Some("SqLpa5sW0rD"),
                ),
                (
                    "SET PASSWORD FOR 'a'@'h' = PASSWORD('hunter')",
                    Some("hunter"),
                ),
                ("ALTER USER a PASSWORD EXPIRE INTERVAL 90 DAY", None),
                ("SELECT password FROM users", None),
            ],
        );
    }
}

//! Judges a value whose place is known: is it a secret, or code, an example, a term?
//!
//! How much a value has to show depends on how plainly it is called a secret: an environment line
//! needs nothing, a bare word in a sentence a digit or a symbol.

use super::scan::Value;
use crate::entropy::{disorder, shannon};
use crate::shape;

/// The fewest bytes of a password, of one in a sentence, and of a key.
const MIN_PASSWORD_BYTES: usize = 3;
const MIN_TOLD_BYTES: usize = 4;
const MIN_SECRET_BYTES: usize = 8;
/// The fewest bytes of a key in quotes that is too mixed for a name.
const MIN_QUOTED_SECRET_BYTES: usize = 6;
/// The fewest bytes of a key that only stands near a word for one.
const MIN_NEAR_BYTES: usize = 20;
/// The least entropy of a key, in bits per byte.
const MIN_SECRET_ENTROPY: f64 = 2.5;

/// Words for the thing itself, which fields of forms have for a value.
const LABELS: &[&str] = &[
    "passwort",
    "kennwort",
    "wachtwoord",
    "senha",
    "contrase",
    "clave",
    "mot de passe",
    "parola",
    "lozinka",
    "heslo",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "login",
    "admin_password",
    "submit",
    "confirm",
    "forgot",
    "reset",
    "change",
    "current",
];

/// Tells whether a value may be a secret at all: no example, code, path or hash.
pub(super) fn is_possible(value: &str) -> bool {
    !(value.is_empty()
        || value.starts_with("--")
        || value.bytes().any(|b| b == crate::placeholder::FILLER)
        || shape::is_example(value)
        || shape::is_code(value)
        || shape::is_path(value)
        || shape::is_named_hash(value)
        || shape::is_term(value))
}

/// Tells whether a value is a password where only a password can stand: an environment line, SQL.
pub(super) fn is_plain_password(value: &str) -> bool {
    value.len() >= MIN_PASSWORD_BYTES
        && is_possible(value)
        && !is_shouted_word(value)
        && !shape::is_address(value)
        && value.bytes().any(|b| b.is_ascii_alphanumeric())
        && !value.starts_with("--")
}

/// Tells whether a value in quotes is a password that is assigned to its name.
pub(super) fn is_quoted_password(value: &str, phrase: bool) -> bool {
    let spaces = value.bytes().filter(|b| *b == b' ').count();
    let joined =
        value.contains(['_', '-', '.']) || value.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let named = joined && (shape::contains(value, "pass") || shape::contains(value, "pwd"))
        || value.contains(['_', '-'])
            && value
                .bytes()
                .all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'));
    is_plain_password(value)
        && value.is_ascii() | shape::is_strong(value)
        && (spaces == 0
            || phrase && spaces >= 3
            || spaces == 1 && shape::is_strong(value) && !is_sentence(value))
        && (!named || shape::is_strong(value) && !shape::is_identifier(value))
        && !LABELS.iter().any(|label| {
            value.len() <= label.len() + 3
                && shape::contains(value, label)
                && !shape::is_strong(value)
        })
        && !is_rule_list(value)
}

fn is_sentence(value: &str) -> bool {
    value.split(' ').all(|word| {
        word.trim_end_matches(['.', ',', '?', '!', ':'])
            .bytes()
            .all(|b| b.is_ascii_alphabetic())
    })
}

/// `required|min:8`: what a validator wants.
fn is_rule_list(value: &str) -> bool {
    value.split(['|', ',', ':', ';']).count() > 1
        && value
            .split(['|', ',', ':', ';'])
            .any(|part| shape::is_code(part) || matches!(part, "min" | "max" | "len" | "size"))
}

/// `VALUE`, `TOKEN`, `USER1`: what help texts write for an argument.
fn is_shouted_word(value: &str) -> bool {
    let word = value
        .strip_suffix(|c: char| c.is_ascii_digit())
        .unwrap_or(value);
    (2..=12).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Tells whether a value without quotes is a password that is assigned to its name.
pub(super) fn is_strong_password(value: &str) -> bool {
    value.len() >= MIN_TOLD_BYTES
        && (shape::is_strong(value) || is_unreadable(value))
        && is_possible(value)
        && !shape::is_measure(value)
        && !shape::is_address(value)
        && !is_versioned_name(value)
}

/// `password2`, `oldPassword1`: a name that is fetched from elsewhere.
fn is_versioned_name(value: &str) -> bool {
    shape::is_identifier(value)
        && (value.len() <= 16
            && value.trim_end_matches(|c: char| c.is_ascii_digit()).len() + 1 == value.len()
            || value.contains(['_', '-', '.', '/']))
        && [
            "password", "passwd", "secret", "token", "key", "pwd", "config", "env", "user",
        ]
        .iter()
        .any(|word| shape::contains(value, word))
}

/// Letters that no word has: `NsIdksKJdj`.
fn is_unreadable(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && !shape::is_identifier(value)
        && disorder(value) >= 0.4
}

/// Tells whether a sentence that says "the password is" tells this one.
pub(super) fn is_told_password(value: &str, quoted: bool) -> bool {
    let name = value.contains('_') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let strong = is_strong_password(value);
    strong && !is_jargon(value)
        || quoted
            && value.len() >= MIN_TOLD_BYTES
            && !name
            && !value.contains(' ')
            && is_possible(value)
            && !is_shouted_word(value)
            && !shape::is_address(value)
            && !shape::is_measure(value)
            && value.is_ascii()
            && !LABELS.contains(&value)
}

/// Words with a digit or sign that sentences have: `k8s-secret`, `step-2`, `AES-encrypted`, `8+`.
fn is_jargon(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let signs = value
        .bytes()
        .filter(|b| matches!(b, b'-' | b'/' | b'+' | b'\''))
        .count();
    let symbols = value.bytes().any(|b| {
        matches!(
            b,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'='
        )
    });
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let words = !value.bytes().any(|b| b.is_ascii_uppercase())
        && value
            .split(['-', '/'])
            .any(|part| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_lowercase()));
    signs > 0 && !symbols && digits <= 2 && words
        || signs > 0 && !symbols && (digits <= 1 || letters < 3) && shape::is_identifier(value)
        || letters == 0 && value.len() < 6
        || value.contains("://")
        || value.starts_with(['#', '@', '/', '~']) && !has_two_kinds(value)
        || value.ends_with('=') && digits == 0
}

fn has_two_kinds(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Tells whether a value right after a word for a password, or in a pair, is one: it has to look
/// like one by itself.
pub(super) fn is_evident_password(value: &str) -> bool {
    let upper = value.bytes().any(|b| b.is_ascii_uppercase());
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let symbol = value.bytes().any(|b| {
        matches!(
            b,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'=' | b'+'
        )
    });
    let kinds = [upper, lower, digit, symbol]
        .into_iter()
        .filter(|kind| *kind)
        .count();
    value.len() >= 5
        && (kinds >= 3 && (symbol || digit && !is_numbered_word(value))
            || kinds == 2
                && digit
                && (lower || upper)
                && (value.len() >= 6 && !is_numbered_word(value))
            || kinds == 2
                && symbol
                && !value.ends_with(['!', '?', '=', '*'])
                && !value.starts_with(['@', '#', '&', '*', '~', '$']))
        && is_strong_password(value)
        && !is_jargon(value)
        && !value.contains('/')
        && !is_file(value.split(['#', '?']).next().unwrap_or(value))
}

/// `Python3`, `chapter12`: a word and its number.
fn is_numbered_word(value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = word.bytes().all(|b| b.is_ascii_lowercase());
    let name = word.bytes().skip(1).all(|b| b.is_ascii_lowercase());
    !lower && name && value.len() - word.len() <= 1
        || word.bytes().all(|b| b.is_ascii_uppercase())
        || value
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
            && value.len() < 8
        || shape::is_identifier(value) && (value.contains(['_', '-', '.']))
}

fn is_file(value: &str) -> bool {
    value.rsplit_once('.').is_some_and(|(stem, end)| {
        (1..=5).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_lowercase())
            && stem
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    })
}

/// Tells whether a value that is assigned to a name for a key, token or secret is one.
pub(super) fn is_secret(value: &Value, text: &str, names_key: bool) -> bool {
    let value_text = &text[value.span.clone()];
    let floor = if value.quoted {
        MIN_QUOTED_SECRET_BYTES
    } else {
        MIN_SECRET_BYTES
    };
    let (mut digit, mut letter, mut plain) = (false, false, true);
    for b in value_text.bytes() {
        digit |= b.is_ascii_digit();
        letter |= b.is_ascii_alphabetic();
        plain &= b.is_ascii() & (b != b' ');
    }
    if value_text.len() < floor || !letter || !plain {
        return false;
    }
    let is_name = shape::is_identifier(value_text);
    let odd = std::cell::LazyCell::new(|| disorder(value_text));
    let mixed = digit && !is_name
        || !digit && value_text.len() >= MIN_SECRET_BYTES && *odd >= 0.35
        || value.quoted && !is_name && *odd >= 0.25 && shape::is_strong(value_text)
        || !digit && value_text.len() >= 16 && !is_name && shannon(value_text) >= 4.0
        || shape::is_digest(value_text);
    mixed
        && shannon(value_text) >= MIN_SECRET_ENTROPY.min((value_text.len() as f64).log2() - 0.6)
        && is_possible(value_text)
        && !shape::is_measure(value_text)
        && !shape::is_address(value_text)
        && !is_file(value_text)
        && (names_key || !shape::is_uuid(value_text))
}

/// Tells whether a run of characters near a word for a key is one: long, mixed, no digest, no name.
pub(super) fn is_near(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    value.len() >= MIN_NEAR_BYTES
        && digits >= 2
        && letters >= 4
        && shape::is_random(value)
        && shannon(value) >= 3.0
        && !shape::is_digest(value)
        && !shape::is_uuid(value)
        && !shape::is_identifier(value)
        && is_possible(value)
        && !shape::is_measure(value)
        && !is_file(value)
        && value.bytes().filter(|b| *b == b'/').count() <= 2
        && value.bytes().filter(|b| *b == b'.').count() <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: impl Fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        for value in yes {
            assert!(is(value), "{value}");
        }
        for value in no {
            assert!(!is(value), "{value}");
        }
    }

    #[test]
    fn an_assigned_password_is_told_from_code_and_labels() {
        check(
            |value| is_quoted_password(value, false),
            &["hunter", "odoo", "s3cret!", "Tr0ub4dor&3", "my pass9word"],
            &[
                "required",
                "Your password",
                "Enter password",
                "user_password",
                "db-password",
                "${PW}",
                "Passwort",
                "currentPassword",
                "required|min:8",
                "",
                "<pw>",
                "password-input",
                "****",
            ],
        );
        check(
            is_strong_password,
            &["hunter2", "abc123!", "Prl23Db#@", "NsIdksKJdj", "847362"],
            &[
                "stored",
                "password2",
                "SHA-256",
                "2026-01-02",
                "10.0.0.1",
                "me@example.org",
                "getPassword2()",
                "v1.2.3",
                "12:30",
            ],
        );
        check(
            is_plain_password,
            &["odoo", "secret1", "mysecret", "x!y"],
            &["VALUE", "$PW", "/run/secrets/pw", "null", "--flag"],
        );
    }

    #[test]
    fn a_told_password_needs_quotes_or_a_sign_of_its_own() {
        check(
            |value| is_told_password(value, false),
            &["hunter2", "237dg546fs9", "correct-Horse-7!", "s3cret"],
            &[
                "incorrect",
                "case-sensitive",
                "step-2",
                "SHA-256",
                "k8s-managed",
                "1234",
                "https://a.example/x1",
            ],
        );
        check(
            |value| is_told_password(value, true),
            &["root", "mypassword"],
            &["DB_PASSWORD", "required", "user_name", ".env"],
        );
        check(
            is_evident_password,
            &["Prl23Db#@", "iP34dT_o", "hunter2", "p@ssword", "Secret1!"],
            &[
                "Python3",
                "chapter-12",
                "v2beta1.md",
                "setup",
                "HTTP2",
                "src/Foo2",
                "important!",
            ],
        );
    }

    #[test]
    fn a_key_is_told_from_names_digests_and_ids() {
        let secret = |text: &str| {
            let value = Value {
                span: 0..text.len(),
                quoted: false,
            };
            is_secret(&value, text, true)
        };
        check(
            secret,
            &[
                "AIhq5Xyb1Gga9Q7",
                "317cf534eb5cdbc43e34632023ed9e93",
                "g1re0g1T0keN3zWx",
                "0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
            ],
            &[
                "AuthToken",
                "my-app-secret-v1",
                "YOUR_API_KEY",
                "sha256:2c26b46b68ffc68f",
                "4096",
                "claude-sonnet-4-20250514",
                "getSecret()",
            ],
        );
        check(
            is_near,
            &[
                "AIhq5Xyb1Gga9Q7x2Kd8",
                "J38YmIgn7dH6cw4W1yqoRgjsFsWvysFjfVcpCh7O9Yyv9/qNvNI",
            ],
            &[
                "4c536992c26b46b68ffc68ff99b453c1d3041341",
                "0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
                "getAccessTokenFromSession2",
                "anthropic-claude-sonnet-4-20250514",
                "src/auth/token_refresh_v2.rs",
            ],
        );
    }
}

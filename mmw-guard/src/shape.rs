//! Forms that look like a secret's value and are none: placeholders of examples, identifiers,
//! code, paths, hashes. Decided by form alone; a memory has no file path to go by.

mod code;
mod example;
mod term;

pub(crate) use self::code::is_code;
pub(crate) use self::example::{is_example, is_monotone, is_periodic};
pub(crate) use self::term::is_term;
use crate::entropy::{disorder, shannon};

/// Tells whether a text contains a word of lower-case ASCII letters in any case.
pub(crate) fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let (Some((first, rest)), Some(last)) =
        (word.split_first(), text.len().checked_sub(word.len()))
    else {
        return word.is_empty();
    };
    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), &text[..=last])
        .any(|at| text[at + 1..=at + rest.len()].eq_ignore_ascii_case(rest))
}

/// Tells whether a text begins with a word of lower-case ASCII letters in any case.
fn starts_with(text: &str, word: &str) -> bool {
    let text = text.as_bytes();
    text.first().map(u8::to_ascii_lowercase) == word.as_bytes().first().copied()
        && text
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

fn is_name(value: &str) -> bool {
    !value.is_empty()
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !value.as_bytes()[0].is_ascii_digit()
}

/// Tells whether a value has characters that no word has, by far: a key, not a name.
///
/// Sixteen characters and more of letters and digits; `-`, `_` and the like part words.
pub(crate) fn is_random(value: &str) -> bool {
    let alphanumeric = value.bytes().filter(u8::is_ascii_alphanumeric).count();
    alphanumeric >= 12 && alphanumeric * 4 >= value.len() * 3 && disorder(value) >= RANDOM_DISORDER
}

/// The share of neighbours that words don't have, from which on a text is no name.
const RANDOM_DISORDER: f64 = 0.27;

/// Tells whether a value is a hexadecimal digest by its length: 32, 40, 64 or 128 digits.
pub(crate) fn is_digest(value: &str) -> bool {
    matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && value.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Tells whether a value is an address of a machine or person: IP, MAC, e-mail.
pub(crate) fn is_address(value: &str) -> bool {
    if !value
        .bytes()
        .any(|b| matches!(b, b'.' | b':' | b'-' | b'@'))
    {
        return false;
    }
    let dotted = value.split(':').next().unwrap_or("");
    let ip = dotted.split('.').count() == 4
        && dotted
            .split('.')
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    let mac = value.split([':', '-']).count() >= 4
        && value
            .split([':', '-'])
            .all(|part| part.len() <= 4 && part.bytes().all(|b| b.is_ascii_hexdigit()));
    let mail = value.split_once('@').is_some_and(|(person, host)| {
        let plain = |text: &str, more: &[u8]| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || more.contains(&b))
        };
        plain(person, b"._+-")
            && plain(host, b".-")
            && host.rsplit_once('.').is_some_and(|(_, end)| {
                (2..=8).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase())
            })
    });
    ip || mac || mail
}

/// Tells whether a value is a date, a time, a version, an amount: digits and their signs only.
pub(crate) fn is_measure(value: &str) -> bool {
    const UNITS: &[&str] = &[
        "", "v", "k", "m", "g", "b", "s", "h", "d", "w", "x", "ms", "us", "ns", "kb", "mb", "gb",
        "tb", "px", "em", "rem", "min", "hrs", "hours", "days", "day", "weeks", "bit", "bits",
        "bytes", "chars", "t", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
        "i64", "i128", "isize", "f32", "f64", "u", "l", "ul", "ull", "f",
    ];
    if is_hexadecimal_number(value) {
        return true;
    }
    let body = value.trim_start_matches(['v', 'V', '~', '+', '$', '€', '#']);
    let unit = body.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '-' | '.' | ':' | '/' | ',' | '+' | 'T' | 'Z' | '%' | '_')
    });
    if unit.len() == body.len() {
        return false;
    }
    let signs = body[..body.len() - unit.len()]
        .bytes()
        .filter(|b| !b.is_ascii_digit())
        .count();
    UNITS.iter().any(|known| unit.eq_ignore_ascii_case(known))
        && (signs > 0 || !unit.is_empty() || body.len() < value.len())
}

/// `0x5053_4F43`, up to sixteen digits: a longer one may be a key.
fn is_hexadecimal_number(value: &str) -> bool {
    value
        .strip_prefix("0x")
        .or_else(|| value.strip_prefix("0X"))
        .is_some_and(|digits| {
            (1..=19).contains(&digits.len())
                && digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_')
        })
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
}

/// Tells whether a value is a path or an address without user information.
pub(crate) fn is_path(value: &str) -> bool {
    const FILES: &[&str] = &[
        ".env", ".md", ".txt", ".json", ".toml", ".yaml", ".yml", ".rs", ".py", ".ts", ".js",
        ".key", ".pem", ".conf",
    ];
    let rooted = [
        "/", "./", "../", "~/", "~\\", "http://", "https://", "file:", "op://", "vault:", "arn:",
        "data:", "ssh://", "@/",
    ]
    .iter()
    .any(|start| value.starts_with(start));
    let drive = value.as_bytes().get(1..3) == Some(b":\\");
    let words = value.contains('/')
        && value.split('/').all(|part| {
            part.len() < 24
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'.' | b'_'))
        });
    let is_link = (value.starts_with("http://") || value.starts_with("https://"))
        && !value
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| part.len() >= 16);
    rooted && (is_link || shannon(value) < 4.6)
        || drive
        || words
        || FILES.iter().any(|end| {
            value
                .len()
                .checked_sub(end.len())
                .is_some_and(|at| value.as_bytes()[at..].eq_ignore_ascii_case(end.as_bytes()))
        })
}

/// Tells whether a value names its own algorithm: `sha256:…`, `sha512-…`.
pub(crate) fn is_named_hash(value: &str) -> bool {
    ["sha1", "sha256", "sha384", "sha512", "md5", "blake3", "git"]
        .iter()
        .any(|name| {
            starts_with(value, name)
                && matches!(value.as_bytes().get(name.len()), Some(b':' | b'-'))
                && value.len() - name.len() > 6
        })
}

/// Tells whether a value reads as an identifier: words and short numbers joined by case, `-`, `_`, `.`.
pub(crate) fn is_identifier(value: &str) -> bool {
    let parts = value.split(|c: char| {
        matches!(
            c,
            '-' | '_' | '.' | '/' | ':' | '=' | '@' | '&' | '+' | '#' | '~' | '*' | '!' | '^' | '%'
        )
    });
    parts.filter(|part| !part.is_empty()).all(is_word)
}

/// A word: letters of one case or camel case, perhaps with up to two digits at the end or a version in front.
fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    if letters.is_empty() {
        let date = digits == 8 && (part.starts_with("20") || part.starts_with("19"));
        return digits <= 4 || date;
    }
    if digits > 2 || !letters.bytes().all(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    let upper = letters.bytes().filter(u8::is_ascii_uppercase).count();
    // Words have vowels between.
    if letters.len() >= 7 && disorder(letters) >= 0.5 {
        return false;
    }
    // Camel case has a capital every few letters; random text has one every other.
    letters.len() <= 24 && (upper == letters.len() || upper * 3 <= letters.len() + 1)
}

/// Tells whether a value is a UUID.
pub(crate) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, b)| {
            if matches!(at, 8 | 13 | 18 | 23) {
                b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
}

/// Tells whether a value needs no quotes to be taken for a password: a digit or symbol inside it.
pub(crate) fn is_strong(value: &str) -> bool {
    let inner = value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let (mut letter, mut digits, mut symbol) = (false, 0, false);
    for b in inner.bytes() {
        letter |= b.is_ascii_alphabetic();
        digits += usize::from(b.is_ascii_digit());
        symbol |= matches!(
            b,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'=' | b'+'
        );
    }
    let digit = digits > 0;
    letter |= !letter && !inner.is_ascii() && inner.chars().any(char::is_alphabetic);
    letter && (digit || symbol) || digit && symbol || digits >= 6 && digits == inner.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        for value in yes {
            assert!(is(value), "{value}");
        }
        for value in no {
            assert!(!is(value), "{value}");
        }
    }

    #[test]
    fn examples_are_told_from_values() {
        check(
            is_example,
            &[
                "YOUR_API_KEY",
                "<token>",
                "${VAR}",
                "****",
                "$TOKEN",
                "{{ x }}",
                "ghp_xxxxxxxxxxxx",
                "%PASSWORD%",
                "sk-...",
            ],
            &["hunter2", "T0pS3cr3t", "$2b!xY", "pa55-w0rd"],
        );
    }

    #[test]
    fn code_paths_and_hashes_are_told_from_values() {
        check(
            is_code,
            &[
                "process.env.X",
                "getPassword()",
                "String",
                "DB_PASSWORD",
                "self.password",
                "config.db.pass",
                "Auth::new",
                "&str",
                "&[u8]",
                "&AccountRow",
                "Option<String>",
                "#[allow]",
                "row.get(25)?",
                "NEXT_TOKEN.fetch_add(2",
                "winreg.KEY_WOW64_32KEY",
                "[DOT11_AUTH_CIPHER_PAIR",
                "^[a-z0-9_-]{3,16}$",
            ],
            &[
                "hunter2",
                "T0pS3cr3t",
                "S3CR3T",
                "&hunter2x",
                "#hunter2",
                "a<b>c9!",
            ],
        );
        check(
            is_path,
            &[
                "/etc/passwd",
                "./a.env",
                "~/x",
                "C:\\x",
                "secrets/prod.key",
                "https://a.example/b",
            ],
            &["hunter2", "a/B9c+D"],
        );
        check(
            is_named_hash,
            &["sha256:2c26b46b68", "sha512-Zm9vYmFyYmF6"],
            &["sha256", "hunter2"],
        );
    }

    #[test]
    fn numbers_of_code_are_measures_and_repetitions_are_periodic() {
        check(
            is_measure,
            &["2150859162u32", "1i32", "0x02", "0x5053_4F43", "12ull"],
            &[
                "hunter2",
                "0xhunter2",
                "0x9f86d081884c7d659a2feaa0c55ad015",
                "1234u99x",
            ],
        );
        check(
            is_periodic,
            &["x1x1x1x1", "abcabcabcab", "aaaaaa"],
            &["hunter2", "abab", "Zk3v9QpL2xWm7RtB"],
        );
        check(
            is_example,
            &["(optional)", "(min. 8)", "[password1]", "${a(b)}"],
            &["(hunter2x9)"],
        );
    }

    #[test]
    fn identifiers_and_terms_are_told_from_values() {
        check(
            is_identifier,
            &[
                "my-app-secret-v1",
                "AuthToken",
                "snake_case_name",
                "camelCaseName",
                "v1.2.3",
                "release-2024",
            ],
            &["Zk3v9QpL2xWm7RtB", "9f86d081884c7d65"],
        );
        check(
            is_term,
            &[
                "SHA-256",
                "OAuth2",
                "1Password",
                "base64-encoded",
                "12-16",
                "128-bit",
                "base64url-encoded",
                "HMAC-SHA512",
            ],
            &["hunter2", "dipPr166Gg!", "123456"],
        );
        check(
            is_strong,
            &["hunter2", "p@ss", "123456"],
            &["incorrect!", "stored", "case-sensitive", "it's"],
        );
    }
}

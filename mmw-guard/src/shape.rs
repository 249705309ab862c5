//! Forms that look like a secret's value and are none: placeholders of examples, identifiers,
//! code, paths, hashes. Decided by form alone; a memory has no file path to go by.

use crate::entropy::{disorder, shannon};
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

fn is_name(value: &str) -> bool {
    !value.is_empty()
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !value.as_bytes()[0].is_ascii_digit()
}

/// Tells whether a value is code that fetches one: a call, a member, an environment name, a type.
pub(crate) fn is_code(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "empty",
        "required",
        "optional",
        "string",
        "str",
        "int",
        "bool",
        "boolean",
        "text",
        "secret",
        "password",
        "passwd",
        "token",
        "value",
        "key",
        "env",
        "bearer",
        "basic",
        "missing",
        "invalid",
        "hidden",
        "unset",
        "default",
        "number",
        "integer",
        "varchar",
        "char",
        "self",
        "bytes",
        "object",
        "any",
        "unknown",
        "incorrect",
        "wrong",
        "username",
        "user",
        "email",
        "credentials",
        "input",
        "param",
        "prompt",
        "encrypted",
        "plaintext",
        "authorization",
        "cookie",
        "header",
        "forbidden",
        "private",
        "public",
        "redacted",
        "masked",
        "here",
    ];
    const OBJECTS: &[&str] = &[
        "process.",
        "os.",
        "config.",
        "self.",
        "this.",
        "args.",
        "options.",
        "settings.",
        "req.",
        "request.",
        "env.",
        "import.meta",
        "secrets.",
        "std::",
        "cfg.",
        "conf.",
        "props.",
        "opts.",
    ];
    let starts = |word: &&str| starts_with(value, word);
    let environment_name = value.contains('_')
        && value
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && value.bytes().any(|b| b.is_ascii_uppercase());
    let bare = value.trim_end_matches(['?', '!', '.', ':', ';']);
    WORDS.iter().any(|word| bare.eq_ignore_ascii_case(word))
        || OBJECTS.iter().any(starts)
        || value
            .as_bytes()
            .windows(2)
            .any(|two| matches!(two, b"()" | b"::"))
        || value.ends_with('(')
        || environment_name
        || is_call(value)
        || is_type_or_attribute(value)
        || is_constant_of(value)
        || value.starts_with('^') && value.ends_with('$') && value.contains(['[', '(', '\\'])
        || value.contains('.')
            && value
                .split('.')
                .all(|part| is_name(part) && !has_digit(part))
        || value.rsplit_once('.').is_some_and(|(path, member)| {
            member.len() >= 6 && is_word(member) && path.split('.').all(is_name)
        })
        || value.contains('[')
            && value.ends_with(']')
            && is_name(value.split('[').next().unwrap_or(""))
}

/// `&str`, `&[u8]`, `&mut Vec<u8>`, `&AccountRow`, `Option<String>`, `#[allow]`.
fn is_type_or_attribute(value: &str) -> bool {
    if value.starts_with("#[") || value.starts_with("#![") {
        return true;
    }
    let (referred, rest) = match value.strip_prefix('&') {
        Some(rest) => (true, rest.trim_start_matches("mut ")),
        None => (false, value),
    };
    let rest = rest.trim_end_matches([',', ';']);
    let slice = rest.starts_with('[') && rest.ends_with(']');
    let generic = rest.contains('<') && rest.ends_with('>');
    let named = rest.starts_with(|c: char| c.is_ascii_uppercase())
        && rest.bytes().any(|b| b.is_ascii_lowercase())
        && rest.bytes().all(|b| b.is_ascii_alphabetic());
    referred && (slice || named || matches!(rest, "str" | "self" | "dyn"))
        || generic
            && rest
                .split(['<', '>', ',', ' ', ':', '&', '[', ']', '\''])
                .all(is_word_or_nothing)
            && rest.starts_with(|c: char| c.is_ascii_uppercase())
}

fn is_word_or_nothing(part: &str) -> bool {
    part.is_empty() || is_word(part)
}

/// `winreg.KEY_WOW64_32KEY`: a constant of a module.
fn is_constant_of(value: &str) -> bool {
    let value = value.trim_start_matches('[');
    let (path, constant) = value.rsplit_once('.').unwrap_or(("module", value));
    path.split('.').all(is_name)
        && constant.contains('_')
        && constant.len() >= 6
        && constant
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Tells whether a text begins with a word of lower-case ASCII letters in any case.
fn starts_with(text: &str, word: &str) -> bool {
    let text = text.as_bytes();
    text.first().map(u8::to_ascii_lowercase) == word.as_bytes().first().copied()
        && text
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

/// Tells whether a value is a function and its arguments.
fn is_call(value: &str) -> bool {
    let value = value.trim_end_matches(['?', ';', ',']);
    value.split_once('(').is_some_and(|(callee, rest)| {
        callee.len() >= 2
            && callee
                .split(['.', ':'])
                .all(|part| part.is_empty() || is_name(part))
            && (value.ends_with(')')
                || rest.starts_with(['"', '\''])
                // Cut at its comma.
                || callee.contains('.') && !rest.contains(')'))
    })
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

/// Tells whether a value is a technical term that only looks mixed (`SHA-256`, `OAuth2`, `UTF-8`).
pub(crate) fn is_term(value: &str) -> bool {
    const TERMS: &[&str] = &[
        "1password",
        "oauth2",
        "oauth1",
        "sha1",
        "sha2",
        "sha3",
        "sha256",
        "sha512",
        "sha384",
        "md5",
        "base64",
        "base64url",
        "base32",
        "utf8",
        "utf16",
        "argon2",
        "argon2id",
        "pbkdf2",
        "es256",
        "rs256",
        "hs256",
        "x509",
        "ed25519",
        "ascii",
        "bcrypt",
        "2fa",
        "ipv4",
    ];
    // No term is longer, its signs aside.
    const MAX_TERM_BYTES: usize = 9;
    let is_term = |part: &str| {
        let letters = || {
            part.bytes()
                .filter(|b| !matches!(b, b'-' | b'_'))
                .map(|b| b.to_ascii_lowercase())
        };
        // Most terms are told by their first letter.
        let Some(first) = letters().next() else {
            return false;
        };
        part.len() <= 2 * MAX_TERM_BYTES
            && TERMS
                .iter()
                .any(|term| term.as_bytes()[0] == first && letters().eq(term.bytes()))
    };
    let sign = |c: char| matches!(c, '-' | '_');
    let first = value.split(sign).next().unwrap_or("");
    let head = value
        .match_indices(sign)
        .nth(1)
        .map_or(value, |(at, _)| &value[..at]);
    let measure = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    let is_named = is_term(value)
        || first.len() < value.len()
            && (is_term(first) || head.len() < value.len() && is_term(head));
    let parts = || value.split(['-', '_', '/']);
    let is_listed = |part: &str| TERMS.iter().any(|term| part.eq_ignore_ascii_case(term));
    let listed = parts()
        .all(|part| part.bytes().all(|b| b.is_ascii_alphabetic()) || is_listed(part))
        && parts().any(is_listed);
    listed
        || is_named
        || measure.len() < value.len()
            && (measure.is_empty() && value.contains(['-', '.'])
                || [
                    "bit",
                    "bits",
                    "bytes",
                    "chars",
                    "characters",
                    "digits",
                    "days",
                    "h",
                    "s",
                    "ms",
                    "min",
                    "px",
                ]
                .iter()
                .any(|unit| measure.eq_ignore_ascii_case(unit)))
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

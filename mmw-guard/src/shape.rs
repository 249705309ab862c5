//! Forms that look like a secret's value and are none: placeholders of examples, identifiers,
//! code, paths, hashes. Decided by form alone; a memory has no file path to go by.

use crate::entropy::shannon;
use crate::placeholder::FILLER;

/// Tells whether a value stands for "put yours here".
pub(crate) fn is_example(value: &str) -> bool {
    const WORDS: [&str; 8] = [
        "your",
        "placeholder",
        "example.com",
        "xxxx",
        "changeme_",
        "insert_",
        "replace",
        "dummy_",
    ];
    let lower = value.to_ascii_lowercase();
    let brackets = value.contains(['<', '>'])
        || ["${", "{{", "$(", "...", "***", "…", "%(", "{}"]
            .iter()
            .any(|mark| value.contains(mark));
    let opens = value.starts_with(['{', '[', '(']) && value.ends_with(['}', ']', ')'])
        || value.starts_with('$') && is_name(&value[1..])
        || value.len() > 2 && value.starts_with('%') && value.ends_with('%')
        || value.starts_with("%s")
        || lower.trim_matches(['[', ']', '(', ')', '<', '>']) == "redacted";
    brackets || opens || is_monotone(value) || WORDS.iter().any(|word| lower.contains(word))
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

fn is_name(value: &str) -> bool {
    !value.is_empty()
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !value.as_bytes()[0].is_ascii_digit()
}

/// Tells whether a value is code that fetches one: a call, a member, an environment name, a type.
pub(crate) fn is_code(value: &str) -> bool {
    const WORDS: [&str; 34] = [
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
    ];
    const OBJECTS: [&str; 14] = [
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
    ];
    let lower = value.to_ascii_lowercase();
    let environment_name = value.contains('_')
        && value
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && value.bytes().any(|b| b.is_ascii_uppercase());
    let bare = value.trim_end_matches(['?', '!', '.', ':']);
    WORDS.iter().any(|word| bare.eq_ignore_ascii_case(word))
        || OBJECTS.iter().any(|object| lower.starts_with(object))
        || value.contains("()")
        || value.contains("::")
        || value.ends_with('(')
        || environment_name
        || value.contains('.')
            && value
                .split('.')
                .all(|part| is_name(part) && !has_digit(part))
        || value.contains('[')
            && value.ends_with(']')
            && is_name(value.split('[').next().unwrap_or(""))
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
}

/// Tells whether a value is a path or an address without user information.
pub(crate) fn is_path(value: &str) -> bool {
    const FILES: [&str; 14] = [
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
    rooted && shannon(value) < 4.6
        || drive
        || words
        || FILES
            .iter()
            .any(|end| value.to_ascii_lowercase().ends_with(end))
}

/// Tells whether a value names its own algorithm: `sha256:…`, `sha512-…`.
pub(crate) fn is_named_hash(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["sha1", "sha256", "sha384", "sha512", "md5", "blake3", "git"]
        .iter()
        .any(|name| {
            lower
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([':', '-']) && rest.len() > 6)
        })
}

/// Tells whether a value reads as an identifier: words and short numbers joined by case, `-`, `_`, `.`.
pub(crate) fn is_identifier(value: &str) -> bool {
    let parts = value.split([
        '-', '_', '.', '/', ':', '=', '@', '&', '+', '#', '~', '*', '!', '^', '%',
    ]);
    parts.filter(|part| !part.is_empty()).all(is_word)
}

/// A word: letters of one case or camel case, perhaps with up to two digits at the end or a version in front.
fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    if letters.is_empty() {
        return digits <= 4;
    }
    if digits > 2 || !letters.bytes().all(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    let upper = letters.bytes().filter(u8::is_ascii_uppercase).count();
    // Camel case has a capital every few letters; random text has one every other.
    letters.len() <= 24 && (upper == letters.len() || upper * 3 <= letters.len() + 1)
}

/// Tells whether a value is a technical term that only looks mixed (`SHA-256`, `OAuth2`, `UTF-8`).
pub(crate) fn is_term(value: &str) -> bool {
    const TERMS: [&str; 27] = [
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
    let lower = value.to_ascii_lowercase();
    let joined: String = lower.chars().filter(|c| *c != '-' && *c != '_').collect();
    let first = lower.split(['-', '_']).next().unwrap_or("");
    let head = lower
        .split_inclusive(['-', '_'])
        .take(2)
        .collect::<String>();
    let head: String = head.chars().filter(|c| *c != '-' && *c != '_').collect();
    let measure = lower.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    TERMS
        .iter()
        .any(|term| joined == *term || first == *term || head == *term)
        || measure.len() < lower.len()
            && (measure.is_empty() && lower.contains(['-', '.'])
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
                .contains(&measure))
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
    let letter = inner.chars().any(char::is_alphabetic);
    let digit = inner.chars().any(|c| c.is_ascii_digit());
    let symbol = inner.bytes().any(|b| {
        matches!(
            b,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'=' | b'+'
        )
    });
    letter && (digit || symbol)
        || digit && symbol
        || digit && inner.len() >= 6 && inner.bytes().all(|b| b.is_ascii_digit())
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
            ],
            &["hunter2", "T0pS3cr3t", "S3CR3T"],
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
